"""The rules of ARCHITECTURE.md, read off the sources."""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from dashboard.readers import FORMATS
from dashboard.texts.opening import ways_to_bring

ROOT = Path(__file__).parents[1]
PACKAGES = ("calibcore", "dashboard")
SOURCES = sorted(path for name in PACKAGES for path in (ROOT / name).rglob("*.py"))
OTHERS = sorted(
    path
    for name in ("benchmarks", "sample_logits/training")
    for path in (ROOT / name).rglob("*.py")
)
LONGEST_BODY, LONGEST_APP = 40, 130
MOST_READER_LINES, MOST_READER_FILES = 15_392, 48
"""Reading is a means: what is added there has to make room for itself."""

STREAMLIT_USERS = {
    "app", "controls", "opening", "server", "stage", "style", "take_home", "views", "widgets"
}  # fmt: skip
LAZY_STREAMLIT_USERS = {"cli", "compute"}
CORE_MAY_IMPORT = {"numpy", "scipy", "calibcore", *sys.stdlib_module_names}
RUNS_CODE = {"pickle", "cPickle", "_pickle", "dill", "cloudpickle", "joblib", "shelve", "marshal"}
"""Modules that would run code out of a file."""

Function = ast.FunctionDef | ast.AsyncFunctionDef


def place(path: Path, line: int | None = None) -> str:
    name = path.relative_to(ROOT).as_posix()
    return name if line is None else f"{name}:{line}"


