"""From a scene to a report: what every page shows, once, in the order of a document."""

import json
import math
import platform
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Any

import numpy as np

from calibcore.calibrators import FittedByGroup, FittedMulticalibration
from calibcore.calibrators.base import Progress
from calibcore.data import EventScores, Rows, is_designed
from calibcore.events import OneClass, TopR
from calibcore.frames import measures_frame
from calibcore.grouping import Grouping
from calibcore.inference import Inference
from calibcore.verdict import Verdict, group_verdicts, side_verdict
from dashboard.compute.comparison import (
    QUICK_SECONDS,
    ComparisonResults,
    FoldPlan,
    estimate_comparison,
    run_comparison,
    usual,
)
from dashboard.compute.files import set_sentences
from dashboard.compute.groupings import names_of_groups
from dashboard.compute.subgroups import find_drift, find_groups, find_subgroups
from dashboard.compute.uncertainty import closer_look, measures_of
from dashboard.compute.verdict import badges_of
from dashboard.document.blocks import (
    Block,
    Cell,
    Pictures,
    Report,
    ReportDetails,
    Row,
    Section,
    Sentences,
    Table,
)
from dashboard.figures import LIGHT
from dashboard.readers.records import ColumnRole
from dashboard.report.reference import reference_of
from dashboard.scene import Scene
from dashboard.settings import ChosenEvent
from dashboard.take_home import files as take_home
from dashboard.texts import opening as imports
from dashboard.texts import report as words
from dashboard.texts.badges import FITTED
from dashboard.texts.design import NO_DRIFT, design_line
from dashboard.texts.fitted_groups import listed
from dashboard.texts.methods import method_name
from dashboard.texts.numbers import plain
from dashboard.texts.opening import OF_USE, ROLES, of_extremes
from dashboard.texts.power import power_sentence
from dashboard.texts.rows import rows_of, say_rows
from dashboard.texts.subgroups import BLANK, KNOWN_GROUPS
from dashboard.texts.subject import subject
from dashboard.texts.verdict import FITTED_HERE, SAME_DATA
from dashboard.views.calibrators.document import document as calibrators
from dashboard.views.decisions.document import Choices
from dashboard.views.decisions.document import document as decisions
from dashboard.views.ks_graphs.document import document as graphs
from dashboard.views.ks_graphs.document import note_of as graphs_note
from dashboard.views.overview.document import document as overview
from dashboard.views.overview.document import measure_notes, measures_table
from dashboard.views.subgroups.document import document as subgroups
from dashboard.views.subgroups.document import order_of

MOST_CLASSES = 30
"""Classes whose rows are counted one by one."""

MOST_NAMES = 8
"""Columns that are named."""

MOST_NUMBERS = 12
"""Numbers of a calibrator that are written out; its file has all."""


MOST_SUBGROUPS = 20
"""Subgroups that are listed for each column."""

MOST_COLUMNS = 8
"""Columns whose subgroups are listed."""


@dataclass(frozen=True)
class ReportRequest:
    """What a report is to hold beyond a scene."""

    typed: ReportDetails = field(default_factory=ReportDetails)
    """By the user."""
    decisions: Choices = field(default_factory=Choices)
    """What the page of decisions is asked."""
    n_tried: int = 1
    """Combinations of settings that were evaluated on these data."""
    fold_plan: FoldPlan = field(default_factory=FoldPlan)
    """The folds of the comparison of calibrators."""
    compare: bool = True
    """Whether calibrators are compared, where that does not take long."""
    rerun: str = ""
    """How the figures are found again, where neither the command nor the dashboard did it."""


def title_of(scene: Scene) -> str:
    """Return the title of a report until one is typed."""
    return f"{words.TITLE}: {scene.sample.title if scene.sample else scene.upload.name}"


