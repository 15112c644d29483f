"""ONNX models written by hand, with our own messages: no onnx package is needed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numlite.schema.onnx import (
    AttributeProto,
    GraphProto,
    ModelProto,
    NodeProto,
    OperatorSetIdProto,
    TensorProto,
    ValueInfoProto,
)

OPSET = 21
TYPES = {
    np.dtype(np.float32): TensorProto.FLOAT,
    np.dtype(np.float16): TensorProto.FLOAT16,
    np.dtype(np.float64): TensorProto.DOUBLE,
    np.dtype(np.int8): TensorProto.INT8,
    np.dtype(np.uint8): TensorProto.UINT8,
    np.dtype(np.int16): TensorProto.INT16,
    np.dtype(np.int32): TensorProto.INT32,
    np.dtype(np.int64): TensorProto.INT64,
    np.dtype(np.bool_): TensorProto.BOOL,
    np.dtype(np.object_): TensorProto.STRING,
}
Size = int | str | None


def tensor(name: str, array: np.ndarray) -> TensorProto:
    """A constant, its elements as bytes."""
    array = np.asarray(array)
    return TensorProto(name=name, dims=array.shape, data_type=TYPES[array.dtype], raw_data=array.tobytes())


def value(name: str, shape: Sequence[Size] | None, dtype: type = np.float32) -> ValueInfoProto:
    """An input or output; a size may be a name, or None."""
    info = ValueInfoProto(name=name)
    info.type.tensor_type.elem_type = TYPES[np.dtype(dtype)]
    if shape is not None:
        info.type.tensor_type.shape.SetInParent()
        for size in shape:
            dim = info.type.tensor_type.shape.dim.add()
            if isinstance(size, str):
                dim.dim_param = size
            elif size is not None:
                dim.dim_value = size
    return info


def sequence(name: str, dtype: type = np.float32) -> ValueInfoProto:
    """An input or output that is a list of tensors."""
    info = ValueInfoProto(name=name)
    info.type.sequence_type.elem_type.tensor_type.elem_type = TYPES[np.dtype(dtype)]
    return info


def node(
    op: str, inputs: Sequence[str], outputs: Sequence[str] | str, domain: str = "", **attributes: object
) -> NodeProto:
    """A node; attributes of Python's types, arrays and graphs take the obvious form."""
    names = [outputs] if isinstance(outputs, str) else outputs
    made = NodeProto(op_type=op, input=inputs, output=names, domain=domain, name=f"{op}_{names[0]}")
    made.attribute.extend(attribute(name, held) for name, held in attributes.items())
    return made


def attribute(name: str, held: object) -> AttributeProto:
    if isinstance(held, bool | int):
        return AttributeProto(name=name, type=AttributeProto.INT, i=held)
    if isinstance(held, float):
        return AttributeProto(name=name, type=AttributeProto.FLOAT, f=held)
    if isinstance(held, str):
        return AttributeProto(name=name, type=AttributeProto.STRING, s=held.encode())
    if isinstance(held, np.ndarray):
        return AttributeProto(name=name, type=AttributeProto.TENSOR, t=tensor("", held))
    if isinstance(held, GraphProto):
        return AttributeProto(name=name, type=AttributeProto.GRAPH, g=held)
    assert isinstance(held, list | tuple)
    if held and isinstance(held[0], float):
        return AttributeProto(name=name, type=AttributeProto.FLOATS, floats=held)
    if held and isinstance(held[0], str | bytes):
        texts = [each.encode() if isinstance(each, str) else each for each in held]
        return AttributeProto(name=name, type=AttributeProto.STRINGS, strings=texts)
    return AttributeProto(name=name, type=AttributeProto.INTS, ints=held)


def graph(
    nodes: Sequence[NodeProto],
    inputs: Sequence[ValueInfoProto],
    outputs: Sequence[ValueInfoProto],
    constants: Mapping[str, np.ndarray] | None = None,
) -> GraphProto:
    held = [tensor(name, array) for name, array in (constants or {}).items()]
    return GraphProto(name="graph", node=nodes, input=inputs, output=outputs, initializer=held)


def model(
    nodes: Sequence[NodeProto],
    inputs: Sequence[ValueInfoProto],
    outputs: Sequence[ValueInfoProto],
    constants: Mapping[str, np.ndarray] | None = None,
    opset: int = OPSET,
    **domains: int,
) -> ModelProto:
    """A model of one opset of ONNX's, and of other domains ("ai_onnx_ml=3")."""
    opsets = [OperatorSetIdProto(domain="", version=opset)]
    opsets += [OperatorSetIdProto(domain=name.replace("_", "."), version=n) for name, n in domains.items()]
    return ModelProto(ir_version=10, opset_import=opsets, graph=graph(nodes, inputs, outputs, constants))
