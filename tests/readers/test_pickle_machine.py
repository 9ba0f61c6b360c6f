"""The operations of a pickle: malformed ones, and what no plain pickle has, are refused."""

import numpy as np
import pytest

from dashboard.readers import FileError, read
from tests.readers.files import logit_set, pickled
from tests.readers.test_pickle_files import FLOAT, MAKE, STATE, TYPE

SCALAR = b"cnumpy.core.multiarray\nscalar\n("
REFUSED: list[tuple[bytes, str]] = [
    (b"\x80\x04K\x01K\x02\x93.", "malformed"),  # a name that is no text
    *((line + b"\n.", "malformed") for line in (b"(Ix", b"(Fx", b"(S'a\"", b"(S'\\q'")),
    (b"(V\\u00\n.", "malformed"),
    (b"\x80\x02X\x01\x00\x00\x00\xff.", "malformed"),  # no UTF-8
    *((b"\x80\x02" + rest + b".", "malformed") for rest in (b"NN", b"(N", b"", b"\x85", b"N(\x85")),
    *((b"\x80\x02" + rest + b".", "malformed") for rest in (b"t", b"q\x00", b")Na", b"}(Nu")),
    (b"(Nd.", "malformed"),  # a key without a value
    (b"\x80\x02N", "truncated"),
    (b"\x80\x02I123", "malformed"),
    (b"(I" + b"1" * 5000 + b"\n.", "malformed"),
    (b"K\x01.", "not a pickle"),
    (b"hello pickle", "not a pickle"),
    (b"\x80\x04cnumpy\nndarray\n)}\x92.", "object to be made"),
    (b"\x80\x02\x84\x01\x00\x00\x00.", "extension"),
    (b"(P1\n.", "persistent"),
    (b"\x80\x04\x8f.", "set"),
    (b"\x80\x02\x00.", "unknown operation"),
    (b"\x80\x02\x8b\xff\xff\x00\x00.", "integer"),
    (b"\x80\x02\x8a\x09" + b"1" * 9 + b".", "integer of more than 8 bytes"),
    (b"\x80\x02h\x05.", "memo"),
    (b"(" * 1000, "truncated"),
    (b"\x80\x02K\x01)R.", "a call of something"),
    (b"\x80\x02cnumpy\nndarray\n]R.", "a call of something"),
    (MAKE.replace(b"I0", b"I17179869184") + b".", "arguments of _reconstruct"),
    (MAKE + b".", "another layout"),
    (b"(" + MAKE + b"l.", "another layout"),
    (STATE.replace(b"(I1\n(I1\n", b"(" + MAKE + b"(I1\n") + b".", "state"),
    (STATE.replace(FLOAT, TYPE + b"(S'O8'\nI0\nI1\ntR") + b".", "Python objects"),
    (TYPE + b"(I1\nI0\nI1\ntR.", "plain numeric type"),
    (FLOAT.replace(b"'<'", b"'?'") + b".", "state for something"),
    (b"c_codecs\nencode\n(V\\u1234\nVlatin1\ntR.", "not bytes"),
    (SCALAR + FLOAT + b"I1\ntR.", "unknown kind"),
    (SCALAR + FLOAT + b"S'1234'\ntR.", "a text that is no Unicode"),
    (b"cnumpy.core.numeric\n_frombuffer\n(I1\ntR.", "_frombuffer"),
    (b"ctorch._utils\n_rebuild_tensor_v2\n.", "in a .pt file"),
    (b"ccollections\nOrderedDict\n)R.", "collections.OrderedDict"),
]


@pytest.mark.parametrize(("data", "text"), REFUSED)
def test_refused(data: bytes, text: str) -> None:
    with pytest.raises(FileError, match=text) as caught:
        read("a.p", data)
    assert "not foreseen" not in str(caught.value)


@pytest.mark.parametrize("protocol", range(3))
def test_long_arrays_that_are_written_as_texts(protocol: int) -> None:
    table = np.random.default_rng(0).normal(size=(100_000, 2))
    rows = logit_set(read("a.pkl", pickled((table, table.argmin(axis=1)), protocol)).rows)
    np.testing.assert_array_equal(rows.logits, table)


def test_escapes_of_python_2() -> None:
    raw = "".join(f"\\x{byte:02x}" for byte in np.array([1.5, -2.0], ">f8").tobytes())
    row = STATE.replace(b"'<'", b"'>'").replace(b"(I1\nt", b"(I2\nt") + b"."
    piece = read("a.p", row.replace(b"12345678", raw.encode())).piece
    assert piece is not None
    assert piece.table is not None
    assert piece.table.tolist() == [1.5, -2.0]
    text = b"(dS'class_names'\n(lS'\\101\\n\\'\\x42'\naS'b'\nas"
    rest = b"S'y'\n(lI0\naI1\nasS'logits'\n(l(lI5\naI-1\naa(lI0\naI7\naas."
    rows = logit_set(read("a.p", text + rest).rows)
    assert rows.class_names == ("A 'B", "b")


@pytest.mark.parametrize("protocol", range(6))
def test_whole_numbers_of_every_size(protocol: int) -> None:
    table = [[0, 255, -3], [70_000, -70_000, 1], [2**40, -(2**40), 65_535]]
    rows = logit_set(read("a.p", pickled((table, [0, 1, 2]), protocol)).rows)
    assert rows.logits.tolist() == table
