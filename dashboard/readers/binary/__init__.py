"""Archives, arrays, tensors and Parquet, whose bytes are numbers."""
