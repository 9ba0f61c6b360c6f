"""The ``fractile`` command: the dashboard, an audit, and a calibrator fitted and applied."""

# ruff: noqa: E402 - before anything else is imported, nothing is from the working folder

from dashboard import leave_working_folder

leave_working_folder()

import os
import sys
from collections.abc import Callable, Sequence
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any, TypeVar

import click

from calibcore.errors import CalibrationInputError
from dashboard.cli.commands import (
    CANNOT,
    HOLDS,
    Commands,
    InputPath,
    Key,
    OutputPath,
    WithKeys,
    check_outputs,
    named_files,
    resamples,
    say,
    splits,
)

Result = TypeVar("Result")

_EXAMPLES = {
    "main": (
        "\b\n"
        "Examples:\n"
        "  fractile\n"
        "  fractile serve -- --server.port 9000\n"
        "  fractile audit predictions.csv --outcome readmitted --score risk\n"
        "  fractile fit predictions.csv --calibrator spline --out calibrator.json\n"
        "  fractile calibrate new.csv --with calibrator.json --out calibrated.csv\n"
        "  fractile check march.csv --against audit.json\n"
        "  fractile compare resnet.npz densenet.npz\n"
    ),
    "serve": (
        "\b\nExamples:\n"
        "  fractile serve --memory 4GB\n"
        "  fractile serve --summaries /srv/summaries\n"
        "  fractile serve -- --server.port 9000 --server.headless true\n"
    ),
    "class": (
        "\b\n"
        "Example, while the dashboard runs in another window:\n"
        "  fractile class http://127.0.0.1:8501 --students 40\n"
    ),
    "audit": (
        "\b\n"
        "Codes:\n"
        "  0  done\n"
        "  1  a condition holds\n"
        "  2  the files cannot be read, or an option does not fit them\n"
        "  other codes: it did not get to an answer\n"
        "\n"
        "\b\n"
        "Examples:\n"
        "  fractile audit predictions.csv\n"
        "  fractile audit predictions.csv --outcome readmitted --score risk --event Yes\n"
        "  fractile audit logits.npz --calibrator temperature --all\n"
        "  fractile audit 'parts/*.csv' --files-are parts\n"
        "  zcat predictions.csv.gz | fractile audit -\n"
        "  fractile audit predictions.csv --report report.html --json audit.json\n"
        '  fractile audit batch.parquet --fail-if "ks_error>3%" --fail-if "subgroup.gap>0.05"\n'
        "  fractile audit 'logs/*.parquet' --score p --outcome y --engine dask --by region\n"
    ),
    "fit": (
        "\b\n"
        "Examples:\n"
        "  fractile fit predictions.csv --calibrator spline --out calibrator.json\n"
        "  fractile fit predictions.csv --calibrator by_group --group ward --out calibrator.json\n"
        "  fractile fit predictions.csv --calibrator platt --out calibrator.py\n"
        "  fractile fit predictions.csv --calibrator isotonic --out calibrator.xlsx\n"
        "  fractile fit logits.npz --calibrator vector --out calibrator.onnx\n"
    ),
    "check": (
        "\b\n"
        "Codes:\n"
        "  0  no change detected\n"
        "  1  a measure changed, or the power is below --min-power\n"
        "  2  the files cannot be read, or an option does not fit them\n"
        "  other codes: it did not get to an answer\n"
        "\n"
        "\b\n"
        "Examples:\n"
        "  fractile audit january.csv --json audit.json\n"
        "  fractile check march.csv --against audit.json\n"
        "  fractile check march.csv --against audit.json --change 0.05 --min-power 0.8\n"
        "  fractile check march.csv --against audit.json --min-change 1% --junit check.xml\n"
        "  fractile check rescored.csv --against january.csv\n"
        "  fractile check rescored.csv --against audit.json --audited january.csv\n"
        "  fractile check day31.parquet --against 'days/*.parquet'\n"
    ),
    "compare": (
        "\b\n"
        "Examples:\n"
        "  fractile compare predictions.csv\n"
        "  fractile compare january.csv march.csv --calibrators platt,spline --resamples 1000\n"
        "  fractile compare logits.npz --measure ece --splits 10 --json table.json\n"
        "  fractile compare logits.npz --calibrators temperature --latex table.tex\n"
    ),
    "series": "\b\nExample:\n  fractile series 'days/2025-03-*.parquet'\n",
    "summarise": (
        "\b\n"
        "Examples:\n"
        "  fractile summarise 'logs/*.parquet' --score p --outcome y -o week.parquet\n"
        "  fractile summarise logs --score p --outcome y --by region --by device -o week.parquet\n"
        "  fractile summarise logs --score 'logit_*' --values logits --outcome y -o week.parquet\n"
        "  fractile summarise s3://bucket/logs --score p --outcome y -o week.parquet\n"
        "  fractile audit week.parquet --report report.html\n"
        "  fractile audit 'days/*.parquet' --fail-if \"ks_error>3%\"\n"
    ),
    "prevalence": (
        "\b\nExample:\n  fractile prevalence cases.csv --outcome ill --new clinic.csv\n"
    ),
    "calibrate": (
        "\b\nExample:\n  fractile calibrate new.csv --with calibrator.json --out calibrated.csv\n"
    ),
}
"""Of every command, below its options; click keeps the lines of what follows its mark."""


