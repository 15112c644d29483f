"""MEAN, SUM and the other reductions over axes: the shape rule, the checks, and their kernels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from math import prod

import numpy as np

from ..lite.context import Context, Numerics
from ..lite.errors import UnsupportedError
from ..lite.kernel_call import KernelCall, chunk_count
from ..lite.node import Node
from ..lite.tensor import Shape, Tensor, TensorType
from ..schema.named_tuple import NamedTuple
from .index_vector import (
    check_counts,
    check_index_type,
    check_same_quantization,
    integers,
    normalized_axis,
    output_of,
)
from .lookup import TABLE_TYPES
from .operators import check_type, registration
from .quantized_sum import (
    parameters_by_reference,
    parameters_by_xnnpack,
    parameters_of_words,
    quantized_sum,
    without_scales,
    xnnpack_takes,
)
from .requantize import BYTE_RANGES

REDUCE_RANK = 5

# Outputs are [kept..., inner] when inner is kept ("across"), [kept...] when it is reduced
# ("along"). Strides are in elements of x; those of inner are 1. accumulator holds inner
# accumulators for each chunk (across only).
_LOOPS = [
    ("x", np.int64),
    ("y", np.int64),
    ("accumulator", np.int64),
    ("kept_shape", np.int64, (REDUCE_RANK,)),
    ("kept_strides", np.int64, (REDUCE_RANK,)),
    ("reduced_shape", np.int64, (REDUCE_RANK,)),
    ("reduced_strides", np.int64, (REDUCE_RANK,)),
    ("inner", np.int64),
]
# count is how many elements each result is made of; scale is 1 or 1 / count.
REDUCE = np.dtype([*_LOOPS, ("count", np.int64), ("scale", np.float32)], align=True)
# y = saturate(round(sum * scale + offset)), ties to even, or away from zero where the kernel says so
REDUCE_Q8 = np.dtype([*_LOOPS, ("scale", np.float32), ("offset", np.float32)], align=True)
# y = saturate(zero + (sum - bias) * multiplier * 2**(shift - 31))
REDUCE_Q8_REFERENCE = np.dtype(
    [*_LOOPS, ("bias", np.int32), ("multiplier", np.int32), ("shift", np.int32), ("zero", np.int32)],
    align=True,
)

_SUFFIXES = {
    TensorType.FLOAT32: "f32",
    TensorType.INT8: "i8",
    TensorType.UINT8: "u8",
    TensorType.BOOL: "u8",
    TensorType.INT16: "i16",
    TensorType.INT32: "i32",
    TensorType.INT64: "i64",
}
# Across kernels that have a faster form for at most two reduced dimensions.
_WINDOW_KERNELS = ("mean", "sum", "sum_away", "sum_reference", "max", "min")

_NUMBERS = (TensorType.FLOAT32, TensorType.INT32, TensorType.INT64)
_SUMS = ("MEAN", "SUM")
_NAN = np.full(1, np.nan, np.float32)
_EXTREMA = ("REDUCE_MAX", "REDUCE_MIN")


class Loops(NamedTuple):
    """Sizes and element strides of kept and reduced dimensions, neighbours of one kind joined."""

    kept: list[tuple[int, int]]
    reduced: list[tuple[int, int]]
    inner: int
    inner_is_kept: bool


def output_shape(operator: str, x: Shape, axes: Sequence[int], keep_dims: bool) -> Shape:
    """Output shape of a reduction over axes, which may repeat and count from the end when negative."""
    reduced = {normalized_axis(operator, axis, len(x)) for axis in axes}
    if keep_dims:
        return tuple(1 if d in reduced else n for d, n in enumerate(x))
    return tuple(n for d, n in enumerate(x) if d not in reduced)


def reduction_loops(operator: str, x: Shape, axes: Sequence[int]) -> Loops:
    """The fewest loops that reduce x; UnsupportedError when they are more than REDUCE_RANK of a kind."""
    reduced_axes = {axis % len(x) for axis in axes} if x else set()
    groups: list[tuple[int, int, bool]] = []
    stride = 1
    for d in reversed(range(len(x))):
        is_kept = d not in reduced_axes
        if x[d] != 1:
            if groups and groups[-1][2] == is_kept:
                groups[-1] = (groups[-1][0] * x[d], groups[-1][1], is_kept)
            else:
                groups.append((x[d], stride, is_kept))
        stride *= x[d]
    inner, _, inner_is_kept = groups.pop(0) if groups else (1, 1, False)
    kept = [(n, s) for n, s, is_kept in reversed(groups) if is_kept]
    reduced = [(n, s) for n, s, is_kept in reversed(groups) if not is_kept]
    if max(len(kept), len(reduced)) > REDUCE_RANK:
        raise UnsupportedError(
            f"{operator}: up to {REDUCE_RANK} separate groups of reduced dimensions are built, "
            f"got axes {list(axes)} of {'x'.join(map(str, x))}; reducing in two steps would run"
        )
    return Loops(kept, reduced, inner, inner_is_kept)


def _fill_loops(args: np.ndarray, loops: Loops) -> None:
    for name, group in (("kept", loops.kept), ("reduced", loops.reduced)):
        args[f"{name}_shape"] = 1
        for k, (size, stride) in enumerate(reversed(group), start=1):
            args[f"{name}_shape"][0, -k] = size
            args[f"{name}_strides"][0, -k] = stride
    args["inner"] = loops.inner


# Sums of bools are whether there is any, products whether all are.
_OF_BOOLS = {
    "SUM": "REDUCE_MAX",
    "REDUCE_MAX": "REDUCE_MAX",
    "REDUCE_ANY": "REDUCE_MAX",
    "REDUCE_PROD": "REDUCE_MIN",
    "REDUCE_MIN": "REDUCE_MIN",
    "REDUCE_ALL": "REDUCE_MIN",
}


class _Kernel(NamedTuple):
    """A kernel's family, its name less its kind and type, and its block."""

    family: str
    name: str
    args: np.ndarray


