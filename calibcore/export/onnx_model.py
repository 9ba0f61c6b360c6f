"""A fitted calibrator as an ONNX model; needs the extra ``onnx``."""

from collections.abc import Sequence
from itertools import chain
from typing import Any

import numpy as np
from onnx import ModelProto, NodeProto, TensorProto, checker, helper, numpy_helper

from calibcore.calibrators.base import FittedCalibrator, FittedScoreMap
from calibcore.calibrators.ensembles.beta import (
    DEEPEST,
    OVERFLOWING,
    STRICTNESS,
    TINY,
    VANISHING,
    FittedBetaEnsemble,
)
from calibcore.calibrators.ensembles.temperature import FittedEnsembleTemperature
from calibcore.calibrators.lifts import (
    FittedChain,
    FittedLift,
    FittedOneVsRest,
    FittedPerRank,
    FittedPooledClasses,
    FittedPooledScores,
)
from calibcore.calibrators.linear.fit import FARTHEST, RULED_OUT, FittedLinear
from calibcore.calibrators.score_maps.bbq import FittedBBQ
from calibcore.calibrators.score_maps.beta import FittedBeta
from calibcore.calibrators.score_maps.centred import FittedCentred
from calibcore.calibrators.score_maps.histogram import FittedHistogram
from calibcore.calibrators.score_maps.isotonic import FittedIsotonic
from calibcore.calibrators.score_maps.offset import FittedOffset, FittedScoreChain
from calibcore.calibrators.score_maps.platt import FittedPlatt
from calibcore.calibrators.score_maps.quadratic import FittedQuadratic
from calibcore.calibrators.score_maps.spline import FittedSpline
from calibcore.calibrators.score_maps.venn_abers import FittedVennAbers
from calibcore.calibrators.temperature import FittedTemperature
from calibcore.errors import CalibrationInputError
from calibcore.export.calibrator_file import CalibratorFile
from calibcore.probabilities import FEW_DIGITS, LAST_DECIMAL, PROBABILITY_FLOOR, SMALLEST_SCORE

OPSET, IR = 17, 9
"""Versions that runtimes of the last years read."""

_DRAWN = (
    FittedTemperature, FittedLinear, FittedEnsembleTemperature, FittedBetaEnsemble, FittedChain,
    FittedOneVsRest, FittedPerRank, FittedPooledClasses, FittedPooledScores, FittedScoreChain,
    FittedPlatt, FittedQuadratic, FittedBeta, FittedSpline, FittedCentred, FittedIsotonic,
    FittedOffset, FittedHistogram, FittedBBQ, FittedVennAbers,
)  # fmt: skip
"""Kinds of maps that are written, if all maps inside them are."""

_CLASSES = 1
"""Axis of the classes."""


def onnx_model(file: CalibratorFile, *, single: bool = False) -> ModelProto:
    """Write a calibrator as an ONNX model, which computes in double precision.

    Parameters
    ----------
    file : CalibratorFile
        Of any calibrator of the catalogue but the Gaussian process and those of groups.
    single : bool, default False
        Whether input and output are of type float, as networks give and take it, and not double.

    Returns
    -------
    onnx.ModelProto
        One input, ``logits``, ``probabilities`` (shape (n_samples, n_classes)) or ``scores``
        (shape (n_samples,)), and one output, ``calibrated``, of the same shape. Its metadata hold
        the classes in order, the event, and SHA-256 of the data of the fit.

    Raises
    ------
    CalibrationInputError
        Another calibrator.

    Notes
    -----
    A model cannot refuse what a calibrator does not take, as `CalibratorFile.apply` does.

    With ``single`` it gives what the calibrator gives for the same numbers, to the nearest float:
    within 3e-8. A score or a probability that was rounded to float beforehand may have changed
    sides of a step.
    """
    of_scores = file.takes == "scores" or not file.class_names
    name: str = "scores" if of_scores else file.takes
    graph = _Graph()
    x = graph.add("Cast", name, to=TensorProto.DOUBLE) if single else name
    if file.takes == "probabilities" and not of_scores:
        x = graph.add("Log", x)
    kind = TensorProto.FLOAT if single else TensorProto.DOUBLE
    y = _drawn(graph, file.fitted, x)
    graph.output(graph.add("Cast", y, to=kind) if single else y)
    shape: list[str | int] = ["n_samples"]
    if not of_scores:
        shape.append(len(file.class_names))
    tensors = [helper.make_tensor_value_info(one, kind, shape) for one in (name, "calibrated")]
    drawing = helper.make_graph(
        graph.nodes, "calibrator", tensors[:1], tensors[1:], graph.constants
    )
    model = helper.make_model(
        drawing, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=IR
    )
    model.producer_name, model.producer_version = "Fractile", file.made_by
    facts = {
        "kind": type(file.fitted).__name__, "classes": "\n".join(file.class_names),
        "event": repr(file.event), "data_sha256": file.data,
    }  # fmt: skip
    helper.set_model_props(model, facts)
    checker.check_model(model, full_check=True)
    return model


