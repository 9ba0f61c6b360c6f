"""Widgets in, settings out; every setting also lives in the address."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import streamlit as st
from streamlit.delta_generator import DeltaGenerator
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.runtime.uploaded_file_manager import UploadedFile

from calibcore.calibrators import Choice, Method, Switch, WholeNumber
from calibcore.events import OneClass, TopR, WithinTopR
from dashboard import folder
from dashboard.compute.cache import forget
from dashboard.compute.files import SourceFile
from dashboard.compute.learn import source_of
from dashboard.compute.split import methods_for
from dashboard.headless import opening_event
from dashboard.readers import FORMATS, Upload
from dashboard.readers.refusal import visible
from dashboard.samples import Sample, samples
from dashboard.settings import NO_METHOD, ChosenEvent, OptionValue, SetChoice, Settings, first_class
from dashboard.texts import choosing, summaries
from dashboard.texts import opening as imports
from dashboard.texts.glossary import CHOICES, OPTIONS
from dashboard.texts.methods import method_name
from dashboard.texts.numbers import escape_markdown
from dashboard.views.models import words as models
from dashboard.widgets import address, evaluation

RANKS = 5
"""Ranks up to which each has a button of its own; more are counted up and down."""

_FILES = "upload"
_MODELS = "models"
BROUGHT = "files_brought"
"""Key of the files of the data in the session."""

EVENT_KINDS = {"top": "Prediction", "within": "Top-k set", "class": "Class"}
"""Kinds of event by their word in the address."""

RESAMPLES = (0, 200, 1000, 5000)

_OPTIONS_SHOWN = 3
"""Options of a calibrator that stand in the panel; further ones open."""


@dataclass(frozen=True)
class Source:
    """The data a user has chosen."""

    files: tuple[SourceFile, ...]
    """A sample's file, or the uploaded ones; empty while nothing is uploaded."""
    sample: Sample | None = None
    """The sample, where it is one."""
    folder: Path | None = None
    """Where the files are of the server's folder of summaries, this."""


def choose_source() -> Source:
    """Let the user pick a sample or bring files."""
    laboratory = _laboratory_model()
    within = folder.root()
    kinds = {"sample": "Example", "file": "Your file"}
    kinds |= {"folder": summaries.FOLDER} if within else {}
    kinds |= {"laboratory": "Laboratory"} if laboratory else {}
    kind = address.choose_button("Data", kinds, key="data", default="sample", width="stretch")
    if kind == "laboratory" and laboratory is not None:
        file, model = laboratory
        return Source((file,), model)
    if kind == "folder" and within is not None:
        return _choose_summaries(within)
    return _choose_sample() if kind == "sample" else _upload_files()


def _laboratory_model() -> tuple[SourceFile, Sample] | None:
    """Return the model of the laboratory that the address names, if any."""
    with st.container(key="in_address_model"):
        code = st.text_input("Model", key="model", **address.IN_ADDRESS, autocomplete="off")
    return source_of(code) if code else None


def _choose_summaries(within: Path) -> Source:
    """Let the user pick summaries of the server's folder, of those that it lists."""
    names = {_word_of(one.name): one.name for one in folder.listed(within)}
    chosen = address.choose_several(
        summaries.SUMMARIES, names, key="summaries", default=(), help=summaries.HELP,
        placeholder=summaries.CHOOSE,
    )  # fmt: skip
    files = (folder.source(within, names[word]) for word in sorted(chosen, key=names.__getitem__))
    return Source(tuple(files), folder=within)


def _word_of(name: str) -> str:
    """Write a name as an address has it, in which commas stand between names.

    >>> _word_of("day,1.parquet")
    'day%2C1.parquet'
    """
    return name.replace("%", "%25").replace(",", "%2C")


def _choose_sample() -> Source:
    by_name = {sample.name: sample for sample in samples()}
    titles = {name: sample.title for name, sample in by_name.items()}
    name = address.choose_box(
        "Example",
        titles,
        key="sample",
        default=next(iter(by_name)),
        label_visibility="collapsed",
    )
    sample = by_name[name]
    return Source(
        (SourceFile(f"{sample.name}.npz", sample.digest, sample.read_bytes, own=True),), sample
    )


def _upload_files() -> Source:
    files = _bring_files(_FILES, imports.UPLOADER, f"{imports.UPLOADER_HELP} {imports.endings()}")
    if files and st.button("Forget my data", width="stretch"):
        _forget()
        for key in (
            "digests",
            BROUGHT,
            _FILES,
            _MODELS,
            _earlier_key(_FILES),
            _earlier_key(_MODELS),
        ):
            st.session_state.pop(key, None)
        st.session_state["uploads_forgotten"] += 1
        st.rerun()
    st.session_state[BROUGHT] = files
    return Source(files)


