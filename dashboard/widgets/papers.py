"""The settings of a paper's table, set at once."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import streamlit as st

from dashboard.readers import Upload
from dashboard.settings import OptionValue, usual_options, variant_key
from dashboard.widgets import address

LABEL = "Settings of a paper"
PLACEHOLDER = "Choose a table"
HELP = (
    "The event, the calibrator with its options, the comparison of calibrators, and measure and"
    " splits of the table on Models, for the data shown here."
)
APPLY = "Apply"


@dataclass(frozen=True)
class PaperSettings:
    """What a table of a paper was made with."""

    name: str
    """Paper and table."""
    note: str
    """What is set, and what differs from the paper."""
    words: Mapping[str, str]
    """Settings that the address holds as words."""
    methods: tuple[str, ...]
    """Calibrators that are compared, as the address holds them."""
    measures: tuple[str, ...]
    """Measures that are compared; the first ranks, and stands in the table on Models."""
    values: Mapping[str, OptionValue] = field(default_factory=dict)
    """Numbers and switches."""
    splits: int = 0
    """Random splits of the table on Models; 0 for the files' own."""
    learners: tuple[str, ...] = ()
    """Calibrators with learning curves; none of a table that has no curves."""


_TOP: Mapping[str, str] = {"event": "top"}
_SPLINE: Mapping[str, str] = {
    "method": "spline",
    "spline_runout": "natural",
    "spline_fit_to": "difference",
}
_GUPTA = ("temperature", "vector", "matrix", "dirichlet")
_KNOTS = "spline of {} knots with natural ends, clipped to 0\u2013100%"


def _gupta(
    table: str,
    where: tuple[str, int],
    n_knots: int,
    measures: tuple[str, ...],
    text: str,
    method: str = "spline",
) -> PaperSettings:
    """Return the settings of a table; its spline is the paper's own, also in a comparison."""
    event, rank = where
    in_bins = {"bins": 25} if "ece" in measures else {}
    own: dict[str, OptionValue] = {"n_knots": n_knots, "constrained": False}
    usual = usual_options(method)
    changes = {name: value for name, value in own.items() if value != usual[name]}
    loose = {"spline_cross_validated": False} if method == "spline" else {}
    return PaperSettings(
        name=f"Gupta 2021, {table}",
        note=f"{text}; {_KNOTS.format(n_knots)}.",
        words={"event": event, **(_SPLINE if method == "spline" else {"method": method})},
        methods=(variant_key(method, changes), *_GUPTA),
        measures=measures,
        values={
            "rank" if event == "top" else "within": rank,
            **{f"{method}_{name}": value for name, value in own.items()},
            **loose,
            **in_bins,
        },
    )


_ZHANG_METHODS = (
    "temperature.loss=squared_error",
    "ensemble_temperature.loss=squared_error",
    "pooled_isotonic",
    "one_vs_rest_isotonic.interpolate=true",
    "temperature_isotonic.interpolate=true",
    "dirichlet",
    "gaussian_process",
)
_ZHANG_NOTE = (
    "temperature and ensemble fitted by squared error, isotonic regression of each class in lines"
    " as in scikit-learn"
)
_SPLITS = 100
_GUO_METHODS = (
    "one_vs_rest_histogram",
    "one_vs_rest_isotonic",
    "one_vs_rest_bbq",
    "temperature",
    "vector",
    "matrix.penalty=none",
)


def _guo(table: str, measure: str, text: str) -> PaperSettings:
    return PaperSettings(
        name=f"Guo 2017, Table {table}",
        note=f"{text}; binning, isotonic regression and BBQ one class against the rest.",
        words={**_TOP, "method": "temperature", "temperature_loss": "nll"},
        methods=_GUO_METHODS,
        measures=(measure,),
        values={"rank": 1, "bins": 15},
    )


_DRAWS = 30
_LEARNERS = (
    "temperature.loss=squared_error",
    "ensemble_temperature.loss=squared_error",
    "one_vs_rest_isotonic.interpolate=true",
    "pooled_isotonic",
    "temperature_isotonic.interpolate=true",
)
_VASILEV_METHODS = (
    "one_vs_rest_histogram.n_bins=20",
    "one_vs_rest_isotonic.interpolate=true",
    "temperature",
    "vector.bias=false",
    "vector",
    "matrix.penalty=none",
)
_ETS: Mapping[str, str] = {
    **_TOP,
    "method": "ensemble_temperature",
    "ensemble_temperature_loss": "squared_error",
}

