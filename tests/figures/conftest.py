"""Where figures go when they are asked for."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.figures.small_results import Figure

Keep = Callable[[str, Figure], None]


@pytest.fixture
def keep(figures_folder: Path | None) -> Keep:
    """Write a figure as HTML and as JSON where ``--save-figures`` says."""

    def write(name: str, figure: Figure) -> None:
        if figures_folder is None:
            return
        figure.write_html(figures_folder / f"{name}.html", include_plotlyjs="directory")
        figure.write_json(figures_folder / f"{name}.json")

    return write
