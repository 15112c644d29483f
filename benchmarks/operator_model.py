"""OperatorModel: a model of one operator, built from its operands, for operators.py."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numlite import interpreter as numlite
from numlite.schema import tflite
from numlite.schema.objects import TableT
from numlite.schema.tflite import BuiltinOperator

sys.path.append(str(Path(__file__).resolve().parents[1]))

from tests.cases.packed_weights import packed
from tests.model_builder import ModelBuilder

_RANDOM = np.random.default_rng(11)


@dataclass(frozen=True)
class Operand:
    """An input's value and quantization: given by the caller, part of the model, or a variable.

    With block_scales [rows, blocks] it is a constant matrix of 4-bit integers, a scale for each
    block of a row.
    """

    value: np.ndarray
    scale: float | None = None
    zero_point: int = 0
    is_constant: bool = False
    is_variable: bool = False
    block_scales: np.ndarray | None = None


class Result(NamedTuple):
    """Type and quantization of an output; its shape is what numlite's shape rule says."""

    dtype: type
    scale: float | None = None
    zero_point: int = 0


@dataclass(frozen=True)
class OperatorModel:
    """One operator on its operands; None stands for an optional one that is left out."""

    name: str
    code: BuiltinOperator
    operands: Sequence[Operand | None]
    results: Sequence[Result]
    options: TableT | None = None
    version: int = 1
    custom_code: str | None = None
    custom_options: bytes = b""

    def inputs(self) -> list[np.ndarray]:
        """Values of the model's inputs."""
        return [o.value for o in self.operands if o and not (o.is_constant or o.is_variable)]

    def content(self) -> bytes:
        """The file. Outputs have the shapes that they get, as LiteRT's delegate reads them first."""
        interpreter = numlite.Interpreter(model_content=self._built([()] * len(self.results)))
        interpreter.allocate_tensors()
        details = interpreter.get_input_details()
        for detail, value in zip(details, self.inputs(), strict=True):
            interpreter.set_tensor(detail["index"], value)
        interpreter.invoke()
        outputs = [interpreter.get_tensor(d["index"]) for d in interpreter.get_output_details()]
        return self._built([y.shape for y in outputs])

    def _built(self, shapes: Sequence[tuple[int, ...]]) -> bytes:
        model = ModelBuilder()
        tensors = [-1 if o is None else _tensor(model, o) for o in self.operands]
        outputs = [
            model.tensor(shape, r.dtype, scale=r.scale, zero_point=r.zero_point)
            for shape, r in zip(shapes, self.results, strict=True)
        ]
        custom = (self.custom_code, self.custom_options)
        model.op(self.code, tensors, outputs, self.options, self.version, *custom)
        given = [
            t
            for t, o in zip(tensors, self.operands, strict=True)
            if o and not (o.is_constant or o.is_variable)
        ]
        return model.build(given, outputs)


def _tensor(model: ModelBuilder, operand: Operand) -> int:
    value = operand.value
    if operand.block_scales is not None:
        return _blockwise(model, value, operand.block_scales)
    return model.tensor(
        value.shape,
        value.dtype,
        value if operand.is_constant else None,
        scale=operand.scale,
        zero_point=operand.zero_point,
        is_variable=operand.is_variable,
    )


def _blockwise(model: ModelBuilder, values: np.ndarray, scales: np.ndarray) -> int:
    kind = tflite.TensorType.INT4
    index = model.tensor(values.shape, kind, packed(values, kind))
    blocks = tflite.BlockwiseQuantizationT(
        scales=model.constant(scales.astype(np.float16)),
        zero_points=-1,
        block_size=values.shape[1] // scales.shape[1],
    )
    quantization = tflite.QuantizationParametersT(details=blocks)
    model.model.subgraphs[0].tensors[index].quantization = quantization
    return index


def floats(*shape: int) -> Operand:
    return Operand(_RANDOM.standard_normal(shape).astype(np.float32))


def positive(*shape: int) -> Operand:
    return Operand(_RANDOM.uniform(0.1, 4, shape).astype(np.float32))


def integers(dtype: type, low: int, high: int, *shape: int) -> Operand:
    return Operand(_RANDOM.integers(low, high, shape, endpoint=True).astype(dtype))


def quantized(dtype: type, *shape: int, scale: float = 0.05) -> Operand:
    limits = np.iinfo(dtype)
    zero_point = {np.uint8: 131, np.int8: 3}.get(dtype, 0)
    return replace(integers(dtype, limits.min, limits.max, *shape), scale=scale, zero_point=zero_point)


def constant(operand: Operand) -> Operand:
    return replace(operand, is_constant=True)


def indices(*values: int) -> Operand:
    return Operand(np.array(values, np.int32), is_constant=True)


def scalar(value: float, dtype: type = np.int32) -> Operand:
    return Operand(np.array(value, dtype), is_constant=True)


FLOAT = Result(np.float32)
INT8 = Result(np.int8, 0.06, -4)
UINT8 = Result(np.uint8, 0.06, 125)
INT16 = Result(np.int16, 0.06)
QUANTIZED = {np.int8: INT8, np.uint8: UINT8, np.int16: INT16}

# Shapes of maps common in networks.
MAP = (1, 28, 28, 96)
LARGE = (1, 56, 56, 72)


def model_of(
    text: str,
    operands: Sequence[Operand | None],
    results: Result | Sequence[Result],
    options: TableT | None = None,
    version: int = 1,
) -> OperatorModel:
    """text is the operator's name, and then whatever tells its model from others of it."""
    shape = "x".join(map(str, operands[0].value.shape)) if operands[0] else ""
    kind = operands[0].value.dtype.name if operands[0] else ""
    listed = [results] if isinstance(results, Result) else list(results)
    name = f"{text} {kind} {shape}"
    return OperatorModel(name, BuiltinOperator[text.split()[0]], operands, listed, options, version)
