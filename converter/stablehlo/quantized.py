"""Operations on quantized tensors: those of the floats that they stand for, between QUANTIZE and DEQUANTIZE.

The rules of operators (operator_rules/quantized.py) make operators on integers of these.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...lite.errors import ModelError, UnsupportedError
from ...schema.graph_def import DT_FLOAT
from ..building.quantized import along, int8_constant, int8_of, int8_pair, reals_of, steps_of
from ..building.tensor import Integers, Tensor
from .computation import reduction
from .element_types import outside_type
from .held import Held
from .program import ArrayType, Dense, Operation, Type, Value
from .quantized_type import Quantized
from .register import rule_of
from .shape import splat
from .step import Result, Rule, Step

# uint8 is computed as int8 so much lower.
_SHIFT = 128
# The starts of these reductions, where they are the least or the largest integer.
_EXTREMES = {"maximum": -np.inf, "minimum": np.inf}


def is_quantized(type: Type) -> bool:
    return isinstance(type, ArrayType) and type.grid is not None


def quantized_rule(name: str) -> Rule | None:
    """The rule of an operation that takes or gives quantized tensors; None where there is none."""
    if name == "constant":
        return _constant
    if name in ("uniform_dequantize", "uniform_quantize"):
        return _same
    rule = rule_of(name)
    return None if rule is None else _by_floats(rule)


def _same(step: Step) -> Result:
    """What is held are the floats; the result's type says whether they lie on a grid."""
    held = step.held(0)
    return [Held(_on_grid(held.whole, step.result_type().grid), held.shape)]


def _by_floats(rule: Rule) -> Rule:
    """A rule of floats' operations, whose results come onto their grids."""

    def quantized(step: Step) -> Result:
        own = step.operation
        operands, results = (
            [Value(_floats(each.type), each.name) for each in values]
            for values in (own.operands, own.results)
        )
        plain = Operation(own.name, operands, results, own.attributes, own.regions)
        given = _started(step) if own.name in ("reduce", "reduce_window") else step.operands
        made = rule(Step(step.importer, plain, given))
        listed = [made] if isinstance(made, Held | Tensor) else list(made)
        if len(listed) != len(own.results):
            raise ModelError(f"it must have {len(listed)} results, got {len(own.results)}")
        return [_result(each, value.type) for each, value in zip(listed, own.results, strict=True)]

    return quantized


def _floats(type: Type) -> Type:
    return ArrayType(type.shape, "f32") if isinstance(type, ArrayType) and type.grid is not None else type


def _result(made: Held | Tensor, type: Type) -> Held | Tensor:
    if not isinstance(type, ArrayType) or type.grid is None:
        return made
    if not isinstance(made, Held):
        return _on_grid(made, type.grid)
    if type.grid.is_sum:
        return made
    if type.grid.axis < 0:
        return Held(_on_grid(made.tensor, type.grid), made.shape, made.stretched, made.sizes)
    return _on_grid(made.whole, type.grid)


def _on_grid(x: Tensor, grid: Quantized | None) -> Tensor:
    """The floats that x's integers stand for. Sums of products are on theirs already."""
    if grid is None or grid.is_sum or x.integers is not None:
        return x
    if x.shape is not None:
        _check_axis(grid, x.shape)
    scales, zeros = grid.scale_array(), grid.zero_array()
    if (grid.low, grid.high) == grid.limits and grid.bits == 8:
        return int8_pair(x, scales, zeros - (0 if grid.is_signed else _SHIFT), grid.axis)
    ends = (grid.low, grid.high)
    return reals_of(steps_of(x, scales, zeros, grid.axis, ends), scales, zeros, grid.axis)


def _started(step: Step) -> Sequence[Held]:
    """The operands; what extremes start from is no number at all where it is the last of the integers."""
    name = reduction(step.region(0))
    end = _EXTREMES.get(name or "")
    type = step.operation.operands[-1].type
    start = step.held(len(step.operands) - 1).tensor
    if end is None or not isinstance(type, ArrayType) or type.grid is None or start.data is None:
        return step.operands
    last = _real(np.array(type.grid.low if end < 0 else type.grid.high), type.grid)
    if len(step.operands) != 2 or start.data.size != 1 or float(start.data.reshape(-1)[0]) != float(last):
        return step.operands
    return [step.operands[0], Held(step.body.scalar(end, DT_FLOAT), ())]


def _real(integers: np.ndarray, grid: Quantized) -> np.ndarray:
    with np.errstate(over="ignore"):
        return ((integers.astype(np.int64) - grid.zeros[0]) * np.float32(grid.scales[0])).astype(np.float32)


def _constant(step: Step) -> Result:
    """The integers with their grid; a single number is the float that it stands for."""
    dense, grid = step.operation.attributes.get("value"), step.result_type().grid
    if not isinstance(dense, Dense) or grid is None:
        raise UnsupportedError("only constants of numbers are built")
    if (dense.type.element, dense.type.shape) != (grid.storage, step.shape):
        raise ModelError(f"the constant must be integers of {step.result_type()}, got {dense.type}")
    _check_axis(grid, step.shape)
    if grid.axis < 0 and (dense.is_splat or not step.shape):
        number = step.body.constant(_real(dense.element(), grid))
        return splat(step, number, step.shape) if step.shape else number
    integers = dense.array()
    zeros = grid.zero_array()
    if grid.is_sum or grid.bits > 8:
        return step.body.constant(_wide(integers, grid))
    shift = 0 if grid.is_signed else _SHIFT
    held = int8_constant(step.body.constant((integers.astype(np.int16) - shift).astype(np.int8)))
    return step.body.dequantized(Integers(held, grid.scale_array(), zeros - shift, grid.axis))


def _wide(integers: np.ndarray, grid: Quantized) -> np.ndarray:
    """The floats of integers whose products with scales are computed in 64 bits."""
    scales, zeros = (
        along(np.array(each if grid.axis >= 0 else each[0]), grid.axis, integers.ndim)
        for each in (grid.scales, grid.zeros)
    )
    with np.errstate(over="ignore"):
        return ((integers.astype(np.int64) - zeros) * scales).astype(np.float32)


def _check_axis(grid: Quantized, shape: Sequence[int]) -> None:
    axis, count = grid.axis, len(grid.scales)
    if axis >= 0 and (axis >= len(shape) or shape[axis] not in (-1, count)):
        raise ModelError(f"scales must be one for each index of axis {axis} of {list(shape)}, got {count}")


def given(x: Tensor, grid: Quantized) -> Tensor:
    """An input's integers as floats."""
    scales, zeros = grid.scale_array(), grid.zero_array()
    if grid.is_int8:
        return x.body.dequantized(Integers(x, scales, zeros, grid.axis))
    return reals_of(x.body.cast(x, DT_FLOAT), scales, zeros, grid.axis)


def returned(x: Tensor, type: Type) -> Tensor:
    """Floats on a grid as an output's integers."""
    assert isinstance(type, ArrayType) and type.grid is not None
    grid = type.grid
    scales, zeros = grid.scale_array(), grid.zero_array()
    if grid.is_int8:
        return int8_of(x, scales, zeros)
    steps = steps_of(x, scales, zeros, grid.axis, (grid.low, grid.high))
    return x.body.cast(steps, outside_type(type))