@click.group(
    cls=Commands,
    invoke_without_command=True,
    context_settings={"max_content_width": 100},
    epilog=_EXAMPLES["main"],
)
@click.version_option(version("fractile"), prog_name="fractile")
@click.pass_context
def main(context: click.Context) -> None:
    """See whether a classifier's probabilities can be believed.

    Without a command, the dashboard opens in the browser. For completion in bash:
    eval "$(_FRACTILE_COMPLETE=bash_source fractile)"; other shells: zsh_source, fish_source.
    """
    if context.invoked_subcommand is None:
        with serve.make_context("serve", [], context) as alone:
            serve.invoke(alone)


def _check_memory(_: click.Context, __: click.Parameter, size: str | None) -> str | None:
    from dashboard.compute.memory import bytes_of  # noqa: PLC0415 - for this command alone

    if size is not None:
        try:
            bytes_of(size)
        except ValueError as error:
            raise click.BadParameter(str(error)) from error
    return size


@main.command(context_settings={"ignore_unknown_options": True}, epilog=_EXAMPLES["serve"])
@click.option(
    "--memory",
    metavar="SIZE",
    envvar="FRACTILE_MEMORY",
    callback=_check_memory,
    help="Most for files and results, such as 4GB; a quarter of the machine's by default.",
)
@click.option(
    "--summaries",
    metavar="DIR",
    envvar="FRACTILE_SUMMARIES",
    type=click.Path(exists=True, file_okay=False, path_type=Path, resolve_path=True),
    help="A folder of summaries that every visitor may open; of no other folder anything.",
)
@click.argument("options", nargs=-1, type=click.UNPROCESSED)
def serve(memory: str | None, summaries: Path | None, options: tuple[str, ...]) -> None:
    """Open the dashboard; OPTIONS after -- are Streamlit's."""
    from dashboard.compute.memory import MEMORY  # noqa: PLC0415 - for this command alone
    from dashboard.folder import SUMMARIES  # noqa: PLC0415 - the same

    if memory is not None:
        os.environ[MEMORY] = memory
    if summaries is not None:
        os.environ[SUMMARIES] = str(summaries)
    _serve(options)


@main.command("class", epilog=_EXAMPLES["class"])
@click.argument("address", default="http://127.0.0.1:8501")
@click.option("--students", type=click.IntRange(1, 400), default=40, show_default=True)
@click.option("--seconds", type=click.FloatRange(1, 600), default=30, show_default=True)
@click.option(
    "--pause",
    type=click.FloatRange(0.1, 60),
    default=2,
    show_default=True,
    help="Seconds between two moves of a student, on average.",
)
@click.option("--laboratory", is_flag=True, help="All move the slope there, not lessons.")
def measure_class(
    address: str, *, students: int, seconds: float, pause: float, laboratory: bool
) -> None:
    """Measure how fast a running dashboard, at ADDRESS, answers a class at its lessons."""
    import asyncio  # noqa: PLC0415 - for this command alone

    from dashboard.cli.classroom import lessons_that_slide, teach  # noqa: PLC0415 - takes a second

    lessons = [None] if laboratory else lessons_that_slide()
    report = teach(address.rstrip("/"), lessons, students, seconds, pause)
    click.echo(asyncio.run(report), nl=False)


def _serve(options: Sequence[str]) -> None:
    from dashboard.logs import level_named  # noqa: PLC0415 - with the core, for this command

    try:
        level_named()
    except CalibrationInputError as error:
        raise click.UsageError(str(error)) from error
    # Of several fits at once, those with threads waiting for each other take ten times as long.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    from streamlit.web import cli  # noqa: PLC0415 - half a second, not for whoever imports this

    sys.argv = ["streamlit", "run", str(Path(__file__).parents[1] / "server.py"), *options]
    try:
        cli.main()
    except OverflowError as error:  # a port that is none
        raise click.UsageError(str(error)) from error


