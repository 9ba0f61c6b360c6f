"""The import step: what was read is shown, and every reading can be overruled."""

import errno
import re
import subprocess
import tomllib
from html import unescape
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

import dashboard
from calibcore import audit
from calibcore.data import LogitSet
from calibcore.events import TopR
from dashboard.compute.cache import key_of
from dashboard.compute.files import SourceFile, read_files
from dashboard.opening import roles as roles_module
from dashboard.readers import FileError, ReadingOptions, limits, read
from dashboard.readers import worker as process
from dashboard.readers.limits import Limits
from dashboard.readers.refusal import Question
from dashboard.settings import Settings
from dashboard.texts import opening as role_words
from dashboard.texts import opening as templates
from dashboard.texts import opening as words
from dashboard.texts.numbers import escape_markdown, percent
from tests.app.pages import (
    before_after,
    bodies,
    charts,
    check_page,
    click,
    html_of,
    ks_before_after,
    ks_crossed,
    measure_cells,
    open_page,
    open_upload,
    text_of,
    tile,
    top_1_file,
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
        page.number_input, page.toggle,
    )  # fmt: skip
    results = [widget for kind in kinds for widget in kind if widget.key == key]
    return results[0] if results else None


def overrule(page: AppTest, key: str, value: object) -> AppTest:
    control(page, key).set_value(value).run()
    return page


def expect_ks(page: AppTest, labels: Any, table: Any = TABLE) -> None:
    check_page(page)
    rows = LogitSet(table, labels)
    assert tile(page, "KS error") == before_after(*ks_crossed(rows, TopR(1)), rows.n_samples)


def role(page: AppTest, column: str) -> Any:
    """Give the select of a column's role."""
    named = escape_markdown(column)
    roles = [one for one in page.selectbox if str(one.key).startswith("role_")]
    return next((one for one in roles if one.label == named), None)


def step(page: AppTest) -> Any:
    of_step = (words.HOW_READ, words.DETAILS)
    (result,) = [one for one in page.expander if one.label.endswith(of_step)]
    return result.proto


def previews(page: AppTest) -> list[str]:
    return html_of(page, "<table class='roles")


def tables(page: AppTest) -> list[list[list[str]]]:
    return [
        [
            [unescape(cell) for cell in re.findall("<td>(.*?)</td>", row)]
            for row in body.split("<tr>")[2:]
        ]
        for body in previews(page)
    ]


def test_what_was_found_and_fixed_is_said() -> None:
    data = csv(label=LABELS + 1, town=["Bonn", "Kiel"] * 150)
    page = open_upload(("mine.csv", data))
    expect_ks(page, LABELS)
    upload = read("mine.csv", data)
    assert upload.repairs
    for sentence in (*upload.notes, *upload.repairs):
        assert f"- {escape_markdown(sentence)}" in text_of(page)
    assert step(page).label == (
        "**mine\\.csv** \u00b7 300 rows \u00b7 4 classes \u00b7 logits \u00b7 1 automatic fix"
        f" \u2014 {words.DETAILS}"
    )
    assert "stratified by class" in text_of(page)
    ((*_, last),) = tables(page)
    numbers = re.findall("<th scope='row'>(.*?)</th>", previews(page)[0])
    assert numbers == [str(k) for k in range(2, 12)]
    read_as = f"{LABELS[9] + 1} <small>\u2192 {HEADS[LABELS[9]]}</small>"
    assert last == [read_as, *map(str, TABLE[9]), "Kiel"]
    roles = {name: role(page, name).value for name in (*HEADS, "label", "town")}
    assert roles == dict.fromkeys(HEADS, "class") | {"label": "outcome", "town": "group"}
    assert not step(page).expanded


def test_of_many_columns_those_that_matter_come_first_and_each_can_be_reached() -> None:
    notes: dict[str, Any] = {f"note {k}": RNG.integers(0, 9, N) for k in range(14)}
    page = open_upload(("mine.csv", csv(**notes, label=LABELS)))
    ((first, *_),) = tables(page)
    assert len(first) == roles_module.MOST_SHOWN
    assert first[0] == f"{LABELS[0]} <small>\u2192 {HEADS[LABELS[0]]}</small>"
    assert role(page, "note 13") is None
    control(page, "role_more").set_value("note 13").run()
    role(page, "note 13").set_value("left out").run()
    assert role(page, "note 13").value == "left out"
    assert page.query_params["roles"] in ("left-out:note 13", ["left-out:note 13"])


