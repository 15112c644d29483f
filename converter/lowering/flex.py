"""Flex and custom operators: TensorFlow ops that stay what they are."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

from ...delegates.flex.options import options_of
from ...lite.errors import UnsupportedError
from ...lite.tensor import TensorType
from ...schema.graph_def import DT_VARIANT, NodeDef
from ...schema.tflite import BuiltinOperator
from ..ir.attribute_export import write_attributes
from ..ir.attributes import Attribute
from ..ir.node import Node
from ..ir.types import ElementType, unranked
from ..lite_graph import Failure, LiteTensor
from .lowering import Lowering
from .order import changes_state

ALLOWLIST_FILE = Path(__file__).with_name("flex_ops.txt")

# Ops that have no operator of their own, but that passes and rules know as part of one.
_FUSED_OPS = frozenset(("Erf", "Erfc"))
_FUSED_OF_COMPLEX = frozenset(("Slice", "StridedSlice"))


@lru_cache(1)
def allowlist() -> frozenset[str]:
    """The ops that flex runtimes have kernels for.

    Source: LiteRT tflite/converter/delegates/flex/allowlisted_flex_ops.cc.
    """
    return frozenset(ALLOWLIST_FILE.read_text().split())


def is_flex_op(lowering: Lowering, op: str) -> bool:
    """Whether the op may become a flex operator once flex operators are allowed."""
    return op in allowlist() or op in lowering.program.settings.user_ops


def setting_for(lowering: Lowering, op: str) -> str:
    """The setting that would take the op, in words; "" when none would."""
    settings = lowering.program.settings
    if is_flex_op(lowering, op) and not settings.select:
        return "target_spec.supported_ops with OpsSet.SELECT_TF_OPS (--select-tf-ops)"
    return "" if settings.custom_ops else "allow_custom_ops (--allow-custom-ops)"


def may_be_part(lowering: Lowering, node: Node) -> bool:
    """Whether the node may yet become part of an operator, though it has none itself."""
    if node.op in _FUSED_OPS:
        return True
    return node.op in _FUSED_OF_COMPLEX and lowering.input(node, 0).type == TensorType.COMPLEX64


def as_tensorflow_op(lowering: Lowering, node: Node) -> list[LiteTensor] | None:
    """The node as a flex operator where those are allowed, else as a custom one, else None."""
    settings = lowering.program.settings
    if settings.select or settings.custom_ops:
        _check_lists(lowering, node)
    if settings.select and is_flex_op(lowering, node.op):
        return _custom(lowering, node, f"Flex{node.op}", options_of(node_def_of(node)))
    if settings.custom_ops:
        return _custom(lowering, node, node.op, flexbuffer_map(node.attributes))
    return None


def _check_lists(lowering: Lowering, node: Node) -> None:
    """UnsupportedError where the op would take a list of tensors that has become one tensor."""
    for i, tensor in enumerate(lowering.inputs(node)):
        type = node.operands[i].type
        if type == unranked(DT_VARIANT) and tensor.type != TensorType.VARIANT:
            raise UnsupportedError(f"input {i} is a list of tensors, which the model keeps as one tensor")


def refused_for_now(lowering: Lowering, node: Node, failure: Failure) -> list[LiteTensor]:
    """The node as a custom operator that the model must not hold in the end."""
    results = _custom(lowering, node, node.op, b"")
    operator = lowering.graph.last  # which may have no results
    assert operator is not None
    operator.refusal = failure
    if lowering.graph not in lowering.program.unfinished:
        lowering.program.unfinished.append(lowering.graph)
    return results


def node_def_of(node: Node) -> NodeDef:
    """The node's op and attributes and as many nameless inputs as it has, without its name and device."""
    node_def = NodeDef(op=node.op, input=[""] * len(node.operands))
    write_attributes({k: v for k, v in node.attributes.items() if not k.startswith("_")}, node_def.attr)
    return node_def


def flexbuffer_map(attributes: Mapping[str, Attribute]) -> bytes:
    """A flexbuffer map of attributes: numbers, texts, types, and lists of these; others are left out.

    Source: TensorFlow compiler/mlir/lite/flatbuffer_export.cc, CreateFlexBuilderWithNodeAttrs.
    """
    from flatbuffers import flexbuffers

    builder = flexbuffers.Builder()
    with builder.Map():
        for name, value in sorted(attributes.items()):
            if name.startswith("_"):
                continue
            if isinstance(value, tuple) and value and all(_is_plain(item) for item in value):
                builder.Key(name)
                with builder.Vector():
                    for item in value:
                        builder.Add(_plain(item))
            elif _is_plain(value):
                builder.Key(name)
                builder.Add(_plain(value))
    return bytes(builder.Finish())


def _is_plain(value: Attribute) -> bool:
    return isinstance(value, bool | int | float | bytes | ElementType)


def _plain(value: Attribute) -> bool | int | float | str:
    if isinstance(value, ElementType):
        return value.number
    if isinstance(value, bytes):
        return value.decode(errors="surrogateescape")
    assert isinstance(value, bool | int | float)
    return value


def _custom(lowering: Lowering, node: Node, code: str, options: bytes) -> list[LiteTensor]:
    types = [lowering.result_type(node, i) for i in range(len(node.results))]
    results = lowering.results(
        node, [lowering.result_shape(node, i) for i in range(len(node.results))], types
    )
    operator = lowering.add(node, BuiltinOperator.CUSTOM, lowering.inputs(node), results)
    operator.custom_code = code
    operator.custom_options = options
    operator.has_effects = changes_state(node, lowering.program.effects)
    return results