def _quantized_kernel(context: Context, name: str, x: Tensor, y: Tensor, count: int) -> _Kernel:
    """Of a quantized MEAN or SUM over count elements."""
    parameters: Mapping[str, float]
    if x.type in BYTE_RANGES and context.numerics is Numerics.DEFAULT:
        kernel = _Kernel("reduce_q8", "sum", np.zeros(1, REDUCE_Q8))
        parameters = parameters_by_xnnpack(name, x, y, count)
    elif name == "SUM" and context.numerics is Numerics.DEFAULT:
        kernel = _Kernel("reduce_q16", "sum_away", np.zeros(1, REDUCE_Q8))
        parameters = parameters_of_words(name, x, y)
    else:
        kernel = _Kernel("reduce_q8_reference", "sum_reference", np.zeros(1, REDUCE_Q8_REFERENCE))
        parameters = parameters_by_reference(name, x, y, count)
    for field, value in parameters.items():
        kernel.args[field] = value
    return kernel


def _kernel(context: Context, name: str, x: Tensor, axes: Sequence[int], count: int) -> _Kernel:
    """Of a reduction without quantized parameters."""
    args = np.zeros(1, REDUCE)
    args["count"] = count
    args["scale"] = 1 / count if name == "MEAN" and count else np.nan if name == "MEAN" else 1
    if x.type == TensorType.BOOL:
        name = _OF_BOOLS[name]
    kernel = name.removeprefix("REDUCE_").lower()
    if _begins_finite(context, name, x, axes):
        return _Kernel("reduce_f32_reference", f"reference_{kernel}", args)
    families = {
        TensorType.FLOAT32: "reduce_f32",
        TensorType.INT32: "reduce_int",
        TensorType.INT64: "reduce_int",
    }
    return _Kernel(families.get(TensorType(x.type), "reduce_stored"), kernel, args)


