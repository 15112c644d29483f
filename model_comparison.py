"""compare_models: where two models, two numerics or two runtimes begin to differ, tensor by tensor.

    found = numlite.compare_models("float.tflite", "int8.tflite", {"x": image})
    found.first_divergence()        # the first tensor of less than 30 dB
    for pair in found.tensors:      # in the order in which the first model computes them
        print(pair.name, pair.sqnr_db, pair.largest_difference)

Quantized tensors are compared by the numbers that they stand for.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from .interpreter import Interpreter, Model, OpResolverType

__all__ = ["ModelComparison", "TensorComparison", "compare_models", "sqnr_db"]

Side: TypeAlias = "str | os.PathLike[str] | bytes | bytearray | memoryview | Model | Any"
DIVERGENCE_DB = 30.0


class TensorComparison(NamedTuple):
    """A tensor of the first model beside one of the second.

    node is the number of the operator that computes it in the first model, -1 for inputs. sqnr_db is
    10 log10(sum of squares / sum of squared differences), inf where all values are equal (equal NaNs
    too), -inf or NaN where the values are not finite. at is the index of the largest difference. tensor is
    the first model's tensor, other_node and other_tensor are the second's.
    """

    name: str
    other_name: str
    node: int
    operator: str
    shape: tuple[int, ...]
    type: str
    other_type: str
    sqnr_db: float
    largest_difference: float
    largest_value: float
    at: tuple[int, ...]
    tensor: int
    other_node: int
    other_tensor: int

    @property
    def equal(self) -> bool:
        return self.sqnr_db == np.inf

    def diverges(self, limit_db: float = DIVERGENCE_DB) -> bool:
        """Whether the SQNR is below a limit in dB, or no number (inf: whether anything differs)."""
        return not self.equal and not self.sqnr_db >= limit_db


@dataclass(frozen=True)
class ModelComparison:
    """tensors are the pairs in the first model's order, outputs those of the graph's results.

    unmatched are names of the first model's results of operators that have no counterpart in the second.
    """

    tensors: list[TensorComparison]
    outputs: list[TensorComparison]
    unmatched: list[str]

    def first_divergence(self, limit_db: float = DIVERGENCE_DB) -> TensorComparison | None:
        """The first tensor whose SQNR is below a limit in dB (inf: the first that is not equal), or None."""
        return next((pair for pair in self.tensors if pair.diverges(limit_db)), None)


def compare_models(
    first: Side,
    second: Side,
    inputs: Mapping[str, np.ndarray] | None = None,
    *,
    resolver_type: OpResolverType = OpResolverType.AUTO,
    other_resolver_type: OpResolverType | None = None,
    seed: int = 0,
) -> ModelComparison:
    """Run both on the same inputs and compare every tensor that they have in common.

    Each side is a model (its path, its bytes, a Model) or an interpreter that keeps all tensors, also
    LiteRT's, made with experimental_preserve_all_tensors=True. inputs are real numbers, or what the first
    model takes, by the name or by the place ("in_0") of its inputs; what is not given is random, from -1 to 1
    or over the range that a quantized input stands for. Operators' results are matched by name where both
    have it in the same shape, and by their order where both have as many of the same operator; graph
    outputs by their order. Raises ValueError when inputs or outputs do not fit each other, and what running
    the models raises.
    """
    sides = [
        _opened(first, resolver_type),
        _opened(second, resolver_type if other_resolver_type is None else other_resolver_type),
    ]
    _run(sides, inputs or {}, seed)
    mine, theirs = (_Results(side) for side in sides)
    if len(mine.outputs) != len(theirs.outputs):
        raise ValueError(
            f"outputs: both models must have as many, got {len(mine.outputs)} and {len(theirs.outputs)}"
        )
    pairs, unmatched = _matched(mine, theirs)
    tensors = [_compared(mine, theirs, a, b) for a, b in pairs]
    outputs = [_compared(mine, theirs, a, b) for a, b in zip(mine.outputs, theirs.outputs, strict=True)]
    return ModelComparison(tensors, outputs, unmatched)


def _opened(side: Side, resolver_type: OpResolverType) -> Any:
    """An interpreter that keeps all tensors."""
    if hasattr(side, "get_tensor_details"):
        return side
    if isinstance(side, str | os.PathLike):
        model = Model.from_path(side)
    else:
        model = side if isinstance(side, Model) else Model(side)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # keeping all tensors is for debugging, as this is
        return Interpreter(
            model_content=model,
            experimental_op_resolver_type=resolver_type,
            experimental_preserve_all_tensors=True,
        )


def _run(sides: Sequence[Any], given: Mapping[str, np.ndarray], seed: int) -> None:
    """Give both the same inputs, by their order, and invoke them."""
    details = [side.get_input_details() for side in sides]
    if len(details[0]) != len(details[1]):
        raise ValueError(
            f"inputs: both models must have as many, got {len(details[0])} and {len(details[1])}"
        )
    names = [detail["name"] for detail in details[0]]
    known = {*names, *(f"in_{place}" for place in range(len(names)))}
    if unknown := sorted(set(given) - known):
        raise ValueError(f"inputs: must be among {names}, got {unknown}")
    random = np.random.default_rng(seed)
    values = []
    for place, detail in enumerate(details[0]):
        value = given.get(detail["name"], given.get(f"in_{place}"))
        values.append(_random(detail, random) if value is None else _real(detail, np.asarray(value)))
    for side, own in zip(sides, details, strict=True):
        for detail, value in zip(own, values, strict=True):
            if tuple(detail["shape"]) != value.shape:
                side.resize_tensor_input(detail["index"], value.shape)
        side.allocate_tensors()
        for detail, value in zip(own, values, strict=True):
            side.set_tensor(detail["index"], _stored(detail, value))
        side.invoke()


def _random(detail: Mapping[str, Any], random: np.random.Generator) -> np.ndarray:
    """Real numbers that the input can stand for."""
    shape, dtype = tuple(map(int, detail["shape"])), np.dtype(detail["dtype"])
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        scale, _ = detail["quantization"]
        if not scale:
            return random.integers(0, 2, shape).astype(dtype)
        return _real(detail, random.integers(limits.min, limits.max, shape, dtype, endpoint=True))
    if dtype.kind == "b":
        return random.integers(0, 2, shape).astype(bool)
    if dtype.kind not in "fc":
        raise ValueError(f"input {detail['name']!r}: values must be given for {dtype}")
    return random.uniform(-1, 1, shape).astype(dtype)


def _stored(detail: Mapping[str, Any], value: np.ndarray) -> np.ndarray:
    """Real numbers as the input has them."""
    dtype = np.dtype(detail["dtype"])
    scale, zero_point = detail["quantization"]
    if dtype.kind in "iu" and scale and value.dtype.kind == "f":
        limits = np.iinfo(dtype)
        return np.clip(np.rint(value / scale) + zero_point, limits.min, limits.max).astype(dtype)
    if value.dtype != dtype and value.dtype.kind in "fiub" and dtype.kind in "fc":
        return value.astype(dtype)
    return value


def _real(detail: Mapping[str, Any], value: np.ndarray) -> np.ndarray:
    """The numbers that a tensor stands for."""
    parameters = detail["quantization_parameters"]
    scales, zero_points = parameters["scales"], parameters["zero_points"]
    if value.dtype.kind not in "iu" or not len(scales) or value.dtype != np.dtype(detail["dtype"]):
        return value
    shape = [1] * value.ndim
    if len(scales) > 1:
        shape[parameters["quantized_dimension"]] = -1
    zeros = np.resize(zero_points, len(scales)) if len(zero_points) else np.zeros(len(scales))
    scales, zeros = (np.asarray(numbers, np.float64).reshape(shape) for numbers in (scales, zeros))
    return (value.astype(np.float64) - zeros) * scales


class _Results:
    """The results of one side's operators, in the order in which they are computed."""

    def __init__(self, interpreter: Any) -> None:
        self.interpreter = interpreter
        self.details = {detail["index"]: detail for detail in interpreter.get_tensor_details()}
        self.outputs = [detail["index"] for detail in interpreter.get_output_details()]
        self.operators: dict[
            int, tuple[int, str, int]
        ] = {}  # by tensor: node, operator, which of its results
        for op in interpreter._get_ops_details():
            for place, t in enumerate(op["outputs"]):
                if t in self.details:
                    self.operators.setdefault(int(t), (int(op["index"]), op["op_name"], place))

    def value(self, t: int) -> np.ndarray | None:
        """None for what has no value, or none that is kept."""
        try:
            return np.asarray(self.interpreter.get_tensor(t))
        except (ValueError, RuntimeError):
            return None

    def shape(self, t: int) -> tuple[int, ...]:
        return tuple(map(int, self.details[t]["shape"]))

    def by_order(self) -> dict[tuple[str, int], list[int]]:
        """Tensors by operator, and which of its results."""
        found: dict[tuple[str, int], list[int]] = {}
        for t, (_, operator, place) in self.operators.items():
            found.setdefault((operator, place), []).append(t)
        return found


