"""The table of models by calibrators as CSV, Markdown and LaTeX."""

import csv
import io
import re
from dataclasses import replace

import pytest

from calibcore.inference import Interval
from calibcore.metrics import measure_by_key
from calibcore.models import TableCell
from dashboard.settings import is_variant, options_of, variant_key
from dashboard.texts.methods import method_name
from dashboard.views.models import table_words as words
from dashboard.views.models.as_printed import (
    PaperCell,
    PaperTable,
    latex_text,
    paper_cells,
    paper_csv,
    paper_latex,
    paper_markdown,
)

HOSTILE = "=1+1|<b>_x_</b>\\input{a}%&#$~^\n[a](b)"


def table(name: str = "Net") -> PaperTable:
    cells = (
        TableCell(0.0512, Interval(0.046, 0.056), level=False),
        TableCell(0.0064, Interval(0.0, 0.011), level=True),
        TableCell(0.0018, deviation=0.0021),
        None,
    )
    columns = "Uncalibrated", "Spline", "Temperature", "Matrix"
    rows = ((name, "100 rows", paper_cells(cells, measure_by_key("ece"), 100)),)
    return PaperTable("Top prediction: ECE (%)", columns, rows, "Note: \u00b1, 95%.")


def test_cells_are_written_with_two_decimals_and_ranked_along_the_row() -> None:
    ((_, _, cells),) = table().rows
    assert cells == (
        PaperCell("5.12", "", "4.60\u20135.60"),
        PaperCell("0.64", "second", "0.00\u20131.10", level=True),
        PaperCell("0.18", "best", "\u00b10.21"),
        PaperCell("\u2013"),
    )
    higher = paper_cells([TableCell(0.9), TableCell(0.8)], measure_by_key("accuracy"), 100)
    assert [one.place for one in higher] == ["best", "second"]
    pending = paper_cells(
        [TableCell(0.2), TableCell(0.1), None], measure_by_key("ece"), 100, pending=True
    )
    assert pending == (PaperCell("20.00"), PaperCell("10.00"), PaperCell("\u2026"))
    alike = paper_cells([TableCell(0.1), TableCell(0.1)], measure_by_key("ece"), 100)
    assert [one.place for one in alike] == ["", ""]


@pytest.mark.parametrize(
    ("key", "value", "n_samples", "text"),
    [  # as printed: Gupta 2021, tables 1 and 7; Vasilev 2023, tables 1, 2 and 11; Zhang, table 2
        ("ks_error", 0.04750, 10_000, "4.750"),
        ("ks_error", 0.04750, 60_000, "4.750"),
        ("classwise_ece", 0.00948, 10_000, "0.948"),
        ("ece", 0.0453, 10_000, "4.53"),
        ("calibration_gain", 0.00611, 5_000, "0.611"),
        ("calibration_gain", -0.00576, 5_000, "\u22120.576"),
        ("nll", 0.4221, 10_000, "0.4221"),
        ("certain_misses", 3.0, 10_000, "3"),
    ],
)
def test_values_have_the_digits_of_the_papers(
    key: str, value: float, n_samples: int, text: str
) -> None:
    (cell,) = paper_cells([TableCell(value)], measure_by_key(key), n_samples)
    assert cell.text == text


def test_a_gain_is_of_all_classes_and_says_where_it_is_a_lower_bound() -> None:
    gain, ece = measure_by_key("calibration_gain"), measure_by_key("ece")
    assert words.heading(gain, "Top prediction") == "Calibration gain, all classes (%)"
    assert words.heading(ece, "Top prediction") == "Top prediction: ECE, equal-width bins (%)"
    keys = ("none", "temperature", "pooled_isotonic", "one_vs_rest_isotonic", "dirichlet")
    text = words.gain_note(gain, keys)
    assert text.endswith(
        "(Zhang 2020, section 4.2): Isotonic, one class against the rest (IROvA), Dirichlet"
        " calibration."
    )
    assert text.startswith("A lower bound of the gain")
    assert words.gain_note(gain, keys[:3]) == words.gain_note(ece, keys) == ""


def test_latex_has_short_names_and_is_well_formed() -> None:
    keys = ["none", "spline.constrained=false", "spline", "temperature_isotonic.interpolate=true"]
    printed, told = words.short_names(keys)
    assert printed == ("Uncal.", "Spline 1", "Spline 2", "IROvA-TS")
    assert told == (
        "Uncal.: Uncalibrated; Spline 1: Spline (keep inside 0\u2013100% off); Spline 2: Spline;"
        " IROvA-TS: Temperature, then isotonic (IROvA-TS, IRM-TS) (interpolate between steps on)."
    )
    made = replace(table(HOSTILE), printed=printed, printed_note=told)
    lines = paper_latex(made).splitlines()
    assert "    Model & Uncal. & Spline 1 & Spline 2 & IROvA-TS \\\\" in lines
    (caption,) = [one for one in lines if "caption" in one]
    assert "keep inside 0--100\\% off" in caption
    text = "\n".join(lines[1:])  # after the comment that names the package
    bare = re.sub(r"\\[\\&%$#_{}~^]", "", text)
    assert bare.count("{") == bare.count("}")
    assert bare.count("$") % 2 == 0
    assert not set("%#_~^") & set(bare.replace("$^\\circ$", ""))
    rows = [line for line in bare.splitlines() if "&" in line]
    assert [row.count("&") for row in rows] == [len(keys)] * 3
    ends = re.findall(r"\\(begin|end)\{(\w+)\}", text)
    assert ends == [
        ("begin", "table"), ("begin", "tabular"), ("end", "tabular"), ("end", "table")
    ]  # fmt: skip


