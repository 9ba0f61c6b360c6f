"""The import step: what was read is shown, and every reading can be overruled."""

import pickle
import re
import tomllib
from html import unescape
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

import dashboard
from calibcore.data import LogitSet, split_rows
from calibcore.events import TopR
from calibcore.probabilities import softmax
from dashboard import wording
from dashboard.compute import SourceFile, read_files
from dashboard.compute.keep import key_of
from dashboard.readers import FORMATS, FileError, Options, read
from dashboard.settings import Settings
from dashboard.wording import imports as words
from tests.app.pages import (
    before_after,
    bodies,
    charts,
    check_page,
    ks_before_after,
    open_page,
    open_upload,
    tile,
    turn_to,
    upload,
)
from tests.readers import files

N = 300
RNG = np.random.default_rng(5)
TABLE = (RNG.normal(size=(N, 4)) * 3).round(3)
LABELS = (TABLE / 2 + RNG.gumbel(size=TABLE.shape)).argmax(axis=1)
OTHER = (LABELS + RNG.integers(0, 2, N)) % 4
HEADS = ("a", "b", "c", "d")


def csv(table: Any = TABLE, heads: tuple[str, ...] = HEADS, **columns: Any) -> bytes:
    rows = zip(table.tolist(), *columns.values(), strict=True)
    lines = [",".join(map(str, [*row, *extra])) for row, *extra in rows]
    return "\n".join([",".join([*heads, *columns]), *lines]).encode()


def control(page: AppTest, key: str) -> Any:
    kinds: tuple[Any, ...] = (
        page.segmented_control, page.selectbox, page.multiselect, page.text_area,
        page.number_input,
    )  # fmt: skip
    found = [widget for kind in kinds for widget in kind if widget.key == key]
    return found[0] if found else None


def overrule(page: AppTest, key: str, value: object) -> AppTest:
    control(page, key).set_value(value).run()
    return page


def expect_ks(page: AppTest, labels: Any, table: Any = TABLE) -> None:
    check_page(page)
    halves = split_rows(LogitSet(table, labels))
    both = ks_before_after(halves.calibration, halves.test, TopR(1), "spline")
    assert tile(page, "KS error") == before_after(*both, halves.test.n_samples)


def said(page: AppTest) -> str:
    return "\n".join(bodies(page))


def previews(page: AppTest) -> list[str]:
    found: Any = page.get("html")
    return [
        part.proto.body for part in found if "class='measures rows all-columns'" in part.proto.body
    ]


def tables(page: AppTest) -> list[list[list[str]]]:
    return [
        [
            [unescape(cell) for cell in re.findall("<td>(.*?)</td>", row)]
            for row in body.split("<tr>")[2:]
        ]
        for body in previews(page)
    ]


def test_what_was_found_mended_and_doubted_is_said() -> None:
    data = csv(label=LABELS + 1, town=["Bonn", "Kiel"] * 150)
    page = open_upload(("mine.csv", data))
    expect_ks(page, LABELS)
    told = read("mine.csv", data)
    assert told.repairs
    for sentence in (*told.found, *told.repairs):
        assert f"- {wording.escape_markdown(sentence)}" in said(page)
    assert "1 repair of this file" in said(page)
    assert "split at random, class by class" in said(page).replace("\\", "")
    ((*_, last),) = tables(page)
    numbers = re.findall("<th scope='row'>(.*?)</th>", previews(page)[0])
    assert numbers == [str(k) for k in range(2, 12)]
    assert last == [HEADS[LABELS[9]], *map(str, TABLE[9]), str(LABELS[9] + 1), "Kiel"]
    assert f"**{words.UNMENDED}**" in said(page)
    assert [
        expander.proto.expanded
        for expander in page.expander
        if expander.label == words.WHAT_WAS_READ
    ] == [True]


def test_of_many_columns_the_label_comes_first() -> None:
    heads = tuple(f"c{k}" for k in range(9))
    wide = np.column_stack([TABLE, TABLE[:, ::-1], TABLE[:, 0]])
    page = open_upload(("mine.csv", csv(wide, heads, label=LABELS)))
    ((first, *_),) = tables(page)
    assert first == [str(LABELS[0]), str(LABELS[0]), *map(str, wide[0])]


