"""Linear maps of logits: vector, matrix, Dirichlet and structured scaling."""