def _forget() -> None:
    """Drop what is made of the files, and the files themselves, which the uploader would leave."""
    forget()
    if (context := get_script_run_ctx()) is not None:
        context.uploaded_file_mgr.remove_session_files(context.session_id)


def brought() -> tuple[SourceFile, ...]:
    """Return the files that were uploaded last."""
    files: tuple[SourceFile, ...] = st.session_state.get(BROUGHT, ())
    return files


def remove_file(source: SourceFile) -> None:
    """Take a file of the data away, in a callback, with an empty uploader."""
    files: tuple[SourceFile, ...] = st.session_state.get(BROUGHT, ())
    st.session_state[_earlier_key(_FILES)] = tuple(
        one for one in files if (one.name, one.digest) != (source.name, source.digest)
    )
    st.session_state[_FILES] = ()
    st.session_state["uploads_forgotten"] += 1


def choose_models(first: str, explained: str = models.FILES_HELP) -> tuple[SourceFile, ...]:
    """Let the user bring files of further models, numbered where called as the first or alike."""
    return _bring_files(_MODELS, models.FILES, explained, (first,))


def _bring_files(
    brought_as: str, label: str, explained: str, taken: Sequence[str] = ()
) -> tuple[SourceFile, ...]:
    """Let the user bring files, which stay when the uploader has been left and is empty again.

    Those that it shows no more are listed below it, and others can be brought beside them.
    """
    generation = st.session_state.setdefault("uploads_forgotten", 0)
    uploaded = st.file_uploader(
        label,
        type=list(FORMATS),
        accept_multiple_files=True,
        key=f"{brought_as}_{generation}",
        help=explained,
        on_change=_drop_files,
        args=(brought_as,),
    )
    shown = tuple(SourceFile(file.name, _digest(file), file.getvalue) for file in uploaded)
    left: tuple[SourceFile, ...] = () if shown else st.session_state.get(brought_as, ())
    files: tuple[SourceFile, ...] = (*st.session_state.get(_earlier_key(brought_as), ()), *left)
    # One that comes again takes the other's place; models of one name may be two.
    came = {(source.name, bool(taken) and source.digest) for source in shown}
    files = tuple(one for one in files if (one.name, bool(taken) and one.digest) not in came)
    st.session_state[brought_as] = shown
    st.session_state[_earlier_key(brought_as)] = files
    every = _numbered(files + shown, taken)
    for place, source in enumerate(every[: len(files)]):
        _show_earlier(brought_as, place, source)
    return every


def _numbered(sources: Sequence[SourceFile], taken: Sequence[str]) -> tuple[SourceFile, ...]:
    """Return files that are called alike a number, as a browser does: ``preds (2).csv``."""
    names = list(taken)
    for source in sources:
        name, number = source.name, 1
        stem, dot, ending = name.rpartition(".")
        while name in names:
            number += 1
            name = f"{stem} ({number}){dot}{ending}"
        names.append(name)
    called = zip(sources, names[len(taken) :], strict=True)
    return tuple(replace(source, name=name) for source, name in called)


def _drop_files(brought_as: str) -> None:
    st.session_state.pop(brought_as, None)


def _earlier_key(brought_as: str) -> str:
    """Name the place of files that their uploader shows no more."""
    return f"{brought_as}_kept"


