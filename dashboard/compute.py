"""The only caching: results keyed by a digest of the uploaded bytes and the settings.

Arrays are never part of a key, because Streamlit hashes large ones by a sample. What is cached is
shared between sessions and never changed.
"""

import gc
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import streamlit as st
from plotly import graph_objects as go

from calibcore.data import EventScores, LogitSet, Split
from calibcore.evaluation import AuditResult, audit
from dashboard.figures import FourGraphs, Palette, four_graphs, reliability_diagram
from dashboard.readers import Upload, combine, read
from dashboard.settings import Settings

ValuesChoice = Literal["auto", "logits", "probabilities"]
SetChoice = Literal["calibration", "test"]
SideChoice = Literal["before", "after"]

_Key = tuple[str, str, str, str]
"""What stands for a result: digest of the bytes, names, how they were read, settings.

The names of several files decide which holds which set.
"""


@dataclass(frozen=True)
class SourceFile:
    """A file as it came: name and bytes, with the digest that stands for them.

    Parameters
    ----------
    name : str
        Shown as text; its ending picks the reader.
    data : bytes
        Whole content.
    digest : str
        SHA-256 of the content.
    """

    name: str
    data: bytes
    digest: str

    @classmethod
    def of(cls, name: str, data: bytes) -> "SourceFile":
        """Take a file in."""
        return cls(name, data, hashlib.sha256(data).hexdigest())


@dataclass(frozen=True)
class SideFigures:
    """What is drawn of one side.

    Parameters
    ----------
    graphs : FourGraphs
        The four cumulative and fractile graphs.
    reliability : plotly.graph_objects.Figure
        The reliability diagram.
    """

    graphs: FourGraphs
    reliability: go.Figure


@st.cache_resource(show_spinner=False)
def settle_imports() -> None:
    """Take everything imported so far out of the garbage collector's rounds.

    Streamlit collects after every run, and going through the modules is most of that time.
    """
    gc.collect()
    gc.freeze()


@st.cache_resource(max_entries=8, show_spinner="Reading the file")
def _read(
    names: tuple[str, ...], digests: tuple[str, ...], values: ValuesChoice, _data: list[bytes]
) -> Upload:
    del digests  # stands for the data
    files = zip(names, _data, strict=True)
    return combine([read(name, data, values=values) for name, data in files])


def read_files(files: Sequence[SourceFile], values: ValuesChoice = "auto") -> Upload:
    """Read files; the same bytes under the same names are read once."""
    names, digests = tuple(f.name for f in files), tuple(f.digest for f in files)
    return _read(names, digests, values, [f.data for f in files])


@st.cache_resource(max_entries=8, show_spinner=False)
def _split(
    key: tuple[str, str, str], share: float, seed: int, _upload: Upload
) -> Split[LogitSet] | Split[EventScores]:
    del key  # stands for the upload
    return _upload.split(calibration_share=share, seed=seed)


@st.cache_resource(max_entries=32, show_spinner="Fitting on the calibration set, judging both sets")
def _audit(key: _Key, _upload: Upload, _settings: Settings) -> AuditResult:
    share, seed = _settings.calibration_share, _settings.seed
    return audit(
        _split(key[:3], share, seed, _upload),
        event=_settings.event,
        calibrator=_settings.calibrator(),
        n_bins=_settings.n_bins,
    )


@st.cache_resource(max_entries=64, show_spinner=False)
def _draw(
    key: _Key, chosen: SetChoice, side: SideChoice, palette: Palette, _result: AuditResult
) -> SideFigures:
    del key  # stands for the result
    judged = _result.test if chosen == "test" else _result.calibration
    shown, beside = judged.before, judged.after
    if side == "after":
        shown, beside = beside, shown
    return SideFigures(
        four_graphs(shown, beside, palette), reliability_diagram(shown, beside, palette)
    )


def _key(upload: Upload, settings: Settings) -> _Key:
    return upload.digest, upload.name, str(upload.values_kind), repr(settings)


def run_audit(upload: Upload, settings: Settings) -> AuditResult:
    """Fit and judge, once for each file, reading and settings."""
    return _audit(_key(upload, settings), upload, settings)


def draw(
    upload: Upload,
    settings: Settings,
    result: AuditResult,
    *,
    chosen: SetChoice,
    side: SideChoice,
    palette: Palette,
) -> SideFigures:
    """Draw one side of one set, once for each result and theme."""
    return _draw(_key(upload, settings), chosen, side, palette, result)


def forget() -> None:
    """Drop every file and result that is kept in memory."""
    for kept in (_read, _split, _audit, _draw):
        kept.clear()