_FILE = click.Path(path_type=Path)
_FILES = click.argument("files", nargs=-1, required=True, type=InputPath(), callback=named_files)
_BY = click.option(
    "--by",
    metavar="COLUMN",
    multiple=True,
    help="Count by its groups too: a column, or a part of the paths such as region=eu. Repeatable;"
    " at most 100 groups of all columns together.",
)
_COUNTS: tuple[Callable[[Any], Any], ...] = (
    click.option(
        "--engine",
        type=click.Choice(["here", "dask", "spark"]),
        help="What counts the rows by score: processes here, or a cluster, whose workers open the"
        " files; without an address of one, as many as this machine has cores.",
    ),
    click.option(
        "--scheduler", metavar="ADDRESS", help="Of a Dask cluster, such as tcp://10.0.0.5:8786."
    ),
    click.option(
        "--master",
        metavar="ADDRESS",
        help="Of a Spark cluster, such as local[2] or spark://10.0.0.5:7077.",
    ),
    click.option(
        "--processes",
        type=click.IntRange(1, 1024),
        help="How many count here; by default as many as there are cores and memory for.",
    ),
)
"""What reads rows that are many."""

_APPLIED = click.option(
    "--with",
    "applied",
    type=_FILE,
    help="A kept calibrator, applied to the scores before they are counted.",
)

_READING: tuple[Callable[[Any], Any], ...] = (
    _FILES,
    click.option("--outcome", metavar="COLUMN", help="What came true, or the true class."),
    click.option(
        "--score", metavar="COLUMN", help="The score of one event; with --engine also 'logit_*'."
    ),
    click.option(
        "--weight", metavar="COLUMN", help="Sampling weights: rows drawn with unequal chances."
    ),
    click.option("--count", metavar="COLUMN", help="How many equal rows each row stands for."),
    click.option(
        "--cluster",
        metavar="COLUMN",
        help="What rows that belong together share, such as a patient.",
    ),
    click.option(
        "--prevalence",
        type=click.FloatRange(0, 1, min_open=True, max_open=True),
        help="True share of the event, where the rows have another, as in case-control data.",
    ),
    click.option(
        "--column",
        "columns",
        metavar="NAME=ROLE",
        multiple=True,
        help="What another column is: id, group, class, prediction, ... Repeatable.",
    ),
    click.option(
        "--values",
        type=click.Choice(["logits", "probabilities", "percentages"]),
        help="What the values are, where the file leaves it open.",
    ),
    click.option(
        "--first-label", type=click.Choice(["0", "1"]), help="The number of the first class."
    ),
    click.option(
        "--class-names",
        metavar="NAMES",
        help="Names of the classes in their order, separated by commas.",
    ),
    click.option(
        "--files-are",
        type=click.Choice(["parts", "sets", "models"]),
        help="Several files, or sheets: parts of one table, two sets, or models of the"
        " same rows. Of sets and models, the first is the calibration set, or the one read.",
    ),
    click.option(
        "--split-at",
        metavar="[COLUMN=]PERIOD",
        help="Fit on the rows before a period, such as 2025-10, 2025-Q4 or 2025,"
        " and evaluate those from it on; of several columns of dates, booked=2025-10.",
    ),
    click.option("--leave-out", is_flag=True, help="Leave out rows that cannot be used."),
    click.option(
        "--event",
        metavar="EVENT",
        help="top-1, within-2, a class, or of two outcomes the one the score is of.",
    ),
)
"""How a file is read, for every command that reads one."""


def _with(
    options: Sequence[Callable[[Any], Any]], command: Callable[..., None]
) -> Callable[..., None]:
    for one in reversed(options):
        command = one(command)
    return command


_reads_files, _counts_rows = partial(_with, _READING), partial(_with, _COUNTS)

_GROUP = click.option(
    "--group", metavar="COLUMN", help="Groups, for a calibrator that knows groups: by_group."
)