def test_doubts_are_seen_on_every_page_and_the_step_closes_on_others() -> None:
    data = csv(label=TABLE.argmax(axis=1), copy=TABLE.argmax(axis=1))
    page = open_upload(("mine.csv", data))
    told = read("mine.csv", data)
    assert len(told.doubts) == 2
    assert page.warning[0].value == words.bullets(told.doubts)
    turn_to(page, "ks")
    assert not page.exception
    assert "2 doubts of this file" in said(page)
    assert f"**{words.DOUBTED}**\n\n{words.bullets(told.doubts)}" in said(page)
    for path in ("ks", "overview"):
        turn_to(page, path)
        (step,) = [one for one in page.expander if one.label == words.WHAT_WAS_READ]
        assert not step.proto.expanded


def test_a_shift_of_labels_can_be_undone() -> None:
    labels = np.maximum(LABELS, 1)
    page = open_upload(("mine.csv", csv(label=labels + 0)))
    expect_ks(page, labels)
    overrule(page, "labels_from", "1")
    expect_ks(page, labels - 1)
    overrule(page, "labels_from", "0")
    expect_ks(page, labels)


def test_another_column_of_labels_is_another_result() -> None:
    page = open_upload(("mine.csv", csv(label=LABELS, guess=OTHER)))
    expect_ks(page, LABELS)
    assert control(page, "label").options == [*HEADS, "label", "guess"]
    assert control(page, "label").placeholder == "as found: label"
    overrule(page, "label", "guess")
    expect_ks(page, OTHER)
    (again,) = [button for button in page.button if button.label == words.AS_FOUND_AGAIN]
    again.click().run()
    expect_ks(page, LABELS)
    assert control(page, "label").value is None


def test_the_columns_of_the_classes_in_another_order() -> None:
    page = open_upload(("mine.csv", csv(label=LABELS)))
    overrule(page, "classes", ["d"])  # chosen one by one, and not taken before all are
    expect_ks(page, LABELS)
    control(page, "classes").set_value(["d", "c", "b", "a"])
    (button,) = [one for one in page.button if one.label == words.TAKE_COLUMNS]
    button.click().run()
    expect_ks(page, LABELS, TABLE[:, ::-1])


def test_class_names_match_labels_that_are_text() -> None:
    names = ("ant", "bee", "cow", "doe")
    page = open_upload(("mine.csv", csv(label=[names[k] for k in LABELS])))
    (error,) = page.error
    assert "your class names" in error.value
    overrule(page, "class_names", "ant, bee, cow, doe")
    expect_ks(page, LABELS)
    overrule(page, "class_names", "doe\nbee\ncow\nant")
    expect_ks(page, np.array([3, 1, 2, 0])[LABELS])


def test_whether_the_first_row_is_names() -> None:
    heads = ("0", "1", "2", "3")
    bare = csv(TABLE, heads, **{"1": LABELS})
    page = open_upload(("mine.csv", bare))
    overrule(page, "header", "Data")
    assert f"{N + 1:,} rows" in said(page)
    overrule(page, "header", "Names")
    assert f"{N + 1:,} rows" not in said(page)


def test_sets_that_a_column_tells_apart_can_be_put_together() -> None:
    fits = np.arange(N) % 3 == 0
    data = csv(label=LABELS, split=np.where(fits, "val", "test").tolist())
    page = open_upload(("mine.csv", data))
    check_page(page)
    fitted, judged = (LogitSet(TABLE[rows], LABELS[rows]) for rows in (fits, ~fits))
    apart = before_after(*ks_before_after(fitted, judged, TopR(1), "spline"), judged.n_samples)
    assert tile(page, "KS error") == apart
    assert "split at random" not in said(page).replace("\\", "")
    assert f"<small>{words.USES['set']}</small>" in previews(page)[0]
    overrule(page, "sets", "One")
    assert f"<small>{words.USES['set']}</small>" not in previews(page)[0]
    expect_ks(page, LABELS)
    assert "split at random, class by class" in said(page).replace("\\", "")
    (again,) = [button for button in page.button if button.label == words.AS_FOUND_AGAIN]
    again.click().run()
    assert tile(page, "KS error") == apart
    page = open_upload(("mine.csv", data), sets="One")
    assert control(page, "sets").value == "One"
    expect_ks(page, LABELS)
    assert control(open_upload(("mine.csv", csv(label=LABELS))), "sets") is None


