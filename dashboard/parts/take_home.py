"""The calibrator to take home: as a file, as calibrated rows, and as a table of scores."""

from functools import partial

import streamlit as st

from dashboard.compute import take_home as compute
from dashboard.parts.downloads import file_name, offer_file, offer_table
from dashboard.scene import Scene
from dashboard.tables import csv_of
from dashboard.wording import take_home as words
from dashboard.wording.rows import say_rows

_XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
_KINDS = {
    ".csv": "text/csv",
    ".parquet": "application/vnd.apache.parquet",
    ".npz": "application/zip",
}


def show(scene: Scene) -> None:
    """Show the downloads, closed; nothing where there is no calibrator."""
    kept = compute.calibrator_file(scene)
    if kept is None:
        return
    with st.expander(words.TITLE):
        told = [words.fitted_on(scene.settings.method, kept.n_rows)]
        told += [words.CROSSED] * scene.crossed + [words.SHARES] * scene.upload.in_percent
        st.markdown(say_rows(" ".join(told)))
        table, code = compute.score_table(scene, kept), compute.code_of(kept)
        model = compute.onnx_of(kept)
        name = file_name("calibrator")
        with st.container(horizontal=True):
            offer_file(
                kept.to_json, label=words.CALIBRATOR, name=f"{name}.json", kind="application/json"
            )
            if code is not None:
                offer_file(lambda: code, label=words.CODE, name=f"{name}.py", kind="text/x-python")
            if model is not None:
                as_model = f"{name}.onnx"
                offer_file(lambda: model, label=words.ONNX, name=as_model, kind="application/onnx")
            if table is not None:
                offer_file(
                    lambda: compute.workbook(scene, kept),
                    label=words.WORKBOOK, name=f"{name}.xlsx", kind=_XLSX,
                )  # fmt: skip
                offer_table(
                    lambda: csv_of(*table), label=words.SCORES, name=file_name("score table")
                )
        with st.container(horizontal=True):
            for ending, label in words.ROWS.items():
                offer_file(
                    partial(compute.rows_file, scene.upload, kept, ending),
                    label=say_rows(label), name=f"{file_name('calibrated')}{ending}",
                    kind=_KINDS[ending],
                )  # fmt: skip
        how = say_rows(words.HOW)
        if kept.groups is not None:
            how = f"{how} {say_rows(words.by_group(kept.groups.column))}"
        st.markdown(f":small[{how}]")