_REPORT: tuple[Callable[[Any], Any], ...] = (
    click.option(
        "--report",
        metavar="HTML",
        type=OutputPath(".html", ".htm"),
        help="Write the report to a file.",
    ),
    click.option("--page", "brief", is_flag=True, help="Of the report, the one page."),
    click.option(
        "--json", metavar="JSON", type=OutputPath(".json"), help="Write the report for programs."
    ),
    click.option("--title", default="", help="Of the report."),
    click.option("--purpose", default="", help="What is to be decided, for the report."),
    click.option("--model", default="", help="Name and version of the model, for the report."),
    click.option("--author", default="", help="Who made the report."),
    click.option(
        "--cutoff",
        type=click.FloatRange(0, 1, min_open=True, max_open=True),
        help="Of decisions on one event, for the report; by default the event's frequency.",
    ),
    click.option(
        "--costs",
        metavar="ALARM MISS",
        nargs=2,
        type=click.FloatRange(0, min_open=True),
        help="Of a false alarm and a missed event, for the report; they set the cut-off.",
    ),
    click.option(
        "--test-harm",
        default=0.0,
        type=click.FloatRange(0, 1),
        help="What it costs to have the score of a row, for the report: 0.01 if one would score 100"
        " rows to find one event. It is taken off the model's net benefit.",
    ),
)
"""What the report of an audit is to hold, and where it is written."""


@main.command(cls=WithKeys, epilog=_EXAMPLES["audit"])
@_reads_files
@click.option(
    "--calibrator",
    metavar="KEY",
    type=Key(),
    help="Fit and evaluate it, such as spline or spline.n_knots=10; or none.",
)
@_GROUP
@click.option(
    "--fail-if",
    "fail_if",
    metavar="CONDITION",
    multiple=True,
    help='Exit with code 1 where it holds, such as "ks_error>0.03". Repeatable.',
)
@click.option(
    "--resamples",
    default=1000,
    show_default=True,
    type=click.IntRange(0, 10_000),
    callback=resamples,
    help="Draws of the rows for 95% CIs: 20 or more, or 0 for none.",
)
@click.option(
    "--bins",
    default=15,
    show_default=True,
    type=click.IntRange(2, 1_000),
    help="Of the reliability diagram and of binned measures.",
)
@click.option(
    "--seed", default=0, show_default=True, type=click.IntRange(0), help="Of the folds of one set."
)
@click.option("--all", "full", is_flag=True, help="Every measure, not the short list.")
@_BY
@_counts_rows
@_APPLIED
@partial(_with, _REPORT)
def audit(
    fail_if: tuple[str, ...],
    full: bool,  # noqa: FBT001 - click gives flags so
    **given: Any,
) -> None:
    """Print the verdict and measures of FILES; write a report.

    The figures are those of the dashboard, one set cross-validated as there.

    Conditions are of scores before calibration, or after it where a calibrator is named: the key of
    any measure, and subgroup.gap, the largest mean gap of a subgroup that chance does not explain.
    A limit may be a percentage.

    Files of any number of rows are audited with --engine, which counts the rows by score, as
    fractile summarise does, and by the columns that --by names.
    """
    from dashboard.cli.terminal import audit_files  # noqa: PLC0415 - takes a second

    holds = _done(lambda: audit_files(given, fail_if, full=full))
    sys.exit(HOLDS if holds else 0)


@main.command(cls=WithKeys, epilog=_EXAMPLES["compare"])
@_reads_files
@click.option(
    "--calibrators",
    metavar="KEYS",
    multiple=True,
    help="Such as temperature,spline; by default those that the page compares.",
)
@click.option(
    "--measure", metavar="KEY", default="ks_error", show_default=True, help="What the cells show."
)
@click.option(
    "--resamples",
    default=0,
    show_default=True,
    type=click.IntRange(0, 10_000),
    callback=resamples,
    help="Draws of the rows for the 95% CI of each cell: 20 or more, or 0 for none.",
)
@click.option(
    "--splits",
    default=0,
    show_default=True,
    type=click.IntRange(0, 1_000),
    callback=splits,
    help="Random splits of all rows: mean and standard deviation; 0 for each file's own sets.",
)
@click.option(
    "--json", metavar="JSON", type=OutputPath(".json"), help="Write the table for programs."
)
@click.option("--markdown", metavar="MD", type=OutputPath(".md"), help="Write it as Markdown.")
@click.option("--latex", metavar="TEX", type=OutputPath(".tex"), help="Write it as LaTeX.")
def compare(**given: Any) -> None:
    """Print a table of models by calibrators.

    Each of FILES is a model with its own calibration and test set, or one set, cross-validated; the
    models may be of other rows. Each calibrator is fitted to each. The table is that of the page
    Models.
    """
    from dashboard.cli.compare import compare_files  # noqa: PLC0415 - takes a second

    _done(lambda: compare_files(given))