def _matched(mine: _Results, theirs: _Results) -> tuple[list[tuple[int, int]], list[str]]:
    named: dict[str, int] = {}
    for t in theirs.operators:
        named.setdefault(theirs.details[t]["name"], t)
    orders = theirs.by_order()
    ordered: dict[int, int] = {}
    for key, tensors in mine.by_order().items():
        if len(orders.get(key, ())) == len(tensors):
            ordered.update(zip(tensors, orders[key], strict=True))
    pairs, unmatched = [], []
    for t in mine.operators:
        name = mine.details[t]["name"]
        candidates = [named.get(name) if name else None, ordered.get(t)]
        found = next((c for c in candidates if c is not None and theirs.shape(c) == mine.shape(t)), None)
        if found is None or mine.value(t) is None or theirs.value(found) is None:
            unmatched.append(name)
        else:
            pairs.append((t, found))
    return pairs, unmatched


def _compared(mine: _Results, theirs: _Results, t: int, other: int) -> TensorComparison:
    a, b = mine.value(t), theirs.value(other)
    if a is None or b is None or a.shape != b.shape:
        shapes = [None if value is None else value.shape for value in (a, b)]
        raise ValueError(f"outputs: both must have one shape, got {shapes[0]} and {shapes[1]}")
    node, operator, _ = mine.operators.get(t, (-1, "", 0))
    other_node = theirs.operators.get(other, (-1, "", 0))[0]
    names = mine.details[t]["name"], theirs.details[other]["name"]
    types = a.dtype.name, b.dtype.name
    sqnr, largest, of, at = _distance(_real(mine.details[t], a), _real(theirs.details[other], b))
    places = (t, other_node, other)
    return TensorComparison(*names, node, operator, a.shape, *types, sqnr, largest, of, at, *places)