def has_model(fitted: object) -> bool:
    """Return whether `onnx_model` takes a fitted map, without drawing it."""
    if not isinstance(fitted, _DRAWN):
        return False
    inside = chain.from_iterable(
        value if isinstance(value, tuple) else (value,) for value in vars(fitted).values()
    )
    return all(has_model(one) for one in inside if isinstance(one, FittedCalibrator))


class _Graph:
    """Nodes and constants of a model, each with a name of its own."""

    def __init__(self) -> None:
        self.nodes: list[NodeProto] = []
        self.constants: list[TensorProto] = []

    def add(self, kind: str, *inputs: str, **attributes: Any) -> str:
        """Add a node, and return the name of what it makes."""
        name = f"v{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, list(inputs), [name], **attributes))
        return name

    def constant(self, value: Any, kind: type = np.float64) -> str:
        """Add a constant, and return its name."""
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(value, dtype=kind), name))
        return name

    def number(self, value: float) -> str:
        """Add one number of double precision."""
        return self.constant(value)

    def output(self, of: str) -> None:
        """Name what the model returns."""
        self.nodes.append(helper.make_node("Identity", [of], ["calibrated"]))

    def clipped(self, x: str, low: float, high: float) -> str:
        """Keep values within a range."""
        return self.add("Min", self.add("Max", x, self.number(low)), self.number(high))

    def softmax(self, x: str, temperature: float = 1.0) -> str:
        """Turn logits into probabilities."""
        scaled = x if temperature == 1 else self.add("Div", x, self.number(temperature))
        return self.add("Softmax", scaled, axis=_CLASSES)

    def sigmoid(self, odds: str) -> str:
        """Turn log-odds into probabilities; runtimes' own is 1 - y, and keeps no digits near 0."""
        against = self.add("Exp", self.add("Neg", odds))
        return self.add("Reciprocal", self.add("Add", self.number(1), against))

    def log_sides(self, x: str) -> tuple[str, str]:
        """Take the logarithms of scores and of what is left to 1, held away from 0 and 1."""
        inside = self.clipped(x, SMALLEST_SCORE, 1 - SMALLEST_SCORE)
        others = self.add("Sub", self.number(1), inside)
        return self.add("Log", inside), self.add("Log", others)

    def twelve_decimals(self, x: str) -> str:
        """Round as `calibcore.probabilities.twelve_decimals` does."""
        last = self.number(LAST_DECIMAL)
        near = self.add("Div", self.add("Round", self.add("Mul", x, last)), last)
        return self.add("Where", self.add("Less", x, self.number(FEW_DIGITS)), x, near)

    def total(self, x: str) -> str:
        """Add up each row."""
        return self.add("ReduceSum", x, self.constant([_CLASSES], np.int64), keepdims=1)

    def sum_to_1(self, x: str, before: str) -> str:
        """Divide each row by its sum; one of zeros becomes what it was before."""
        total = self.total(x)
        some = self.add("Greater", total, self.number(0))
        divisor = self.add("Where", some, total, self.number(1))
        return self.add("Where", some, self.add("Div", x, divisor), before)

    def order(self, x: str, size: str) -> str:
        """Return the columns of each row, the largest first and of equals the first of them."""
        values, places = (f"v{len(self.nodes)}{part}" for part in ("values", "places"))
        self.nodes.append(helper.make_node("TopK", [x, size], [values, places], axis=_CLASSES))
        return places

    def last_below(self, x: str, ends: Sequence[float], *, equal: bool) -> str:
        """Find the place of the last of rising numbers that is below ``x``, or equal; from 0.

        By halving: as many steps as the number of places has digits in base 2.
        """
        places = self.constant(ends)
        size = len(ends)
        place = self.add("Cast", self.add("Mul", x, self.number(0)), to=TensorProto.INT64)
        step = 1 << max(size - 1, 1).bit_length() - 1
        while step:
            far = self.add("Add", place, self.constant(step, np.int64))
            there = self.add("Min", far, self.constant(size - 1, np.int64))
            below = self.add(
                "LessOrEqual" if equal else "Less", self.add("Gather", places, there), x
            )
            within = self.add("Less", far, self.constant(size, np.int64))
            place = self.add("Where", self.add("And", below, within), far, place)
            step //= 2
        return place

    def interpolated(self, x: str, ends: Any, heights: Any) -> str:
        """Interpolate between points, level beyond the first and the last, as `numpy.interp`."""
        ends, heights = np.asarray(ends, dtype=np.float64), np.asarray(heights, dtype=np.float64)
        within = self.clipped(x, ends[0], ends[-1])
        if ends.size == 1:
            return self.add("Add", self.add("Mul", within, self.number(0)), self.number(heights[0]))
        place = self.last_below(within, ends[:-1].tolist(), equal=True)
        slopes = np.diff(heights) / np.diff(ends)
        start, height, slope = (
            self.add("Gather", self.constant(known), place)
            for known in (ends[:-1], heights[:-1], slopes)
        )
        return self.add("Add", height, self.add("Mul", slope, self.add("Sub", within, start)))