@main.command(epilog=_EXAMPLES["check"])
@_reads_files
@click.option(
    "--against",
    metavar="FILE",
    required=True,
    multiple=True,
    type=InputPath(),
    callback=named_files,
    help="Report of `audit --json`, or the audited rows; summaries, such as those of a month, add"
    " up. Repeatable.",
)
@click.option(
    "--audited",
    metavar="FILE",
    multiple=True,
    type=_FILE,
    help="The audited rows of a report, where they are not beside it. Repeatable.",
)
@click.option(
    "--change",
    default=0.02,
    show_default=True,
    type=click.FloatRange(0, 1, min_open=True),
    help="Of the mean gap: the power to have detected it is printed.",
)
@click.option(
    "--min-power",
    "min_power",
    type=click.FloatRange(0, 1),
    help="Exit with code 1 where the power to detect that change is below it, such as 0.8.",
)
@click.option(
    "--min-change",
    "min_change",
    metavar="[MEASURE=]SIZE",
    multiple=True,
    help="The smallest change that matters, of all measures or of one: 0.01, 1%, event_nll=0.02;"
    " smaller ones do not fail, however many rows. Repeatable.",
)
@click.option(
    "--measures",
    metavar="KEYS",
    multiple=True,
    help="What is compared, such as mean_gap,ks_error; by default mean_gap, ks_error, event_brier,"
    " event_nll, auroc, mean_score, hit_rate.",
)
@click.option(
    "--level",
    default=0.05,
    show_default=True,
    type=click.FloatRange(0.001, 0.5),
    help="Chance that any measure counts as changed if none has.",
)
@click.option(
    "--json", metavar="JSON", type=OutputPath(".json"), help="Write the figures for programs."
)
@click.option(
    "--junit", metavar="XML", type=OutputPath(".xml"), help="Write a test a measure, as JUnit does."
)
def check(**given: Any) -> None:
    """Print whether a new batch in FILES behaves as the audited one.

    The files are read as the audited one was unless an option says otherwise, and their scores
    compared as they are. What a change of the event's frequency explains is said.

    Where 9 of 10 new rows have the row ID of an audited row, these are compared pair by pair, which
    shows smaller changes; otherwise as two samples. Either is said. The audited file is sought by
    the name in the report, in this folder and in that of the report, and used if it is unchanged.
    """
    from dashboard.cli.check import check_files  # noqa: PLC0415 - takes a second

    changed = _done(lambda: check_files(given))
    sys.exit(HOLDS if changed else 0)


@main.command(epilog=_EXAMPLES["series"])
@_FILES
@click.option(
    "--resamples",
    default=1000,
    show_default=True,
    type=click.IntRange(20, 10_000),
    help="Draws of the rows for 95% CIs.",
)
def series(files: tuple[Path, ...], resamples: int) -> None:
    """Print summaries in the order of their names, such as days, and whether they drift.

    FILES are of fractile summarise, two or more. Exits with code 1 where a drift is detected.
    """
    from dashboard.cli.summaries import series_of_summaries  # noqa: PLC0415 - takes a second

    drifted = _done(lambda: series_of_summaries(files, resamples))
    sys.exit(HOLDS if drifted else 0)


@main.command(epilog=_EXAMPLES["summarise"])
@_FILES
@click.option(
    "--score",
    metavar="COLUMN",
    required=True,
    help="The score of the event; or, such as 'logit_*', those of every class, named by the star.",
)
@click.option(
    "--outcome",
    metavar="COLUMN",
    required=True,
    help="Whether it happened: 0, 1 or booleans. Of classes: the name of the true one.",
)
@click.option(
    "--values", type=click.Choice(["logits", "probabilities"]), help="What scores of classes are."
)
@click.option(
    "--event", metavar="EVENT", help="Of scores of classes: top-1 (the default), within-2, a class."
)
@_BY
@click.option(
    "--count", metavar="COLUMN", help="How many equal rows each row stands for: 0, 1, 2, ..."
)
@click.option("--out", "-o", required=True, type=OutputPath(".parquet"), help="File to write.")
@_counts_rows
@_APPLIED
def summarise(files: tuple[Any, ...], out: Path, **given: Any) -> None:
    """Count the rows of Parquet FILES by score, and keep the counts as a small file.

    Files of any size are read a batch at a time, here or from an address such as s3://bucket/logs.
    fractile audit takes the result, and adds several up, such as a file for each day. With --by its
    verdict names the worst subgroups, and fractile check compares them.
    """
    from dashboard.cli.engine import Counting  # noqa: PLC0415 - takes a second
    from dashboard.cli.summaries import summarise_files  # noqa: PLC0415 - the same

    def work() -> str:
        counting = Counting.of(given) or Counting.of({**given, "engine": "here"})
        assert counting is not None  # noqa: S101 - for the type
        return summarise_files(files, counting, out)

    say(_done(work))


