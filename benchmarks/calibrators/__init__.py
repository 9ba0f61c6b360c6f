"""Speed, memory and optimum of every calibrator, beside the peers that do the same."""
