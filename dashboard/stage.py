"""From the controls to the scene that every page is drawn from."""

import streamlit as st

from dashboard import compute, controls, style
from dashboard.parts import graph, imported, working
from dashboard.scene import Scene


def prepare() -> Scene | None:
    """Read, choose, fit and judge; None where something is still missing."""
    with st.sidebar:
        st.title("Fractile", anchor=False)
        source = controls.choose_source()
    if not source.files:
        imported.show_empty()
        return None
    with st.sidebar:
        values = "auto" if source.sample else controls.choose_values()
    upload = compute.read_files(source.files, values)
    if upload.piece is not None:
        imported.show_piece(upload)
        return None
    with st.sidebar:
        settings = controls.choose_settings(upload)
        chosen = controls.choose_set()
        n_resamples = controls.choose_resamples()
        graph.choose_picture_format()
        expert = controls.choose_wording()
    estimate = compute.estimate(upload, settings)
    if not working.agreed(estimate, settings):
        return None
    with working.watched(settings.method, estimate) as progress:
        result = compute.run_audit(upload, settings, progress)
    split = compute.split_of(upload, settings)
    return Scene(
        upload=upload,
        sample=source.sample,
        split=split,
        settings=settings,
        result=result,
        chosen=chosen,
        n_resamples=n_resamples,
        expert=expert,
        palette=style.palette(),
    )
