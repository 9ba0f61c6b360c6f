"""Words of the report."""

import shlex
from collections.abc import Sequence
from dataclasses import replace
from itertools import chain

from calibcore.auditing import AuditRequest
from calibcore.grouping import Grouping
from dashboard.readers import Upload
from dashboard.readers.records import DEFAULTS
from dashboard.settings import NO_METHOD, Settings, usual_options, variant_key
from dashboard.texts.events import event_option
from dashboard.texts.glossary import OPTIONS
from dashboard.texts.methods import method_name
from dashboard.texts.numbers import percent
from dashboard.texts.rows import rows_of
from dashboard.texts.subgroups import BLANK, period_name

TITLE = "Calibration report"
BUTTON = "Report"
HELP = "The audit as one file to read, print or keep, and as JSON for programs."
MAKE, MAKING = "Make the report", "Making the report"
DOWNLOAD_HTML, DOWNLOAD_PAGE, DOWNLOAD_JSON = "Report (HTML)", "One page (HTML)", "Report (JSON)"
STALE = "The files below do not have these names yet. Make the report again to include them."
FIELDS = {
    "title": ("Title", ""),
    "model": ("Model", "Such as: readmission score, version 2"),
    "purpose": ("Purpose", "What is to be decided with it, and by whom"),
    "author": ("Prepared by", "Name, department"),
}
"""Labels of what is typed, each with an example; the title has a default."""

SUMMARY, DATA, GRAPHS, MEASURES = "Summary", "Data", "Cumulative and fractile graphs", "Measures"
SUBGROUPS, DECISIONS, CALIBRATOR = "Subgroups", "Decisions", "Calibrator"
COMPARISON, LIMITS, RERUN = "Calibrators compared", "Limits", "How to repeat it"

MODEL_CARD = {
    SUMMARY: "quantitative analyses",
    DATA: "evaluation data",
    GRAPHS: "quantitative analyses",
    MEASURES: "metrics",
    SUBGROUPS: "factors",
    DECISIONS: "intended use",
    CALIBRATOR: "model details",
    LIMITS: "caveats and recommendations",
}
"""Part of a model card (Mitchell et al. 2019) that a section answers."""

TRIPOD = {
    SUMMARY: "23a, 25",
    DATA: "5a, 7, 11, 20",
    GRAPHS: "23a",
    MEASURES: "12e, 23a",
    SUBGROUPS: "14, 23a, 23b",
    DECISIONS: "12e, 27",
    CALIBRATOR: "12f, 24",
    COMPARISON: "12f, 24",
    LIMITS: "26",
    RERUN: "18f",
}
"""Items of TRIPOD+AI (Collins et al. 2024) that a section answers, where scores are risks."""


def practice(title: str, *, risk: bool) -> str:
    """Return what a section answers: of a model card and, for the risk of one event, TRIPOD+AI.

    >>> practice("Measures", risk=True)
    'Model card: metrics. TRIPOD+AI: 12e, 23a.'
    """
    lines = [f"Model card: {MODEL_CARD[title]}."] if title in MODEL_CARD else []
    if risk and title in TRIPOD:
        lines.append(f"TRIPOD+AI: {TRIPOD[title]}.")
    return " ".join(lines)


PRACTICES = (
    "Sections follow model cards (Mitchell et al. 2019) and, for the risk of one event, TRIPOD+AI"
    " (Collins et al. 2024)."
)

BEFORE, AFTER, CHANGE, PERFECT = "Before", "After", "Change", "95% limit if perfectly calibrated"
VALUE, CLEAR = "Value", "Finding"
NOT_USED = "Not used"
PARAMETERS = {
    "score_map": "map of all rows",
    "knot_values": "values at knots",
    "penalty": "penalty that draws groups to all rows",
    "gain": "fall of the log loss of rows left out, in nats",
}
"""Names of parameters that are not words."""

WARNINGS, NOT_LOOKED_AT = "Warnings", "Not looked at"

FILE, DIGEST, DATE, VERSION = "File", "SHA-256", "Made", "Fractile"

NO_GROUPS = (
    "No column groups the rows, so miscalibration that cancels out between subgroups would not be"
    " seen."
)
NO_DATES = "No column holds dates, so drift over time was not looked at."
NOT_COMPARED = "Other calibrators were not compared."
NO_DISCRIMINATION = (
    "Calibration says whether scores mean what they say, not whether the model is good enough for"
    " its purpose."
)
SAME_KIND = "The figures hold for data like these; other places, times or people need their own."


def only_event(plain: str) -> str:
    """Return that other events were not evaluated."""
    return f"Only one event was evaluated: {plain}."


def only_part(name: str, n_rows: int, of: int) -> str:
    """Return that only part of the rows was evaluated."""
    return f"Only rows with {name} were evaluated: {n_rows:,} of {rows_of(of)}."


def tried(n_settings: int) -> str:
    """Return how many settings were tried: with each, the best one looks better by luck."""
    if n_settings <= 1:
        return "One combination of event, calibrator and options was evaluated."
    return (
        f"{n_settings:,} combinations of event, calibrator and options were evaluated on these data"
        " in this session. The more that are tried, the better the best one looks by luck; the"
        " intervals do not allow for that."
    )


def largest_shown(n_shown: int, n_groups: int) -> str:
    """Return how many subgroups are listed; nothing where all are."""
    if n_shown == n_groups:
        return ""
    return f"The first {n_shown:,} of {n_groups:,} subgroups; the Subgroups page has all."


def share(count: int, of: int) -> str:
    """Return a count with its share."""
    return f"{count:,} ({percent(count / of, of)})" if of else f"{count:,}"