def report_of(scene: Scene, request: ReportRequest, tell: Progress) -> Report:
    """Build the report of a scene.

    ``scene``: what was evaluated; the report is drawn in light colours whatever the page's are.
    ``request``: what else it is to hold. ``tell``: told the share that is done.
    """
    scene = replace(scene, palette=LIGHT)
    inference = None
    if scene.n_resamples:
        every = measures_of(scene, full=True)
        inference = closer_look(scene, every, lambda done: tell(0.5 * done))
    compared = _compared(scene, request, lambda done: tell(0.5 + 0.4 * done))
    tell(0.9)
    sections = (
        _summary(scene, inference, request),
        _data(scene),
        section(scene, words.GRAPHS, "graphs", graphs_note(scene), *graphs(scene)),
        _measures(scene, inference),
        section(scene, words.SUBGROUPS, "subgroups", *_subgroups(scene)),
        section(scene, words.DECISIONS, "decisions", *decisions(scene, request.decisions)),
        *_calibrator(scene),
        section(
            scene, words.COMPARISON, "comparison", *_comparison(scene, compared, request.fold_plan)
        ),
        _limits(scene, request),
        _rerun(scene, request),
    )
    tell(1.0)
    return Report(
        title=request.typed.title or title_of(scene),
        typed=request.typed,
        subject=plain(subject(scene)),
        digest=scene.sample.digest if scene.sample else scene.upload.digest,
        made=datetime.now(UTC).isoformat(timespec="seconds"),
        version=version("fractile"),
        sections=sections,
        facts=facts_of(scene, inference),
        reference=reference_of(scene),
    )


def _compared(scene: Scene, request: ReportRequest, tell: Progress) -> ComparisonResults | None:
    """Compare the usual calibrators where asked, if that is quick or done; None otherwise."""
    if not request.compare or scene.split.calibration.n_samples < 2:
        return None
    keys = usual(scene.upload)
    if scene.settings.method not in keys:
        keys.append(scene.settings.method)
    quick = estimate_comparison(scene, keys, request.fold_plan) <= QUICK_SECONDS
    compared = run_comparison(
        scene, keys, request.fold_plan, lambda share, _, __: tell(share), go=quick
    )
    return None if compared.missing else compared


def section(scene: Scene, title: str, key: str, *blocks: Block | None) -> Section:
    """Return a section of the blocks that hold something; what is no other after stands once."""
    practice = words.practice(title, risk=isinstance(scene.settings.event, OneClass))
    return Section(key, title, practice, tuple(filter(None, (_shown(scene, b) for b in blocks))))


def _shown(scene: Scene, block: Block | None) -> Block | None:
    match block:
        case Sentences():
            return block if block.plain_lines else None
        case Pictures():
            n_sides = 1 + scene.evaluated.calibrated
            drawn = [one for one in block.pictures[:n_sides] if one.figure is not None]
            return replace(block, pictures=tuple(drawn))
    return block


def lines(key: str, texts: Sequence[str], heading: str = "") -> Sentences:
    """Return sentences of a page."""
    return Sentences(key, tuple(text for text in texts if text), heading)


# The page for a committee -------------------------------------------------------------------


def _summary(scene: Scene, inference: Inference | None, request: ReportRequest) -> Section:
    """Return the first page, and what may lead to a wrong conclusion."""
    extremes = of_extremes(scene.upload.doubts)  # which the page holds
    warnings = [one for one in _warnings(scene) if one not in extremes]
    return section(
        scene,
        words.SUMMARY,
        "summary",
        lines("design", [design_line(scene)]),
        *overview(scene, inference, compare=request.compare),
        lines("warnings", warnings, words.WARNINGS),
        lines("left out", scene.upload.left_out),
        lines(
            "limits",
            [*([words.tried(request.n_tried)] if request.n_tried > 1 else []), words.SAME_KIND],
        ),
    )


