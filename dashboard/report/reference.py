"""What `fractile check` needs of an audit: how the file was read, and its rows by score."""

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from calibcore import validation
from calibcore.data import is_designed
from calibcore.drift import MOST_SCORES
from calibcore.errors import CalibrationInputError
from calibcore.inference.draws import grouped
from calibcore.tally import Tally
from dashboard.document.blocks import FORMAT
from dashboard.scene import Scene
from dashboard.texts.events import event_option

_FEW = 3
"""Classes that are named in a refusal."""

_WANTED = "a report that `fractile audit --json` wrote"


class ReferenceBatch(NamedTuple):
    """An audited batch."""

    subject: str
    """What was audited, as its report says."""
    reading: Mapping[str, Any]
    """How the file was read, by the names of the command's options."""
    counted: Tally
    """Its rows by score, before calibration; neighbouring scores joined where there are many."""
    files: tuple[str, ...] = ()
    """Names of its files; empty where an older report does not keep them."""
    digest: str = ""
    """SHA-256, as of `dashboard.readers.Upload`."""
    classes: tuple[str, ...] = ()
    """Their names, where they are known."""

    def check(self, scene: Scene) -> None:
        """Refuse a batch of another event or of other classes.

        Its figures and those of the audit would be of different things.
        """
        event, own = event_option(scene.settings.event, scene.class_names), scene.class_names or ()
        audited = str(self.reading.get("event", event))
        if event != audited:
            raise CalibrationInputError("event", f"{event}, but {audited} was audited", audited)
        if own and self.classes and {*own} != {*self.classes}:
            text = f"{_listed(own)}, but {_listed(self.classes)} were audited"
            raise CalibrationInputError("classes", text, "those that were audited")

    def holds(self, counted: Tally) -> bool:
        """Return whether these are its rows."""
        own, other = self.counted, grouped(counted, MOST_SCORES)
        return own.scores.shape == other.scores.shape and all(
            np.allclose(one, another, rtol=0, atol=1e-9)
            for one, another in (
                (own.scores, other.scores), (own.counts, other.counts), (own.hits, other.hits),
            )
        )  # fmt: skip


def reference_of(scene: Scene) -> dict[str, Any]:
    """Return the part of a report's JSON that another batch can be compared with."""
    upload, counted = scene.upload, grouped(scene.evaluated.before.counted, MOST_SCORES)
    options, preview = upload.options, upload.preview
    roles_by_name = dict(zip(preview.headings, preview.roles, strict=False))
    roles = {name: role for name, role in roles_by_name.items() if role in ("outcome", "score")}
    about: dict[str, Any] = {
        "files": upload.name.split(" + "),
        "classes": list(scene.class_names or ()),
        "reading": {
            "event": event_option(scene.settings.event, scene.class_names),
            "columns": [f"{name}={role}" for name, role in (roles | dict(options.roles)).items()],
            "values": None if options.values == "auto" else options.values,
            "first_label": None if options.first_label == "auto" else str(options.first_label),
            "class_names": "\n".join(options.class_names) or None,
            "together": list(options.together),
            "leave_out": options.leave_out,
            "split_at": "=".join(options.split_at) or None,
        },
    }
    if is_designed(scene.rows):  # which are more than their counts by score
        return {**about, "weighted": True}
    return {
        **about,
        "scores": counted.scores.tolist(),
        "rows": counted.counts.astype(np.int64).tolist(),
        "hits": counted.hits.astype(np.int64).tolist(),
    }


def read_reference(text: str) -> ReferenceBatch:
    """Read the JSON of a report.

    Raises `CalibrationInputError` for anything but a report of this format that holds its rows by
    score.
    """
    try:
        report = json.loads(text)
        number = report["format"]
    except (ValueError, KeyError, TypeError) as error:
        raise CalibrationInputError("against", "no report", _WANTED) from error
    if number != FORMAT:
        raise CalibrationInputError("against", f"format {number}", f"a report of format {FORMAT}")
    try:
        reference = report["reference"]
        if reference.get("weighted"):
            text = "an audit of rows with sampling weights or clusters"
            raise CalibrationInputError("against", text, "one of rows that were drawn one by one")
        rows, hits = (np.asarray(reference[name], dtype=np.float64) for name in ("rows", "hits"))
        scores = validation.scores(reference["scores"])
        fits = scores.shape == rows.shape == hits.shape and bool((np.diff(scores) > 0).all())
        possible = fits and bool(((hits >= 0) & (hits <= rows) & (rows > 0)).all())
        reading = dict(reference["reading"])
        files, classes = (tuple(map(str, reference.get(name, ()))) for name in ("files", "classes"))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        if isinstance(error, CalibrationInputError) and error.field == "against":
            raise
        raise CalibrationInputError("against", "a report without its rows", _WANTED) from error
    if not possible:
        raise CalibrationInputError("against", "rows by score that cannot be", _WANTED)
    counted = Tally(scores, rows, hits, int(rows.sum()))
    subject, digest = (str(report.get(name, "")) for name in ("subject", "sha256"))
    return ReferenceBatch(subject, reading, counted, files, digest, classes)


def _listed(names: tuple[str, ...]) -> str:
    few = ", ".join(names[:_FEW])
    return few if len(names) <= _FEW else f"{len(names)} classes ({few}, ...)"
