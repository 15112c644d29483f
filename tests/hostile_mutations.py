"""What can be wrong about an operator, its tensors and its data: one change to a valid model at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numlite.schema import tflite
from numlite.schema.tflite import TensorType

Change = Callable[[tflite.ModelT], None]

INT32_MIN, INT32_MAX, INT64_MAX = -(2**31), 2**31 - 1, 2**63 - 1
ODD_INTEGERS = (0, -1, INT32_MAX, INT32_MIN)
ODD_FLOATS = (0.0, -1.0, float("nan"), float("inf"))
LIMITS = {"b": 8, "h": 16, "i": 32, "q": 64}
SHAPES: dict[str, Callable[[list[int]], list[int]]] = {
    "without elements": lambda shape: [0, *shape[1:]],
    "of rank 0": lambda shape: [],
    "of rank 8": lambda shape: [1] * (8 - len(shape)) + shape,
    "of one rank more": lambda shape: [*shape, 2],
    "of one rank less": lambda shape: shape[:-1],
    "one longer": lambda shape: [*shape[:-1], shape[-1] + 1] if shape else [2],
    "whose size overflows": lambda shape: [INT32_MAX] * max(3, len(shape)),
    "of 2**31 - 1": lambda shape: [INT32_MAX, *shape[1:]],
}
TYPES = (
    TensorType.FLOAT32,
    TensorType.INT8,
    TensorType.UINT8,
    TensorType.INT16,
    TensorType.INT32,
    TensorType.INT64,
    TensorType.BOOL,
    TensorType.STRING,
    TensorType.RESOURCE,
    TensorType.COMPLEX64,
    TensorType.FLOAT16,
    TensorType.INT4,
)
INTEGERS = {TensorType.INT32: np.int32, TensorType.INT64: np.int64}


@dataclass(frozen=True)
class Place:
    """An operator of a model, by subgraph and number."""

    subgraph: int
    operator: int

    def __str__(self) -> str:
        where = "" if self.subgraph == 0 else f"subgraph {self.subgraph} "
        return where if self.operator == 0 else f"{where}node {self.operator} "

    def graph(self, model: tflite.ModelT) -> tflite.SubGraphT:
        graph: tflite.SubGraphT = model.subgraphs[self.subgraph]
        return graph

    def of(self, model: tflite.ModelT) -> tflite.OperatorT:
        operator: tflite.OperatorT = self.graph(model).operators[self.operator]
        return operator


def mutations(model: tflite.ModelT) -> Iterator[tuple[str, Change]]:
    """All changes, each with a name. A change is made to a model of its own, equal to this one."""
    for s, graph in enumerate(model.subgraphs):
        for n, _ in enumerate(graph.operators or ()):
            place = Place(s, n)
            for name, change in (*_operands(place, place.of(model)), *_options(place, place.of(model))):
                yield f"{place}{name}", change
        for t, tensor in enumerate(graph.tensors):
            yield from _tensors(s, t, tensor)
            yield from _contents(s, t, tensor, model)


def _operands(place: Place, operator: tflite.OperatorT) -> Iterator[tuple[str, Change]]:
    for what in ("inputs", "outputs", "intermediates"):
        count = _length(getattr(operator, what))
        for i in range(count):
            yield f"{what} {i} missing", _set_item(place, what, i, -1)
        if count:
            yield f"no {what}", lambda model, what=what: setattr(place.of(model), what, None)
            yield f"{what} one too few", _resize(place, what, count - 1)
            yield f"{what} one too many", _resize(place, what, count + 1)


def _set_item(place: Place, what: str, i: int, value: int) -> Change:
    def change(model: tflite.ModelT) -> None:
        items = list(getattr(place.of(model), what))
        items[i] = value
        setattr(place.of(model), what, items)

    return change


def _resize(place: Place, what: str, count: int) -> Change:
    def change(model: tflite.ModelT) -> None:
        items = [int(item) for item in getattr(place.of(model), what)]
        setattr(place.of(model), what, (items + items[:1])[:count])

    return change


def _options(place: Place, operator: tflite.OperatorT) -> Iterator[tuple[str, Change]]:
    for union in ("builtin_options", "builtin_options_2"):
        table = getattr(operator, union)
        if table is None:
            continue
        yield "no options", lambda model, union=union: setattr(place.of(model), union, None)
        yield from _table(table, "option", lambda model, union=union: getattr(place.of(model), union))
    custom = operator.custom_options
    if custom is not None and len(custom):
        for name, data in (("no", None), ("half the", bytes(custom)[: len(custom) // 2])):
            yield f"{name} custom options", lambda model, data=data: _set_custom(place, model, data)
        for i in range(0, len(custom), max(1, len(custom) // 24)):
            for value in (0, 0x7F, 0xFF):
                data = bytes(custom)[:i] + bytes([value]) + bytes(custom)[i + 1 :]
                name = f"custom options' byte {i} {value}"
                yield name, lambda model, data=data: _set_custom(place, model, data)


def _set_custom(place: Place, model: tflite.ModelT, data: bytes | None) -> None:
    place.of(model).custom_options = data


Reach = Callable[[tflite.ModelT], Any]


def _table(table: Any, where: str, reach: Reach) -> Iterator[tuple[str, Change]]:
    """Odd values in the fields of a table; reach finds it in a model."""
    for field in type(table).fields:
        value, name = getattr(table, field.name), f"{where} {field.name}"
        if field.kind == "scalar":
            for odd in _odd_scalars(field.type, value):
                yield f"{name} {odd}", _set_field(reach, field.name, odd)
        elif field.kind == "table" and value is not None:
            inner: Reach = lambda model, f=field.name: getattr(reach(model), f)  # noqa: E731
            yield f"no {name}", _set_field(reach, field.name, None)
            yield from _table(value, name, inner)
        elif field.kind == "vector" and value is not None:
            yield f"no {name}", _set_field(reach, field.name, None)
            yield from _vector(field, value, name, reach)


def _vector(field: Any, value: Any, name: str, reach: Reach) -> Iterator[tuple[str, Change]]:
    items = np.asarray(value).tolist() if not isinstance(value, bytes | bytearray) else list(value)
    yield f"{name} longer", _set_field(reach, field.name, [*items, *(items[:1] or [0])])
    if not items:
        return
    yield f"{name} shorter", _set_field(reach, field.name, items[:-1])
    for i in {0, len(items) - 1}:
        for odd in _odd_scalars(field.type, items[i]):
            yield f"{name} {i} {odd}", _set_field(reach, field.name, [*items[:i], odd, *items[i + 1 :]])


def _set_field(reach: Reach, field: str, value: object) -> Change:
    return lambda model: setattr(reach(model), field, value)


def _odd_scalars(kind: str, value: Any) -> list[Any]:
    if kind == "?":
        return [not value]
    if kind in "fd":
        return list(ODD_FLOATS)
    odds = {0, 1, -1, 2, 255, INT32_MAX, INT32_MIN, INT64_MAX, int(value or 0) + 1} - {int(value or 0)}
    bits = LIMITS.get(kind.lower(), 32)
    low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if kind.islower() else (0, (1 << bits) - 1)
    return sorted({min(max(odd, low), high) for odd in odds})


def _tensors(s: int, t: int, tensor: tflite.TensorT) -> Iterator[tuple[str, Change]]:
    """Shapes, types and quantization. Constants that change keep their bytes, be there enough or not."""
    where = f"tensor {t}" if s == 0 else f"subgraph {s} tensor {t}"

    def reach(model: tflite.ModelT) -> tflite.TensorT:
        found: tflite.TensorT = model.subgraphs[s].tensors[t]
        return found

    shape = [] if tensor.shape is None else [int(n) for n in tensor.shape]
    for name, other in SHAPES.items():
        yield f"{where} {name}", _set_shape(reach, other(shape), s, t)
    for kind in TYPES:
        if kind != tensor.type:
            yield f"{where} {kind.name}", _set_type(reach, kind, s, t)
    yield f"{where} no constant", lambda model: _not_constant(model, s, t)
    yield f"{where} variable", lambda model: setattr(reach(model), "is_variable", not tensor.is_variable)
    yield f"{where} no quantization", _set_field(reach, "quantization", None)
    for scale in (0.0, -1.0, 1e-45, 3e38, float("nan"), float("inf")):
        yield f"{where} scale {scale}", _set_quantization(reach, [scale], [0])
    yield f"{where} scale without zero point", _set_quantization(reach, [0.5], None)
    yield f"{where} zero point without scale", _set_quantization(reach, None, [1])
    for zero_point in (INT32_MAX, INT32_MIN, INT64_MAX):
        yield f"{where} zero point {zero_point}", _set_quantization(reach, [0.5], [zero_point])
    for dimension in (0, 1, -1, 9):
        name = f"{where} three scales of dimension {dimension}"
        yield name, _set_quantization(reach, [0.5, 0.25, 1.0], [0, 0, 0], dimension)


def _set_shape(reach: Reach, shape: list[int], s: int, t: int) -> Change:
    """Constants get as many bytes as the shape needs, where that is not much."""

    def change(model: tflite.ModelT) -> None:
        before = reach(model)
        data = model.buffers[before.buffer].data
        count = _count(before)
        wanted = int(np.prod(shape, dtype=float))
        if data is not None and len(data) and count and wanted < 10_000 and len(data) % count == 0:
            held = bytes(data)
            room = wanted * (len(held) // count)
            _set_data(model, s, t, (held * (room // len(held) + 1))[:room])
        before.shape = shape
        before.shape_signature = None

    return change


def _set_type(reach: Reach, kind: int, s: int, t: int) -> Change:
    """Integers keep their values, other constants become zeros."""

    def change(model: tflite.ModelT) -> None:
        tensor = reach(model)
        data = model.buffers[tensor.buffer].data
        if data is not None and len(data):
            bits = {TensorType.INT4: 4, TensorType.COMPLEX64: 64, TensorType.INT64: 64}
            bits |= {
                TensorType.INT16: 16,
                TensorType.FLOAT16: 16,
                TensorType.FLOAT32: 32,
                TensorType.INT32: 32,
            }
            count = _count(tensor)
            if tensor.type in INTEGERS and kind in INTEGERS:
                values = np.frombuffer(bytes(data), INTEGERS[tensor.type]).astype(INTEGERS[TensorType(kind)])
                _set_data(model, s, t, values.tobytes())
            else:
                _set_data(model, s, t, bytes((count * bits.get(TensorType(kind), 8) + 7) // 8))
        tensor.type = kind

    return change


def _set_quantization(
    reach: Reach, scale: list[float] | None, zero_point: list[int] | None, dimension: int = 0
) -> Change:
    def change(model: tflite.ModelT) -> None:
        reach(model).quantization = tflite.QuantizationParametersT(
            scale=scale, zero_point=zero_point, quantized_dimension=dimension
        )

    return change


def _not_constant(model: tflite.ModelT, s: int, t: int) -> None:
    """The tensor becomes an input of its subgraph."""
    graph = model.subgraphs[s]
    graph.tensors[t].buffer = 0
    if t not in list(graph.inputs):
        graph.inputs = [*graph.inputs, t]


def _contents(s: int, t: int, tensor: tflite.TensorT, model: tflite.ModelT) -> Iterator[tuple[str, Change]]:
    """Odd numbers in constants of shapes, axes, indices; and in weights."""
    data = model.buffers[tensor.buffer].data
    if data is None or not len(data):
        return
    where = f"tensor {t}" if s == 0 else f"subgraph {s} tensor {t}"
    yield f"{where} half its bytes", lambda model: _set_data(model, s, t, bytes(data)[: len(data) // 2])
    if tensor.type in INTEGERS:
        values = np.frombuffer(bytes(data), INTEGERS[TensorType(tensor.type)])
        odds: tuple[float, ...] = (*ODD_INTEGERS, 1, 2, 100, 65536)
        if values.dtype == np.int64:
            odds += (INT64_MAX, -INT64_MAX - 1, 2**32, 2**31)
    elif tensor.type == TensorType.FLOAT32:
        values, odds = np.frombuffer(bytes(data), np.float32), (*ODD_FLOATS, 3e38)
    else:
        return
    for odd in odds:
        for name, at in (("all", slice(None)), ("the first", slice(1)), ("the last", slice(-1, None))):
            if name == "all" or len(values) > 1:
                changed = values.copy()
                changed[at] = odd
                yield f"{where} {name} {odd}", _set_data_of(s, t, changed.tobytes())


def _set_data_of(s: int, t: int, data: bytes) -> Change:
    return lambda model: _set_data(model, s, t, data)


def _set_data(model: tflite.ModelT, s: int, t: int, data: bytes) -> None:
    """A buffer of its own, since others may share the old one."""
    model.buffers.append(tflite.BufferT(data=data))
    model.subgraphs[s].tensors[t].buffer = len(model.buffers) - 1


def _count(tensor: tflite.TensorT) -> int:
    return 1 if tensor.shape is None else int(np.prod(tensor.shape, dtype=float))


def _length(items: Any) -> int:
    return 0 if items is None else len(items)
