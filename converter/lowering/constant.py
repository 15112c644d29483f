"""Placeholder, Const, Identity and NoOp: values that are there already."""

from __future__ import annotations

import numpy as np

from ...kernels.fallback.tensor_proto import array_of
from ...lite.errors import ModelError, UnsupportedError
from ..ir.attributes import DenseAttr, TensorProtoAttr
from ..ir.dense import FORMS, array_of_elements, element_name, tensor_proto
from ..ir.node import Node
from ..lite_graph import LiteTensor
from .lowering import Lowering, Rule

# What a model may hold of one constant.
_MOST_BYTES = 1 << 40
# Kept by the IR as something else than NumPy's own type.
_OTHER_FORMS = frozenset(("bf16", "string"))


def const(lowering: Lowering, node: Node) -> LiteTensor:
    """The value itself."""
    data = array_of_attribute(node.tensor("value"))
    limits = lowering.program.limits
    if data.nbytes > _MOST_BYTES:
        raise UnsupportedError(f"a constant of {data.nbytes:,} bytes, a model has room for {_MOST_BYTES:,}")
    if 0 in data.strides and not limits.take(data.nbytes):
        raise UnsupportedError(
            f"constants that repeat one value must take at most {limits.most_bytes:,} bytes "
            f"(an eighth of the memory that is left), got one of {data.nbytes:,}; "
            f"Fill would make it in the model"
        )
    lowering.program.outcomes[lowering.name(node)] = "constant"
    return lowering.constant(lowering.name(node), data, lowering.result_type(node))


def array_of_attribute(value: DenseAttr | TensorProtoAttr) -> np.ndarray:
    """The tensor's elements, as the fallback kernels hold them; a splat is a view of one element."""
    if isinstance(value, TensorProtoAttr) or element_name(value) in _OTHER_FORMS:
        return array_of(tensor_proto(value))
    assert value.type.shape is not None and element_name(value) in FORMS
    elements = array_of_elements(value)
    if len(elements) == 1:
        return np.broadcast_to(elements.reshape(()), value.type.shape)
    return elements.reshape(value.type.shape)


def identity(lowering: Lowering, node: Node) -> list[LiteTensor]:
    """The inputs, under their own names."""
    lowering.program.outcomes[lowering.name(node)] = "removed"
    return lowering.inputs(node)


def nothing(lowering: Lowering, node: Node) -> list[LiteTensor]:
    """No result."""
    lowering.program.outcomes[lowering.name(node)] = "removed"
    return []


def placeholder(lowering: Lowering, node: Node) -> LiteTensor:
    """Reached only for placeholders that are not fed."""
    raise ModelError("the outputs depend on it, but it is not among the inputs")


REGISTRATIONS: dict[str, Rule] = {
    "Placeholder": placeholder,
    "PlaceholderV2": placeholder,
    "PlaceholderWithDefault": identity,
    "Const": const,
    "CheckNumerics": identity,
    "EnsureShape": identity,
    "Identity": identity,
    "IdentityN": identity,
    "PreventGradient": identity,
    "Snapshot": identity,
    "StopGradient": identity,
    "NoOp": nothing,
}
