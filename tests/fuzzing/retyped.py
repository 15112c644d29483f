"""Well-formed models whose tensors are of another sort: what was checked for the old ones no longer holds.

Types change together with the bytes of constants, so that nothing that looks at one tensor sees it.
"""

from __future__ import annotations

import random
from typing import Any

import numpy as np
from numlite.lite.tensor import NUMPY_DTYPES, TensorType
from numlite.schema import tflite

from tests.fuzzing.string_buffers import string_buffer
from tests.model_mutations import ODD_FLOATS

_TYPES = tuple(int(type) for type in TensorType)
_MOST_ELEMENTS = 100_000


def retype(content: bytes, draw: random.Random) -> tuple[bytes, str]:
    """The model with some tensors of another sort, and in words what was done."""
    model = tflite.unpack(tflite.read(content))
    words = []
    for _ in range(draw.choice((1, 1, 2, 3))):
        name = draw.choice(sorted(_CHANGES))
        words.append(name)
        _CHANGES[name](model, draw)
    try:
        return tflite.pack(model), " and ".join(words)
    except (ValueError, TypeError, OverflowError):
        return content, "as it was"


def _tensors(model: Any) -> list[Any]:
    return [tensor for graph in model.subgraphs for tensor in graph.tensors]


def _one(model: Any, draw: random.Random) -> Any:
    """A tensor, often a constant."""
    tensors = _tensors(model)
    constants = [tensor for tensor in tensors if _data(model, tensor) is not None]
    return draw.choice(constants if constants and draw.random() < 0.6 else tensors)


def _data(model: Any, tensor: Any) -> Any:
    data = model.buffers[tensor.buffer].data if tensor.buffer < len(model.buffers) else None
    return data if data is not None and len(data) else None


def count_of(tensor: Any) -> int:
    return int(np.prod(tensor.shape if tensor.shape is not None else (), dtype=float))


def set_data(model: Any, tensor: Any, data: bytes) -> None:
    """A buffer of its own, since others may share the old one."""
    model.buffers.append(tflite.BufferT(data=data))
    tensor.buffer = len(model.buffers) - 1


def set_type(model: Any, tensor: Any, type: int, draw: random.Random) -> None:
    """Another type, with bytes that fit it where the tensor is a constant."""
    constant = _data(model, tensor) is not None
    tensor.type = type
    count = count_of(tensor)
    if not constant or count > _MOST_ELEMENTS:
        return
    if type == TensorType.STRING:
        set_data(model, tensor, string_buffer(count, draw))
    elif (dtype := NUMPY_DTYPES.get(type)) is not None:
        values = np.full(count, draw.choice((0, 1, 2, 3)), dtype)
        set_data(model, tensor, values.tobytes())
    else:
        set_data(model, tensor, bytes(count))


def _type_of_one(model: Any, draw: random.Random) -> None:
    set_type(model, _one(model, draw), draw.choice(_TYPES), draw)


def _type_of_all(model: Any, draw: random.Random) -> None:
    """All tensors of one type get another one."""
    tensors = _tensors(model)
    before, after = draw.choice(tensors).type, draw.choice(_TYPES)
    for tensor in tensors:
        if tensor.type == before:
            set_type(model, tensor, after, draw)


def _variable(model: Any, draw: random.Random) -> None:
    """A variable has no buffer."""
    tensor = _one(model, draw)
    tensor.is_variable = not tensor.is_variable
    tensor.buffer = 0


def _signature(model: Any, draw: random.Random) -> None:
    tensor = _one(model, draw)
    shape = [int(size) for size in (tensor.shape if tensor.shape is not None else ())]
    tensor.shape_signature = draw.choice((None, [], shape, [-1] * len(shape), [*shape, -1], [2**31 - 1]))