def and_more(names: Sequence[str], most: int) -> str:
    """Return names, and how many more there are.

    >>> and_more(["a", "b", "c"], 2), and_more(["a"], 2)
    ('a, b and 1 more', 'a')
    """
    more = len(names) - most
    return ", ".join(names[:most]) + (f" and {more:,} more" if more > 0 else "")


def settings_by_name(
    settings: Settings, n_resamples: int, *, one_set: bool, split_at: tuple[str, ...] = ()
) -> dict[str, str]:
    """Return every setting that decides a number, by its name."""
    share = settings.calibration_share
    evaluation = "test set of its own"
    if one_set:
        evaluation = "cross-validated" if share is None else f"split, {share:.0%} to fit on"
    if split_at:
        evaluation = f"split by {split_at[0]} at {period_name(split_at[1])}"
    only = settings.only
    texts = {
        "Calibrator": method_name(settings.method),
        **{_option(settings.method, name): _chosen(value) for name, value in settings.options},
        "Calibrated by group": settings.group or "",
        "Evaluation": evaluation,
        "Filter": "" if only is None else only.shown,
        "Bins": str(settings.n_bins),
        "Seed": str(settings.seed),
        "Resamples": f"{n_resamples:,}",
    }
    return {name: text for name, text in texts.items() if text}


def _chosen(value: object) -> str:
    return ("on" if value else "off") if isinstance(value, bool) else str(value)


def _option(method: str, name: str) -> str:
    known = OPTIONS.get((method, name))
    return f"{method_name(method)}: {known[0] if known else name}"


def _files(together: Sequence[str], files: Sequence[str]) -> list[str]:
    """Return files, and what they are of one another, as the command takes them; or nothing.

    >>> _files(("sets", "b.csv"), ("a.csv", "b.csv"))
    ['b.csv', 'a.csv', '--files-are', 'sets']
    """
    way, named = together[:1], together[1:]
    others = [file for file in files if file not in named]
    if way == ("without",):
        return others if len(others) < len(files) else []  # sheets have no option
    if len(named) > 1 or (named and len(files) != 2):
        return []
    words = {"rows": "parts", "sets": "sets", "models": "models"}
    return [*named, *others, *(word for name in way for word in ("--files-are", words[name]))]


def command(
    upload: Upload, settings: Settings, n_resamples: int = 1000, acting: Sequence[str] = ()
) -> str:
    """Return the command that finds the same figures; empty where it knows not all settings.

    ``upload``: the data. ``settings``: what was chosen. ``n_resamples``: of the intervals.
    ``acting``: the options of decisions on one event.
    """
    defaults = {} if settings.method == NO_METHOD else usual_options(settings.method)
    own = {name: value for name, value in settings.options if value != defaults[name]}
    usual = Settings(
        settings.event, settings.method, settings.options, settings.n_bins, seed=settings.seed,
        group=settings.group,
    )  # fmt: skip
    options, event = upload.options, event_option(settings.event, upload.class_names)
    known = replace(
        DEFAULTS, roles=options.roles, values=options.values, first_label=options.first_label,
        leave_out=options.leave_out, event=options.event and event,
        class_names=options.class_names, together=options.together, split_at=options.split_at,
        prevalence=options.prevalence,
    )  # fmt: skip
    files = _files(options.together, upload.name.split(" + "))
    if settings != usual or options != known or not files:
        return ""
    given: dict[str, str | None] = {
        "event": event if upload.summary is None else None,
        "calibrator": variant_key(settings.method, own) if settings.method != NO_METHOD else None,
        "group": settings.group,
        "values": options.values if options.values != "auto" else None,
        "first-label": str(options.first_label) if options.first_label != "auto" else None,
        "class-names": "\n".join(options.class_names) or None,
        "prevalence": f"{options.prevalence:.6g}" if options.prevalence is not None else None,
        "bins": str(settings.n_bins)
        if settings.n_bins != Settings(settings.event).n_bins
        else None,
        "seed": str(settings.seed) if settings.seed else None,
        "resamples": str(n_resamples) if n_resamples != 1000 else None,
    }
    if not any("," in name for name in options.class_names) and len(options.class_names) > 1:
        given["class-names"] = ",".join(options.class_names)
    parts = ["fractile", "audit", *files]
    parts += chain(*((f"--{name}", its) for name, its in given.items() if its is not None))
    parts += chain(*(("--column", f"{name}={role}") for name, role in options.roles))
    parts += ["--split-at", "=".join(options.split_at)] if options.split_at else []
    parts += ["--leave-out"] if options.leave_out else []
    return shlex.join([*parts, *acting])


def in_python(audit: AuditRequest) -> str:
    """Return how the library finds the same figures."""
    rows, n_bins = "split" if audit.seed is None else "data, outcomes", audit.options.n_bins
    options = f"event={audit.event!r}, calibrator={audit.calibrator!r}, n_bins={n_bins}"
    seed = "" if audit.seed is None else f", seed={audit.seed}"
    groups = ", groups=groups" if audit.groupings else ""
    return f"In Python: calibcore.audit({rows}, {options}{seed}{groups})"


GROUPS = "Groups"


def grouped(grouping: Grouping) -> str:
    """Return the groups that were given, and the name of their column."""
    names = and_more([name or BLANK for name in grouping.names], 10)
    return f"{grouping.column}: {names}" if grouping.column else names


def rerun(written: str) -> str:
    """Return how to find the same figures again."""
    if written:
        return f"In a terminal: {written}"
    return "In the dashboard: open the file and choose the settings above."
