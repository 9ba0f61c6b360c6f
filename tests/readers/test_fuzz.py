"""Damaged files: an Upload or a FileError comes out, and nothing else."""

import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dashboard.readers import FileError, Upload, read
from tests.readers.files import GOOD

_ENDINGS = (".npz", ".npy", ".csv", ".p")


def survives(name: str, data: bytes) -> None:
    try:
        upload = read(name, data)
    except FileError as error:
        assert len(str(error)) <= 600  # noqa: PT017 - either outcome is right
        assert str(error).isprintable()  # noqa: PT017
    else:
        assert isinstance(upload, Upload)
        assert all(s.isprintable() for s in (*upload.found, *upload.repairs, *upload.missing))


@given(data=st.binary(max_size=300), ending=st.sampled_from(_ENDINGS))
def test_any_bytes(data: bytes, ending: str) -> None:
    survives("a" + ending, data)


@given(data=st.text(alphabet='0123456789.,;\t-+eE%"\n\r label', max_size=120))
def test_any_table(data: str) -> None:
    survives("a.csv", data.encode())


@given(
    operations=st.lists(
        st.sampled_from(
            [
                b"(", b")", b"]", b"}", b"t", b"l", b"d", b"a", b"e", b"s", b"u", b"R", b"b", b"N",
                b"\x85", b"\x86", b"\x87", b"\x94", b"h\x00", b"h\x01", b"q\x00", b"q\x01",
                b"K\x00", b"K\x01", b"I01\n", b"S'f8'\n", b"S'b'\n", b"cnumpy\ndtype\n",
                b"cnumpy\nndarray\n",
                b"cnumpy.core.multiarray\n_reconstruct\n", b"cnumpy.core.multiarray\nscalar\n",
                b"cnumpy.core.numeric\n_frombuffer\n", b"c_codecs\nencode\n", b"S'labels'\n",
                b"cnumpy\ndtype\n(S'u1'\nI0\nI1\ntR", b"C\x01\x01", b"S'C'\n", b"S'logits'\n",
            ]
        ),
        max_size=40,
    )
)  # fmt: skip
def test_any_operations(operations: list[bytes]) -> None:
    survives("a.p", b"(" + b"".join(operations) + b".")
    survives("a.p", b"\x80\x02" + b"".join(operations) + b".")


@pytest.mark.parametrize("name", sorted(GOOD))
def test_mutants(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    dice = random.Random(name)  # noqa: S311 - only the variety matters
    for _ in range(400):
        data = bytearray(GOOD[name])
        for _ in range(dice.randint(1, 4)):
            place = dice.randrange(len(data))
            match dice.randrange(5):
                case 0:
                    del data[place:]
                    data += b"\x00" * (not data)
                case 1:
                    data[place] ^= 1 << dice.randrange(8)
                case 2:
                    data[place] = dice.choice(b"\x00\xff.,()RbNeE\n\"'0")
                case 3:
                    del data[place : place + dice.randint(1, 9)]
                    data += b"\x00" * (not data)
                case _:
                    data[place:place] = data[place : place + dice.randint(1, 40)]
        survives(name, bytes(data))
    assert list(tmp_path.iterdir()) == []