def _sparsity(model: Any, draw: random.Random) -> None:
    """Stored sparse: some of the values, and where they are, often wrongly."""
    tensor = _one(model, draw)
    rank = len(tensor.shape) if tensor.shape is not None else 0
    size = draw.choice((0, 1, 2, 5))
    vector = tflite.Int32VectorT(values=[draw.choice((0, 1, size, 99)) for _ in range(size + 1)])
    sizes = [int(n) for n in tensor.shape] if rank else []
    dimensions = [
        tflite.DimensionMetadataT(
            format=draw.choice((0, 0, 1)),
            dense_size=sizes[axis] if draw.random() < 0.8 else draw.choice((0, 1, 1000, -1)),
            array_segments=vector,
            array_indices=vector,
        )
        for axis in range(rank)
    ]
    tensor.sparsity = tflite.SparsityParametersT(
        traversal_order=list(range(rank)), block_map=[], dim_metadata=dimensions
    )
    if _data(model, tensor) is not None:
        set_data(model, tensor, bytes(draw.choice((4, 8, 40, 400))))


def _another_buffer(model: Any, draw: random.Random) -> None:
    """A constant that was none, or the other way round, or another tensor's bytes."""
    tensor = _one(model, draw)
    tensor.buffer = draw.choice((0, _one(model, draw).buffer))


def _other_file(model: Any, draw: random.Random) -> None:
    _one(model, draw).external_buffer = draw.choice((1, 2**32 - 1))


def _shape(model: Any, draw: random.Random) -> None:
    """Another shape, with bytes for it."""
    tensor = _one(model, draw)
    tensor.shape = [draw.choice((0, 1, 2, 3, 8)) for _ in range(draw.randrange(6))]
    set_type(model, tensor, tensor.type, draw)


def _rankless(model: Any, draw: random.Random) -> None:
    tensor = _one(model, draw)
    tensor.has_rank = not tensor.has_rank
    if draw.random() < 0.5:
        tensor.shape = None


def _quantization(model: Any, draw: random.Random) -> None:
    """Scales from another tensor, or many of one dimension."""
    tensor = _one(model, draw)
    shape = [int(size) for size in (tensor.shape if tensor.shape is not None else ())]
    dimension = draw.randrange(len(shape)) if shape else 0
    count = min(shape[dimension], 4096) if shape else 1
    tensor.quantization = draw.choice(
        (
            _one(model, draw).quantization,
            tflite.QuantizationParametersT(
                scale=[draw.choice((0.5, 1.0, *ODD_FLOATS))] * count,
                zero_point=[draw.choice((0, 1, -128))] * count,
                quantized_dimension=dimension,
            ),
        )
    )


def _shared(model: Any, draw: random.Random) -> None:
    """An operator that reads what another one reads, writes, or what it writes itself."""
    operators = [op for graph in model.subgraphs for op in graph.operators or ()]
    if not operators:
        return
    operator, other = draw.choice(operators), draw.choice(operators)
    source = [int(t) for t in (other.inputs if other.inputs is not None else ())]
    source += [int(t) for t in (other.outputs if other.outputs is not None else ())]
    inputs = [int(t) for t in (operator.inputs if operator.inputs is not None else ())]
    if source and inputs:
        inputs[draw.randrange(len(inputs))] = draw.choice(source)
        operator.inputs = inputs


def _no_operator(model: Any, draw: random.Random) -> None:
    """Its output is then what nothing writes, or an input."""
    graph = draw.choice(model.subgraphs)
    operators = list(graph.operators or ())
    if operators:
        gone = operators.pop(draw.randrange(len(operators)))
        graph.operators = operators
        if draw.random() < 0.7 and gone.outputs is not None:
            graph.inputs = [*(int(t) for t in graph.inputs), *(int(t) for t in gone.outputs)]


_CHANGES = {
    "another type": _type_of_one,
    "a type for another": _type_of_all,
    "variable": _variable,
    "shape signature": _signature,
    "sparsity": _sparsity,
    "another buffer": _another_buffer,
    "another file": _other_file,
    "another shape": _shape,
    "no rank": _rankless,
    "quantization": _quantization,
    "shared operands": _shared,
    "an operator less": _no_operator,
}
