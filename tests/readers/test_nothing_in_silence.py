"""Files in which something could go wrong in silence: read rightly, asked about, or refused.

Each kind is a table of `Case`; another kind is another table in `KINDS`.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import pytest

from calibcore.data import LogitSet
from dashboard.readers import FileError, Question, ReadingOptions, Upload, read
from tests.readers.files import npz, parquet
from tests.readers.test_xlsx import of_rows

Columns = Mapping[str, Sequence[Any]]


@dataclass(frozen=True)
class Expect:
    """What a file should come to.

    Parameters
    ----------
    asks : tuple of str
        A pattern in each question, in their order; the first answer of each is given.
    rows, events : int
        Of the set that is read; events are the rows of the last class.
    score : str
        The column of the score, where that may go wrong.
    says : tuple of str
        Patterns, each in a sentence about the file.
    refused : str
        A pattern in the refusal.
    groups : tuple of str
        The columns to group by, where that may go wrong.
    never : str
        A pattern in no sentence about the file.
    """

    asks: tuple[str, ...] = ()
    rows: int = 0
    events: int | None = None
    score: str = ""
    says: tuple[str, ...] = ()
    refused: str = ""
    groups: tuple[str, ...] | None = None
    never: str = "(?!)"


@dataclass(frozen=True)
class Case:
    """A file of a kind, made when it is read; its ending picks the format."""

    kind: str
    name: str
    make: Callable[[], bytes]
    expect: Expect
    class_names: tuple[str, ...] = ()


# Rows and how programs write them -------------------------------------------------------------

N, EVENTS = 120, 53
_DRAWN = np.random.default_rng(33)
RISK = [round(float(p), 4) for p in _DRAWN.beta(2, 2.4, N)]
_ORDER = np.argsort(np.asarray(RISK) + _DRAWN.normal(0, 0.25, N))
Y = [int(k in _ORDER[-EVENTS:]) for k in range(N)]
"""The event in the rows of the highest noisy scores."""

MARKER = [round(float(z), 3) for z in np.asarray(Y) + _DRAWN.normal(0, 1.2, N)]
_LUCK = _DRAWN.uniform(-0.7, 0.7, N)
MONTHS = [round(float(z), 1) for z in 40 * (1 + _LUCK)]
IDS = [f"P-{k:04d}" for k in range(N)]
SUM, MEAN = round(sum(RISK), 2), round(sum(RISK) / N, 4)


def of_words(no: str, yes: str, other: Mapping[int, Any] | None = None) -> list[Any]:
    """Return the outcome in words, and in some rows something else."""
    return [(other or {}).get(k, yes if y else no) for k, y in enumerate(Y)]


def csv(columns: Columns, sep: str = ",", *, comma: bool = False, below: str = "") -> bytes:
    """Write a text table, None as a blank cell, and lines below it."""
    lines = [sep.join(columns)]
    for row in zip(*columns.values(), strict=True):
        cells = ["" if cell is None else str(cell) for cell in row]
        lines.append(sep.join(c.replace(".", ",") if comma else c for c in cells))
    return ("\n".join(lines) + "\n" + below).encode()


def xlsx(columns: Columns, *below: Sequence[Any]) -> bytes:
    """Write a sheet as a spreadsheet program does, and rows below the table."""
    rows = [[*columns], *map(list, zip(*columns.values(), strict=True)), *map(list, below)]
    return of_rows(rows)


def parquet_of(columns: Columns) -> bytes:
    return parquet({name: list(cells) for name, cells in columns.items()})


def records(columns: Columns) -> bytes:
    rows = zip(*columns.values(), strict=True)
    return json.dumps([dict(zip(columns, row, strict=True)) for row in rows]).encode()


def with_row(columns: Columns, *row: Any) -> dict[str, list[Any]]:
    """Add a row at the end."""
    return {n: [*cells, cell] for (n, cells), cell in zip(columns.items(), row, strict=True)}


# Rows about the table -------------------------------------------------------------------------

LOANS: Columns = {"account": IDS, "PD": RISK, "default": Y}
WORDED: Columns = {**LOANS, "default": of_words("N", "Y")}
WHOLE = Expect(rows=N, events=EVENTS, score="PD", says=("below the data left out",))


def _total(name: str, make: Callable[[], bytes], expect: Expect = WHOLE) -> Case:
    return Case("rows about the table", name, make, expect)


def _among(
    name: str, place: int, label: str, make: Callable[[Columns], bytes], *,
    total: bool = False, words: bool = False, decimals: int = 3,
) -> Case:  # fmt: skip
    """Put the mean or the sum of the rows above, or of all, between the rows."""
    rows = slice(0, place or N)
    made = np.sum if total else np.mean
    row = [label, round(float(made(RISK[rows])), 4), round(float(made(Y[rows])), decimals)]
    cells: Columns = {
        column: [*its[:place], None if words and column == "default" else cell, *its[place:]]
        for (column, its), cell in zip((WORDED if words else LOANS).items(), row, strict=True)
    }
    expect = replace(WHOLE, says=(f'1 row (among|below) the data left out: "{label}"',))
    return _total(name, lambda: make(cells), expect)


def _bare(name: str, make: Callable[[Columns], bytes], cells: Columns, *row: Any) -> Case:
    """Put sums or means below the rows, without a word."""
    expect = replace(WHOLE, says=(r'"[^"]+", sums or means of the rows above',))
    return _total(f"bare-{name}", lambda: make(with_row(cells, *row)), expect)


TOTALS = (
    _total("total.csv", lambda: csv(LOANS, below="Total,0.43,53\n")),
    _total("grand-total.csv", lambda: csv(LOANS, below="Mean,0.43,0.44\nGrand Total:,51.9,53\n")),
    _total("summe.csv", lambda: csv(LOANS, ";", comma=True, below="\nSumme;51,9;53\n")),
    _total("moyenne.tsv", lambda: csv(WORDED, "\t", below="Moyenne\t0.43\t\n")),
    _total("n.csv", lambda: csv(LOANS, below="N = 120,,\n")),
    _total("sql-server.csv", lambda: csv(WORDED, below="\n(120 rows affected),,\n")),
    _total("merged.xlsx", lambda: xlsx(WORDED, ["Total", 0.43, 53])),
    _total("count.xlsx", lambda: xlsx(LOANS, ["Count", 120, 120], ["Average", 0.43, 0.44])),
    _total("total.parquet", lambda: parquet_of(with_row(LOANS, "TOTAL", 51.9, 53))),
    _total("gesamt.json", lambda: records(with_row(WORDED, "Gesamt", 0.43, "53"))),
    _total("numbers.csv", lambda: csv({**LOANS, "account": range(N)}, below="Total,51.9,53\n")),
    _total("row-names.csv", lambda: csv(
        {"": range(N), **WORDED}, below="120,Totals (n=120),51.9,53\n",
    )),
    _total("category.csv", lambda: csv({"riesgo": ["alta", "baja", "media"] * 40, **LOANS}),
           Expect(rows=N, events=EVENTS, score="PD")),
    _total("gokei.csv", lambda: csv(LOANS, below="合計,51.9,53\n平均,0.43,0.44\n")),
    _total("itogo.csv", lambda: csv(LOANS, ";", comma=True, below="Итого;51,9;53\n")),
    _total("toplam.xlsx", lambda: xlsx(WORDED, ["Toplam", 51.9, 53], ["Ortalama", 0.43, None])),
    _total("medelvarde.csv", lambda: csv(LOANS, below="Medelvärde,0.43,0.44\n")),
    _total("razem.tsv", lambda: csv(WORDED, "\t", below="Razem\t51.9\t53\n")),
    Case("totals", "of-a-ward.csv", lambda: csv(
        {"ward": [*["W0"] * 60, "Subtotal W0", *["W1"] * 60],
         "PD": [*RISK[:60], 0.245, *RISK[60:]], "default": [*Y[:60], 1, *Y[60:]]},
    ), Expect(rows=N, events=EVENTS, score="PD", says=('1 row among .* left out: "Subtotal W0"',))),
    _among("mean.csv", 40, "Mean", csv),
    _among("mean-first.xlsx", 0, "Mean", xlsx),
    _among("average-north.csv", 40, "Average North", csv, words=True),
    _among("north-total.json", 55, "North total", records, total=True),
    _among("subtotal.parquet", 70, "Subtotal", parquet_of, total=True),
    _among("rounded.csv", 40, "Mean", csv, decimals=0),
    _among("ortalama.csv", 60, "ORTALAMA", csv, words=True),
    _total("named-mean.csv", lambda: csv({**LOANS, "account": ["Ms Mean", *IDS[1:]]}),
           Expect(rows=N, events=EVENTS, score="PD", never="left out")),
    _bare("sum.csv", csv, LOANS, "", SUM, 53),
    _bare("sum.xlsx", lambda cells: xlsx(cells, [], []), LOANS, None, SUM, 53),
    _bare("mean.json", records, LOANS, None, MEAN, 0.442),
    _bare("words.csv", csv, WORDED, "", SUM, ""),
    _bare("ids-too.csv", csv, {**LOANS, "account": range(N)}, N * (N - 1) // 2, SUM, 53),
    _total("bare-other.csv", lambda: csv(with_row(LOANS, "", MEAN, 0)),
           Expect(rows=N + 1, events=EVENTS, never="left out")),
    _total("two-cells.csv", lambda: csv(LOANS, below="Total,53\n"),
           Expect(asks=("1 with too few",), rows=N, events=EVENTS)),
)  # fmt: skip


# Outcomes that are neither, and numbers without end -----------------------------------------------

THIRD = (4, 9, 33, 50, 71, 100)
LEFT, LEFT_EVENTS = N - len(THIRD), sum(Y[k] for k in range(N) if k not in THIRD)
CLASS_OF = [int(k) for k in _DRAWN.integers(0, 3, N)]
LOGITS_OF = (_DRAWN.normal(0, 1, (N, 3)) + 2 * np.eye(3)[CLASS_OF]).round(4)


def of_numbers(other: Any, no: int = 0, yes: int = 1) -> list[Any]:
    return [other if k in THIRD else yes if y else no for k, y in enumerate(Y)]


def of_third(no: str, yes: str, other: str) -> list[Any]:
    return of_words(no, yes, dict.fromkeys(THIRD, other))


def of_classes(labels: Sequence[Any], names: Sequence[str] = "abc") -> Columns:
    logits = {f"logit_{name}": LOGITS_OF[:, k].tolist() for k, name in enumerate(names)}
    return {**logits, "label": labels}


def without_end(mark: Any) -> list[Any]:
    return [mark if k in THIRD else risk for k, risk in enumerate(RISK)]


def neither(name: str, make: Callable[[], bytes], *asks: str, events: int = LEFT_EVENTS) -> Case:
    """Expect one question, whose first answer leaves the rows out."""
    asked = tuple(f"{len(THIRD)} of {N} with .*{text}.*Leave these rows out" for text in asks[:1])
    says = (f"{len(THIRD)} of {N} rows left out",)
    expect = Expect((*asked, *asks[1:]), LEFT, events if events >= 0 else None, says=says)
    return Case("neither", name, make, expect)


NEITHER = (
    neither("lost.csv", lambda: csv(
        {"id": IDS, "risk": RISK, "readmitted": of_third("No", "Yes", "Lost to follow-up")},
    ), 'neither "No" nor "Yes" ."Lost to follow-up"'),
    neither("maybe.xlsx", lambda: xlsx({"p": RISK, "y": of_third("n", "y", "Maybe")}), '"Maybe"'),
    neither("any-word.csv", lambda: csv(
        {"risk": RISK, "died": of_third("no", "yes", "see letter")},
    ), '"see letter"'),
    neither("verzogen.csv", lambda: csv(
        {"Risiko": RISK, "Status": of_third("lebt", "verstorben", "verzogen")}, ";", comma=True,
    ), '"verzogen"'),
    neither("perdu.csv", lambda: csv(
        {"probabilite": RISK, "deces": of_third("non", "oui", "perdu de vue")}, ";",
    ), '"perdu de vue"'),
    neither("draw.csv", lambda: csv(
        {"win_prob": RISK, "result": of_third("Lost", "Won", "Draw")},
    ), 'neither "(Lost|Won)" nor "(Lost|Won)" ."Draw"'),
    neither("vital-status.csv", lambda: csv(
        {"risk": RISK, "vital_status": of_third("alive", "dead", "lost")},
    ), 'neither "alive" nor "dead" ."lost"'),
    neither("deals.csv", lambda: csv(
        {"Probability": RISK, "Stage": of_third("Closed Lost", "Closed Won", "Open")},
    ), 'neither "Closed (Lost|Won)" nor "Closed (Lost|Won)" ."Open"'),
    neither("tie.csv", lambda: csv(
        {"team": IDS, "win_prob": RISK, "result": of_numbers(0.5)},
    ), 'neither "0" nor "1" ."0.5"'),
    neither("spss.csv", lambda: csv({"risk": RISK, "event": of_numbers(-9)}, ";"), '"-9"'),
    neither("stata.parquet", lambda: parquet_of({"risk": RISK, "died": of_numbers(9)}), '"9"'),
    neither("two-codes.json", lambda: records({"p": RISK, "outcome": of_numbers(99)}), '"99"'),
    neither("from-1.csv", lambda: csv(
        {"risk": RISK, "default": of_numbers(9, 1, 2)},
    ), 'neither "1" nor "2" ."9"'),
    neither("few-twos.csv", lambda: csv({"risk": RISK, "target": of_numbers(2)}), '"2"'),
    neither("signed.csv", lambda: csv({"score": RISK, "y_true": of_numbers(0, -1, 1)}), '"0"'),
    neither("sas.csv", lambda: csv({"risk": RISK, "died": of_numbers(".")}), r'"\."'),
    neither("word-among-numbers.csv", lambda: csv(
        {"risk": RISK, "died": of_numbers("censored")},
    ), '"censored"'),
    neither("infinite.csv", lambda: csv({"risk": without_end("inf"), "y": Y}), "infinite"),
    neither("infinite.json", lambda: records({"p": without_end(float("inf")), "y": Y}), "infinite"),
    neither("ignored.npz", lambda: npz(logits=LOGITS_OF, labels=np.array(
        [-100 if k in THIRD else c for k, c in enumerate(CLASS_OF)],
    )), 'of no class ."-100"', events=-1),
    neither("ignored.csv", lambda: csv(of_classes(
        [-1 if k in THIRD else c for k, c in enumerate(CLASS_OF)],
    )), 'of no class ."-1"', events=-1),
    neither("no-class.csv", lambda: csv(of_classes(
        ["unclear" if k in THIRD else "abc"[c] for k, c in enumerate(CLASS_OF)],
    )), 'of no class ."unclear"', events=-1),
    neither("infinite.npz", lambda: npz(labels=np.array(CLASS_OF), logits=np.where(
        [[k in THIRD, False, False] for k in range(N)], np.inf, LOGITS_OF,
    )), "infinite", events=-1),
    Case("neither", "three-classes.csv", lambda: csv(of_classes(["abc"[c] for c in CLASS_OF])),
         Expect(rows=N)),
    Case("neither", "three-words.csv", lambda: csv(of_classes(
        [("No", "Yes", "Unsure")[c] for c in CLASS_OF], ["No", "Yes", "Unsure"],
    )), Expect(rows=N)),
    Case("neither", "three-colours.csv", lambda: csv(
        {"score": RISK, "class": [("red", "blue", "green")[c] for c in CLASS_OF]},
    ), Expect(("Which value does the score predict",), N, says=("Counted as",))),
)  # fmt: skip


# Ratings, odds, members, labels and weights are no score in silence -----------------------------

RATINGS = [1 + int(4.999 * p) for p in RISK]
SHARES3 = [[round(q / 1.6, 4) for q in (p, 0.9 - 0.5 * p, 0.7 - 0.5 * p)] for p in RISK]
ODDS3 = [[round(0.95 / q, 2) for q in row] for row in SHARES3]
WINNER = ["HDA"[k % 3 if k % 4 == 0 else int(np.argmax(row))] for k, row in enumerate(SHARES3)]
MEMBERS = {
    f"member_{k + 1}": [round(min(max(p + d, 0), 1), 3) for p, d in zip(RISK, draw, strict=True)]
    for k, draw in enumerate(_DRAWN.normal(0, 0.1, (4, N)).tolist())
}
OTHER = [round(float(q), 4) for q in _DRAWN.random(N)]
CALM = [int(q > 0.3 + 0.1 * (k % 5)) for k, q in enumerate(OTHER)]
_ALICE, _BOB, _CAROL, _ = MEMBERS.values()
_MARKS = ("What are these values",), "a probability for each rating"
_ODDS = ("odds.*What are these values",), "1 / odds"


def _question(name: str, columns: Columns, *expect: Any, make: Any = csv, **more: Any) -> Case:
    asks, refused = expect if expect else ((), "")
    return Case("questions", name, lambda: make(columns), Expect(asks, refused=refused, **more))


_FIRST_OF = ("Which of these is the score",), ""
QUESTIONS = (
    _question("llm.csv", {"conf_1_to_5": RATINGS, "is_correct": of_words("no", "yes")}, *_MARKS),
    _question("likert.xlsx", {"Risk rating": RATINGS, "died": Y}, *_MARKS, make=xlsx),
    _question("half-stars.csv", {"score": [1 + round(8 * p) / 2 for p in RISK], "y": Y}, *_MARKS),
    _question("stars.json", {"score": [2 * r for r in RATINGS], "y": Y}, *_MARKS, make=records),
    _question(
        "betting.csv",
        {f"{name}_odds": [row[k] for row in ODDS3] for k, name in enumerate(["H", "D", "A"])}
        | {"result": WINNER}, *_ODDS,
    ),
    _question(
        "football.csv",
        {"HomeTeam": IDS} | {f"B365{c}": [row[k] for row in ODDS3] for k, c in enumerate("HDA")}
        | {"FTR": WINNER}, *_ODDS,
    ),
    _question(
        "bookmaker.csv", {"decimal_odds": [round(0.95 / max(p, 0.02), 2) for p in RISK], "won": Y},
        ("Is this the score of the model",), "outcomes, but no scores",
    ),
    _question("ensemble.parquet", {**MEMBERS, "obs": Y}, *_FIRST_OF, make=parquet_of,
              rows=N, events=EVENTS, score="member_1"),
    _question(
        "forecasters.csv",
        {"question": IDS, "Alice": _ALICE, "Bob": _BOB, "resolved": of_words("No", "Yes")},
        *_FIRST_OF, rows=N, events=EVENTS, score="Alice",
    ),
    _question(
        "toxic.csv",
        {"toxic": Y, "threat": CALM, "p_toxic": RISK, "p_threat": OTHER}, *_FIRST_OF,
        rows=N, events=EVENTS, score="p_toxic",
    ),
    _question(
        "rain-and-wind.xlsx",
        {"prob_wind": OTHER, "prob_rain": RISK, "true_wind": CALM, "true_rain": Y}, *_FIRST_OF,
        make=xlsx, rows=N, events=sum(CALM), score="prob_wind",
    ),
    _question(
        "percent-beside.csv",
        {"pd_v2": RISK, "PD model v3": [f"{100 * p:.1f}%" for p in _CAROL], "default": Y},
        *_FIRST_OF, rows=N, events=EVENTS, score="pd_v2",
    ),
    _question(
        "recalibrated.csv",
        {"score_old": RISK, "score_new": [f"{70 * p:.1f}%" for p in RISK], "default": Y},
        *_FIRST_OF, rows=N, events=EVENTS, score="score_old",
    ),
    _question(
        "risk-factor.csv",
        {"FiO2": [round((1 + y + z) / 3, 3) for y, z in zip(Y, _LUCK, strict=True)],
         "risk": [round((p + q) / 2, 3) for p, q in zip(RISK, OTHER, strict=True)],
         "intubated": Y},
        *_FIRST_OF, rows=N, events=EVENTS, score="risk",
    ),
    _question(
        "weights.csv", {"sample_weight": [1, 10] * (N // 2), "p": RISK, "y": Y},
        rows=N, events=EVENTS, score="p", groups=(), says=("is not used as a weight",),
    ),
    _question(
        "ipw.csv", {"inverse_prob_weight": OTHER, "risk": RISK, "event": Y},
        rows=N, events=EVENTS, score="risk", groups=(), says=("each row counts once",),
    ),
)  # fmt: skip

# Columns that cannot be used ------------------------------------------------------------------

BLANK: list[Any] = [None] * N


def named(
    name: str,
    make: Callable[[], bytes],
    column: str,
    why: str,
    other: str = "troponin_z",
    role: str = "score",
) -> Case:
    """Expect a question that names the column, and the same said of what is read then."""
    cannot = f"{why}.*, so it cannot be the {role}"
    ask = f'column "{column}": {cannot}. Is "{other}" the {role} instead'
    expect = Expect((ask,), N, EVENTS, says=(f'"{column}" is {cannot}',) * ("words" not in why))
    return Case("cannot be used", name, make, expect)


def formula(columns: Columns, name: str) -> bytes:
    """Write a sheet with a column of formulas that no program has computed."""
    return xlsx({**columns, name: ["<c><f>1/(1+EXP(-A2))</f></c>"] * N})


def marked(name: str, mark: str | int, write: Callable[[Columns], bytes]) -> Case:
    """Expect a question about an outcome that is marked, and else blank; yes is answered."""
    columns: Columns = {"risk": RISK, "died": [mark if y else None for y in Y]}
    ask = f'"died": {mark} in {EVENTS} rows and blank in {N - EVENTS}. Does a blank cell say'
    says = f'"died" were read as "not {mark}" .{N - EVENTS} rows'
    return Case("cannot be used", name, lambda: write(columns),
                Expect((ask,), N, EVENTS, "risk", (says,)))  # fmt: skip


BESIDE: Columns = {"troponin_z": MARKER, "MI": Y}
UNUSABLE = (
    named("blank.csv", lambda: csv({"predicted_risk": BLANK, **BESIDE}),
          "predicted_risk", "blank in all 120 rows"),
    named("openpyxl.xlsx", lambda: formula(BESIDE, "p"), "p", "blank"),
    named("r.csv", lambda: csv({**BESIDE, "prob": ["NA"] * N}), "prob", "blank"),
    named("sas.csv", lambda: csv({**BESIDE, "p_event": ["."] * N}),
          "p_event", "blank"),
    named("not-found.csv", lambda: csv({**BESIDE, "Wahrscheinlichkeit": ["#N/A"] * N}, ";"),
          "Wahrscheinlichkeit", "blank"),
    named("excel-fehler.csv", lambda: csv({"Risiko": ["#WERT!"] * N, **BESIDE}, ";", comma=True),
          "Risiko", "a formula without a value"),
    named("formulas.csv", lambda: csv(
        {**BESIDE, "risk": [f"=1/(1+EXP(-A{k + 2}))" for k in range(N)]},
    ), "risk", "a formula without a value"),
    named("zeros.csv", lambda: csv({**BESIDE, "model_score": [0] * N}),
          "model_score", "0 in all 120 rows"),
    named("null.parquet", lambda: parquet_of({**BESIDE, "probability": BLANK}),
          "probability", "blank"),
    named("nan.json", lambda: records({**BESIDE, "confidence": [float("nan")] * N}),
          "confidence", "blank"),
    Case("cannot be used", "words.csv",
         lambda: csv({"died": Y, "probability": ["high", "low", "none"] * 40}),
         Expect(refused='no scores; Column "probability" is words such as "high"')),
    Case("cannot be used", "limits.csv",
         lambda: csv({"died": Y, "probability": [p if p > 0.4 else "<0.4" for p in RISK]}),
         Expect(refused='"probability" is numbers with limits such as "\u20390.4" among them')),
    Case("cannot be used", "comma.tsv",
         lambda: csv({"died": Y, "probability": [f"{40 + k % 50},{100 + k}" for k in range(N)]},
                     "\t"),
         Expect(refused=r'"40,\d{3}", whose comma may mark decimals or thousands')),
    *(Case("cannot be used", f"sign{k}.csv",
           partial(csv, {"died": Y, "yes_price": [cell.format(p) for p in RISK]}),
           Expect(refused=rf'"yes_price" is numbers such as ".*", whose {sign} must be taken out'))
      for k, (cell, sign) in enumerate((("${}", r"\$"), ("{}*", r"\*"), ("{} \u20ac", "\u20ac")))),
    marked("x.csv", "x", csv),
    marked("flagged.csv", "flagged", csv),
    marked("one.csv", 1, csv),
    marked("one.parquet", 1, parquet_of),
    marked("x.xlsx", "x", xlsx),
    named("no-outcome.csv", lambda: csv({"risk": RISK, "male": Y, "outcome": BLANK}),
          "outcome", "blank", "male", "outcome"),
    named("constant.csv", lambda: csv({"risk": RISK, "treated": Y, "y_true": [0] * N}),
          "y_true", "0 in all 120 rows", "treated", "outcome"),
    Case("cannot be used", "second-score.csv",
         lambda: csv({"risk": RISK, "risk_v2": BLANK, "patient_id": BLANK, "died": Y}),
         Expect((), N, EVENTS, "risk", ('"risk_v2" is blank', '"patient_id" names no rows'))),
    Case("cannot be used", "scores-alone.csv", lambda: csv({"risk": RISK, "died": BLANK}),
         Expect(refused='no outcomes, only scores; Column "died" is blank in all 120 rows')),
    Case("cannot be used", "outcomes-alone.xlsx", lambda: formula({"died": Y}, "predicted_risk"),
         Expect(refused='outcomes, but no scores; Column "predicted_risk" is blank in all')),
)  # fmt: skip


# Scores that are none as they stand, and logs of language models ---------------------------------

KINDS3 = ["ant", "bee", "cow"]
_PARTS = [[round(q / sum(row), 5) for q in row] for row in SHARES3]
_LOGS = [[round(float(np.log(q / sum(row))), 4) for q in row] for row in SHARES3]
_TRUE = [KINDS3["HDA".index(winner)] for winner in WINNER]
_COWS = _TRUE.count("cow")
_READ = Expect(rows=N, events=_COWS)


def _lines(*members: Mapping[str, Any]) -> bytes:
    return "\n".join(map(json.dumps, members)).encode()


def _refused(name: str, make: Callable[[], bytes], pattern: str) -> Case:
    return Case("no scores, and why", name, make, Expect(refused=pattern))


def _opened(name: str, make: Callable[[], bytes], expect: Expect = _READ) -> Case:
    return Case("no scores, and why", name, make, expect)


def _shares(scale: float, star: str = "") -> Columns:
    top = [max(row) for row in SHARES3]
    return {"y": _TRUE} | {
        kind: [f"{star if q == t else ''}{scale * q:.3f}" for q, t in
               zip([row[k] for row in SHARES3], top, strict=True)]
        for k, kind in enumerate(KINDS3)
    }  # fmt: skip


_ONE_A_ROW = [
    {"id": k, "label": kind, "top_logprobs": dict(zip(KINDS3, row, strict=True))}
    for k, (kind, row) in enumerate(zip(_TRUE, _LOGS, strict=True))
]
_TOKENS = [
    [{"token": kind, "logprob": q} for kind, q in zip(KINDS3, row, strict=True)] for row in _LOGS
]
_NUMBERS = [KINDS3.index(kind) for kind in _TRUE]


def _of_weka(end: str) -> bytes:
    """Write predictions as Weka does, a star at the predicted class."""
    lines = [f"inst#,actual,predicted,error,distribution{end}"]
    for k, (p, y) in enumerate(zip(RISK, Y, strict=True)):
        yes = int(p > 0.5)
        shares = [f"{'*' * (yes == c)}{round(abs(1 - c - p), 4)}" for c in (0, 1)]
        text = f"{1 + y}:{'ny'[y]},{1 + yes}:{'ny'[yes]},{'+' * (y != yes)}"
        lines.append(f"{k + 1},{text},{','.join(shares)}")
    return "\n".join(lines).encode()


NO_SCORES = (
    _refused("sum09.csv", lambda: b"y,a,b,c\n" + b"a,.8,.1,.1\nc,.3,.3,.3\nb,.3,.3,.3\n" * 20,
             "sum to 0.9 to 1"),
    _refused("weka.csv", lambda: csv(_shares(1, "*")), r'such as "\*?0'),
    _opened("distribution.csv", lambda: _of_weka(","), Expect(rows=N, events=sum(Y))),
    _opened("distribution-short.csv", lambda: _of_weka(""), Expect(rows=N, events=sum(Y))),
    _refused("decisions.csv", lambda: csv({"y_true": Y, "y_pred": CALM}), '"y_pred" is 0 or 1'),
    _refused("classes.xlsx", lambda: xlsx({"actual": _TRUE, "predicted": _TRUE[::-1]}),
             '"predicted" says classes'),
    _refused("words.csv", lambda: csv({"y": Y, "risk": [f"about {p}" for p in RISK]}),
             'such as "about.*cannot be the score'),
    _refused("uneven.jsonl", lambda: _lines(*(
        {"target": k % 2, "filtered_resps": [["-1.5", "False"]] * (2 + k % 3)} for k in range(N)
    )), "lists of unequal length: 4 in row 3, 2 in row 1"),
    _refused("generated.jsonl", lambda: _lines(*(
        {"target": kind, "resps": [[kind]], "filtered_resps": [kind]} for kind in _TRUE
    )), "lists of texts such as"),
    _refused("draws.npz", lambda: npz(mc_probs=np.array([SHARES3, SHARES3]), y=np.array(_NUMBERS)),
             r"shape \(2, 120, 3\)"),
    _opened("levels.csv", lambda: b",model,model,model,truth\n" + csv(
        {"": range(N)} | {kind: [row[k] for row in _PARTS] for k, kind in enumerate(KINDS3)}
        | {"kind": _TRUE})),
    _opened("orange.tab", lambda: csv(
        {"kind": ["ant bee cow", "class", *_TRUE]}
        | {f"Forest ({kind})": ["continuous", "meta", *(row[k] for row in _PARTS)]
           for k, kind in enumerate(KINDS3)}, "\t")),
    _opened("blanks.dat", lambda: csv({"p": RISK, "y": Y}, " "), Expect(rows=N, events=EVENTS)),
    _opened("bars.psv", lambda: csv({"p": RISK, "y": Y}, "|"), Expect(rows=N, events=EVENTS)),
    _opened("lm-eval.jsonl", lambda: _lines(*(
        {"doc_id": k, "target": str(y), "resps": [[[str(q), "False"]] for q in row],
         "filtered_resps": [[str(q), "False"] for q in row], "acc": 1.0}
        for k, (y, row) in enumerate(zip(_NUMBERS, _LOGS, strict=True))))),
    _opened("lm-eval-old.jsonl", lambda: _lines(*(
        {"target": y, "filtered_resps": [[q, False] for q in row]}
        for y, row in zip(_NUMBERS, _LOGS, strict=True)))),
    _opened("logprobs.jsonl", lambda: _lines(*_ONE_A_ROW)),
    _opened("completions.jsonl", lambda: _lines(*(
        {"gold": kind, "logprobs": {"tokens": ["x"], "top_logprobs": [row["top_logprobs"]]}}
        for kind, row in zip(_TRUE, _ONE_A_ROW, strict=True)))),
    _opened("chat.jsonl", lambda: _lines(*(
        {"answer": kind, "choices": [{"index": 0, "logprobs": {"content": [
            {"token": "ant", "logprob": -0.5, "bytes": [65], "top_logprobs": tokens}]}}]}
        for kind, tokens in zip(_TRUE, _TOKENS, strict=True)))),
)  # fmt: skip


# A mirror of the outcome is no subgroup ---------------------------------------------------------

NOT_Y = [1 - y for y in Y]
WON = of_words("Lost", "Won")


_NAMES_OF = ("cat", "dog", "emu")
_LIKELIEST = LOGITS_OF.argmax(axis=1).tolist()
_RIGHT = [int(said == true) for said, true in zip(_LIKELIEST, CLASS_OF, strict=True)]
_NEARLY = [1 - _RIGHT[0], *_RIGHT[1:]]


def mirror(name: str, columns: Columns, make: Callable[[Columns], bytes] = csv) -> Case:
    expect = Expect((), N, EVENTS, groups=(), says=("equals the outcome, or is its opposite",))
    return Case("mirror", name, lambda: make(columns), expect)


MIRRORS = (
    mirror("teams.csv", {"prob1": RISK, "prob1_outcome": Y, "prob2_outcome": NOT_Y}),
    mirror("survived.csv", {"risk": RISK, "died": Y, "survived": NOT_Y}),
    mirror("won.csv", {"win_prob": RISK, "y": Y, "text": WON}),
    mirror("yes-no.xlsx", {"win_prob": RISK, "won": of_words("No", "Yes"), "result": WON}, xlsx),
    mirror("ja.csv", {"Risiko": RISK, "verstorben": of_words("nein", "ja"), "lebt": NOT_Y}),
    mirror("equal.csv", {"risk": RISK, "label": Y, "label_copy": Y}),
    mirror("words.parquet", {"p": RISK, "default": Y, "word": of_words("paid", "bad")}, parquet_of),
    mirror("signed.json", {"p": RISK, "y": Y, "sign": [2 * y - 1 for y in Y]}, records),
    mirror("codes.csv", {"p": RISK, "event": Y, "code": [10 - 3 * y for y in Y]}),
    mirror("flags.csv", {"p": RISK, "event": Y, "flag": of_words("TRUE", "FALSE")}),
    mirror("letters.tsv", {"p": RISK, "event": Y, "f": of_words("G", "B")}, lambda c: csv(c, "\t")),
    mirror("gaps.csv", {"p": RISK, "event": Y, "no_event": [None, *NOT_Y[1:]]}),
    Case("mirror", "draws.csv", lambda: csv({"p": RISK, "y": of_numbers(0.5), "result": [
        "Draw" if k in THIRD else word for k, word in enumerate(WON)
    ]}), Expect((f"{len(THIRD)} of {N} with",), LEFT, LEFT_EVENTS, groups=(), says=("opposite",))),
    Case("mirror", "other-numbers.csv", lambda: csv(
        {**of_classes(CLASS_OF), "code": [(c + 1) % 3 for c in CLASS_OF]},
    ), Expect(rows=N, groups=("code",))),
    Case("mirror", "repeats.csv", lambda: csv({**of_classes(CLASS_OF),
         "model_says": [_NAMES_OF[c] for c in _LIKELIEST], "acc": _RIGHT, "first": _NEARLY}),
         Expect(rows=N, groups=("first",),
                says=("model_says says the predicted class, so it is", "acc says whether the"))),
    Case("mirror", "nearly.csv", lambda: csv({"p": RISK, "y": Y, "site": [Y[0], *NOT_Y[1:]]}),
         Expect(rows=N, events=EVENTS, groups=(), says=("site .* known only after the outcome",))),
)  # fmt: skip


# Rows that belong together --------------------------------------------------------------------

_OF, _AGAIN = [k // 5 for k in range(N)], [k % 24 for k in range(N)]
_SAME = [Y[k] for k in _AGAIN]
"""The outcome of 24 samples, each evaluated five times."""


def _together(
    name: str, make: Callable[[], bytes], text: str, *, groups: tuple[str, ...] = (), rows: int = N
) -> Case:
    silent = "" if text else "independent"
    expect = Expect(rows=rows, says=(text,), groups=groups, never=silent or "(?!)")
    return Case("rows that belong together", name, make, expect)


def _person(person: str, *, start: int = 101, **more: Sequence[Any]) -> dict[str, Sequence[Any]]:
    return {person: [start + k for k in _OF], **more, "risk": RISK, "readmitted": Y}


def _loans(cells: Sequence[Any]) -> dict[str, Sequence[Any]]:
    fine = [p + k * 1e-7 for k, p in enumerate(RISK)]
    columns = {"loan_no": cells, "PD": fine, "default": Y}
    return {name: [*its, *its[:8]] for name, its in columns.items()}


TOGETHER = (
    _together("patients.csv", lambda: csv({"patient_id": [f"PT{k:03d}" for k in _OF],
              "visit": [k % 5 for k in range(N)], "risk": RISK, "event": Y}),
              "120 rows of 24 patients", groups=("visit",)),
    _together("numbers.xlsx", lambda: xlsx(_person("Patient ID")), "120 rows of 24 patients"),
    _together("subject.parquet", lambda: parquet_of(_person("subject")), "of 24 subjects"),
    _together("users.json", lambda: records(_person("user")), "120 rows of 24 users"),
    _together("kunden.csv", lambda: csv(_person("Kunden-Nr"), ";", comma=True), "of 24 IDs"),
    _together("customer.tsv", lambda: csv(_person("customerNumber"), "\t"), "of 24 customers"),
    _together("caret.csv", lambda: csv({"rowIndex": _AGAIN, "prob": RISK, "obs": _SAME,
              "Resample": [f"Fold{1 + k // 24}" for k in range(N)]}),
              "120 rows of 24 IDs", groups=("Resample",)),
    _together("daily.csv", lambda: csv({"event_id": _AGAIN, "day": [k // 24 for k in range(N)],
              "forecast": RISK, "outcome": _SAME}), "of 24 events", groups=("day",)),
    _together("repeats.json", lambda: records({"id": _AGAIN, "repeat": [k // 24 for k in range(N)],
              "p": RISK, "y": _SAME}), "120 rows of 24 IDs", groups=("repeat",)),
    _together("loans.csv", lambda: csv(_loans(range(7000, 7000 + N))),
              "120 loans: 8 of them occur more than once .* 8 rows repeat", rows=N + 8),
    _together("loans.xlsx", lambda: xlsx(_loans(IDS)), "8 of them occur more than once .* 8 rows",
              rows=N + 8),
    _together("no-ids.csv", lambda: csv({n: c for n, c in _loans(IDS).items() if n != "loan_no"}),
              "8 of 128 rows repeat another one", rows=N + 8),
    _together("blank.csv", lambda: csv(_person("MRN") | {"MRN": ["" if k < 5 else k for k in
              _OF]}), "95 rows of 19 IDs", groups=("MRN",)),
    _together("arrays.npz", lambda: npz_of(_person("patient_ids") | {"readmitted": Y}),
              "120 rows of 24 "),
    _together("branch.csv", lambda: csv(_person("branch_id")), "", groups=("branch_id",)),
    _together("index.csv", lambda: csv(_person("index") | {"index": _AGAIN}), "",
              groups=()),
)  # fmt: skip


# Sentences with a figure ----------------------------------------------------------------------

_ENDS = [1.0] * 9 + [0.0] * 30 + RISK[39:]
_HIT = [1] * 9 + [0] * 30 + Y[39:]
_BOTH: Columns = {
    "p_no": [1 - p for p in _ENDS],
    "p_yes": _ENDS,
    "y": ["yes" if y else "no" for y in _HIT],
}
_OVER = [1.0000001, -1e-9, *RISK[2:]]
_TABLE = np.random.default_rng(8).dirichlet([1, 1, 1], N).round(4)
_BEST = _TABLE.argmax(axis=1)


def npz_of(columns: Columns, kind: str = "f8") -> bytes:
    cells = {name: np.asarray(its) for name, its in columns.items()}
    cells = {n: c.astype(kind) if c.dtype.kind == "f" else c for n, c in cells.items()}
    return npz(compress=False, **cells)


def _figure(name: str, make: Callable[[], bytes], *says: str, never: str = "(?!)") -> Case:
    return Case("sentences with a figure", name, make, Expect(rows=N, says=says, never=never))


def _predicted(*names: Any, heading: str = "prob_{}") -> Columns:
    """Return classes that are called by numbers, and what is predicted of each row."""
    table = {heading.format(name): _TABLE[:, k].tolist() for k, name in enumerate(names)}
    truth = [names[(k + (k % 4 == 0)) % 3] for k in _BEST]
    return {**table, "label": truth, "pred": [names[k] for k in _BEST]}


FIGURES = (
    _figure("ends.csv", lambda: csv({"p": _ENDS, "y": _HIT}),
            r"exactly 1 in 9 and exactly 0 in 30 of 120 rows \(32.5% together\)"),
    _figure("ends.parquet", lambda: parquet_of(_BOTH), "class yes is exactly 1 in 9 and exactly 0"),
    _figure("percent.csv", lambda: csv({"p": [f"{100 * p:.2f}%" for p in _ENDS], "y": _HIT}),
            "exactly 1 in 9 and exactly 0 in 30 of 120"),
    _figure("zeros.json", lambda: records({"p": [p * (p < 1) for p in _ENDS], "y": _HIT}),
            "The true class has probability 0 in 9 rows", never="exactly 1 in"),
    _figure("votes.csv", lambda: csv({"p": [0.0, *(round(p, 1) for p in RISK[1:])],
            "y": [1, *Y[1:]]}), r"have 1 decimal \(rounded, or shares of votes\)"),
    _figure("three.npz", lambda: npz_of({"p": [0.0, *np.round(RISK[1:], 3)], "y": [1, *Y[1:]]}),
            "because the values of the file are rounded to 3 decimals"),
    _figure("trees.npz", lambda: npz_of({"p": [0.0, *np.round(np.asarray(RISK[1:]) * 500) / 500],
            "y": [1, *Y[1:]]}), r"have 3 decimals \(rounded, or shares of votes\)"),
    _figure("over.csv", lambda: csv({"p": _OVER, "y": Y}), "in 2 rows .* by at most 1e-07"),
    _figure("over.json", lambda: records({"p": _OVER, "y": Y}), "in 2 rows .* by at most 1e-07"),
    _figure("float32.npz", lambda: npz_of({"p": _OVER, "y": Y}, "f4"), "in 2 rows .* 1e-07"),
    _figure("confidence.csv", lambda: csv({"confidence": _OVER, "correct": Y}), "by at most 1e-07"),
    _figure("digits.csv", lambda: csv(_predicted(3, 5, 8)), never="likeliest"),
    _figure("turned.csv", lambda: csv(_predicted(2, 0, 1)), never="likeliest"),
    _figure("from-one.parquet", lambda: parquet_of(_predicted(1, 2, 3)), never="likeliest"),
    _figure("words.json", lambda: records(_predicted("a", "c", "b", heading="{}")),
            never="likeliest"),
    _figure("other.csv", lambda: csv({**_predicted(3, 5, 8), "pred": [(3, 5, 8)[k - 1] for k in
            _BEST]}), r"likeliest class in 0.0% of the rows"),
)  # fmt: skip


# Several labels, and values of two scales or a little outside their own --------------------------

_LABELS = {kind: _DRAWN.random(N) for kind in ("toxic", "obscene", "threat")}
_HAS = {
    kind: [int(q > 0.5) for q in p**2 + _DRAWN.normal(0.2, 0.2, N)] for kind, p in _LABELS.items()
}
_SAID = {kind: p.round(4).tolist() for kind, p in _LABELS.items()}
_LEFT = 40
"""The first rows are written in another unit."""


def _labels(
    name: str, columns: Columns, *, make: Any = csv, no_groups: bool = True, score: str, of: str
) -> Case:
    expect = Expect(
        (f'"{score}" of .*Which of these is the score',), N, sum(_HAS[of]), score=score,
        groups=() if no_groups else None,
    )  # fmt: skip
    return Case("several labels", name, lambda: make(columns), expect)


def _pairs(truth: str, text: str, *, in_turn: bool = False) -> Columns:
    both = [{truth.format(k): _HAS[k], text.format(k): _SAID[k]} for k in _LABELS]
    if in_turn:
        return {name: cells for pair in both for name, cells in pair.items()}
    return {n: pair[n] for first in (0, 1) for pair in both for n in [[*pair][first]]}


def _units(name: str, columns: Columns, *, make: Any = csv, low: int, high: int) -> Case:
    ask = f"two scales.*in {low} rows.*in {high} rows.*What are these values"
    return Case("two scales", name, lambda: make(columns), Expect((ask,), refused="on one scale"))


def _in_part(cells: Sequence[float], *, first: bool = True) -> list[float]:
    return [round(100 * p, 2) if (k < _LEFT) == first else p for k, p in enumerate(cells)]


_LOW = _DRAWN.random(900)
_LINEAR = np.where(_LOW < 58 / 900, _LOW - 0.065, _LOW).round(4)
_ROSE = [int(q) for q in _DRAWN.random(900) < _LOW]


def _linear(name: str, cells: Any, n: int, *, make: Any = csv) -> Case:
    columns = {"pred": np.asarray(cells).tolist(), "y": _ROSE}
    ask = f"{n} of 900 scores are outside 0 to 1, by at most .*What are these values"
    return Case("a regression", name, lambda: make(columns), Expect(
        (ask,), 900, sum(_ROSE), says=(f"in {n} rows .* were moved",), never="Logits",
    ))  # fmt: skip


UNITS = (
    _labels("jigsaw.csv", {"id": IDS, **_pairs("{}", "{}_score")}, score="toxic_score", of="toxic"),
    _labels("in-turn.json", _pairs("{}_true", "{}_pred", in_turn=True), make=records,
            score="toxic_pred", of="toxic"),
    _labels("chest.xlsx", _pairs("{}", "p_{}"), make=xlsx, score="p_toxic", of="toxic"),
    _labels("two.parquet", {"obscene": _HAS["obscene"], "threat": _HAS["threat"],
            "obscene_score": _SAID["obscene"], "threat_score": _SAID["threat"]},
            make=parquet_of, score="obscene_score", of="obscene"),
    _labels("letters.csv", {"A": _HAS["toxic"], "B": _HAS["threat"], "A_prob": _SAID["toxic"],
            "B_prob": _SAID["threat"]}, score="A_prob", of="toxic"),
    _labels("numbers.csv", {"y1": _HAS["toxic"], "y2": _HAS["threat"], "p1": _SAID["toxic"],
            "p2": _SAID["threat"]}, score="p1", of="toxic"),
    _labels("rare.csv", {"toxic": _HAS["toxic"], "threat": [0, 1] + [0] * (N - 2),
            "toxic_score": _SAID["toxic"], "threat_score": [p / 40 for p in _SAID["threat"]]},
            score="toxic_score", of="toxic"),
    _units("pd.csv", {"pd": _in_part(RISK), "default": Y}, low=80, high=40),
    _units("risk-percent.csv", {"risk_percent": _in_part(RISK, first=False), "died": Y},
           low=40, high=80),
    _units("score.xlsx", {"score": _in_part(RISK), "y": Y}, make=xlsx, low=80, high=40),
    _units("every-third.json", {"probability": [
        round(100 * p, 2) if k % 3 else p for k, p in enumerate(RISK)
    ], "y": Y}, make=records, low=40, high=80),
    _units("confidence.csv", {"confidence": _in_part(
        [0.4 + 0.6 * p for p in RISK], first=False,
    ), "correct": Y}, low=40, high=80),
    _units("classes.csv", {f"p_{name}": [
        100 * row[k] if place < _LEFT else row[k] for place, row in enumerate(_TABLE.tolist())
    ] for k, name in enumerate("abc")} | {"y": ["abc"[k] for k in _BEST]}, low=80, high=40),
    Case("two scales", "small-percentages.csv", lambda: csv(
        {"pd_percent": [round(3 * p * p, 3) for p in RISK], "default": [int(k == 7) for k in
         range(N)]}), Expect(rows=N, events=1, says=("divided by 100",))),
    _linear("below.csv", _LINEAR, int((_LINEAR < 0).sum())),
    _linear("few.csv", np.where(_LOW < 0.02, -_LOW, _LOW).round(5), int((_LOW < 0.02).sum())),
    _linear("both.parquet", (1.2 * _LOW - 0.1).round(4), int(
        np.count_nonzero(np.abs((1.2 * _LOW - 0.1).round(4) - 0.5) > 0.5)), make=parquet_of),
    Case("a regression", "logits.csv", lambda: csv({"logit": (_LOW - 0.2).tolist(), "y": _ROSE}),
         Expect(rows=900, says=("Logits",))),
)  # fmt: skip


# Numbers of classes that have names -----------------------------------------------------------

_NAMES = ("dog", "ant", "cow")
_SURE = [k if row % 4 else row % 3 for row, k in enumerate(_BEST.tolist())]
"""The likeliest class in most rows, counted as the columns stand."""


def _codes(
    name: str, order: Sequence[str] | None, *expect: str, frame: str = "prob_{}", make: Any = csv,
    names: Sequence[str] = _NAMES, given: tuple[str, ...] = (), first: int = 0, refused: str = "",
) -> Case:  # fmt: skip
    """Number the classes in some order, or write their names; count those of the last column."""
    last = sum(k == len(names) - 1 for k in _SURE)
    label = [names[k] if order is None else [*order].index(names[k]) + first for k in _SURE]
    columns = {frame.format(own): _TABLE[:, k].tolist() for k, own in enumerate(names)}
    asks, says = expect[:1] if expect[1:] else (), expect[:1] if not expect[1:] else expect[1:]
    expected = Expect(asks, N, last, says=says, never="another order", refused=refused)
    return Case("codes", name, lambda: make(columns | {"label": label}), expected, given)


_BY_LETTER = sorted(_NAMES)
_OWN = f"{100 * np.mean(np.equal(_SURE, _BEST)):.1f}%"


def _event(name: str, first: str, second: str, no: Any, yes: Any, make: Any = csv) -> Case:
    """Put the column of the event first."""
    columns = {first: RISK, second: [round(1 - p, 4) for p in RISK]}
    rows = columns | {"y": [yes if y else no for y in Y]}
    expected = Expect(rows=N, events=EVENTS, says=("The event is class .*comes first",))
    return Case("event first", name, lambda: make(rows), expected)


CODES = (
    _codes("sklearn.csv", _BY_LETTER, "the likeliest is right in .* of the rows if they are dog,"
           f" ant, cow in this order, in {_OWN} in alphabetical", "Labels from"),
    _codes("sklearn.parquet", _BY_LETTER, "numbers of the classes", "Labels", make=parquet_of),
    _codes("from-1.xlsx", _BY_LETTER, "numbers of the classes", "Labels", make=xlsx, first=1),
    _codes("bare.json", _BY_LETTER, "numbers of the classes", "Labels", make=records, frame="{}"),
    _codes("in-order.csv", _NAMES, f"right in {_OWN} of the rows if they are dog, ant, cow in"),
    _codes("in-order.tsv", _NAMES, "in this order", make=lambda c: csv(c, "\t"), frame="p {}"),
    _codes("sorted.csv", ("ant", "cow", "dog"), "Labels from 0 to 2", names=("ant", "cow", "dog")),
    _codes("given.csv", _BY_LETTER, "Labels from 0 to 2", given=("ant", "cow", "dog")),
    _codes("given-in-order.csv", _NAMES, "Labels from 0 to 2", given=("dog", "ant", "cow")),
    _codes("given-beside-names.csv", None, "by name", given=("ant", "cow", "dog")),
    _codes("given-longer.csv", _NAMES, "Labels", given=("hot dog", "fire ant", "cow")),
    _codes("given-numbers.csv", ("0", "1", "2"), "numbers", names=("2", "0", "1"),
           given=("ant", "cow", "dog")),
    _codes("others.csv", _NAMES, refused='"x" for column "prob_dog"', given=("x", "y", "z")),
    _codes("exchanged.csv", None, refused='"cow" for column "prob_dog"',
           given=("cow", "dog", "bee")),
    Case("codes", "one-hot.csv", lambda: csv(
        {f"p_{own}": _TABLE[:, k].tolist() for k, own in enumerate(_NAMES)}
        | {f"is_{own}": [int(k % 3 == c) for k in range(N)] for c, own in enumerate(_NAMES)}),
         Expect(rows=N, never="in alphabetical order")),
    Case("codes", "no-better.csv", lambda: csv(
        {f"prob_{own}": _TABLE[:, k].tolist() for k, own in enumerate(_NAMES)}
        | {"label": [k % 3 for k in range(N)]}), Expect(("Which classes are they",), N)),
    _event("one-zero.csv", "1", "0", 0, 1),
    _event("prob.parquet", "prob_1", "prob_0", 0, 1, parquet_of),
    _event("two-one.csv", "p_2", "p_1", 1, 2),
    _event("yes-no.xlsx", "p_yes", "p_no", "no", "yes", xlsx),
    _event("ill.json", "ill", "healthy", "healthy", "ill", records),
    _event("true.csv", "proba_True", "proba_False", "False", "True"),
    Case("event first", "renamed.csv", lambda: csv({"p_yes": RISK, "p_no": [1 - p for p in RISK],
         "y": of_words("healthy", "ill")}), Expect(rows=N, events=N - EVENTS, never="AUC"),
         ("ill", "healthy")),
    _event("bad.csv", "p_bad", "p_good", "good", "bad"),
    Case("event first", "neither.csv", lambda: csv({"p_dog": RISK, "p_cat": [1 - p for p in RISK],
         "y": of_words("cat", "dog")}), Expect(rows=N, events=N - EVENTS, says=(
             "The event is class cat, whose column comes last",))),
)  # fmt: skip


# Classes by numbers, groups, weights and confidences ----------------------------------------------

_DIGITS = {str(name): _TABLE[:, k].tolist() for k, name in enumerate((3, 5, 8))}
_DIGIT = [(3, 5, 8)[k] for k in _SURE]
_EIGHTS = _DIGIT.count(8)
_SIZES = [10 + k % 30 for k in range(40)]
_GROUPS: Columns = {
    "score": [round(0.025 * k + 0.01, 3) for k in range(40)],
    "n": _SIZES,
    "events": [int(n * 0.025 * k) for k, n in enumerate(_SIZES)],
}
_CONFIDENT = [max(p, round(1 - p, 4)) for p in RISK]
_FROM_1 = {f"prob_{k + 1}": _TABLE[:, k].tolist() for k in range(3)}


def _other(name: str, columns: Columns, *asks: str, make: Any = csv, **more: Any) -> Case:
    expect = Expect(asks, **({"rows": N} | more if "refused" not in more else more))
    return Case("numbers", name, lambda: make(columns), expect)


_SITES = [f"site {k % 7}" for k in range(N)]


def _of_three(event: str, *others: str) -> list[str]:
    return [event if y else others[k % 2] for k, y in enumerate(Y)]


def _weighed(
    name: str, make: Any = csv, ending: str = "csv", cells: Sequence[float] = _SIZES * 3
) -> Case:
    columns: Columns = {"p": RISK, "y": Y, name: cells}
    texts = (f'"{name}" is not used as a weight: each row counts once',)
    return _other(
        f"weight-{name}.{ending}", columns, make=make, events=EVENTS, score="p", says=texts
    )


OTHERS = (
    *(_other(f"{name}.csv", {**_DIGITS, name: _DIGIT}, events=_EIGHTS, says=("matched",))
      for name in ("digit", "true", "y", "class")),
    _other("digit-first.tsv", {"digit": _DIGIT, **_DIGITS}, make=lambda c: csv(c, "\t"),
           events=_EIGHTS, says=("matched",)),
    _other("places.csv", {**dict(zip(("p0", "p1", "p2"), _DIGITS.values(), strict=True)),
           "label": _DIGIT}, "3, 5, 8, which are no numbers of the classes 0 to 2",
           events=_EIGHTS),
    Case("numbers", "places.npz", lambda: npz(probs=_TABLE, labels=np.array(_DIGIT)),
         Expect(("3, 5, 8, which are no numbers",), N, _EIGHTS)),
    _other("without-3.csv", {**_FROM_1, "y": [min(k, 1) + 1 for k in _SURE]}, events=0,
           says=("No row is of class 3",), never="No row is of class 1"),
    _other("grouped.csv", _GROUPS, '"n" and "events": rows of groups', rows=sum(_SIZES),
           events=sum(_GROUPS["events"]), score="score"),
    _other("trials.xlsx", {"successes": _GROUPS["events"], "trials": _SIZES,
           "risk": _GROUPS["score"]}, '"trials" and "successes": rows of', make=xlsx,
           rows=sum(_SIZES), events=sum(_GROUPS["events"]), score="risk"),
    _other("bins.json", {"mean_pred": [0.05 + 0.1 * k for k in range(10)],
           "observed": [0.04 + 0.1 * k for k in range(10)], "count": [100 - k for k in range(10)]},
           make=records, refused='"count" and "observed": rows of groups'),
    _other("deciles.csv", {"decile": range(1, 11), "avg_score": [0.05 + 0.1 * k for k in range(10)],
           "n": [100] * 10, "bads": [5 + 10 * k for k in range(10)]},
           '"n" and "bads": rows of groups', rows=1000, events=500, score="avg_score"),
    Case("numbers", "grade.csv", lambda: csv({"score": RISK, "grade": CLASS_OF}), Expect(
         ('no outcomes, only scores: "grade" holds 3 values.*Which column.*Take "grade"',
          'the values "0", "1", "2".*Which value.*None of these'), refused="but no scores")),
    *(Case("numbers", f"{name}.csv", partial(csv,
         {"case_no": IDS, score: RISK, "site": _SITES, name: cells}), Expect(
         (rf'no outcomes, only scores.*Which column says what happened\? Take "{name}"',
          rf'"{name}": the values.*Which value does the score predict\? {event}$'), N, EVENTS))
      for name, cells, score, event in (
          ("readmission", _of_three("unplanned", "none", "planned"), "p_readmit", "unplanned"),
          ("remark", _of_three("C", "S", "I"), "conf", "C"),
          ("situation", _of_three("denied", "in part", "granted"), "p_denial", "denied"))),
    *(Case("numbers", f"{name}.csv", partial(csv,
         {"pair": IDS, name: [round(2 * p - 1, 3) for p in RISK], "outcome": Y}), Expect(
         (r"none beyond -0\.8.* as of similarities.*What are these.*Points of another scale",),
         refused="Expected probabilities: map the points to these first"))
      for name in ("cosine_similarity", "score", "compound_score")),
    Case("numbers", "logit.csv", lambda: csv(
         {"pair": IDS, "logit": [round(2 * p - 1, 3) for p in RISK], "outcome": Y}),
         Expect((), N, EVENTS)),
    _other("masterscale.csv", {"rating": IDS[:40], "PD": [f"{p:.2%}" for p in _GROUPS["score"]],
           "obligors": [f'"{100 * n:,}"' for n in _SIZES],
           "defaults": [100 * k for k in _GROUPS["events"]]},
           '"defaults" of "obligors" cases', rows=100 * sum(_SIZES),
           events=100 * sum(_GROUPS["events"]), says=("Commas mark thousands in obligors",)),
    _other("goods.csv", {"pd": _GROUPS["score"], "goods": _SIZES[::-1], "bads": _SIZES},
           refused="without the event, and how many with it. Expected a column of their sum"),
    Case("numbers", "merged.csv", lambda: csv({"merge_score": RISK, "state": [
         "OPEN" if k % 9 == 0 else ("CLOSED", "MERGED")[y] for k, y in enumerate(Y)]}), Expect(
         ('Leave these rows out', 'Which one is the event. "MERGED"'), N - 14)),
    *(Case("numbers", f"{yes}.csv", partial(csv,
         {"pair_no": [k // 3 for k in range(N)], "risk": RISK, "group": of_words(no, yes)}),
         Expect((), N, EVENTS, says=(
             '"group" tells cases from controls.*true share',)))
      for yes, no in (("case", "control"), ("Fall", "Kontrolle"), ("cas", "t\xe9moin"))),
    *(Case("numbers", f"{name}.csv", partial(csv,
         {"risk": RISK, name: of_words("control", "case")}),
         Expect((), N, EVENTS, says=(f'"{name}" tells cases from controls',)))
      for name in ("outcome", "status")),
    Case("numbers", "eval.csv", lambda: csv({"conf": RISK, "eval": _of_three("C", "S", "I")}),
         Expect(('"eval": may be the outcome.*Does it say what happened', "Which value"),
                N, EVENTS)),
    Case("numbers", "points.csv", lambda: csv({"line": IDS, "confidence": [
         round(100 * p) for p in RISK], "cer": [1 - p for p in RISK]}), Expect(
         ('"confidence" or "cer".*Which of these is the score', "What are these"),
         refused='no outcomes, only scores: "cer" holds numbers: make a column')),
    Case("numbers", "marked-words.csv", lambda: csv({"word": _SITES, "conf": RISK,
         "note": ["C" if y else "" for y in Y]}), Expect(
         ('no outcomes, only scores.*Which column says what happened',), N, EVENTS)),
    _weighed("w"), _weighed("n"), _weighed("wt", parquet_of, "parquet"),
    _weighed("count", records, "json"),
    _weighed("obs_count", xlsx, "xlsx"), _weighed("w", cells=OTHER),
    _other("confidence.csv", {"y_true": Y, "confidence": _CONFIDENT},
           "Which one is the event.*None of these", refused="outcomes, but no scores"),
    _other("max-prob.parquet", {"label": of_words("dog", "cat"), "max_prob": _CONFIDENT},
           "Which one is the event.*None of these", make=parquet_of, refused="but no scores"),
    _other("of-three.csv", {"y_true": CLASS_OF, "confidence": _CONFIDENT},
           "Which value does the score predict.*None of these", refused="but no scores"),
    _other("answers.csv", {"gold": of_words("no", "yes"), "confidence": OTHER,
           "answer": [("yes", "no")[y ^ (k % 3 > 0)] for k, y in enumerate(Y)]},
           events=2 * N // 3, score="confidence"),
    *(_other(f"{name}.csv", {"id": IDS, "risk_5y": RISK, name: MONTHS, outcome: Y}, events=EVENTS,
             score="risk_5y", groups=(), says=(f'"{name}" seems to say how long each row was',))
      for name, outcome in (("time_months", "status"), ("followup_days", "died"),
                            ("time", "event"), ("days_to_death", "dead"))),
    *(_other(f"{name}-{outcome}.csv", {"risk": RISK, name: MONTHS, outcome: Y}, events=EVENTS,
             score="risk", never="was followed")
      for name, outcome in (("start_time", "late"), ("time", "fraud"), ("days_to_delivery", "late"),
                            ("years_of_education", "default"))),
    _other("event.csv", {"y_true": Y, "confidence": RISK}, events=EVENTS, score="confidence"),
    _other("three.json", {"risk": RISK, "outcome": CLASS_OF},
           'the values "0", "1", "2".*Which value.*None of these', make=records,
           refused="but no scores"),
    _other("two-events.csv", {"pd": RISK, "churn_prob": OTHER, "default": Y, "churned": CALM},
           '"pd" of "default" or "churn_prob" of "churned"', events=EVENTS, score="pd", groups=()),
    _other("second-model.csv", {"pd": RISK, "churn_prob": _ALICE, "default": Y},
           '^columns: 2 readings of the score: "pd" or "churn_prob"', events=EVENTS, score="pd"),
    Case("numbers", "axes.json", lambda: json.dumps([SHARES3, SHARES3]).encode(),
         Expect(refused=r"shape \(2, 120, 3\)")),
    Case("numbers", "named-axes.json", lambda: json.dumps(
        {"probs": [SHARES3, SHARES3], "labels": CLASS_OF},
    ).encode(), Expect(refused=r'"probs": shape \(2, 120, 3\)')),
)  # fmt: skip


KINDS: tuple[tuple[Case, ...], ...] = (
    TOTALS,
    NEITHER,
    QUESTIONS,
    UNUSABLE,
    NO_SCORES,
    MIRRORS,
    TOGETHER,
    FIGURES,
    UNITS,
    CODES,
    OTHERS,
)


# How they are read ----------------------------------------------------------------------------


def answered(case: Case) -> tuple[Upload | FileError, list[str]]:
    """Read a file, give the first answer to each question, and list what was asked."""
    options, asked = ReadingOptions(class_names=case.class_names), []
    data = case.make()
    for _ in range(5):
        choices = {name: getattr(options, name) for name in vars(options)}
        try:
            upload = read(case.name, data, **choices)
            upload.split()
        except Question as question:
            first = question.answers[0].label
            asked.append(f"{question.field}: {question.actual}. {question.ask} {first}")
            options = replace(options, **question.answers[0].change)
        except FileError as error:
            return error, asked
        else:
            return upload, asked
    raise AssertionError(asked)


def score_of(upload: Upload) -> str:
    preview = upload.preview
    return preview.headings[preview.roles.index("score")] if "score" in preview.roles else ""


@pytest.mark.parametrize("case", [c for kind in KINDS for c in kind], ids=lambda c: c.name)
def test_nothing_goes_wrong_in_silence(case: Case) -> None:
    expect = case.expect
    outcome, asked = answered(case)
    assert len(asked) == len(expect.asks), asked or str(outcome)
    assert all(map(re.search, expect.asks, asked)), asked
    if isinstance(outcome, FileError):
        assert expect.refused, str(outcome)
        assert re.search(expect.refused, str(outcome)), str(outcome)
        return
    assert not expect.refused
    (rows,) = outcome.sets.values()
    assert rows.n_samples == expect.rows
    hits = rows.labels == rows.n_classes - 1 if isinstance(rows, LogitSet) else rows.hits
    assert expect.events is None or int(np.sum(hits)) == expect.events
    assert not expect.score or score_of(outcome) == expect.score
    texts = (*outcome.notes, *outcome.repairs, *outcome.doubts, *outcome.missing)
    for pattern in expect.says:
        assert re.search(pattern, " ".join(texts)), texts
    assert not re.search(expect.never, " ".join(texts)), texts
    if expect.groups is not None:
        assert tuple(outcome.columns["rows"]) == expect.groups
