"""What was read, shown before any result."""

import streamlit as st

from dashboard import wording
from dashboard.readers import Upload
from dashboard.samples import Sample
from dashboard.wording import escape_markdown


def show_empty() -> None:
    """Say what to bring while no file is there."""
    st.title("Bring a model's answers", anchor=False)
    st.markdown(
        "Upload the **logits** (or class probabilities) of a trained classifier together with the"
        " **true labels**, in the panel on the left. Fractile fits a calibrator on one part of the"
        " rows, judges it on the other, and shows both before and after.\n\n"
        "| what you have | how to bring it |\n|---|---|\n"
        '| NumPy arrays | `np.savez("mine.npz", logits=..., labels=...)`, or two `.npy` files |\n'
        "| calibration and test apart | `logits_calibration`, `labels_calibration`, `logits_test`,"
        " `labels_test` in one `.npz`, or two files |\n"
        "| a table | `.csv` with one column a class and a column `label`; or `true_label,"
        " pred_label, confidence`; or `score, label` |\n"
        "| files of NN_calibration | the `.p` files as they are; no code in them is run |\n\n"
        "Nothing at hand? Choose **Sample** on the left."
    )


def show_piece(upload: Upload) -> None:
    """Say which file is missing beside a lone table or lone labels."""
    st.title(escape_markdown(upload.name), anchor=False)
    st.text("\n".join(upload.found))
    alone = upload.piece is not None and upload.piece.table is not None
    st.info(
        wording.WITHOUT_LABELS if alone else wording.LABELS_ALONE, icon=":material/upload_file:"
    )


def show_imported(upload: Upload, sample: Sample | None) -> None:
    """Show the data's name and size, and below them how they were read."""
    title = sample.title if sample else upload.name
    st.title(escape_markdown(title), anchor=False)
    st.markdown(_size(upload))
    with st.expander("What was read", expanded=sample is None):
        if sample:
            st.markdown(sample.teaches)
            st.text(
                f"Model: {sample.model}\nTraining: {sample.training}\n"
                f"Data: {sample.source}\nLicence: {sample.licence}"
            )
        st.text("\n".join((*upload.found, *upload.missing)))
        for name, rows in upload.sets.items():
            st.text(wording.set_read(name, rows))
    for sentence in upload.repairs:
        st.warning(escape_markdown(sentence), icon=":material/warning:")


def _size(upload: Upload) -> str:
    sets = upload.sets
    parts = []
    if upload.class_names is not None:
        parts.append(f"{len(upload.class_names):,} classes")
    total = sum(rows.n_samples for rows in sets.values())
    parts.append(f"{total:,} rows")
    if upload.calibration is not None and upload.test is not None:
        parts.append(f"{upload.calibration.n_samples:,} to fit, {upload.test.n_samples:,} to judge")
    else:
        parts.append("split here into rows to fit and rows to judge")
    return " \u00b7 ".join(parts)