def _show_earlier(brought_as: str, place: int, source: SourceFile) -> None:
    """Show the name of a file, and a button that takes it away."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown(escape_markdown(source.name), width="stretch")
        st.button(
            imports.REMOVE,
            key=f"remove_{brought_as}_{place}_{source.digest}",
            on_click=_remove,
            args=(_earlier_key(brought_as), place),
            type="tertiary",
            icon=":material/close:",
        )


def _remove(text: str, place: int) -> None:
    files = st.session_state[text]
    st.session_state[text] = (*files[:place], *files[place + 1 :])


def _digest(file: UploadedFile) -> str:
    """Hash a file once, not in every run of the page."""
    digests: dict[str, str] = st.session_state.setdefault("digests", {})
    if file.file_id not in digests:
        digests[file.file_id] = hashlib.sha256(file.getvalue()).hexdigest()
    return digests[file.file_id]


def choose_settings(upload: Upload, place: DeltaGenerator, *, expert: bool) -> Settings:
    """Let the user pick event and calibrator, and in a place of their own the settings."""
    event = _choose_event(upload)
    method, options = _choose_method(upload, event, expert=expert)
    with place:
        n_bins = address.choose_number(
            "Bins", 1, 100, 15, key="bins", help="Of the reliability diagram, ECE and MCE."
        )
        evaluation.choose_date(upload)
        if upload.rows is None:
            return Settings(event, method, options, n_bins)
        share = evaluation.choose_share(upload)
        label = "Seed of the folds" if share is None else "Seed of the split"
        seed = address.choose_number(label, 0, 2**31 - 1, 0, key="seed")
    return Settings(event, method, options, n_bins, share, seed)


def _choose_event(upload: Upload) -> ChosenEvent:
    if upload.summary is not None:
        column, (_, one) = upload.counted_event
        event = escape_markdown(visible(f"{column} = {one}", 60))
        st.markdown(f"Event: {event}, the one that was counted.")
        return OneClass(1)
    if upload.class_names is None:
        st.markdown("Event: the top prediction, which is all that this file holds.")
        return TopR(1)
    n_classes = len(upload.class_names)
    # Of two classes, the truth is always among the first two.
    kind = address.choose_button(
        "Event",
        EVENT_KINDS if n_classes > 2 else {k: EVENT_KINDS[k] for k in ("top", "class")},
        key="event",
        default=opening_event(upload),
        width="stretch",
    )
    if kind == "class":
        return _choose_class(list(upload.class_names))
    first, last = (2, n_classes - 1) if kind == "within" else (1, n_classes)
    key = "within" if kind == "within" else "rank"
    if last > RANKS:
        rank = address.choose_number("k", first, last, first, key=key)
    else:
        rank = st.segmented_control(
            "k",
            list(range(first, last + 1)),
            default=first,
            required=True,
            key=key,
            **address.IN_ADDRESS,
        )
    return WithinTopR(rank or first) if kind == "within" else TopR(rank or first)


def _choose_class(names: list[str]) -> OneClass:
    first = first_class(len(names))
    name = st.selectbox("Class", names, index=first, key="class", **address.IN_ADDRESS)
    return OneClass(names.index(name) if name in names else first)


def _choose_method(
    upload: Upload, event: ChosenEvent, *, expert: bool
) -> tuple[str, tuple[tuple[str, OptionValue], ...]]:
    offered = {method.key: method for method in methods_for(upload)}
    key = address.choose_box(
        "Calibrator",
        {key: method_name(key) for key in (*offered, NO_METHOD)},
        key="method",
        default=next(iter(offered)),
    )
    if key not in offered:
        return NO_METHOD, ()
    method = offered[key]
    row = st.container(horizontal=True, gap="small")
    with row.popover("About", type="tertiary"):
        formula = f"`{method.formula}`\n\n" if expert else ""
        about = choosing.about(method, len(upload.class_names or ()) or 2)
        st.markdown(f"{method.explained} {about}\n\n{formula}{method.paper}")
    return key, _choose_options(method, event, row)


def _choose_options(
    method: Method, event: ChosenEvent, row: DeltaGenerator
) -> tuple[tuple[str, OptionValue], ...]:
    options = [
        option
        for option in method.options
        if not (isinstance(option, Switch) and option.one_class and isinstance(event, WithinTopR))
    ]
    chosen = [_choose_option(method, option) for option in options[:_OPTIONS_SHOWN]]
    if options[_OPTIONS_SHOWN:]:
        with row.popover("More options", type="tertiary"):
            chosen += [_choose_option(method, option) for option in options[_OPTIONS_SHOWN:]]
    return tuple(chosen)


def _choose_option(
    method: Method, option: WholeNumber | Choice | Switch
) -> tuple[str, OptionValue]:
    label, text = OPTIONS[method.key, option.name]
    key = f"{method.key}_{option.name}"
    value: OptionValue
    match option:
        case WholeNumber():
            value = st.slider(
                label,
                option.least,
                option.most,
                option.default,
                key=key,
                help=text,
                **address.IN_ADDRESS,
            )
        case Choice():
            value = address.choose_box(
                label,
                {word: CHOICES.get(word, word) for word in option.allowed},
                key=key,
                default=option.default,
                help=text,
            )
        case Switch():
            value = address.choose_switch(label, value=option.default, key=key, help=text)
    return option.name, value


def choose_resamples() -> int:
    """Let the user say how closely uncertainty is looked for; 0 for not at all."""
    return st.select_slider(
        "Bootstrap resamples",
        RESAMPLES,
        1000,
        key="resamples",
        **address.IN_ADDRESS,
        help="More make the ends of the intervals steadier and take longer. 0: no intervals.",
    )


def choose_set() -> SetChoice:
    """Let the user switch between the set that evaluates and the set that was fitted on."""
    chosen = address.choose_button(
        "Evaluate on",
        {"test": "Test set", "calibration": "Calibration set"},
        key="set",
        default="test",
        help="The calibrator is fitted on the calibration set. Only the test set evaluates it"
        " without bias.",
    )
    return "calibration" if chosen == "calibration" else "test"


def choose_wording() -> bool:
    """Let the user choose between plain words and those of experts; True for experts."""
    chosen = address.choose_button(
        "Wording",
        {"plain": "Plain", "expert": "Expert"},
        key="wording",
        default="plain",
        help="Expert: statistics, p-values and the terms of the papers.",
    )
    return chosen == "expert"
