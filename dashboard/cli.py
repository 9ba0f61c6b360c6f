"""The ``fractile`` command."""

import os
import sys
from pathlib import Path


def main() -> None:
    """Start the dashboard; further arguments go to Streamlit, such as ``--server.port 9000``."""
    # Of several fits at once, those with threads waiting for each other take ten times as long.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    from streamlit.web import cli  # noqa: PLC0415 - half a second, not for whoever imports this

    sys.argv = ["streamlit", "run", str(Path(__file__).parent / "app.py"), *sys.argv[1:]]
    cli.main()