def _drawn(graph: _Graph, fitted: object, x: str) -> str:  # noqa: PLR0911 - one a kind
    """Draw a map of all classes, ``x`` their logits, or of scores."""
    match fitted:
        case FittedScoreMap():
            return _mapped(graph, fitted, x)
        case FittedTemperature():
            return graph.softmax(x, fitted.temperature)
        case FittedLinear():
            return _linear(graph, fitted, x)
        case FittedEnsembleTemperature():
            hot, plain, flat = fitted.weights.tolist()
            parts = graph.softmax(x, fitted.temperature), graph.softmax(x)
            mixed = [
                graph.add("Mul", part, graph.number(weight))
                for part, weight in zip(parts, (hot, plain), strict=True)
            ]
            n_classes = graph.add("Cast", graph.add("Shape", x, start=1), to=TensorProto.DOUBLE)
            equal = graph.add("Div", graph.number(flat), n_classes)
            return graph.add("Add", graph.add("Add", *mixed), equal)
        case FittedBetaEnsemble():
            return _beta_ensemble(graph, fitted, x)
        case FittedLift():
            return _lifted(graph, fitted, graph.softmax(x))
        case FittedChain():
            between = _drawn(graph, fitted.first, x)
            if isinstance(fitted.second, FittedLift):
                return _lifted(graph, fitted.second, between)
            return _drawn(graph, fitted.second, graph.add("Log", between))
    raise _refusal(fitted)


def _refusal(fitted: object) -> CalibrationInputError:
    kind = type(fitted).__name__.removeprefix("Fitted")
    wanted = "one of the catalogue but a Gaussian process and those of groups"
    return CalibrationInputError("calibrator", kind, wanted)