def test_two_parts_of_a_file_can_be_put_together() -> None:
    parts = [(TABLE[:100], LABELS[:100]), (TABLE[100:], LABELS[100:])]
    page = open_upload(("mine.pkl", pickle.dumps(parts)))
    check_page(page)
    assert any("two parts" in warning.value for warning in page.warning)
    overrule(page, "sets", "One")
    expect_ks(page, LABELS)
    assert not any("two parts" in warning.value for warning in page.warning)


def test_a_stated_prevalence_is_compared() -> None:
    scores = RNG.random(N).round(4)
    hits = (RNG.random(N) < scores).astype(int)
    page = open_upload(("mine.csv", csv(scores[:, np.newaxis], ("score",), label=hits)))
    before = tile(page, "KS error")
    assert not [w for w in page.warning if "2 %" in w.value or "2.0 %" in w.value]
    overrule(page, "prevalence", 2.0)
    told = read("mine.csv", csv(scores[:, np.newaxis], ("score",), label=hits), prevalence=0.02)
    assert page.warning[0].value == words.warning(told.doubts)
    assert any("2.0" in doubt for doubt in told.doubts)
    assert tile(page, "KS error") == before
    assert control(open_upload(("four.csv", csv(label=LABELS))), "prevalence") is None


SIGMOID = csv((1 / (1 + np.exp(-TABLE))).round(4), label=LABELS)


def test_a_refused_file_is_mended_by_one_click() -> None:
    page = open_upload(("mine.csv", SIGMOID))
    assert "your word that these are logits" in page.error[0].value.replace("\\", "")
    assert words.MEND_STEP in page.error[0].value
    assert not charts(page)
    assert len(tables(page)[0]) == 10
    overrule(page, "values", "Logits")
    expect_ks(page, LABELS, (1 / (1 + np.exp(-TABLE))).round(4))


def test_of_two_label_columns_one_can_be_named() -> None:
    data = csv(label=LABELS, target=OTHER)
    page = open_upload(("mine.csv", data))
    assert "mean the same" in page.error[0].value
    assert control(page, "label").options == ["a", "b", "c", "d", "label", "target"]
    assert control(page, "values") is None
    assert tables(page)[0][0] == [*map(str, TABLE[0]), str(LABELS[0]), str(OTHER[0])]
    overrule(page, "label", "target")
    expect_ks(page, OTHER)
    (again,) = [button for button in page.button if button.label == words.AS_FOUND_AGAIN]
    again.click().run()
    assert "mean the same" in page.error[0].value


def test_choices_are_those_of_one_file_among_several() -> None:
    page = open_upload(
        ("my_logits.npy", files.npy(TABLE)), ("y.npz", files.npz(labels=LABELS, odd=OTHER))
    )
    expect_ks(page, LABELS)
    overrule(page, "label", "odd")
    expect_ks(page, OTHER)


def test_files_that_do_not_fit_are_shown_by_their_names() -> None:
    chances = np.exp(TABLE) / np.exp(TABLE).sum(axis=1, keepdims=True)
    page = open_upload(("cal.csv", csv(label=LABELS)), ("test_*.csv", csv(chances, label=LABELS)))
    assert r"**Found in cal\.csv**" in said(page)
    assert r"**Found in test\_\*\.csv**" in said(page)
    assert "logits in the calibration set, but probabilities in the test set" in page.error[0].value


def test_another_file_takes_the_choices_back() -> None:
    page = open_upload(("mine.csv", csv(label=LABELS, guess=OTHER)))
    overrule(page, "label", "guess")
    overrule(page, "values", "Logits")
    upload(page, ("other.csv", csv(-TABLE, label=LABELS)))
    expect_ks(page, LABELS, -TABLE)
    assert control(page, "label").value is None
    assert control(page, "values").value == "Auto"


def test_choices_of_an_address_that_do_not_fit_are_refused_in_words() -> None:
    page = open_upload(("mine.csv", csv(label=LABELS)), label="gone", labels_from="1")
    assert not page.exception
    assert "gone" in page.error[0].value
    overrule(page, "label", None)
    assert not page.exception
    overrule(page, "labels_from", "Auto")
    expect_ks(page, LABELS)


