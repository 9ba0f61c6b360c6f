"""Fractile's page: set-up and order only."""

import streamlit as st

from calibcore.errors import CalibrationInputError
from dashboard import compute, controls, style, wording
from dashboard.views import audit, bins, classes, contest, imported, measures, power, working


def main() -> None:
    """Draw the page once."""
    st.set_page_config(page_title="Fractile", page_icon="\U0001f4d0", layout="wide")
    compute.settle_imports()
    style.apply()
    try:
        _draw_page()
    except CalibrationInputError as error:
        st.error(
            f"{wording.escape_markdown(str(error))}\n\n{wording.NEXT_STEP}",
            title=wording.REFUSED,
            icon=":material/block:",
        )
        st.stop()


def _draw_page() -> None:
    with st.sidebar:
        st.title("Fractile", anchor=False)
        source = controls.choose_source()
    if not source.files:
        imported.show_empty()
        return
    with st.sidebar:
        values = "auto" if source.sample else controls.choose_values()
    upload = compute.read_files(source.files, values)
    if upload.piece is not None:
        imported.show_piece(upload)
        return
    imported.show_imported(upload, source)
    with st.sidebar:
        settings = controls.choose_settings(upload)
        chosen = controls.choose_set()
        n_resamples = controls.choose_resamples()
    estimate = compute.estimate(upload, settings)
    if not working.agreed(estimate, settings):
        return
    with working.watched(settings.method, estimate) as progress:
        result = compute.run_audit(upload, settings, progress)
    judged = result.test if chosen == "test" else result.calibration
    event = wording.event_words(settings.event, upload.class_names)
    audit.show_verdict(result, judged, event, settings)
    audit.show_tiles(result, judged)
    power.show(judged)
    colours = style.palette()
    before = compute.draw(upload, settings, result, chosen=chosen, side="before", palette=colours)
    after = compute.draw(upload, settings, result, chosen=chosen, side="after", palette=colours)
    audit.show_sides(result, judged, before, after)
    bins.show(judged, lambda: compute.draw_sweep(upload, settings, result, chosen, colours))
    closer = compute.closer_look(upload, settings, result, chosen, n_resamples)
    measures.show(result, judged, closer)
    classes.show(judged, upload, lambda: compute.run_screen(upload, settings, result, chosen))
    contest.show_contest(
        lambda progress: compute.run_contest(upload, settings, chosen, progress),
        wording.set_name(result, judged),
        compute.estimate_contest(upload, settings),
    )


if __name__ == "__main__":
    main()
