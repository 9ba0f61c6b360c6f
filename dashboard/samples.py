"""The sample logits that come with Fractile."""

import hashlib
import tomllib
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

_PACKAGED = Path(__file__).parent / "sample_logits"
_CHECKOUT = Path(__file__).parents[1] / "sample_logits"


@dataclass(frozen=True)
class Sample:
    """One sample, as its manifest describes it.

    Parameters
    ----------
    name : str
        File name without ending.
    title : str
        Name on screen.
    source, licence, model, training, teaches : str
        Where the data come from and under which licence, what was trained and how, and what there
        is to see.
    """

    name: str
    title: str
    source: str
    licence: str
    model: str
    training: str
    teaches: str

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the sample's file."""
        return hashlib.sha256(self.read_bytes()).hexdigest()

    def read_bytes(self) -> bytes:
        """Read the sample's file."""
        return (_folder() / f"{self.name}.npz").read_bytes()


def _folder() -> Path:
    """Find the samples in an installed package or in a checkout."""
    return _PACKAGED if _PACKAGED.is_dir() else _CHECKOUT


@cache
def samples() -> tuple[Sample, ...]:
    """List the samples, the first one being what a new user sees."""
    manifest = tomllib.loads((_folder() / "manifest.toml").read_text(encoding="utf-8"))
    names = Sample.__dataclass_fields__
    return tuple(Sample(**{name: entry[name] for name in names}) for entry in manifest["sample"])