def test_a_reading_that_nobody_chose_for_the_file_is_said_to_be_of_the_address() -> None:
    two = files.npz(logits=TABLE, labels=LABELS)
    page = open_upload(("mine.npz", two), values="Probabilities", labels_from="1")
    assert [info.value for info in page.info] == [words.BY_ADDRESS]
    (again,) = [button for button in page.button if button.label == words.AS_FOUND_AGAIN]
    again.click().run()
    assert not page.info
    expect_ks(page, LABELS)
    chosen = open_upload(("mine.npz", two))
    overrule(chosen, "values", "Logits")
    assert not chosen.info
    overrule(page, "values", "Probabilities")  # now it is of whoever chose it
    assert page.error
    assert not page.info


def test_the_step_stays_as_it_is_while_it_is_used() -> None:
    def is_open() -> bool:
        (step,) = [one for one in page.expander if one.label == words.WHAT_WAS_READ]
        return bool(step.proto.expanded)

    page = open_upload(("mine.csv", csv(label=LABELS)))
    turn_to(page, "ks")
    turn_to(page, "overview")
    assert not is_open()
    for header, refused in (("Data", True), ("Auto", False), ("Data", True), ("Names", False)):
        overrule(page, "header", header)
        assert bool(page.error) == refused
        assert not is_open()  # as it was drawn; whoever opened it keeps it open
    overrule(page, "header", "Data")
    turn_to(page, "ks")
    assert is_open()


def test_a_column_that_may_be_the_labels_is_named_and_can_be_chosen() -> None:
    risk = (1 / (1 + np.exp(TABLE[:, :1] - TABLE[:, 1:2]))).round(6)
    sky = np.where(LABELS % 2 == 0, "dry", "wet")
    page = open_upload(("mine.csv", csv(risk, ("score",), sky=sky, town=["Bonn", "Kiel"] * 150)))
    (note,) = page.info
    assert note.value == words.without_labels(["sky", "town"])
    assert all(part in note.value for part in ('"sky" or "town"', f"**{words.LABEL_COLUMN}**"))
    overrule(page, "label", "sky")
    assert all(part in page.error[0].value for part in ("dry", "wet", words.CLASS_NAMES))
    overrule(page, "class_names", "dry, wet")
    check_page(page)
    assert not page.error


def test_rows_with_blank_cells_are_shown() -> None:
    town = np.array(["Bonn", "Kiel"] * 150, dtype=object)
    label = LABELS.astype(object)
    label[[20, 250]] = ""
    page = open_upload(("mine.csv", csv(label=label, town=town)))
    assert "2 cells in 2 rows are blank, in rows 22, 252" in page.error[0].value
    assert f"**{words.REFUSED_ROWS}**" in said(page)
    assert [row[4:] for row in tables(page)[0]] == [["", town[20]], ["", town[250]]]


def test_files_that_were_refused_head_their_first_rows() -> None:
    page = open_upload(("z.npy", files.npy(TABLE)), ("y_*.npy", files.npy(LABELS[:9])))
    assert page.error
    for name in (r"z\.npy", r"y\_\*\.npy"):
        assert f"**{words.FIRST_ROWS}: {name}**" in said(page)


def test_what_each_label_was_taken_as_stands_beside_it() -> None:
    names = np.array(HEADS)[LABELS]
    parts = np.where(np.arange(N) % 3 == 0, "val", np.where(np.arange(N) % 3 == 1, "test", "train"))
    page = open_upload(("mine.csv", csv(label=LABELS + 1, split=parts.tolist())))
    kept = [name if part != "train" else "" for name, part in zip(names, parts, strict=True)]
    assert [row[0] for row in tables(page)[0]] == kept[:10]
    hits = RNG.integers(0, 2, N)
    lines = [f"1,{int(hit)},0.{50 + k % 50}" for k, hit in enumerate(hits)]
    page = open_upload(
        ("top.csv", "\n".join(["true_label,pred_label,confidence", *lines]).encode())
    )
    assert [row[0] for row in tables(page)[0]] == [
        words.RIGHT if hit else words.WRONG for hit in hits[:10]
    ]
    long = [
        f"{HEADS[label]},{name},{share:.6f}"
        for row, label in zip(softmax(TABLE), LABELS, strict=True)
        for name, share in zip(HEADS, row, strict=True)
    ]
    page = open_upload(("long.csv", "\n".join(["true_label,class,probability", *long]).encode()))
    assert "were put together to" in said(page)
    # Each of these rows is a part of a sample, whose label is another row's as well.
    assert [len(row) for row in tables(page)[0]] == [3] * 10


