"""The sample logits that come with Fractile."""

import hashlib
import tomllib
from dataclasses import dataclass
from functools import cache, cached_property

from calibcore.samples import SAMPLES_FOLDER


@dataclass(frozen=True)
class Sample:
    """One sample, as its manifest describes it.

    Parameters
    ----------
    name : str
        File name without ending; of a model of the laboratory its code, and no file of it is read.
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
        return (SAMPLES_FOLDER / f"{self.name}.npz").read_bytes()


@cache
def samples() -> tuple[Sample, ...]:
    """List the samples, the first one being what a new user sees."""
    manifest = tomllib.loads((SAMPLES_FOLDER / "manifest.toml").read_text(encoding="utf-8"))
    names = Sample.__dataclass_fields__
    return tuple(Sample(**{name: entry[name] for name in names}) for entry in manifest["sample"])
