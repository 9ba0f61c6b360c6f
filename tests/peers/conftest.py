"""Nothing here is a test, and the peers are not installed where the tests run."""

collect_ignore_glob = ["*.py"]
