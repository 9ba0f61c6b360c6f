"""Data needed: what more rows would bring."""
