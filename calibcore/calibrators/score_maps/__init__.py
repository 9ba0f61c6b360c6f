"""Maps of one score: Platt, beta, histogram, isotonic, BBQ, spline and Venn-Abers."""
