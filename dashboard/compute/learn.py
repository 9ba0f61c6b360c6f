"""What a state of a lesson shows, kept for all who look at the same: a class opens one link."""

import gc
import hashlib
import io
import threading
from base64 import b64encode
from collections.abc import Callable
from dataclasses import replace
from functools import cache, lru_cache
from typing import Any

import numpy as np
import orjson
from numpy.typing import NDArray

from calibcore.synthetic import EstimatorStudy, Redraws, redraw_estimates
from calibcore.synthetic.study import STUDY_ROWS
from dashboard.compute.cache import at_hand, is_known, once
from dashboard.compute.files import SourceFile
from dashboard.figures import Palette
from dashboard.figures.plotly_json import LightFigure
from dashboard.learn.laboratory import EVENT, ROWS, LaboratoryModel, chosen_of, drawn_of
from dashboard.learn.lesson import Lesson, LessonPicture, LessonView, State, start_of
from dashboard.learn.lessons import LESSONS
from dashboard.learn.thumbnails import svg_of
from dashboard.samples import Sample
from dashboard.texts import laboratory as words

MOST_STATES = 2_000
"""States kept, of about 15 kB each."""

PROJECTED, HIGHER = 1.5, 1.2
"""So much larger is the type of a figure that is projected, and so much higher is the figure."""

HIGHEST = 370
"""Pixels that a projected figure has at most, so that a small projector shows the whole of it."""


class SentFigure(LightFigure):
    """A figure that was written before; text costs the garbage collector nothing."""

    def __init__(self, figure: LightFigure, size: str) -> None:
        content = figure.to_dict()
        self._title = str(content["layout"]["title"]["text"])
        self._written = orjson.dumps(
            _enlarged(content, PROJECTED) if size == "projector" else content,
            option=orjson.OPT_SERIALIZE_NUMPY,
        )

    @property
    def title(self) -> str:
        """What stands above it."""
        return self._title

    def to_dict(self) -> dict[str, Any]:
        """Return what is sent."""
        content: dict[str, Any] = orjson.loads(self._written)
        return content


def shown_of(lesson: Lesson, state: State, size: str) -> LessonView:
    """Compute what a state shows, or return it where somebody has looked at it before.

    Its figures are `SentFigure`.
    """

    def make() -> LessonView:
        shown = lesson.show(state)
        pictures, behind = (
            tuple(_sent(one, state.palette, size) for one in some)
            for some in (shown.pictures, shown.behind)
        )
        return replace(shown, pictures=pictures, behind=behind)

    return once("lessons", (lesson.key, repr(state), size), make, most=MOST_STATES)


def _sent(picture: LessonPicture, palette: Palette, size: str) -> LessonPicture:
    return replace(picture, figure=SentFigure(LightFigure(picture.figure, palette), size))


def thumbnail_of(lesson: Lesson, palette: Palette) -> str:
    """Return a lesson's picture for the list, as Markdown: the first one before the answer."""

    def make() -> str:
        state = start_of(lesson, revealed=False, palette=palette)
        drawn = svg_of(lesson.show(state).pictures[0].figure).encode()
        return f"![](data:image/svg+xml;base64,{b64encode(drawn).decode()})"

    return once("thumbnails", (lesson.key, repr(palette)), make, most=2 * len(LESSONS))


@cache
def warm() -> None:
    """Compute how each lesson opens, beside the work on the pages, for whoever opens it first.

    What that imports and keeps is then taken out of the garbage collector's rounds, which follow
    every run of a page.
    """

    def work() -> None:
        for lesson in LESSONS:
            lesson.show(start_of(lesson))
        gc.collect()
        gc.freeze()

    threading.Thread(target=work, daemon=True).start()


def _enlarged(content: Any, by: float) -> Any:
    """Return a figure with larger type, lines and margins, so that a hall can read it."""
    if isinstance(content, list):
        plain = not content or not isinstance(content[0], dict)
        return content if plain else [_enlarged(part, by) for part in content]
    if not isinstance(content, dict):
        return content
    larger = {key: _enlarged(part, by) for key, part in content.items()}
    for key, part in larger.items():
        if key in {"font", "textfont", "tickfont"} and "size" in part:
            larger[key] = {**part, "size": by * part["size"]}
        elif key == "line" and isinstance(part.get("width"), int | float):
            larger[key] = {**part, "width": by * part["width"]}
        elif key == "height":
            larger[key] = min(round(HIGHER * part), HIGHEST)
        elif key == "margin":
            larger[key] = {side: by * room for side, room in part.items()}
    return larger


