"""Placeholder, Const and Identity: values that are there already."""

from __future__ import annotations

from ...kernels.fallback.tensor_proto import array_of
from ...lite.errors import ModelError, UnsupportedError
from ...schema.writer import MAX_BYTES
from ..graph import Node
from ..lite_graph import LiteTensor
from .lowering import Lowering, Rule, tensor_type


def const(lowering: Lowering, node: Node) -> LiteTensor:
    """The value itself."""
    if "value" not in node.attributes:
        raise ModelError("attribute 'value' is missing")
    proto = node.attributes["value"].tensor
    data = array_of(proto)
    if data.nbytes > MAX_BYTES:
        raise UnsupportedError(f"a constant of {data.nbytes:,} bytes, a model has room for {MAX_BYTES:,}")
    return LiteTensor(node.name, tensor_type(proto.dtype), data.shape, data)


def identity(lowering: Lowering, node: Node) -> LiteTensor:
    """The input, under its own name."""
    return lowering.input(node, 0)


def placeholder(lowering: Lowering, node: Node) -> LiteTensor:
    """Reached only for placeholders that are not fed."""
    raise ModelError("the outputs depend on it, but it is not among the inputs")


RULES: dict[str, Rule] = {"Placeholder": placeholder, "Const": const, "Identity": identity}
