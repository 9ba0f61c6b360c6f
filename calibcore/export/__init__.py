"""A fitted calibrator taken elsewhere: as JSON, NumPy code, ONNX or a table of scores."""