def test_doubts_are_seen_and_the_step_stays_closed() -> None:
    data = csv(label=TABLE.argmax(axis=1), copy=TABLE.argmax(axis=1))
    page = open_upload(("mine.csv", data))
    upload = read("mine.csv", data)
    assert len(upload.doubts) == 2
    assert page.warning[0].value == words.bullets(upload.doubts)
    assert not step(page).expanded
    turn_to(page, "ks")
    assert not page.exception
    assert f"**{words.CHECK}**\n\n{words.bullets(upload.doubts)}" in text_of(page)
    assert not step(page).expanded


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
    assert role(page, "guess").value == "group"
    role(page, "guess").set_value("outcome").run()
    expect_ks(page, OTHER)
    assert role(page, "label").value != "outcome"
    assert role_words.CHOSEN in text_of(page)
    assert page.query_params["roles"] in ("outcome:guess", ["outcome:guess"])
    click(page, words.DETECT_AGAIN)
    expect_ks(page, LABELS)
    assert "roles" not in page.query_params


def test_class_names_match_labels_that_are_text() -> None:
    names = ("ant", "bee", "cow", "doe")
    page = open_upload(("mine.csv", csv(label=[names[k] for k in LABELS])))
    assert "Which classes are they, in the order of the columns?" in text_of(page)
    answers = [one for one in page.button if (one.key or "").startswith("answer_")]
    assert answers[0].label == "ant, bee, cow, doe"
    answers[0].click().run()
    expect_ks(page, LABELS)
    overrule(page, "class_names", "doe\nbee\ncow\nant")
    expect_ks(page, np.array([3, 1, 2, 0])[LABELS])


def test_whether_the_first_row_is_names() -> None:
    heads = ("0", "1", "2", "3")
    bare = csv(TABLE, heads, **{"1": LABELS})
    page = open_upload(("mine.csv", bare))
    overrule(page, "header", "Data")
    assert f"{N + 1:,} rows" in text_of(page)
    overrule(page, "header", "Names")
    assert f"{N + 1:,} rows" not in text_of(page)


def test_sets_that_a_column_tells_apart_can_be_put_together() -> None:
    fits = np.arange(N) % 3 == 0
    data = csv(label=LABELS, split=np.where(fits, "val", "test").tolist())
    page = open_upload(("mine.csv", data))
    check_page(page)
    fitted, evaluated = (LogitSet(TABLE[rows], LABELS[rows]) for rows in (fits, ~fits))
    apart = before_after(
        *ks_before_after(fitted, evaluated, TopR(1), "spline"), evaluated.n_samples
    )
    assert tile(page, "KS error") == apart
    assert "All rows are evaluated" not in text_of(page)
    assert role(page, "split").value == "set"
    overrule(page, "sets", "One")
    expect_ks(page, LABELS)
    assert "All rows are evaluated" in text_of(page)
    click(page, words.DETECT_AGAIN)
    assert tile(page, "KS error") == apart
    page = open_upload(("mine.csv", data), sets="One")
    assert control(page, "sets").value == "One"
    expect_ks(page, LABELS)


def test_a_stated_prevalence_moves_scores() -> None:
    scores = RNG.random(N).round(4)
    hits = (RNG.random(N) < scores).astype(int)
    data = csv(scores[:, np.newaxis], ("score",), label=hits)
    page = open_upload(("mine.csv", data), method="none")
    overrule(page, "prevalence", 2.0)
    known = audit(scores, hits, prevalence=0.02)
    error = known.test.compare("ks_error").before
    assert error is not None
    assert tile(page, "KS error") == percent(error, N)
    assert any("have a share of 2% where scores are used" in text.value for text in page.markdown)


