"""What numbers and labels mean, and what looks wrong with them."""
