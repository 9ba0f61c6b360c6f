"""What a page is about: data, event, calibrator and set, in one line."""

from calibcore.events import OneClass
from dashboard.scene import WHOLE_SET, Scene
from dashboard.settings import NO_METHOD
from dashboard.texts.methods import method_name
from dashboard.texts.numbers import escape_markdown, percent
from dashboard.texts.rows import rows_of
from dashboard.texts.subgroups import period_name


def subject(scene: Scene) -> str:
    """Return which data, event, calibrator and set a page is about, for Markdown."""
    method = scene.settings.method
    name = "no calibrator" if method == NO_METHOD else method_name(method)
    return " \u00b7 ".join((data_subject(scene), escape_markdown(name), scene_set(scene)))


def data_subject(scene: Scene) -> str:
    """Return the data and the event, and how often that is so, for Markdown."""
    data = scene.sample.title if scene.sample else scene.upload.name
    event = scene.event_words.plain
    if isinstance(scene.settings.event, OneClass):
        hits, n_rows = scene.evaluated.before.event.n_hits, scene.evaluated.n_samples
        rate = percent(scene.evaluated.before.counted.hits.sum() / n_rows, n_rows)
        weighted = " weighted" if scene.rows.weights is not None else ""
        event = f"{event}: {hits:,} of {n_rows:,} ({rate}{weighted})"
    return " \u00b7 ".join(map(escape_markdown, (data, event)))


def scene_set(scene: Scene) -> str:
    """Return which rows are evaluated, and how many, for Markdown.

    Three examples: "test set, 80 rows", "test set (booked from Oct 2025), 80 rows", "whole
    set (cross-validated), ward = C, 80 of 900 rows".
    """
    in_folds, part = scene.chosen == "test" and scene.result.in_folds, scene.part
    fitted = " (cross-validated)" if scene.settings.method != NO_METHOD else ""
    name = f"{WHOLE_SET}{fitted}" if in_folds else f"{scene.chosen} set"
    if split_at := scene.upload.options.split_at:
        side = "before" if scene.chosen == "calibration" else "from"
        name += f" ({split_at[0]} {side} {period_name(split_at[1])})"
    if part is None:
        return escape_markdown(f"{name}, {rows_of(scene.evaluated.n_samples)}")
    return escape_markdown(f"{name}, {part.name}, {part.n_rows:,} of {rows_of(part.n_all)}")


def row_title(scene: Scene) -> str:
    """Return the title of a row of graphs: event and set, for Markdown."""
    return f"{scene.event_words.name} \u00b7 {scene_set(scene)}"
