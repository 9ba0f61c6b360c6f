"""What is taken home: the calibrator, and calibrated rows."""
