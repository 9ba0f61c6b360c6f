"""One file a page: draws results, never computes."""