def _mapped(  # noqa: PLR0911 - one a kind
    graph: _Graph, fitted: FittedScoreMap, x: str
) -> str:
    """Draw a map of one score, which takes each number of a table of any shape."""
    match fitted:
        case FittedPlatt() | FittedQuadratic():
            low, high = graph.log_sides(x)
            odds = graph.add("Sub", low, high)
            slope = graph.number(fitted.slope)
            if isinstance(fitted, FittedQuadratic):
                square = graph.add("Mul", odds, graph.number(fitted.square))
                slope = graph.add("Add", square, slope)
            scaled = graph.add("Mul", slope, odds)
            return graph.sigmoid(graph.add("Add", scaled, graph.number(fitted.intercept)))
        case FittedBeta():
            low, high = graph.log_sides(x)
            first = graph.add("Mul", low, graph.number(fitted.a))
            both = graph.add("Sub", first, graph.add("Mul", high, graph.number(fitted.b)))
            return graph.sigmoid(graph.add("Add", both, graph.number(fitted.c)))
        case FittedSpline():
            return graph.clipped(graph.interpolated(x, fitted.scores, fitted.slope), 0, 1)
        case FittedCentred():
            return graph.clipped(graph.interpolated(x, fitted.scores, fitted.heights), 0, 1)
        case FittedIsotonic():
            return _isotonic(graph, fitted, x)
        case FittedOffset():
            half = np.exp(fitted.offset / 2)
            odds = graph.add("Mul", x, graph.number(half))
            rest = graph.add("Sub", graph.number(1), x)
            total = graph.add("Add", odds, graph.add("Mul", rest, graph.number(1 / half)))
            return graph.add("Div", odds, total)
        case FittedScoreChain():
            return _mapped(graph, fitted.second, _mapped(graph, fitted.first, x))
        case FittedPooledScores():
            raised = graph.add("Mul", x, graph.number(fitted.strictness))
            above = graph.add("Add", _of_class(graph, fitted.score_map, x), raised)
            return graph.add("Min", above, graph.number(1))
    return _stepped(graph, fitted, x)


def _stepped(graph: _Graph, fitted: FittedScoreMap, x: str) -> str:
    match fitted:
        case FittedHistogram():
            heights = np.where(fitted.counts > 0, fitted.frequency, -1.0)
            height = _step(graph, x, fitted.edges[1:-1], heights, equal=False)
            known = graph.add("Less", height, graph.number(0))
            return graph.add("Where", known, x, height)
        case FittedBBQ():
            return _step(graph, x, fitted.edges, fitted.heights, equal=False)
        case FittedVennAbers():
            low = _step(graph, x, fitted.lower_starts, fitted.lower, equal=True)
            high = _step(graph, x, fitted.upper_ends, fitted.upper, equal=False)
            total = graph.add("Add", graph.add("Sub", graph.number(1), low), high)
            return graph.add("Div", high, total)
    raise _refusal(fitted)


def _lifted(graph: _Graph, fitted: FittedLift, x: str) -> str:
    """Draw a lift, which takes probabilities of all classes."""
    match fitted:
        case FittedOneVsRest():
            return graph.sum_to_1(_columns(graph, fitted.score_maps, x), x)
        case FittedPerRank():
            n_classes = graph.add("Shape", x, start=1)
            tiny = graph.add("Less", x, graph.number(PROBABILITY_FLOOR))
            seen = graph.add("Where", tiny, graph.number(0), graph.twelve_decimals(x))
            order = graph.order(seen, n_classes)
            ranked = graph.add("GatherElements", x, order, axis=_CLASSES)
            firsts = _columns(graph, fitted.score_maps, ranked)
            ends = [graph.constant([len(fitted.score_maps)], np.int64), n_classes]
            rest = graph.add("Slice", ranked, *ends, graph.constant([_CLASSES], np.int64))
            raised = graph.sum_to_1(graph.add("Concat", firsts, rest, axis=_CLASSES), ranked)
            return graph.add("ScatterElements", x, order, raised, axis=_CLASSES)
        case FittedPooledClasses():
            strict = graph.add("Mul", x, graph.number(fitted.strictness))
            return graph.sum_to_1(
                graph.add("Add", _of_class(graph, fitted.score_map, x), strict), x
            )
    raise _refusal(fitted)


def _of_class(graph: _Graph, fitted: FittedScoreMap, x: str) -> str:
    """Draw a map that takes probabilities of a class, as `calibcore.calibrators.lifts` has it."""
    return _mapped(graph, fitted, graph.twelve_decimals(x) if fitted.HAS_BREAKS else x)


def _columns(graph: _Graph, maps: Sequence[FittedScoreMap], x: str) -> str:
    """Send each of the first columns through its own map."""
    columns = [
        _of_class(graph, one, graph.add("Gather", x, graph.constant([k], np.int64), axis=_CLASSES))
        for k, one in enumerate(maps)
    ]
    return graph.add("Concat", *columns, axis=_CLASSES)