@cache
def parse(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def package_of(path: Path) -> list[str]:
    """Dotted parts of the package a file is in."""
    return list(path.relative_to(ROOT).parent.parts)


def module_of(path: Path) -> str:
    parts = package_of(path)
    return ".".join(parts if path.stem == "__init__" else [*parts, path.stem])


def imported(path: Path, tree: ast.AST) -> Iterator[str]:
    """Give every module that is imported anywhere inside, names from a package included."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package_of(path)
            start = above[: len(above) - node.level + 1] if node.level else []
            base = ".".join([*start, *([node.module] if node.module else [])])
            yield base
            yield from (f"{base}.{alias.name}" for alias in node.names)


def tops(path: Path, tree: ast.AST) -> set[str]:
    return {name.partition(".")[0] for name in imported(path, tree)}


def outer_only(path: Path) -> ast.Module:
    """Parse a file and drop its functions, so that what is left runs at import."""

    class Drop(ast.NodeTransformer):
        def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
            del node

        def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> None:
            del node

    dropped = Drop().visit(ast.parse(path.read_text(encoding="utf-8")))
    assert isinstance(dropped, ast.Module)
    return dropped


def test_there_is_something_to_check() -> None:
    names = {place(path) for path in SOURCES}
    assert {
        "calibcore/evaluation.py",
        "dashboard/app.py",
        "dashboard/views/overview/page.py",
    } <= names


# Who knows whom -----------------------------------------------------------------------------


def room(path: Path) -> str:
    """Name a module of the dashboard by its first part."""
    return path.relative_to(ROOT / "dashboard").with_suffix("").parts[0]


def test_only_the_front_rooms_import_streamlit() -> None:
    allowed = STREAMLIT_USERS | LAZY_STREAMLIT_USERS
    wrong = [
        place(path)
        for path in SOURCES
        if "streamlit" in tops(path, parse(path))
        and (package_of(path)[0] != "dashboard" or room(path) not in allowed)
    ]
    assert wrong == []


@pytest.mark.parametrize("name", ["cli/main.py", "compute/files.py"])
def test_streamlit_is_imported_only_when_called(name: str) -> None:
    path = ROOT / "dashboard" / name
    assert "streamlit" in tops(path, parse(path))
    assert "streamlit" not in tops(path, outer_only(path))


@pytest.mark.parametrize("imported", ["dashboard.report.library", "dashboard.cli.terminal"])
def test_reports_and_the_command_are_made_without_streamlit(imported: str) -> None:
    code = f"import sys, {imported}; sys.exit('streamlit' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_the_core_imports_numpy_scipy_and_the_standard_library() -> None:
    wrong = {
        place(path): sorted(strange)
        for path in (ROOT / "calibcore").rglob("*.py")
        if (strange := tops(path, parse(path)) - CORE_MAY_IMPORT)
    }
    assert wrong == {
        "calibcore/adapters/mlflow.py": ["mlflow"],  # an extra, imported by nothing else
        "calibcore/auditing.py": ["pandas"],  # the name of a type alone
        "calibcore/estimators.py": ["sklearn"],  # an extra, imported by nothing else
        "calibcore/frames.py": ["pandas"],  # when a table is asked for
        "calibcore/export/onnx_model.py": ["onnx"],  # an extra, imported by nothing else
    }


@pytest.mark.parametrize("imported", ["calibcore", "calibcore.frames"])
def test_the_core_is_imported_without_pandas(imported: str) -> None:
    code = f"import sys, {imported}; sys.exit('pandas' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_views_do_not_import_each_other() -> None:
    views = sorted((ROOT / "dashboard" / "views").rglob("page.py"))
    names = {module_of(path) for path in views}
    assert len(names) > 1
    wrong = {
        place(path): sorted(others)
        for path in views
        if (others := names & set(imported(path, parse(path))) - {module_of(path)})
    }
    assert wrong == {}


@pytest.mark.parametrize("part", ["figures", "readers", "tables", "texts"])
def test_results_become_pictures_tables_and_words_without_views(part: str) -> None:
    front = tuple(f"dashboard.{name}" for name in (*STREAMLIT_USERS, *LAZY_STREAMLIT_USERS))
    inside = ROOT / "dashboard" / part
    files = sorted(inside.rglob("*.py")) if inside.is_dir() else [inside.with_suffix(".py")]
    assert files
    wrong = [
        (place(path), name)
        for path in files
        for name in imported(path, parse(path))
        if name in front or name.startswith(tuple(f"{known}." for known in front))
    ]
    assert wrong == []


def test_figures_and_views_fit_and_compute_nothing() -> None:
    # They read result objects; fits are behind `compute` and the `results` of a page.
    fitting = ("calibcore.calibrators", "calibcore.auditing.audit", "calibcore.audit")
    files = [
        path
        for name in ("figures", "widgets", "views")
        for path in (ROOT / "dashboard" / name).rglob("*")
    ]
    wrong = [
        (place(path), name)
        for path in files
        if path.suffix == ".py"
        and not path.stem.endswith(("results", "words", "drawing", "reference"))
        for name in imported(path, parse(path))
        if name in fitting
        or (name.startswith("calibcore.calibrators.") and ".descriptions" not in name)
    ]
    assert wrong == []


def test_no_two_modules_import_each_other() -> None:
    known = {module_of(path): path for path in SOURCES}
    uses = {
        name: {other for other in imported(path, outer_only(path)) if other in known}
        for name, path in known.items()
    }
    # A package's own members may be gathered in its __init__; that is no cycle between modules.
    pairs = {
        (name, other)
        for name, others in uses.items()
        for other in others
        if name != other and name in uses[other] and not other.startswith(f"{name}.")
        and not name.startswith(f"{other}.")
    }  # fmt: skip
    assert pairs == set()


def test_no_star_imports() -> None:
    wrong = [
        place(path)
        for path in SOURCES
        if any(name.endswith(".*") for name in imported(path, parse(path)))
    ]
    assert wrong == []


# What may not be there ----------------------------------------------------------------------


def test_nothing_that_runs_code_from_a_file_is_imported() -> None:
    wrong = {
        place(path): sorted(result)
        for path in SOURCES
        if (result := tops(path, parse(path)) & RUNS_CODE)
    }
    assert wrong == {}


def test_numpy_is_not_allowed_to_unpickle() -> None:
    wrong = [
        place(path, node.value.lineno)
        for path in SOURCES
        for node in ast.walk(parse(path))
        if isinstance(node, ast.keyword)
        and node.arg == "allow_pickle"
        and not (isinstance(node.value, ast.Constant) and node.value.value is False)
    ]
    assert wrong == []


def called(node: ast.AST) -> str:
    match node:
        case ast.Call(func=ast.Name(id=name)) | ast.Call(func=ast.Attribute(attr=name)):
            return name
    return ""


def test_nothing_is_evaluated() -> None:
    wrong = [
        place(path, getattr(node, "lineno", None))
        for path in SOURCES
        for node in ast.walk(parse(path))
        if called(node) in {"eval", "exec", "compile", "__import__"}
        and not (isinstance(node, ast.Call) and ast.unparse(node.func) == "re.compile")
    ]
    assert wrong == []


def test_no_unsafe_html() -> None:
    wrong = [place(p) for p in SOURCES if "unsafe_allow_html" in p.read_text(encoding="utf-8")]
    assert wrong == []


def test_streamlit_keeps_no_results() -> None:
    # It hashes large arrays by a sample; `compute.cache` keeps by digest and settings alone.
    kept = ("cache_data", "cache_resource")
    wrong = [place(p) for p in SOURCES if any(one in p.read_text("utf-8") for one in kept)]
    assert wrong == []


# Size ---------------------------------------------------------------------------------------


def test_reading_does_not_grow() -> None:
    files = sorted((ROOT / "dashboard" / "readers").rglob("*.py"))
    lines = sum(len(path.read_text(encoding="utf-8").splitlines()) for path in files)
    assert lines <= MOST_READER_LINES
    assert len(files) <= MOST_READER_FILES


def body_lines(function: Function) -> int:
    """Count the lines of a body without its docstring."""
    body = function.body[1:] if ast.get_docstring(function, clean=False) else function.body
    return (body[-1].end_lineno or 0) - body[0].lineno + 1 if body else 0


def test_function_bodies_are_short() -> None:
    too_long = {
        f"{place(path, node.lineno)} {node.name}": n
        for path in SOURCES
        for node in ast.walk(parse(path))
        if isinstance(node, Function) and (n := body_lines(node)) > LONGEST_BODY
    }
    assert too_long == {}


def test_the_app_is_set_up_and_order_only() -> None:
    source = ROOT / "dashboard" / "app.py"
    assert len(source.read_text(encoding="utf-8").splitlines()) < LONGEST_APP


# Documents ----------------------------------------------------------------------------------


def test_the_tests_that_documents_name_are_there() -> None:
    names = {path.name for path in (ROOT / "tests").rglob("test_*.py")}
    documents = (*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md"))
    for document in documents:
        text = document.read_text(encoding="utf-8")
        assert {*re.findall(r"\btest_\w+\.py\b", text)} <= names, document.name


def test_every_ending_that_is_read_is_in_the_documents() -> None:
    pages = [(ROOT / name).read_text(encoding="utf-8") for name in ("README.md", "docs/files.md")]
    for text in (*pages, ways_to_bring()):
        assert {*re.findall(r"\.[a-z]+\b", text)} >= {*FORMATS}
