"""Speed and memory of the core, each beside a peer library and the physical floor in one run."""

import os

# Read by the numeric libraries when they are first imported, so set before any of them is.
for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_variable] = "1"