def _warnings(scene: Scene) -> list[str]:
    """Return what may lead to a wrong conclusion."""
    warnings = [*scene.upload.doubts, *scene.result.warnings]
    if scene.result.same_data:
        warnings.append(say_rows(SAME_DATA))
    elif scene.chosen == "calibration":
        warnings.append(say_rows(FITTED_HERE))
    return warnings


# The data -----------------------------------------------------------------------------------


def _data(scene: Scene) -> Section:
    """Return the files, how they were read, and how many rows each set has."""
    upload, sample = scene.upload, scene.sample
    files = [(words.FILE, f"{sample.title} (sample)" if sample else upload.name)]
    files.append((words.DIGEST, sample.digest if sample else upload.digest))
    if sample is not None:
        about = {"Model": sample.model, "Training": sample.training, "Data": sample.source}
        files += [*about.items(), ("Licence", sample.licence)]
    here = (imports.split_here(upload),) if upload.rows is not None else ()
    read = (*upload.notes, *set_sentences(upload), *here)
    return section(
        scene,
        words.DATA,
        "data",
        _pairs("files", files),
        lines("part", _part(scene)),
        _rows(scene),
        _pairs("columns", _columns(scene)),
        lines("read", read, imports.DETECTED),
        lines("fixed", upload.repairs, imports.FIXED),
        lines("check", upload.doubts, imports.CHECK),
    )


def _part(scene: Scene) -> list[str]:
    """Return which part of the rows is evaluated; nothing where all are."""
    part = scene.part
    return [] if part is None else [words.only_part(part.name, part.n_rows, part.n_all)]


def _pairs(key: str, pairs: Sequence[tuple[str, str]]) -> Table | None:
    """Return a table without a head: names and what they are."""
    rows = tuple(Row(name, name, (Cell(text),)) for name, text in pairs)
    return Table(key, (), rows) if rows else None


def _rows(scene: Scene) -> Table:
    """Count the rows of each set, in all and by class."""
    split = scene.split
    in_folds = scene.in_folds
    sets = [("rows", split.calibration)]
    if not in_folds:
        sets = [("calibration set", split.calibration), ("test set", split.test)]
    counted: dict[str, list[Cell]] = {say_rows("All rows"): []}
    for _, rows in sets:
        counted[say_rows("All rows")].append(_count(rows.n_samples, rows.n_samples))
        for name, count in _classes(rows, scene.settings.event):
            counted.setdefault(name, []).append(_count(count, rows.n_samples))
    heads = ("Class", *(say_rows(name).capitalize() for name, _ in sets))
    table = tuple(Row(name, name, tuple(cells)) for name, cells in counted.items())
    return Table("rows", heads, table)


def _count(count: int, of: int) -> Cell:
    return Cell(f"{count:,}" if count == of else words.share(count, of), value=float(count))


def _classes(rows: Rows, event: ChosenEvent) -> list[tuple[str, int]]:
    """Count the rows of each class, or those with the event and without."""
    if isinstance(rows, EventScores):
        of_one = isinstance(event, OneClass)
        named, other = ("With the event", "Without") if of_one else ("Correct", "Not correct")
        return [(named, rows.n_hits), (other, rows.n_samples - rows.n_hits)]
    names = rows.class_names
    counts = np.bincount(rows.labels, minlength=len(names)).tolist()
    counted = list(zip(names, counts, strict=True))
    if len(counted) <= MOST_CLASSES:
        return counted
    rest = f"{len(counted) - MOST_CLASSES:,} more classes"
    return [*counted[:MOST_CLASSES], (rest, sum(counts[MOST_CLASSES:]))]


def _columns(scene: Scene) -> list[tuple[str, str]]:
    """Return what each column was taken for, columns of one role together."""
    upload = scene.upload
    taken: dict[str, list[str]] = {}
    known = dict(zip(upload.preview.headings, upload.preview.roles, strict=False))
    roles: Mapping[str, ColumnRole | None] = known or {
        name: OF_USE.get(use) for name, use in upload.uses.items()
    }
    for name, role in roles.items():
        taken.setdefault(ROLES[role] if role else words.NOT_USED, []).append(name)
    return [(role, words.and_more(names, MOST_NAMES)) for role, names in taken.items()]