def _prepare(name: str, context: Context, node: Node) -> Sequence[KernelCall] | None:
    check_counts(name, node, 2)
    x, axis_tensor = context.input(node, 0), context.input(node, 1)
    y = output_of(context, node, name, x)
    check_index_type(name, "axes", axis_tensor, (TensorType.INT32,))
    check_type(name, x)
    if name in _EXTREMA and x.type in TABLE_TYPES:
        _check_extremum(context, name, x, axis_tensor, y)
    if not axis_tensor.is_constant:
        context.set_dynamic(y)
        return None
    axes = integers(axis_tensor)
    shape = output_shape(name, x.shape, axes, _keep_dims(node))
    if prod(shape) and _runs_in_python(context, name, x, axis_tensor, y, x.size // prod(shape)):
        context.resize_tensor(y, shape)
        return None
    loops = reduction_loops(name, x.shape, axes)
    context.resize_tensor(y, shape)
    if prod(shape) == 0:
        return []
    count = x.size // prod(shape)
    if name == "MEAN" and x.type == TensorType.FLOAT32 and not count:
        from .fill import fill_calls  # which other reductions do without

        return fill_calls(context, y, 4, y.size, _NAN)
    of_sums = x.type in TABLE_TYPES and name in _SUMS
    family, kernel, args = (
        _quantized_kernel(context, name, x, y, count) if of_sums else _kernel(context, name, x, axes, count)
    )
    _fill_loops(args, loops)
    kept = prod(n for n, _ in loops.kept)
    chunks = chunk_count(context, 0.1 * x.size, most=kept if kept > 1 else max(1, loops.inner // 64))
    tensors = {"x": x, "y": y}
    if loops.inner_is_kept:
        tensors["accumulator"] = context.add_temporary(node, 8 * loops.inner * chunks)
    elif kept == 1:
        chunks = 1
    kind = "across" if loops.inner_is_kept else "along"
    if kind == "across" and kernel in _WINDOW_KERNELS and len(loops.reduced) <= 2 and family != "reduce_int":
        kind = "window"
    name = f"{kernel}_{kind}_{_SUFFIXES[TensorType(x.type)]}"
    return [KernelCall(family, name, args, tensors, chunks)]


def _runs_in_python(context: Context, name: str, x: Tensor, axes: Tensor, y: Tensor, count: int) -> bool:
    """Whether no kernel has LiteRT's arithmetic for a reduction of `count` elements each."""
    if _begins_with_first(context, name, x, axes):
        return True
    if x.type not in TABLE_TYPES or name not in ("REDUCE_PROD", *_SUMS):
        return False
    left_to_litert = (
        context.numerics is Numerics.DEFAULT and x.type in BYTE_RANGES and not xnnpack_takes(context, x, axes)
    )
    if name == "REDUCE_PROD" or left_to_litert or (name == "MEAN" and not count):
        return True
    return without_scales(context, name, x, y)


def _check_extremum(context: Context, name: str, x: Tensor, axes: Tensor, y: Tensor) -> None:
    """PrepareError when quantizations differ, but where XNNPACK takes it: it keeps the stored values."""
    if not xnnpack_takes(context, x, axes):
        check_same_quantization(name, x, y)


def _begins_finite(context: Context, name: str, x: Tensor, axes: Sequence[int]) -> bool:
    """Whether an extremum begins with the least finite number and passes over NaN: LiteRT's reference.

    What reduces all axes begins with the first element, where there is one.
    Source: LiteRT tflite/kernels/reduce.cc, EvalType.
    """
    if name not in _EXTREMA or x.type != TensorType.FLOAT32 or context.numerics is Numerics.DEFAULT:
        return False
    return not x.size or len(_axes_of(x.shape, axes)) < len(x.shape)


def _begins_with_first(context: Context, name: str, x: Tensor, axes: Tensor) -> bool:
    """Whether an extremum begins with the first element, NaN or not, and passes over NaN behind it.

    Source: LiteRT tflite/kernels/reduce.cc, ReduceAllDims.
    """
    if name not in _EXTREMA or x.type != TensorType.FLOAT32 or context.numerics is Numerics.DEFAULT:
        return False
    return bool(x.size) and not _begins_finite(context, name, x, integers(axes))


def _first_extremum(name: str, x: np.ndarray) -> np.float32:
    """Of all elements, of equal ones (zeros of two signs) the first."""
    flat = x.reshape(-1)
    if np.isnan(flat[0]):
        return flat[0]
    return flat[np.nanargmax(flat) if name == "REDUCE_MAX" else np.nanargmin(flat)]


def _axes_of(shape: Shape, axes: Sequence[int]) -> tuple[int, ...]:
    """The axes counted from the front, each once."""
    return tuple({axis % len(shape) for axis in axes}) if shape else ()


def _keep_dims(node: Node) -> bool:
    return node.options is not None and bool(node.options.keep_dims)


_NUMPY: dict[str, np.ufunc] = {
    "MEAN": np.add,
    "SUM": np.add,
    "REDUCE_PROD": np.multiply,
    "REDUCE_MAX": np.maximum,
    "REDUCE_MIN": np.minimum,
    "REDUCE_ANY": np.logical_or,
    "REDUCE_ALL": np.logical_and,
}
_PASSING_NAN = {"REDUCE_MAX": np.fmax, "REDUCE_MIN": np.fmin}


def _of_nothing(name: str, dtype: np.dtype, finite: bool) -> float | None:
    """The result over no elements, None where NumPy knows it; a finite number where float32 asks for one."""
    if name not in _EXTREMA:
        return None
    least: float
    most: float
    if dtype == np.float32 and finite:
        least, most = float(np.finfo(dtype).min), float(np.finfo(dtype).max)
    elif dtype.kind == "f":
        least, most = -np.inf, np.inf
    elif dtype.kind == "b":
        least, most = False, True
    else:
        least, most = int(np.iinfo(dtype).min), int(np.iinfo(dtype).max)
    return least if name == "REDUCE_MAX" else most


def _invoke(name: str, context: Context, node: Node) -> None:
    """The operator in NumPy, for axes known only now and for what no kernel computes."""
    x, axis_tensor, y = context.input(node, 0), context.input(node, 1), context.output(node, 0)
    axes = integers(axis_tensor)
    context.resize_tensor(y, output_shape(name, x.shape, axes, _keep_dims(node)))
    reduced = _axes_of(x.shape, axes)
    if name == "REDUCE_PROD" and x.type in TABLE_TYPES and not without_scales(context, name, x, y):
        from .quantized_prod import quantized_prod

        y.array()[...] = quantized_prod(context, x, y, reduced, _keep_dims(node))
        return
    if _begins_with_first(context, name, x, axis_tensor):
        y.array()[...] = _first_extremum(name, x.array())
        return
    sums = name in _SUMS
    if sums and x.type in TABLE_TYPES:
        y.array()[...] = quantized_sum(context, name, x, y, reduced, _keep_dims(node))
        return
    if x.type == TensorType.BOOL:
        name = _OF_BOOLS[name]
    wide = np.int64 if sums and x.type != TensorType.FLOAT32 else x.dtype
    finite = _begins_finite(context, name, x, axes)
    initial = _of_nothing(name, x.dtype, finite or not x.size)
    combine = _PASSING_NAN[name] if finite else _NUMPY[name]
    reduce = partial(combine.reduce, x.array(), axis=reduced, dtype=wide, keepdims=_keep_dims(node))
    result = reduce() if initial is None else reduce(initial=initial)
    count = x.size // max(1, y.size)
    if name == "MEAN":
        with np.errstate(invalid="ignore"):
            result = result / np.float32(count) if wide == np.float32 else _truncated(result, max(count, 1))
    y.array()[...] = np.asarray(result).astype(y.dtype)  # sums of int32 may wrap around


def _truncated(sums: np.ndarray, count: int) -> np.ndarray:
    """sums (int64) / count, rounded towards 0."""
    return np.asarray(np.sign(sums) * (np.abs(sums) // count))


REGISTRATIONS = tuple(registration(name, partial(_prepare, name), partial(_invoke, name)) for name in _NUMPY)