def test_a_question_is_answered_by_one_click() -> None:
    page = open_upload(("mine.csv", csv(label=LABELS, target=OTHER)))
    with pytest.raises(Question) as asked:
        read("mine.csv", csv(label=LABELS, target=OTHER))
    assert f"**{escape_markdown(asked.value.ask)}**" in text_of(page)
    assert not page.error
    assert not charts(page)
    assert step(page).expanded
    first, *others = (words.reason(one.why) for one in asked.value.answers)
    assert f":small[**{words.LIKELIEST}** {escape_markdown(first)}]" in text_of(page)
    for why in others:
        assert f":small[{escape_markdown(why)}]" in text_of(page)
    answers = [one.label for one in page.button if str(one.key).startswith("answer_")]
    assert answers == [escape_markdown(one.label) for one in asked.value.answers]
    click(page, '"target"')
    expect_ks(page, OTHER)
    assert not step(page).expanded
    click(page, words.DETECT_AGAIN)
    assert f"**{escape_markdown(asked.value.ask)}**" in text_of(page)
    role(page, "label").set_value("outcome").run()
    role(page, "target").set_value("left out").run()
    expect_ks(page, LABELS)


def test_the_event_is_chosen_and_its_rows_are_counted() -> None:
    risk = RNG.random(N).round(4)
    came = RNG.random(N) < risk
    data = csv(risk[:, np.newaxis], ("risk",), back=np.where(came, "yes", "no"))
    page = open_upload(("mine.csv", data))
    check_page(page)
    label = escape_markdown(f"score risk \u00b7 outcome back = yes ({came.sum()})")
    assert f"300 rows \u00b7 {label}" in step(page).label
    overrule(page, "event_of_outcome", "no")
    assert escape_markdown(f"back = no ({N - came.sum()})") in step(page).label
    assert page.query_params["positive"] in ("no", ["no"])
    again = open_upload(("mine.csv", data), positive="no", roles="score:risk~outcome:back")
    assert measure_cells(again).equals(measure_cells(page))
    assert [info.value for info in again.info] == [words.BY_ADDRESS]


def test_choices_are_those_of_one_file_among_several() -> None:
    page = open_upload(
        ("my_logits.npy", files.npy(TABLE)), ("y.npz", files.npz(labels=LABELS, odd=OTHER))
    )
    expect_ks(page, LABELS)
    role(page, "odd").set_value("outcome").run()
    expect_ks(page, OTHER)


def test_files_that_do_not_fit_are_shown_by_their_names() -> None:
    chances = np.exp(TABLE) / np.exp(TABLE).sum(axis=1, keepdims=True)
    page = open_upload(("cal.csv", csv(label=LABELS)), ("test_*.csv", csv(chances, label=LABELS)))
    assert r"**Detected in cal\.csv**" in text_of(page)
    assert r"**Detected in test\_\*\.csv**" in text_of(page)
    assert "logits in the calibration set, but probabilities in the test set" in page.error[0].value


def test_another_file_takes_the_choices_back() -> None:
    page = open_upload(("mine.csv", csv(label=LABELS, guess=OTHER)))
    role(page, "guess").set_value("outcome").run()
    overrule(page, "values", "Logits")
    upload(page, ("other.csv", csv(2 * TABLE, label=LABELS)))
    expect_ks(page, LABELS, 2 * TABLE)
    assert "roles" not in page.query_params
    assert control(page, "values").value == "Auto"


def test_choices_of_an_address_that_do_not_fit_are_said_in_words() -> None:
    page = open_upload(
        ("mine.csv", csv(label=LABELS)), roles="outcome:gone", values="odds", prevalence="200"
    )
    assert not page.exception
    (warning,) = [one.value for one in page.warning]
    for part in ("gone", "odds", "200", "Expected Logits or Probabilities"):
        assert part in warning
    click(page, words.DETECT_AGAIN)
    assert not page.warning
    expect_ks(page, LABELS)