def test_latex_is_a_booktabs_table_by_hand() -> None:
    written = paper_latex(table())
    assert r"\begin{tabular}{lrrrr}" in written
    assert (
        r"    Net & 5.12 & \underline{0.64}$^\circ$ & \textbf{0.18} & -- \\"
        "\n"
        r"     & {\scriptsize (4.60--5.60)} & {\scriptsize (0.00--1.10)}"
        r" & {\scriptsize $\pm$0.21} &  \\" in written
    )
    for rule in ("toprule", "midrule", "bottomrule"):
        assert written.count(f"\\{rule}") == 1
    assert r"\caption{Top prediction: ECE (\%). Note: $\pm$, 95\%.}" in written


def test_markdown_has_one_cell_per_calibrator() -> None:
    lines = paper_markdown(table()).splitlines()
    assert lines[2] == "| Model | Uncalibrated | Spline | Temperature | Matrix |"
    assert lines[4] == (
        "| Net | 5.12 (4.60\u20135.60) | <ins>0.64</ins>\u00b0 (0.00\u20131.10)"
        " | **0.18** \u00b10.21 | \u2013 |"
    )


def test_names_of_files_do_nothing() -> None:
    line = next(one for one in paper_latex(table(HOSTILE)).splitlines() if "1+1" in one)
    assert line.startswith(
        r"    =1+1|<b>\_x\_</b>\textbackslash{}input\{a\}\%\&\#\$\textasciitilde{}"
        r"\textasciicircum{} [a](b) &"
    )
    row = next(one for one in paper_markdown(table(HOSTILE)).splitlines() if "1+1" in one)
    assert row.startswith("| =1+1\\|\\<b\\>\\_x\\_\\</b\\>")
    assert r"\[a\](b)" in row
    written = paper_csv([HOSTILE], ["Uncalibrated"], [[TableCell(0.1)]], [])
    (_, line_of_csv) = csv.reader(io.StringIO(written))
    assert line_of_csv == [f"'{HOSTILE}", "0.1"]
    assert latex_text("50%") == r"50\%"


def test_csv_has_every_digit_and_what_is_known() -> None:
    cells = [[TableCell(1 / 3, Interval(0.25, 0.5), level=True), None]]
    written = paper_csv(["Net"], ["Spline", "Beta"], cells, [("measure", "ECE")])
    head, line = csv.reader(io.StringIO(written))
    assert dict(zip(head, line, strict=True)) == {
        "Model": "Net",
        "Spline": repr(1 / 3),
        "Spline, from": "0.25",
        "Spline, to": "0.5",
        "Spline, as if perfectly calibrated": "yes",
        "Beta": "",
        "Beta, from": "",
        "Beta, to": "",
        "Beta, as if perfectly calibrated": "",
        "measure": "ECE",
    }
    written = paper_csv(["Net"], ["Spline"], [[TableCell(0.5, deviation=0.25)]], [])
    assert written.splitlines() == ['Model,Spline,"Spline, standard deviation"', "Net,0.5,0.25"]


def test_the_conclusion_names_who_is_best_how_often() -> None:
    wins = [("spline", 1), ("temperature", 3)]
    text = words.best_sentence(wins, 4, measure_by_key("ks_error"))
    assert text == "Lowest KS error: Temperature scaling for 3 of 4 models, Spline for 1 of 4."
    assert words.best_sentence([], 0, measure_by_key("ks_error")) == ""


# Variants of a calibrator --------------------------------------------------------------------


def test_a_variant_is_a_word_of_the_address() -> None:
    key = variant_key("histogram", {"n_bins": 20, "binning": "equal_mass"})
    assert key == "histogram.n_bins=20.binning=equal_mass"
    assert options_of(key) == {"n_bins": 20, "binning": "equal_mass"}
    assert is_variant(key)
    assert (
        method_name(key)
        == "Histogram binning of the event (calibrator bins 20, bin type equal mass)"
    )


@pytest.mark.parametrize(
    "key",
    [
        "histogram",
        "histogram.",
        "histogram.n_bins",
        "histogram.n_bins=",
        "histogram.n_bins=x",
        "histogram.n_bins=0",
        "histogram.n_bins=020",
        "histogram.binning=other",
        "histogram.other=1",
        "vector.bias=yes",
        "other.n_bins=20",
    ],
)
def test_other_words_are_no_variants(key: str) -> None:
    assert not is_variant(key)
