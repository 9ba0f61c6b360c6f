"""The calibrator to take home: as a file, as calibrated rows, and as a table of scores."""

from collections.abc import Callable
from functools import partial

import streamlit as st

from calibcore.errors import CalibrationInputError
from calibcore.export.calibrator_file import CalibratorFile
from dashboard.opening.choices import show_question
from dashboard.readers import ReadingOptions, Upload
from dashboard.readers.refusal import Question
from dashboard.scene import Scene
from dashboard.tables import csv_of
from dashboard.take_home import files, words
from dashboard.take_home.calibrated import n_unfitted
from dashboard.texts.refusal import refusal
from dashboard.texts.rows import say_rows
from dashboard.widgets.downloads import file_name, offer_file, offer_table

_XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
_KINDS = {
    ".csv": "text/csv",
    ".parquet": "application/vnd.apache.parquet",
    ".npz": "application/zip",
}


def offer_saved(upload: Upload, read: Callable[[ReadingOptions], Upload]) -> None:
    """Offer to apply a saved calibrator to a file without outcomes, and to save the rows.

    ``upload``: the file. ``read``: reads it by other options: from the columns that the calibrator
    was fitted on.
    """
    with st.container(border=True, key="apply_saved"):
        saved = st.file_uploader(words.APPLY, "json", key="saved_calibrator", help=words.APPLY_HELP)
        if saved is None:
            return
        try:
            file, rows = files.saved(saved.getvalue(), upload, read)
            lost = n_unfitted(rows, file)
        except Question as question:
            show_question(question)
            return
        except CalibrationInputError as error:
            st.error(refusal(error), title=words.NOT_APPLIED, icon=":material/block:")
            return
        sentences = [
            words.applied(files.n_rows(rows), file.n_rows),
            *words.unfitted(lost, len(file.columns)),
        ]
        st.markdown(say_rows(" ".join(sentences)))
        _offer_rows(rows, file)


def _offer_rows(upload: Upload, file: CalibratorFile) -> None:
    with st.container(horizontal=True):
        for ending, label in words.ROWS.items():
            offer_file(
                partial(files.rows_file, upload, file, ending),
                label=say_rows(label), name=f"{file_name('calibrated')}{ending}",
                kind=_KINDS[ending],
            )  # fmt: skip


def show(scene: Scene) -> None:
    """Show the downloads, closed; nothing where there is no calibrator."""
    file = files.calibrator_file(scene)
    if file is None:
        return
    with st.expander(words.TITLE):
        sentences = [words.fitted_on(scene.settings.method, file.n_rows)]
        sentences += [words.CROSSED] * scene.in_folds + [words.SHARES] * scene.upload.in_percent
        st.markdown(say_rows(" ".join(sentences)))
        table, code = files.score_table(scene, file), files.code_of(file)
        model = files.onnx_of(file)
        name = file_name("calibrator")
        with st.container(horizontal=True):
            offer_file(
                file.to_json, label=words.CALIBRATOR, name=f"{name}.json", kind="application/json"
            )
            if code is not None:
                offer_file(lambda: code, label=words.CODE, name=f"{name}.py", kind="text/x-python")
            if model is not None:
                as_model = f"{name}.onnx"
                offer_file(model, label=words.ONNX, name=as_model, kind="application/onnx")
            if table is not None:
                offer_file(
                    lambda: files.workbook(scene, file),
                    label=words.WORKBOOK, name=f"{name}.xlsx", kind=_XLSX,
                )  # fmt: skip
                offer_table(
                    lambda: csv_of(*table), label=words.SCORES, name=file_name("score table")
                )
        if scene.upload.summary is None:
            _offer_rows(scene.upload, file)
        how = say_rows(words.HOW)
        if file.columns:
            names = [one.column for one in file.columns]
            how = f"{how} {say_rows(words.by_group(names, table=table is not None))}"
        st.markdown(f":small[{how}]")