# What was found ----------------------------------------------------------------------------


def _measures(scene: Scene, inference: Inference | None) -> Section:
    """Return every measure with its definition."""
    evaluated, listed = scene.evaluated, measures_of(scene, full=True)
    table = measures_table(
        evaluated, inference, listed, both=evaluated.calibrated, expert=scene.expert
    )
    notes = measure_notes(scene, inference, listed)
    return section(scene, words.MEASURES, "measures", table, notes)


def _subgroups(scene: Scene) -> Iterator[Block]:
    """Return the subgroups of each column."""
    groups = find_groups(scene)
    subgroupings = groups.subgroupings
    noted: set[str] = set()
    for by in [one.by for one in subgroupings[:MOST_COLUMNS]]:
        order = order_of(find_subgroups(scene, by))
        shown = order[:MOST_SUBGROUPS]
        worst, picture, table, note = subgroups(scene, by, shown)
        cut = words.largest_shown(shown.size, order.size)
        notes = [*(line for line in note.lines if line not in noted), cut]
        yield from (worst, picture, table, lines(note.key, notes))
        noted.update(note.lines)
    if subgroupings[1:]:
        yield lines("over all", [say_rows(groups.over_all())])
    if not subgroupings:
        yield lines("none", [words.NO_GROUPS])


def _comparison(
    scene: Scene, results: ComparisonResults | None, fold_plan: FoldPlan
) -> tuple[Block, ...]:
    """Return how the calibrators compare in cross-validation; that they were not compared."""
    if results is None or len(results.contestants) < 2:
        return (lines("none", [words.NOT_COMPARED]),)
    return calibrators(scene, results, fold_plan)


# The calibrator, the limits, and how to repeat it -------------------------------------------


def _calibrator(scene: Scene) -> tuple[Section, ...]:
    """Return what was fitted, with its parameters."""
    file = take_home.calibrator_file(scene)
    if scene.result.fitted is None:
        return ()
    content, fitted = json.loads(scene.result.fitted.to_json()), scene.result.fitted
    names, corrections = names_of_groups(scene), []
    if isinstance(fitted, FittedMulticalibration):
        content = {"gain": content["gain"]}  # the others are numbers of groups and of cells
        shown = listed(fitted, names)
        corrections = [(f"{row[0]}, {row[1]}", row[2]) for row in shown.rows] if shown else []
    elif isinstance(fitted, FittedByGroup) and names:
        content["groups"] = [names[0][1][int(k)] for k in content["groups"]]
    facts = [("Calibrator", method_name(scene.settings.method))]
    if file is not None:
        facts.append(("Takes", file.takes))
        facts += map(_names_of_groups, file.columns)
    facts.append(("Fitted on", rows_of(scene.split.calibration.n_samples)))
    blocks: list[Block | None] = [
        _pairs("calibrator", [*facts, *_parameters(content), *corrections]),
        lines("fit", list(scene.result.warnings)),
        lines("groups", [KNOWN_GROUPS] if names else []),
    ]
    return (section(scene, words.CALIBRATOR, "calibrator", *blocks),)


def _names_of_groups(grouping: Grouping) -> tuple[str, str]:
    names = [name or BLANK for name in grouping.names]
    head = f"Groups of {grouping.column}" if grouping.column else "Groups"
    return head, words.and_more(names, MOST_NAMES)


def _parameters(content: Mapping[str, Any], under: str = "") -> list[tuple[str, str]]:
    """Write every number of a calibrator; of long lists how many there are."""
    parameters: list[tuple[str, str]] = []
    for name, value in content.items():
        label = f"{under}{words.PARAMETERS.get(name, name)}"
        if name in {"kind", "warnings"}:
            continue
        if isinstance(value, Mapping):
            parameters += _parameters(value, f"{label}: ")
        elif isinstance(value, list):
            parameters.append((label, _numbers(value)))
        else:
            parameters.append((label, f"{value:.6g}" if isinstance(value, float) else str(value)))
    return parameters


