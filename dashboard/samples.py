"""The sample logits that come with Fractile."""

import hashlib
import tomllib
from dataclasses import dataclass
from functools import cache, cached_property

from calibcore.samples import SAMPLES_FOLDER


@dataclass(frozen=True)
class Sample:
    """One sample, as its manifest describes it."""

    name: str
    """File name without ending; of a model of the laboratory its code, and no file of it is read.
    """
    title: str
    """Name on screen."""
    source: str
    licence: str
    model: str
    training: str
    teaches: str
    """Where the data come from and under which licence, what was trained and how, and what there is
    to see.
    """

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the sample's file."""
        return hashlib.sha256(self.read_bytes()).hexdigest()

    def read_bytes(self) -> bytes:
        """Read the sample's file."""
        return stored(self.name)


@dataclass(frozen=True)
class SampleSeries:
    """Networks of one kind that differ in a number, as ``series.toml`` lists them."""

    name: str
    title: str
    """Its word in the address, and its name on screen."""
    along: str
    """What the number is."""
    about: str
    """What was trained and what changes."""
    numbers: tuple[float, ...]
    """One of each network, ascending."""
    files: tuple[str, ...]
    """The file of each, without ending: of the folder ``series``, or of a sample."""


def stored(name: str) -> bytes:
    """Read a file of the folder of samples; its name is without ending."""
    return (SAMPLES_FOLDER / f"{name}.npz").read_bytes()


@cache
def sample_series() -> tuple[SampleSeries, ...]:
    """List the series of networks that come with Fractile."""
    listed = tomllib.loads((SAMPLES_FOLDER / "series.toml").read_text(encoding="utf-8"))
    return tuple(
        SampleSeries(**{**entry, **{key: tuple(entry[key]) for key in ("numbers", "files")}})
        for entry in listed["series"]
    )


@cache
def samples() -> tuple[Sample, ...]:
    """List the samples, the first one being what a new user sees."""
    manifest = tomllib.loads((SAMPLES_FOLDER / "manifest.toml").read_text(encoding="utf-8"))
    names = Sample.__dataclass_fields__
    return tuple(Sample(**{name: entry[name] for name in names}) for entry in manifest["sample"])
