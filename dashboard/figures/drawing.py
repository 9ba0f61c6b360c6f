"""A figure of traces and a layout, which plotly checks only when it is asked about them."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

from plotly import graph_objects as go


class Drawing(go.Figure):  # type: ignore[misc]  # plotly has no types
    """A figure that is not checked before it is sent.

    ``traces``: as plotly takes them, whole words only: no ``line_width`` for the width of a line.
    ``plan``: the layout, likewise.

    Plotly looks at each number when it makes a figure: 2 to 4 ms, as long as all else that a
    small picture takes. That it accepts each of them, and sends the same, is for the tests.
    """

    def __init__(self, traces: Sequence[Mapping[str, Any]], plan: Mapping[str, Any]) -> None:
        # Nothing of plotly's own is made here: `checked` has it, for whoever asks.
        self._traces, self._plan = list(traces), plan

    @property
    def traces(self) -> list[Mapping[str, Any]]:
        """As they were given."""
        return self._traces

    @property
    def plan(self) -> Mapping[str, Any]:
        """As it was given."""
        return self._plan

    @cached_property
    def _checked(self) -> go.Figure:
        return go.Figure(self._traces, dict(self._plan))

    @property
    def data(self) -> tuple[Any, ...]:
        """Traces, as plotly has them."""
        traces: tuple[Any, ...] = self._checked.data
        return traces

    @property
    def layout(self) -> go.Layout:
        """Layout, as plotly has it."""
        return self._checked.layout

    def to_dict(self) -> dict[str, Any]:
        """Return both, as plotly writes them."""
        content: dict[str, Any] = self._checked.to_dict()
        return content


def title_of(figure: go.Figure) -> str:
    """Return the title of a figure, whether it is checked or not."""
    is_drawing = isinstance(figure, Drawing)
    return str(figure.plan["title"]["text"] if is_drawing else figure.layout.title.text)
