"""A fitted calibrator as an ONNX model; needs the extra ``onnx``."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from onnx import ModelProto, NodeProto, TensorProto, checker, helper, numpy_helper

from calibcore.calibrators.linear.fitted import FittedLinear
from calibcore.calibrators.score_maps.histogram import FittedHistogram
from calibcore.calibrators.score_maps.isotonic import FittedIsotonic
from calibcore.calibrators.score_maps.platt import SMALLEST_SCORE, FittedPlatt
from calibcore.calibrators.score_maps.spline import FittedSpline
from calibcore.calibrators.temperature import FittedTemperature
from calibcore.errors import CalibrationInputError
from calibcore.export.calibrator_file import CalibratorFile

OPSET, IR = 17, 9
"""Versions that runtimes of the last years read."""

_CLASSES = 1
"""Axis of the classes."""


def onnx_model(file: CalibratorFile) -> ModelProto:
    """Write a calibrator as an ONNX model of double precision.

    Parameters
    ----------
    file : CalibratorFile
        Of temperature scaling; of a linear calibrator (vector, matrix, structured, Dirichlet); or
        of scores: spline, isotonic, histogram binning, Platt scaling.

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
    A model cannot refuse what a calibrator does not take, as `CalibratorFile.apply` does. Where
    it takes probabilities, they are clipped to the smallest positive number before their logarithm.
    """
    of_scores = file.takes == "scores" or not file.class_names
    name: str = "scores" if of_scores else file.takes
    graph = _Graph()
    x = name
    if file.takes == "probabilities" and not of_scores:
        x = graph.add("Log", graph.add("Max", x, graph.number(np.finfo(float).tiny)))
    graph.output(_drawn(graph, file.fitted, x))
    shape: list[str | int] = ["n_samples"]
    if not of_scores:
        shape.append(len(file.class_names))
    tensors = [
        helper.make_tensor_value_info(one, TensorProto.DOUBLE, shape)
        for one in (name, "calibrated")
    ]
    graph_proto = helper.make_graph(
        graph.nodes, "calibrator", tensors[:1], tensors[1:], graph.constants
    )
    model = helper.make_model(
        graph_proto, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=IR
    )
    model.producer_name, model.producer_version = "Fractile", file.made_by
    facts = {
        "kind": type(file.fitted).__name__, "classes": "\n".join(file.class_names),
        "event": repr(file.event), "data_sha256": file.data,
    }  # fmt: skip
    helper.set_model_props(model, facts)
    checker.check_model(model, full_check=True)
    return model


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


def _drawn(graph: _Graph, fitted: object, x: str) -> str:
    match fitted:
        case FittedTemperature():
            scaled = graph.add("Div", x, graph.number(fitted.temperature))
            return graph.add("Softmax", scaled, axis=_CLASSES)
        case FittedLinear():
            return _linear(graph, fitted, x)
        case FittedPlatt():
            inside = graph.clipped(x, SMALLEST_SCORE, 1 - SMALLEST_SCORE)
            others = graph.add("Sub", graph.number(1), inside)
            odds = graph.add("Log", graph.add("Div", inside, others))
            scaled = graph.add("Mul", odds, graph.number(fitted.slope))
            return graph.add("Sigmoid", graph.add("Add", scaled, graph.number(fitted.intercept)))
        case FittedSpline():
            return graph.clipped(graph.interpolated(x, fitted.scores, fitted.slope), 0, 1)
        case FittedIsotonic():
            return _isotonic(graph, fitted, x)
        case FittedHistogram():
            heights = np.where(fitted.counts > 0, fitted.frequency, -1.0)
            edges = np.concatenate([[-np.inf], fitted.edges[1:-1]])
            height = _step(graph, x, edges, heights, equal=False)
            known = graph.add("Less", height, graph.number(0))
            return graph.add("Where", known, x, height)
    kind = type(fitted).__name__.removeprefix("Fitted")
    wanted = "a temperature, a linear one, or a spline, isotonic, histogram or Platt map"
    raise CalibrationInputError("calibrator", kind, wanted)


def _step(graph: _Graph, x: str, edges: Any, heights: Any, *, equal: bool) -> str:
    place = graph.last_below(x, np.asarray(edges).tolist(), equal=equal)
    return graph.add("Gather", graph.constant(heights), place)


def _isotonic(graph: _Graph, fitted: FittedIsotonic, x: str) -> str:
    if not fitted.interpolate:
        edges = np.concatenate([[-np.inf], fitted.first[1:]])
        return _step(graph, x, edges, fitted.frequency, equal=True)
    ends = np.stack([fitted.first, fitted.last], axis=1).ravel()
    differ = np.append(True, ends[1:] > ends[:-1])
    heights = np.repeat(fitted.frequency, 2)[differ]
    return graph.clipped(graph.interpolated(x, ends[differ], heights), 0, 1)


def _linear(graph: _Graph, fitted: FittedLinear, x: str) -> str:
    if fitted.temperature != 1:
        x = graph.add("Div", x, graph.number(fitted.temperature))
    if fitted.space == "logits":
        x = graph.add("Sub", x, graph.add("ReduceMean", x, axes=[_CLASSES], keepdims=1))
    elif fitted.uniform_share:
        n_classes = fitted.weights.shape[-1]
        share = fitted.uniform_share
        shares = graph.add("Softmax", x, axis=_CLASSES)
        mixed = graph.add("Mul", shares, graph.number(1 - share))
        x = graph.add("Log", graph.add("Add", mixed, graph.number(share / n_classes)))
    else:
        x = graph.add("LogSoftmax", x, axis=_CLASSES)
    kind, weights = (
        ("MatMul", fitted.weights.T) if fitted.weights.ndim > 1 else ("Mul", fitted.weights)
    )
    product = graph.add(kind, x, graph.constant(weights))
    return graph.add(
        "Softmax", graph.add("Add", product, graph.constant(fitted.bias)), axis=_CLASSES
    )