def test_a_reading_that_nobody_chose_for_the_file_is_said_to_be_of_the_address() -> None:
    two = files.npz(logits=TABLE, labels=LABELS)
    page = open_upload(("mine.npz", two), values="Logits", labels_from="0")
    assert [info.value for info in page.info] == [words.BY_ADDRESS]
    click(page, words.DETECT_AGAIN)
    assert not page.info
    expect_ks(page, LABELS)
    chosen = open_upload(("mine.npz", two))
    overrule(chosen, "values", "Logits")
    assert not chosen.info
    overrule(page, "values", "Probabilities")  # now it is of whoever chose it
    assert page.error
    assert not page.info


def test_the_step_offers_what_the_file_can_have_and_stays_as_it_is_while_it_is_used() -> None:
    page = open_upload(("mine.csv", csv(label=LABELS)))
    assert control(page, "sets") is control(page, "prevalence") is None
    for header, n_charts in (("Data", 0), ("Auto", 2)):
        overrule(page, "header", header)
        assert len(charts(page)) == n_charts
        assert step(page).expanded  # where a choice was needed, and then until the visit ends
    turn_to(page, "ks")
    assert not step(page).expanded


def test_a_column_without_a_role_can_be_the_outcome() -> None:
    sky = np.array(["dry", "wet", "snow"])[LABELS % 3]
    page = open_upload(("mine.csv", csv(sky=sky, town=["Bonn", "Kiel"] * 150)))
    assert not page.exception
    assert not charts(page)
    role(page, "sky").set_value("outcome").run()
    assert words.CLASS_NAMES.lower() in page.error[0].value.lower()
    overrule(page, "class_names", "dry, wet, snow, hail")
    expect_ks(page, LABELS % 3)


def test_rows_that_cannot_be_used_are_shown_and_left_out_by_a_click() -> None:
    town = np.array(["Bonn", "Kiel"] * 150, dtype=object)
    label = LABELS.astype(object)
    label[[20, 250]] = ""
    page = open_upload(("mine.csv", csv(label=label, town=town)))
    assert "rows 22, 252" in text_of(page).replace("\\", "")
    assert role_words.COLUMNS_REFUSED in text_of(page)
    (rows,) = tables(page)
    assert [row[0] for row in rows] == ["", ""]
    assert [row[1:] for row in rows] == [
        [f"{value:g}" for value in TABLE[row]] + [town[row]] for row in (20, 250)
    ]
    assert re.findall(r"<th scope='row'>(\d+)", previews(page)[0]) == ["22", "252"]
    click(page, "Leave out 2 rows")
    kept = label != ""
    expect_ks(page, LABELS[kept], TABLE[kept])
    assert page.query_params["leave_out"] in ("1", ["1"])
    turn_to(page, "ks")
    assert ":material/filter_alt_off:" in text_of(page)  # in sight on every page
    turn_to(page, "overview")
    click(page, words.PUT_BACK)
    assert not charts(page)


def test_files_that_were_refused_are_described() -> None:
    page = open_upload(("z.npy", files.npy(TABLE)), ("y_*.npy", files.npy(LABELS[:9])))
    assert page.error
    for name, size in ((r"z\.npy", "300 \u00d7 4"), (r"y\_\*\.npy", "9, int64")):
        assert any(f"**Detected in {name}**" in one and size in one for one in bodies(page))


def test_what_each_label_was_taken_as_stands_beside_it() -> None:
    parts = np.where(np.arange(N) % 3 == 0, "val", np.where(np.arange(N) % 3 == 1, "test", "train"))
    page = open_upload(("mine.csv", csv(label=LABELS + 1, split=parts.tolist())))
    for row, label, part in zip(tables(page)[0], LABELS, parts, strict=False):
        read_as = "" if part == "train" else f" <small>\u2192 {HEADS[label]}</small>"
        assert row[0] == f"{label + 1}{read_as}"
    hits = RNG.integers(0, 2, N)
    page = open_upload(("top.csv", top_1_file(RNG.uniform(0.5, 1, N), hits)))
    assert [row[0].partition(" ")[2] for row in tables(page)[0]] == [
        f"<small>\u2192 {words.RIGHT if hit else words.WRONG}</small>" for hit in hits[:10]
    ]


def test_a_damaged_bare_array_leaves_nothing_to_choose() -> None:
    page = open_upload(("mine.npy", files.npy(TABLE)[:200]))
    assert page.error
    assert not tables(page)
    assert not [one for one in page.selectbox if str(one.key).startswith("role_")]


