"""Files read once, and their rows split once."""

import gc
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import streamlit as st

from calibcore.data import EventScores, LogitSet, Split
from dashboard.compute.keep import key_of, once
from dashboard.readers import Upload, combine, read
from dashboard.settings import Settings

ValuesChoice = Literal["auto", "logits", "probabilities"]


@dataclass(frozen=True)
class SourceFile:
    """A file as it came, with the digest that stands for its bytes.

    Parameters
    ----------
    name : str
        Shown as text; its ending picks the reader.
    digest : str
        SHA-256 of the bytes.
    load : callable
        Gives the bytes, when they have to be read.
    """

    name: str
    digest: str
    load: Callable[[], bytes]


@st.cache_resource(show_spinner=False)
def settle_imports() -> None:
    """Take everything imported so far out of the garbage collector's rounds.

    Streamlit collects after every run, and going through the modules is most of that time.
    """
    gc.collect()
    gc.freeze()


@st.cache_resource(max_entries=8, show_spinner="Reading the file")
def _read(
    files: tuple[tuple[str, str], ...], values: ValuesChoice, _sources: Sequence[SourceFile]
) -> Upload:
    del files  # names and digests stand for the sources
    return combine([read(source.name, source.load(), values=values) for source in _sources])


def read_files(sources: Sequence[SourceFile], values: ValuesChoice = "auto") -> Upload:
    """Read files; the same bytes under the same names are read once."""
    files = tuple((source.name, source.digest) for source in sources)
    return _read(files, values, sources)


def split_of(upload: Upload, settings: Settings) -> Split[LogitSet] | Split[EventScores]:
    """Give the rows to fit on and the rows to judge."""
    share, seed = settings.calibration_share, settings.seed
    key = (*key_of(upload, settings)[:3], share, seed)
    return once("split", key, lambda: upload.split(calibration_share=share, seed=seed))