def test_a_damaged_bare_array_leaves_nothing_to_choose() -> None:
    page = open_upload(("mine.npy", files.npy(TABLE)[:200]))
    assert page.error[0].value.endswith(wording.NEXT_STEP)
    assert not [one for one in page.expander if one.label == words.WHAT_WAS_READ]


def test_names_of_columns_and_categories_are_text() -> None:
    heads = ("<b>x</b>", "[l](http://evil.example)", "$y$", ":red[z]")
    town = ["<img src=x onerror=alert(1)>", "=1+1"] * 150
    page = open_upload(("m.csv", csv(TABLE, heads, label=LABELS, **{"<i>t</i>": town})))
    check_page(page)
    found: Any = page.get("html")
    drawn = "".join(part.proto.body for part in found)
    assert "&lt;img src=x onerror=alert(1)&gt;" in drawn
    assert "<b>x" not in drawn
    assert "<img" not in drawn
    assert "<i>t" not in drawn
    assert tables(page)[0][1][-1] == "=1+1"


# What is kept -------------------------------------------------------------------------------


def source(name: str, data: bytes) -> SourceFile:
    return SourceFile(name, f"{name} {hash(data)}", lambda: data)


def test_nothing_that_is_kept_outlives_a_choice() -> None:
    one = source("kept.csv", csv(label=LABELS, guess=OTHER))
    settings = Settings(TopR(1))
    readings = (
        Options(),
        Options(label_column="guess"),
        Options(class_columns=("b", "a", "c", "d")),
    )
    keys = {key_of(read_files([one], options), settings) for options in readings}
    assert len(keys) == len(readings)
    stated = read_files([one], Options(prevalence=0.5))
    assert key_of(stated, settings) in keys


def test_a_file_is_parsed_once() -> None:
    data = csv(label=LABELS)
    loaded: list[str] = []

    def load(name: str, what: bytes) -> bytes:
        loaded.append(name)
        return what

    one = SourceFile("once.csv", f"once {hash(data)}", lambda: load("once", data))
    for options in (Options(), Options(first_label=0), Options(values="logits"), Options()):
        read_files([one], options)
    assert loaded == ["once"]
    bad = SourceFile("bad.csv", "bad", lambda: load("bad", b"a,b\n"))
    for _ in range(2):
        with pytest.raises(FileError) as refused:
            read_files([bad])
        assert refused.value.__cause__ is None
    assert loaded == ["once", "bad"]


# Nothing there yet --------------------------------------------------------------------------


def test_every_ending_is_named_and_the_examples_can_be_read() -> None:
    page = open_page(data="Your file")
    text = said(page)
    for ending in FORMATS:
        assert f"`{ending}`" in text
        assert ending in words.endings()
    code = [block.value for block in page.code]
    assert code == [example for _, example in words.EXAMPLES.values()]
    for name in ("CSV", "JSON"):
        told = read(f"example.{name.lower()}", words.EXAMPLES[name][1].encode())
        assert not told.repairs
    check_page(open_upload((words.TEMPLATE_NAME, words.template().encode())))


def test_the_size_is_checked_here_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dashboard.compute.files.MAX_UPLOAD", 1 << 20)
    page = open_upload(("big.npy", b"x" * ((1 << 20) + 1)))
    assert "found 1" in page.error[0].value
    assert "at most 1" in page.error[0].value


def test_the_server_s_settings() -> None:
    path = Path(dashboard.__file__).parent / ".streamlit" / "config.toml"
    told = tomllib.loads(path.read_text(encoding="utf-8"))
    server, client = told["server"], told["client"]
    assert server["maxUploadSize"] << 20 == words.MAX_UPLOAD
    assert server["address"] == "127.0.0.1"
    assert set(server["allowedHosts"]) == {"127.0.0.1", "localhost", "::1"}
    assert client["showErrorDetails"] == "none"
    assert client["showErrorLinks"] is False
    assert client["toolbarMode"] == "minimal"
    assert told["browser"]["gatherUsageStats"] is False