# What is kept -------------------------------------------------------------------------------


def source(name: str, data: bytes) -> SourceFile:
    return SourceFile(name, f"{name} {hash(data)}", lambda: data)


def test_nothing_that_is_kept_outlives_a_choice() -> None:
    one = source("kept.csv", csv(label=LABELS, guess=OTHER))
    settings = Settings(TopR(1))
    readings = (
        ReadingOptions(),
        ReadingOptions(roles=(("guess", "outcome"),)),
        ReadingOptions(roles=(("d", "left out"),), leave_out=True),
    )
    keys = {key_of(read_files([one], options), settings) for options in readings}
    assert len(keys) == len(readings)
    stated = read_files([one], ReadingOptions(prevalence=0.5))
    assert key_of(stated, settings) not in keys


def test_a_file_is_parsed_once() -> None:
    data = csv(label=LABELS)
    loaded: list[str] = []

    def load(name: str, what: bytes) -> bytes:
        loaded.append(name)
        return what

    one = SourceFile("once.csv", f"once {hash(data)}", lambda: load("once", data))
    for options in (
        ReadingOptions(),
        ReadingOptions(first_label=0),
        ReadingOptions(values="logits"),
        ReadingOptions(),
    ):
        read_files([one], options)
    assert loaded == ["once"]
    bad = SourceFile("bad.csv", "bad", lambda: load("bad", b"a,b\n"))
    for _ in range(2):
        with pytest.raises(FileError) as refused:
            read_files([bad])
        assert refused.value.__cause__ is None
    assert loaded == ["once", "bad"]


@pytest.mark.parametrize(
    ("start", "text"),
    [
        ("raise SystemExit", "ended the process"),
        ("import time; time.sleep(60)", "not read within"),
        (None, "no process to read it in"),
    ],
)
def test_a_refusal_that_passes_is_not_kept(
    monkeypatch: pytest.MonkeyPatch, start: str | None, text: str
) -> None:
    one = source(f"passes {text}.csv", csv(label=LABELS))
    with monkeypatch.context() as broken:
        broken.setattr("dashboard.compute.files.parse_apart", process.parse_apart)
        process.WORKERS.end()
        broken.setattr(process, "WORKERS", process.Workers())
        broken.setattr(process, "limits_for", lambda *_: Limits(1 << 28, 20, 0.5))
        if start is None:
            broken.setattr(subprocess, "Popen", no_process)
        else:
            broken.setattr(process, "_START", start)
        with pytest.raises(FileError, match=text):
            read_files([one])
        process.WORKERS.end()
    assert read_files([one]).rows is not None


def no_process(*_: object, **__: object) -> None:
    raise OSError(errno.ENOMEM, "Cannot allocate memory")


# Nothing there yet --------------------------------------------------------------------------


def test_templates_can_be_uploaded_as_they_are() -> None:
    page = open_page(data="file")
    for name in templates.TEMPLATES.values():
        upload(page, (name, templates.template(name).encode()))
        check_page(page)
        assert not [one for one in page.warning if "unseen" not in one.value]


def test_the_size_is_checked_here_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dashboard.readers.limits.MAX_UPLOAD", 1 << 20)
    page = open_upload(("big.npy", b"x" * ((1 << 20) + 1)))
    assert "1 MB" in page.error[0].value
    assert "at most 1" in page.error[0].value


def test_the_server_s_settings() -> None:
    path = Path(dashboard.__file__).parent / ".streamlit" / "config.toml"
    told = tomllib.loads(path.read_text(encoding="utf-8"))
    server, client = told["server"], told["client"]
    assert server["maxUploadSize"] << 20 == limits.MAX_UPLOAD
    assert server["address"] == "127.0.0.1"
    assert set(server["allowedHosts"]) == {"127.0.0.1", "localhost", "::1"}
    assert client["showErrorDetails"] == "none"
    assert client["showErrorLinks"] is False
    assert client["toolbarMode"] == "minimal"
    assert told["browser"]["gatherUsageStats"] is False