def _numbers(values: list[Any]) -> str:
    size = np.size(values)
    if size > MOST_NUMBERS or any(isinstance(value, (Mapping, list)) for value in values):
        return f"{size:,} values, in the calibrator's file"
    return ", ".join(f"{v:.6g}" if isinstance(v, float) else str(v) for v in values)


def _limits(scene: Scene, request: ReportRequest) -> Section:
    """Return what the figures do not say, and what was not looked at."""
    upload = scene.upload
    looked = [words.only_event(scene.event_words.plain), *_part(scene)]
    if not find_groups(scene).subgroupings:
        looked.append(words.NO_GROUPS)
    if find_drift(scene) is None:
        looked.append(NO_DRIFT if is_designed(scene.rows) else words.NO_DATES)
    looked += upload.missing
    power = power_sentence(scene.evaluated.before, scene.evaluated.n_samples, expert=scene.expert)
    return section(
        scene,
        words.LIMITS,
        "limits",
        lines("tried", [words.tried(request.n_tried)]),
        lines("power", [power]),
        lines("warnings", _warnings(scene), words.WARNINGS),
        lines("not looked at", [say_rows(one) for one in looked], words.NOT_LOOKED_AT),
        lines("scope", [words.NO_DISCRIMINATION, words.SAME_KIND]),
    )


def _rerun(scene: Scene, request: ReportRequest) -> Section:
    """Return versions, every setting, and the command that finds the same figures."""
    upload, settings = scene.upload, scene.settings
    chosen = words.settings_by_name(
        settings,
        scene.n_resamples,
        one_set=upload.rows is not None,
        split_at=upload.options.split_at,
    )
    given = scene.result.request
    if given is not None and given.groupings:
        chosen |= {words.GROUPS: "; ".join(map(words.grouped, given.groupings))}
    parts = {"Python": platform.python_version()}
    parts |= {name: version(name) for name in ("numpy", "scipy")}
    versions = ", ".join(f"{name} {number}" for name, number in parts.items())
    pairs = [
        ("Event", scene.event_words.plain),
        *chosen.items(),
        ("Set", scene.where),
        (words.VERSION, version("fractile")),
        ("Versions", versions),
    ]
    acting = [] if isinstance(settings.event, TopR) else request.decisions.options
    command = (
        words.command(upload, settings, scene.n_resamples, acting) if scene.sample is None else ""
    )
    sentences: Sentences | None = lines("command", [request.rerun or words.rerun(command)])
    return section(scene, words.RERUN, "rerun", _pairs("settings", pairs), sentences)


# The figures for programs: the verdict and the measures, beside the layout ---------------------


def facts_of(scene: Scene, inference: Inference | None) -> dict[str, Any]:
    """Return the verdict of each side and a flat object a measure; see ``report.schema.json``."""
    frame = measures_frame(scene.evaluated, inference).reset_index()
    facts = {"verdict": asdict(_verdict(scene)), "measures": frame.to_dict("records")}
    plain: dict[str, Any] = _without_nan(facts)
    return plain


def _verdict(scene: Scene) -> Verdict:
    """Return what a side comes to; not of one that is looked at on the rows of its fit."""
    evaluated, groups = scene.evaluated, find_groups(scene)
    before = side_verdict(evaluated.before)
    off = group_verdicts(groups.before, groups.name)
    if not evaluated.calibrated or badges_of(scene)["After"] is FITTED:
        return Verdict(before, None, off)
    after = side_verdict(evaluated.after, evaluated.before)
    return Verdict(before, after, off, group_verdicts(groups.after, groups.name))


def _without_nan(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _without_nan(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_without_nan(one) for one in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
