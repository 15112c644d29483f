"""OneOp: a random model of one operator, and the inputs of some runs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numlite.kernels.operators import OPERATORS
from numlite.schema import tflite
from numlite.schema.objects import TableT
from numlite.schema.tflite import BuiltinOperator, TensorType

from ..model_builder import ModelBuilder, SubgraphBuilder
from .draw import PACKED_BITS, Draw, Kind, Shape, packed

_NEWEST_OF_LITERT = {"BATCH_MATMUL": 4}
_OLDEST = {"BROADCAST_TO": 2}

Values = Callable[[Shape], np.ndarray]


@dataclass(frozen=True)
class Trial:
    """A model, and arrays for its inputs, for each run; their shapes may change from run to run."""

    content: bytes
    runs: tuple[tuple[np.ndarray, ...], ...]
    told: str
    threads: int = 1


@dataclass(frozen=True)
class _Input:
    tensor: int
    shape: Shape
    values: Values
    follows: bool


class OneOp:
    """What an entry of a table fills: tensors, then the operator itself."""

    def __init__(self, draw: Draw, name: str) -> None:
        self.draw, self.name = draw, name
        self.model = ModelBuilder()
        self.told: list[str] = []
        self._inputs: list[_Input] = []
        self._outputs: list[int] = []
        self.fixed_axes: set[int] = set()  # which no run changes, counted from behind

    def input(
        self, shape: Shape, kind: Kind | str, values: Values | None = None, constant: float = 0.12
    ) -> int:
        """A tensor that is given, or that is constant with this probability.

        values makes arrays of a shape; where it is None, they are any of the kind, and the shape may
        change from run to run.
        """
        kind = Kind(kind) if isinstance(kind, str) else kind
        make = values or (lambda shape: self.draw.values(kind, shape))
        if kind.type in PACKED_BITS or (kind.type != "string" and self.draw.chance(constant)):
            return self.constant(make(shape), kind)
        signature = tuple(-1 if self.draw.chance() else n for n in shape) if self.draw.chance(0.1) else None
        tensor = self._tensor(shape, kind, shape_signature=signature)
        self._inputs.append(_Input(tensor, shape, make, values is None))
        self.told.append(f"{_described(kind)}{list(shape)}")
        return tensor

    def constant(self, values: np.ndarray, kind: Kind | str | None = None) -> int:
        """A constant of the array's shape, and of its type where none is named."""
        kind = Kind(kind) if isinstance(kind, str) else kind or Kind(values.dtype.name)
        bits = PACKED_BITS.get(kind.type)
        data = packed(values, bits) if bits else values.astype(kind.dtype).tobytes()
        short = f"={values.tolist()}" if 0 < values.size <= 8 else ""
        self.told.append(f"const {_described(kind)}{list(values.shape)}{short}")
        return self._tensor(values.shape, kind, data)

    def numbers(self, values: object, types: tuple[str, ...] = ("int32",), constant: float = 0.7) -> int:
        """Sizes, axes or indices: a constant mostly, else given while running; always the same values."""
        array = np.asarray(values, self.draw.pick(*types))
        return self.input(array.shape, array.dtype.name, lambda shape: array, constant)

    def variable(self, shape: Shape, kind: Kind | str) -> int:
        """A state of the operator."""
        kind = Kind(kind) if isinstance(kind, str) else kind
        self.told.append(f"variable {_described(kind)}{list(shape)}")
        return self._tensor(shape, kind, is_variable=True)

    def scratch(self, kind: Kind) -> int:
        """A tensor that tells a quantization of values on the way."""
        return self._tensor((0,), kind)

    def output(self, kind: Kind | str, shape: Shape = ()) -> int:
        kind = Kind(kind) if isinstance(kind, str) else kind
        self._outputs.append(self._tensor(shape, kind))
        self.told.append(f"-> {_described(kind)}")
        return self._outputs[-1]

    def results(self, tensors: list[int]) -> None:
        """Tensors that operators of another kind have made."""
        self._outputs.extend(tensors)

    def op(self, inputs: list[int], options: TableT | None = None, **more: object) -> None:
        """The operator, with all outputs made so far, in a version that is drawn."""
        name = self.name.removesuffix(" int8")
        known = OPERATORS.get(name)
        newest = min(known.version if known else 1, _NEWEST_OF_LITERT.get(name, 99))
        version = newest if self.draw.chance() else self.draw.number(_OLDEST.get(name, 1), newest)
        if known:
            code = BuiltinOperator[name]
        else:
            code, more["custom_code"] = BuiltinOperator.CUSTOM, name
        self.model.op(code, inputs, self._outputs, options, version=version, **more)
        self.told.append(f"v{version} {options or ''}")

    def shape_of_results(self, shapes: list[Shape]) -> None:
        """Declare what shapes the results have."""
        for tensor, shape in zip(self._outputs, shapes, strict=True):
            self.model.subgraph.tensors[tensor].shape = list(shape)

    def content(self) -> bytes:
        return self.model.build([each.tensor for each in self._inputs], self._outputs)

    def trial(self) -> Trial:
        """One to three runs: as declared, with other values, with some sizes changed."""
        runs = [self._run({})]
        if self.draw.chance(0.3):
            runs.append(self._run({}))
        if self.draw.chance(0.35):
            runs.append(self._run(self._change()))
        return Trial(self.content(), tuple(runs), " ".join(self.told) + self.draw.special)

    def _run(self, change: dict[tuple[int, int], int]) -> tuple[np.ndarray, ...]:
        arrays = []
        for each in self._inputs:
            shape = each.shape
            if each.follows:
                ends = enumerate(shape, -len(shape))
                shape = tuple(change.get((axis, size), size) for axis, size in ends)
            arrays.append(each.values(shape))
        return tuple(arrays)

    def _change(self) -> dict[tuple[int, int], int]:
        """A size along an axis, counted from behind, that becomes another wherever it stands there."""
        shapes = [each.shape for each in self._inputs if each.follows and each.shape]
        if not shapes:
            return {}
        shape = self.draw.pick(*shapes)
        axis = self.draw.number(-len(shape), -1)
        return {} if axis in self.fixed_axes else {(axis, shape[axis]): self.draw.size()}

    def _tensor(self, shape: Shape, kind: Kind, data: bytes | None = None, **more: object) -> int:
        scale: float | list[float] | None = list(kind.scale) if kind.scale else None
        type_ = TensorType[kind.type.upper()]
        return self.model.tensor(
            *(shape, type_, data),
            scale=scale,
            zero_point=kind.zero_point,
            quantized_dimension=kind.dimension,
            **more,
        )

    def subgraph(self, name: str) -> SubgraphBuilder:
        """Another subgraph of the model, for operators that call some."""
        return self.model.add_subgraph(name)


def _described(kind: Kind) -> str:
    if not kind.scale:
        return kind.type
    scales = f"{kind.scale[0]:.3g}" if len(kind.scale) == 1 else f"{len(kind.scale)} scales/{kind.dimension}"
    return f"{kind.type}({scales},{kind.zero_point})"


def activation(draw: Draw) -> tflite.ActivationFunctionType:
    """None half of the time."""
    often = draw.pick(0, 0, 0, 1, 3)
    return tflite.ActivationFunctionType(often if draw.chance(0.8) else draw.number(0, 5))