def _beta_ensemble(graph: _Graph, fitted: FittedBetaEnsemble, x: str) -> str:
    """As `FittedBetaEnsemble.recipe` writes it."""
    plain = graph.softmax(x)
    low = graph.clipped(graph.add("LogSoftmax", x, axis=_CLASSES), DEEPEST, 0.0)
    others = graph.add("Sub", graph.number(1), plain)
    high = graph.add("Log", graph.add("Max", others, graph.number(TINY)))
    y = graph.add("Mul", plain, graph.number(STRICTNESS))
    weights = (1 - STRICTNESS) * fitted.weights
    for a, b, c, weight in zip(fitted.a, fitted.b, fitted.c, weights, strict=True):
        both = graph.add("Mul", high, graph.number(b)), graph.add("Mul", low, graph.number(a))
        against = graph.add("Sub", graph.add("Sub", *both), graph.number(c))
        least = graph.add("ReduceMin", against, axes=[_CLASSES], keepdims=1)
        far = graph.add("Max", graph.add("Sub", least, graph.number(VANISHING)), graph.number(0))
        near = graph.add("Min", graph.add("Sub", against, far), graph.number(OVERFLOWING))
        g = graph.sigmoid(graph.add("Neg", near))
        share = graph.add("Div", g, graph.total(g))
        y = graph.add("Add", y, graph.add("Mul", share, graph.number(weight)))
    return graph.add("Min", y, graph.number(1))


def _step(graph: _Graph, x: str, edges: Any, heights: Any, *, equal: bool) -> str:
    """Draw a map that is level between edges, each of which begins or ends a step."""
    place = graph.last_below(x, [-np.inf, *np.asarray(edges).tolist()], equal=equal)
    return graph.add("Gather", graph.constant(heights), place)


def _isotonic(graph: _Graph, fitted: FittedIsotonic, x: str) -> str:
    if not fitted.interpolate:
        return _step(graph, x, fitted.first[1:], fitted.frequency, equal=True)
    ends = np.stack([fitted.first, fitted.last], axis=1).ravel()
    differ = np.append(True, ends[1:] > ends[:-1])
    heights = np.repeat(fitted.frequency, 2)[differ]
    return graph.clipped(graph.interpolated(x, ends[differ], heights), 0, 1)


def _above_floor(graph: _Graph, x: str) -> tuple[str, str]:
    """Hold logits above a row's floor, as `FittedLinear.recipe` does; say which are ruled out."""
    x = graph.add("Sub", x, graph.add("ReduceMax", x, axes=[_CLASSES], keepdims=1))
    ruled_out = graph.add("IsInf", x, detect_positive=0)
    others = graph.add("Where", ruled_out, graph.number(0), x)
    lowest = graph.add("ReduceMin", others, axes=[_CLASSES], keepdims=1)
    floor = graph.clipped(lowest, FARTHEST, RULED_OUT)
    return graph.add("Max", x, floor), ruled_out


def _linear(graph: _Graph, fitted: FittedLinear, x: str) -> str:
    if fitted.temperature != 1:
        x = graph.add("Div", x, graph.number(fitted.temperature))
    mixed = fitted.space == "log_probabilities" and fitted.uniform_share > 0
    ruled_out = ""
    if not mixed:
        x, ruled_out = _above_floor(graph, x)
    if fitted.space == "logits":
        x = graph.add("Sub", x, graph.add("ReduceMean", x, axes=[_CLASSES], keepdims=1))
    elif mixed:
        n_classes = fitted.weights.shape[-1]
        share = fitted.uniform_share
        shares = graph.add("Softmax", x, axis=_CLASSES)
        part = graph.add("Mul", shares, graph.number(1 - share))
        x = graph.add("Log", graph.add("Add", part, graph.number(share / n_classes)))
    else:
        x = graph.add("LogSoftmax", x, axis=_CLASSES)
    kind, weights = (
        ("MatMul", fitted.weights.T) if fitted.weights.ndim > 1 else ("Mul", fitted.weights)
    )
    product = graph.add(kind, x, graph.constant(weights))
    y = graph.add("Add", product, graph.constant(fitted.bias))
    if ruled_out:
        y = graph.add("Where", ruled_out, graph.number(-np.inf), y)
    return graph.softmax(y)