FILE = "laboratory.npz"

TURNS = threading.Lock()
"""Held while a move in the laboratory is answered, so that in a class one waits for another.

Side by side, the threads of one interpreter wait for each other at every call of NumPy: of answers
to 40 students 90% came within 3 s, by turns within 0.4 s, at half the processor time.
"""

_KIND, _MOST = "estimators", 20 * len(STUDY_ROWS)
_DRAW, _ROW = 1.7e-3, 2.6e-7
"""Seconds that a draw takes, and each of its rows, as measured."""


def source_of(code: str) -> tuple[SourceFile, Sample] | None:
    """Return a model of the laboratory as a file and its description; None where there is none.

    ``code``: as the laboratory's address has it.
    """
    chosen = chosen_of(code)
    if chosen is None:
        return None
    data = file_of(chosen)
    digest = hashlib.sha256(data).hexdigest()
    return SourceFile(FILE, digest, lambda: data, own=True), words.sample(chosen)


@lru_cache(maxsize=16)
def file_of(chosen: LaboratoryModel) -> bytes:
    """Write both sets of a model, as a sample is kept."""
    arrays: dict[str, NDArray[np.generic]] = {}
    for which, name in enumerate(("calibration", "test")):
        drawn = drawn_of(chosen, which)
        arrays[f"logits_{name}"] = drawn.rows.logits
        arrays[f"labels_{name}"] = drawn.rows.labels
        if drawn.groups is not None:
            arrays[f"column_group_{name}"] = np.array(["A", "B"])[drawn.groups]
    n_classes = arrays["logits_test"].shape[1]
    names = ["none", EVENT] if n_classes == 2 else [f"class {k}" for k in range(n_classes)]
    arrays["class_names"] = np.array(names)
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)  # type: ignore[arg-type] # names are ours
    return buffer.getvalue()


# Errors of estimates ------------------------------------------------------------------------


def finished_study(chosen: LaboratoryModel, n_draws: int) -> EstimatorStudy | None:
    """Return what is known of the errors of estimates; None where nothing is.

    ``chosen``: the model; how many rows are drawn from it elsewhere does not matter. ``n_draws``:
    of each number of rows.
    """
    keys = [_study_key(chosen, n_rows, n_draws) for n_rows in STUDY_ROWS]
    sizes = [at_hand(_KIND, key) for key in keys]
    known = tuple(size for size in sizes if size is not None)
    return EstimatorStudy(known) if known else None


def study_seconds(chosen: LaboratoryModel, n_draws: int) -> float:
    """Estimate what is still to be done."""
    missing = [n for n in STUDY_ROWS if not is_known(_KIND, _study_key(chosen, n, n_draws))]
    return float(n_draws * (_DRAW * len(missing) + _ROW * sum(missing)))


def study_of(
    chosen: LaboratoryModel, n_draws: int, progress: Callable[[float, int], None]
) -> EstimatorStudy:
    """Compute the errors that are not known yet; what is finished is kept when the rest is stopped.

    ``chosen``, ``n_draws``: as in `finished_study`. ``progress``: told the share done and the rows
    of a draw.
    """
    costs = [_DRAW + _ROW * n_rows for n_rows in STUDY_ROWS]
    sizes = []
    for place, n_rows in enumerate(STUDY_ROWS):

        def tell(share: float, place: int = place, n_rows: int = n_rows) -> None:
            progress((sum(costs[:place]) + share * costs[place]) / sum(costs), n_rows)

        def make(n_rows: int = n_rows, tell: Callable[[float], None] = tell) -> Redraws:
            tell(0.0)
            model = chosen.model
            return redraw_estimates(model, n_rows, n_draws, seed=chosen.seed, progress=tell)

        sizes.append(once(_KIND, _study_key(chosen, n_rows, n_draws), make, most=_MOST))
    return EstimatorStudy(tuple(sizes))


def _study_key(chosen: LaboratoryModel, n_rows: int, n_draws: int) -> tuple[str, int, int]:
    return replace(chosen, rows=ROWS[0], draw=1).code, n_rows, n_draws