TABLES: Mapping[str, PaperSettings] = {
    "gupta_1": _gupta("Table 1", ("top", 1), 6, ("ks_error",), "KS error of the top prediction"),
    "gupta_2": _gupta("Table 2", ("top", 2), 6, ("ks_error",), "KS error of the second prediction"),
    "gupta_4": _gupta("Table 4", ("within", 2), 14, ("ks_error",), "KS error within the top 2"),
    "gupta_5": _gupta(
        "Table 5",
        ("top", 1),
        6,
        ("accuracy",),
        "Accuracy after a spline on every rank",
        method="per_rank",
    ),
    "gupta_6": _gupta("Table 6", ("top", 1), 13, ("ece",), "ECE in 25 bins, top prediction"),
    "gupta_7": _gupta(
        "Table 7",
        ("top", 1),
        6,
        ("kde_ece", "mce", "event_brier"),
        "KDE-ECE, MCE and Brier score of the top prediction",
    ),
    "guo_1": _guo("1", "ece", "ECE in 15 bins, top prediction"),
    "guo_s1": _guo("S1", "mce", "MCE in 15 bins, top prediction"),
    "guo_s2": _guo("S2", "accuracy", "Accuracy, which is 100% minus the error of the paper"),
    "guo_s3": _guo("S3", "nll", "NLL of all classes"),
    "zhang_1": PaperSettings(
        name="Zhang 2020, Table 1",
        note=f"KDE-ECE of the top prediction; {_ZHANG_NOTE}. On Models: {_SPLITS} random splits.",
        words=_ETS,
        methods=_ZHANG_METHODS,
        measures=("kde_ece",),
        values={"rank": 1},
        splits=_SPLITS,
    ),
    "zhang_2": PaperSettings(
        name="Zhang 2020, Table 2",
        note=f"Calibration gain of all classes; {_ZHANG_NOTE}. On Models: {_SPLITS} random splits.",
        words=_ETS,
        methods=_ZHANG_METHODS,
        measures=("calibration_gain",),
        values={"rank": 1},
        splits=_SPLITS,
    ),
    "zhang_6": PaperSettings(
        name="Zhang 2020, Figure 6",
        note="KDE-ECE of the top prediction and accuracy by calibration rows, on Data needed;"
        f" {_ZHANG_NOTE}. {_DRAWS} subsamples per size; the paper has 100.",
        words={**_ETS, "data_needed_error": "kde_ece"},
        methods=_LEARNERS,
        measures=("kde_ece", "accuracy"),
        values={"rank": 1, "draws": _DRAWS},
        learners=_LEARNERS,
    ),
    "vasilev": PaperSettings(
        name="Vasilev 2023, Tables 3\u201314",
        note="Accuracy, ECE, class-wise ECE and MCE in 15 bins, NLL and Brier score of all classes;"
        " histogram binning with 20 bins per class, isotonic regression in lines as in"
        " scikit-learn, vector scaling with and without bias.",
        words={
            **_TOP,
            "method": "one_vs_rest_histogram",
            "one_vs_rest_histogram_binning": "equal_width",
        },
        methods=_VASILEV_METHODS,
        measures=("ece", "classwise_ece", "mce", "nll", "brier"),
        values={"rank": 1, "bins": 15, "one_vs_rest_histogram_n_bins": 20},
    ),
}
"""The tables by a word."""


def choose(upload: Upload) -> None:
    """Show the tables of the papers, what each sets, and a button that sets it."""
    if upload.class_names is None or len(upload.class_names) < 3:
        return
    key = st.selectbox(
        LABEL,
        list(TABLES),
        index=None,
        format_func=lambda key: TABLES[key].name,
        key="paper_table",
        placeholder=PLACEHOLDER,
        help=HELP,
    )
    if key is not None:
        st.markdown(f":small[{TABLES[key].note}]")
        st.button(APPLY, key="paper_apply", on_click=_apply, args=(TABLES[key],))


def _apply(table: PaperSettings) -> None:
    first = table.measures[0]
    of_models = {"by": first, "table_measure": first, "table_splits": table.splits}
    address.put_values({**table.words, **table.values, **of_models})
    address.put("methods", table.methods)
    address.put("calibrators_measures", table.measures)
    if table.learners:
        address.put("learners", table.learners)
