"""Build the site of the documentation: ``make docs``.

Pages of measures, calibrators and the command are written from what the program itself holds. The
glossary of the dashboard links the site, and the wheel holds it, where it was built.
"""

import shutil
import subprocess
import sys
from pathlib import Path

import click

import calibcore.metrics
from calibcore.calibrators import CATALOGUE, Method
from calibcore.evaluation import Side
from calibcore.events import OneClass
from calibcore.metrics import Measure
from calibcore.samples import SAMPLES_FOLDER
from dashboard.cli.main import main as fractile
from dashboard.document.svg import svg_of
from dashboard.figures import LIGHT, reliability_diagram
from dashboard.figures.plotly_json import LightFigure, Titles
from dashboard.headless import read_paths, scene_of
from dashboard.readers.records import ReadingOptions
from dashboard.scene import Scene
from dashboard.texts.glossary import GLOSSARY, OPTIONS
from dashboard.texts.measures import coverage_note
from dashboard.texts.reliability import bins_caption
from dashboard.views.glossary import reference as words

ROOT = Path(__file__).parents[1]

SERVED = ROOT / "dashboard" / "static" / "docs"
"""Where the dashboard serves the site from."""

KEPT = (
    "browser", "python", "teaching", "decisions", "validation", "agreement", "methods", "speed",
    "security", "service", "papers", "sources", "files",
)  # fmt: skip

MEASURED = "RESULTS", "CALIBRATORS"
"""Pages of ``benchmarks``."""
"""Pages that are written by hand, or by other targets."""

SAMPLE, EVENT = "crash_survival", OneClass(1)
"""What calibrators are shown on: the risk of one of two classes."""


def measures_page() -> str:
    """Write what each measure is, in the words of the pages, with the library's reference."""
    parts = ["# Measures", "", "As the table on Overview lists them; in code, by their keys.", ""]
    for title, measures in words.measures():
        parts += [f"## {title}", ""]
        for measure in measures:
            parts += _measure(measure)
    return "\n".join(parts)


def _measure(measure: Measure) -> list[str]:
    parts = [
        f"### {measure.name}", "", words.facts(measure), "",
        GLOSSARY[measure.key], "", coverage_note(measure.key, expert=True), "",
    ]  # fmt: skip
    if callable(getattr(calibcore.metrics, measure.key, None)):
        return [*parts, f"::: calibcore.metrics.{measure.key}", ""]
    return [*parts, f"`{words.notes_of_measure(measure)}`", ""]


def calibrators_page(pictures: Path) -> str:
    """Write what each calibrator is, when to use it, and what it does to one sample."""
    parts = [
        "# Calibrators", "",
        f"Each picture is the sample `{SAMPLE}`, risk of death, on its test set.", "",
        f"![Uncalibrated]({_picture('none', pictures)})", "",
    ]  # fmt: skip
    for method in CATALOGUE:
        parts += [f"## {method.name}", "", method.explained, "", f"> {method.formula}", ""]
        parts += [f"- Source: {method.paper}", f"- When: {words.needs(method)}"]
        parts += [f"- Key: `{method.key}`", *_options(method), ""]
        parts += [f"![{method.name}]({_picture(method.key, pictures)})", ""]
        made = type(method.make())
        parts += [f"::: {made.__module__}.{made.__qualname__}", ""]
    return "\n".join(parts)


def _options(method: Method) -> list[str]:
    known = [(option, OPTIONS.get((method.key, option.name))) for option in method.options]
    return [
        f"- {pair[0]} (`{option.name}`, default {option.default}): {pair[1]}"
        for option, pair in known
        if pair is not None
    ]


def _picture(key: str, folder: Path) -> str:
    scene = _scene(key)
    after: Side = scene.evaluated.after
    figure = reliability_diagram(after, scene.evaluated.before, LIGHT)
    sent = LightFigure(figure, LIGHT, None, Titles(write=str)).to_dict()
    folder.mkdir(parents=True, exist_ok=True)
    text = svg_of(sent, alt=bins_caption(after), name=key)
    (folder / f"{key}.svg").write_text(text.replace("<svg ", '<svg width="400" ', 1), "utf-8")
    return f"{folder.name}/{key}.svg"


def _scene(key: str) -> Scene:
    upload = read_paths([SAMPLES_FOLDER / f"{SAMPLE}.npz"], ReadingOptions())
    group = "sex" if key == "by_group" else None
    return scene_of(
        upload, event=EVENT, method=key, group=group, n_resamples=0, progress=lambda _: None
    )


def command_page() -> str:
    """Write what the command is for, and the help of every command, as it is printed."""
    parts = [(ROOT / "docs" / "command.md").read_text("utf-8")]
    for name in (None, *fractile.commands):
        command = fractile if name is None else fractile.commands[name]
        shown = "fractile" if name is None else f"fractile {name}"
        context = click.Context(command, info_name=shown, max_content_width=100)
        parts += [f"## {shown}", "", "```text", command.get_help(context), "```", ""]
    return "\n".join(parts)


def reference_page() -> str:
    """List what the library offers."""
    names = (
        "auditing", "export.calibrator_file", "export.numpy_code", "export.onnx_model",
        "estimators", "adapters.torchmetrics", "adapters.evaluate", "adapters.mlflow", "drift",
        "evaluation", "inference", "events", "data", "splits", "decisions", "subgroups",
        "synthetic", "errors",
    )  # fmt: skip
    return "\n".join(["# Reference", "", *(f"::: calibcore.{name}\n" for name in names)])


def page_kept(name: str) -> str:
    """Return a page of docs as the site has it, where results of benchmarks stand beside it."""
    return (ROOT / "docs" / f"{name}.md").read_text("utf-8").replace("](../benchmarks/", "](")


def write_pages(folder: Path) -> None:
    """Write every page of the site."""
    folder.mkdir(parents=True, exist_ok=True)
    made = {
        "measures": measures_page(),
        "calibrators": calibrators_page(folder / "pictures"),
        "command": command_page(),
        "reference": reference_page(),
        **{name: page_kept(name) for name in KEPT},
    }
    made["index"] = (ROOT / "docs" / "site.md").read_text("utf-8")
    for name in MEASURED:
        made[name] = (ROOT / "benchmarks" / f"{name}.md").read_text("utf-8")
    for name, text in made.items():
        (folder / f"{name}.md").write_text(text, encoding="utf-8")
    (folder / "service").mkdir(exist_ok=True)
    for name in ("nginx.conf", "Containerfile", "compose.yaml", "fractile.service"):
        shutil.copy(ROOT / "docs" / "service" / name, folder / "service" / name)


def main() -> None:
    """Write the pages and build the site."""
    folder = ROOT / "build"
    write_pages(folder / "pages")
    config = folder / "mkdocs.yml"
    config.write_text((ROOT / "docs" / "mkdocs.yml").read_text("utf-8"), encoding="utf-8")
    tool = Path(sys.executable).parent / "zensical"
    command = [tool, "build", "-f", config, "--clean", "--strict"]
    subprocess.run(command, check=True)  # noqa: S603 - our own
    shutil.rmtree(SERVED, ignore_errors=True)
    shutil.copytree(folder / "site", SERVED)


if __name__ == "__main__":
    main()