@main.command(cls=WithKeys, epilog=_EXAMPLES["fit"])
@_reads_files
@click.option(
    "--calibrator",
    metavar="KEY",
    type=Key(),
    required=True,
    help="Such as temperature or spline.n_knots=10.",
)
@_GROUP
@_counts_rows
@click.option(
    "--out",
    required=True,
    type=OutputPath(".json", ".py", ".onnx", ".xlsx"),
    help="File to write: .json, .py, .onnx or .xlsx.",
)
@click.option("--model", default="", help="Name and version of the model, for the file.")
def fit(calibrator: str, group: str | None, out: Path, model: str, **reading: Any) -> None:
    """Fit a calibrator and keep it as a file.

    It is fitted on all rows of the calibration set of FILES, or of their only set. The file says
    what it takes, of which classes, on which data it was fitted and how it did; fractile calibrate
    applies it. One that ends in .py is Python that needs numpy alone; one that ends in .xlsx is a
    workbook in which scores are typed or pasted.

    Files of any number of rows are read with --engine: temperature, vector, and matrix.penalty=none
    or dirichlet.penalty=l2 are fitted to the scores of all classes, such as 'logit_*', by a few
    passes over them; others to the scores of one event, once they are counted.
    """
    from dashboard.cli.terminal import fit_files  # noqa: PLC0415 - takes a second

    say(_done(lambda: fit_files(reading, calibrator, group, out, model)))


@main.command(epilog=_EXAMPLES["calibrate"])
@_reads_files
@click.option("--with", "calibrator", required=True, type=_FILE, help="Its file.")
@click.option(
    "--out",
    required=True,
    type=OutputPath(".csv", ".parquet", ".npz"),
    help="File to write: .csv, .parquet, .npz.",
)
def calibrate(calibrator: Path, out: Path, **reading: Any) -> None:
    """Apply a kept calibrator to new rows.

    FILES need no outcomes; their rows keep order, number and row IDs. The column that was in
    percent for the fit is read so again, and what is in percent is written in percent. Other
    classes than those fitted on, or values that do not look like what the calibrator takes, are
    refused. A calibrator by group reads each row's group from the column that it was fitted by.
    """
    from dashboard.cli.terminal import calibrate_files  # noqa: PLC0415 - takes a second

    say(_done(lambda: calibrate_files(reading, calibrator, out)))


@main.command(epilog=_EXAMPLES["prevalence"])
@_reads_files
@click.option(
    "--new",
    required=True,
    metavar="FILE",
    type=_FILE,
    help="Rows without outcomes, of where scores will be used.",
)
@click.option(
    "--calibrator",
    metavar="KEY",
    type=Key(),
    default="platt",
    show_default=True,
    help="Of one score; it is fitted to FILES first, as the estimate needs calibrated scores.",
)
def prevalence(new: Path, calibrator: str, **reading: Any) -> None:
    """Estimate the share of the event where there are no outcomes yet.

    A calibrator is fitted to FILES, whose outcomes are known, and calibrates the rows of --new. The
    share is the likeliest one, if these differ from FILES in how frequent the event is and in
    nothing else, which no rows without outcomes can show. State it with --prevalence, or on the
    page where the file is opened. A column of --weight or --count is one of both.
    """
    from dashboard.cli.terminal import estimate_prevalence  # noqa: PLC0415 - takes a second

    say(_done(lambda: estimate_prevalence(reading, calibrator, new)))


def _done(work: Callable[[], Result]) -> Result:
    """Do the work of a command, or say in a sentence why it cannot be done."""
    # Streamlit's caches serve without its server, but say that there is none.
    os.environ["STREAMLIT_LOGGER_LEVEL"] = "error"
    try:
        check_outputs(click.get_current_context())
        return work()
    except CalibrationInputError as error:
        from dashboard.cli.terminal import explained  # noqa: PLC0415 - is imported by now

        click.echo(explained(error), err=True)
        sys.exit(CANNOT)
