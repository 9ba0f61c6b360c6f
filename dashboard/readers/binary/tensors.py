"""What files of tensors have in common: 16-bit floats, and models taken for their outputs."""

import re
from collections.abc import Iterable
from itertools import islice

import numpy as np

from dashboard.readers.columns.named import LABEL_KEYS, TABLE_KEYS
from dashboard.readers.columns.roles import role_of
from dashboard.readers.contents import Array
from dashboard.readers.refusal import FileError, quoted

_WEIGHTS = re.compile(r"(?:.*[._])?(?:weight|bias|running_mean|(?:model_|optimizer_)?state_dict)")


def widened(bits: Array) -> Array:
    """Turn the bits of bfloat16, the upper half of a float32, into that float32.

    Examples
    --------
    >>> widened(np.array([0x3FC0, 0xC000], np.uint16)).tolist()
    [1.5, -2.0]
    """
    return (bits.astype(np.uint32, order="C") << np.uint32(16)).view(np.float32)


def refuse_weights(names: Iterable[str]) -> None:
    """Refuse a model where its logits are looked for, which a list of names alone would not say."""
    names = list(islice(names, 1000))
    if any(role_of(name)[1] in LABEL_KEYS | TABLE_KEYS for name in names):
        return
    weights = [name for name in names if _WEIGHTS.fullmatch(name[-200:])]
    if weights:
        listed = ", ".join(quoted(name, 30) for name in weights[:3])
        raise FileError(
            "file", f"the weights of a model ({listed})", "logits and labels, named as such"
        )
