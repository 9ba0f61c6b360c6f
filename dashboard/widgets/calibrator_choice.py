"""Which calibrators take part in a comparison, and by which measures."""

from collections.abc import Sequence

import streamlit as st

from dashboard.compute import comparison
from dashboard.compute.comparison import contestants, settings_of
from dashboard.scene import Scene
from dashboard.settings import (
    NO_METHOD,
    OptionValue,
    allowed_values,
    is_variant,
    method_of,
    usual_options,
    variant_key,
)
from dashboard.texts import comparison as words
from dashboard.texts.choosing import unpenalised
from dashboard.texts.glossary import CHOICES, OPTIONS
from dashboard.texts.methods import method_name
from dashboard.texts.rows import say_rows
from dashboard.widgets import address


def choose_calibrators(scene: Scene) -> list[str]:
    """Show the choice of what is compared; uncalibrated scores always are."""
    offered = [key for key in contestants(scene.upload) if key != NO_METHOD]
    usual = [key for key in comparison.usual(scene.upload) if key != NO_METHOD]

    # Before the choice is drawn, an address may hold it, with variants.
    choices = address.several("methods", usual)
    variants = [key for key in choices if is_variant(key) and method_of(key) in offered]
    n_chosen, plain = len(choices), offered
    offered = sorted([*offered, *variants], key=lambda key: plain.index(method_of(key)))
    with st.popover(words.calibrators_label(n_chosen), key="methods_popover"):
        chosen = address.choose_several(
            words.METHODS,
            {key: method_name(key) for key in offered},
            key="methods",
            default=usual,
            help=words.METHODS_HELP,
            placeholder=words.NO_METHODS,
        )
        with st.container(horizontal=True):
            st.button(words.EVERY, on_click=address.put, args=("methods", offered))
            st.button(words.USUAL, on_click=address.put, args=("methods", usual))
        if scene.class_names is None:
            st.markdown(f":small[{words.ONLY_EVENT}]")
        _offer_variant(plain, chosen)
    return [NO_METHOD, *(key for key in offered if key in chosen)]


def warn_of_overfitting(scene: Scene, keys: Sequence[str]) -> None:
    """Say before calibrators are fitted which of them fit far more than the rows can tell."""
    n_classes, n_rows = len(scene.class_names or ()), scene.split.calibration.n_samples
    for key in keys:
        risk = unpenalised(settings_of(scene, key), n_classes, n_rows)
        if risk:
            st.warning(say_rows(risk), icon=":material/warning:")


def _offer_variant(offered: Sequence[str], chosen: Sequence[str]) -> None:
    """Show the choice of a calibrator with other options, which a button adds."""
    methods = [key for key in offered if usual_options(key)]
    key = st.selectbox(
        words.VARIANT,
        methods,
        index=None,
        format_func=method_name,
        key="variant",
        help=words.VARIANT_HELP,
        placeholder=words.VARIANT_OF,
    )
    if key is None or key not in methods:
        return
    usual = usual_options(key)
    values = {name: _choose_option(key, name, value) for name, value in usual.items()}
    own = {name: value for name, value in values.items() if value != usual[name]}
    added = variant_key(key, own)
    st.button(
        words.ADD,
        on_click=address.put,
        args=("methods", [*chosen, added]),
        disabled=not own or added in chosen,
        type="primary",
    )


def _choose_option(method: str, name: str, usual: OptionValue) -> OptionValue:
    """Show one option; the address holds it once the variant is added."""
    label, text = OPTIONS[method, name]
    key, allowed = f"variant_{method}_{name}", allowed_values(method, name)
    if allowed is None:
        return st.toggle(label, bool(usual), key=key, help=text)
    if isinstance(allowed, range):
        ends = allowed[0], allowed[-1]
        return int(st.number_input(label, *ends, int(usual), key=key, help=text))
    shown = {word: CHOICES.get(word, word) for word in allowed}
    place = allowed.index(str(usual))
    return str(
        st.selectbox(label, allowed, place, format_func=shown.__getitem__, key=key, help=text)
    )
