"""A GraphDef in normal form: texts of two graphs are equal if the graphs are."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from numlite.schema import graph_def
from numlite.schema.graph_def import AttrValue, GraphDef, NodeDef, TensorProto, VersionDef

_FORMS = {
    graph_def.DT_FLOAT: ("<f4", "float_val"),
    graph_def.DT_DOUBLE: ("<f8", "double_val"),
    graph_def.DT_INT32: ("<i4", "int_val"),
    graph_def.DT_UINT8: ("<u1", "int_val"),
    graph_def.DT_INT16: ("<i2", "int_val"),
    graph_def.DT_INT8: ("<i1", "int_val"),
    graph_def.DT_UINT16: ("<u2", "int_val"),
    graph_def.DT_INT64: ("<i8", "int64_val"),
    graph_def.DT_BOOL: ("<u1", "bool_val"),
    graph_def.DT_UINT32: ("<u4", "uint32_val"),
    graph_def.DT_UINT64: ("<u8", "uint64_val"),
    graph_def.DT_HALF: ("<u2", "half_val"),
    graph_def.DT_BFLOAT16: ("<u2", "half_val"),
    graph_def.DT_COMPLEX64: ("<f4", "scomplex_val"),
    graph_def.DT_COMPLEX128: ("<f8", "dcomplex_val"),
}


def normal_form(graph: GraphDef) -> bytes:
    """Equal for graphs that differ only in how they are written.

    Explicit first results ("n:0"), the place of control inputs, the encoding of tensors and messages
    that are present but empty do not count. Order of nodes and functions does.
    """
    copy = GraphDef()
    copy.CopyFrom(graph)
    copy.DiscardUnknownFields()
    if copy.versions == VersionDef():
        copy.ClearField("versions")
    if not copy.library.ListFields():
        copy.ClearField("library")
    for node in copy.node:
        _normal_node(node, in_function=False)
    for function in copy.library.function:
        for node in function.node_def:
            _normal_node(node, in_function=True)
        for value in function.attr.values():
            _normal_value(value)
        for index in list(function.arg_attr):
            for value in function.arg_attr[index].attr.values():
                _normal_value(value)
            if not function.arg_attr[index].attr:
                del function.arg_attr[index]
    return copy.SerializeToString(deterministic=True)


def _normal_node(node: NodeDef, in_function: bool) -> None:
    controls = sorted(text for text in node.input if text.startswith("^"))
    data = [text for text in node.input if not text.startswith("^")]
    if not in_function:
        data = [text.removesuffix(":0") for text in data]
    del node.input[:]
    node.input.extend(data + controls)
    if not node.experimental_debug_info.ListFields():
        node.ClearField("experimental_debug_info")
    for value in node.attr.values():
        _normal_value(value)


def _normal_value(value: AttrValue) -> None:
    for tensor in _tensors(value):
        _normal_tensor(tensor)


def _tensors(value: AttrValue) -> Iterator[TensorProto]:
    kind = value.WhichOneof("value")
    if kind == "tensor":
        yield value.tensor
    elif kind == "func":
        for inner in value.func.attr.values():
            yield from _tensors(inner)
    elif kind == "list":
        yield from value.list.tensor
        for func in value.list.func:
            for inner in func.attr.values():
                yield from _tensors(inner)


def _normal_tensor(tensor: TensorProto) -> None:
    """One value if all elements have it, else all in tensor_content."""
    tensor.tensor_shape.SetInParent()
    count = math.prod(dim.size for dim in tensor.tensor_shape.dim)
    if tensor.dtype == graph_def.DT_STRING:
        values = list(tensor.string_val)
        while len(values) > 1 and values[-1] == values[-2]:
            values.pop()
        del tensor.string_val[:]
        tensor.string_val.extend([] if values == [b""] else values)
        return
    if tensor.dtype not in _FORMS:
        return
    form, field = _FORMS[tensor.dtype]
    width = 2 if "complex" in field else 1
    if tensor.tensor_content:
        rows = np.frombuffer(tensor.tensor_content, form)
    else:
        listed = np.array(getattr(tensor, field))
        rows = listed.astype(np.int64).astype(form) if form[1] in "iu" else listed.astype(form)
    rows = rows.reshape(-1, width).view(np.uint8).reshape(-1, np.dtype(form).itemsize * width)
    if not len(rows) and count:
        rows = np.zeros((1, rows.shape[1]), np.uint8)
    # Elements that repeat the one before them say nothing at the end.
    kept = len(rows)
    while kept > 1 and np.array_equal(rows[kept - 1], rows[kept - 2]):
        kept -= 1
    tensor.ClearField(field)
    tensor.tensor_content = rows[:kept].tobytes()