def sqnr_db(expected: np.ndarray, found: np.ndarray) -> float:
    """10 log10(sum of squares of what is expected / sum of squared differences) of two arrays of a shape.

    inf where all values are equal (equal NaNs too), -inf or NaN where they are not finite.
    """
    return _distance(expected, found)[0]


def _distance(a: np.ndarray, b: np.ndarray) -> tuple[float, float, float, tuple[int, ...]]:
    """SQNR in dB, the largest difference, the largest value, and where the largest difference is."""
    if not a.size:
        return np.inf, 0.0, 0.0, ()
    if a.dtype.kind not in "fiubc" or b.dtype.kind not in "fiubc":
        differs = np.asarray(a != b)
        place = tuple(map(int, np.unravel_index(int(differs.argmax()), a.shape)))
        return (-np.inf, 1.0, 0.0, place) if differs.any() else (np.inf, 0.0, 0.0, place)
    wide = np.complex128 if "c" in a.dtype.kind + b.dtype.kind else np.float64
    x, y = a.astype(wide), b.astype(wide)
    same = (x == y) | (np.isnan(x) & np.isnan(y))
    with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
        difference = np.where(same, 0, np.abs(x - y))
        at = int(np.where(np.isnan(difference), np.inf, difference).argmax())
        noise, signal = float(np.square(difference).sum()), float(np.square(np.abs(x)).sum())
        sqnr = np.inf if same.all() else float(10 * np.log10(np.float64(signal) / noise))
        largest = float(np.abs(x[np.isfinite(x)]).max(initial=0))
    place = tuple(map(int, np.unravel_index(at, a.shape)))
    return sqnr, float(difference.reshape(-1)[at]), largest, place
