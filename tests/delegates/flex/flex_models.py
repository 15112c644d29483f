"""Models with TensorFlow ops."""

from __future__ import annotations

from collections.abc import Sequence

from numlite.delegates.flex.options import options_of
from numlite.kernels.fallback.attribute_text import attribute_from_text
from numlite.schema import tflite
from numlite.schema.graph_def import NodeDef

from ...model_builder import SubgraphBuilder


def flex_options(op: str, name: str | None = None, **attributes: str) -> bytes:
    """Options of a flex operator, with attributes as texts; name is another one of the same length."""
    node = NodeDef(op=op)
    for key, text in attributes.items():
        node.attr[key].CopyFrom(attribute_from_text(text))
    # The op that counts is the one beside the node.
    return options_of(node).replace(op.encode(), name.encode(), 1) if name else options_of(node)


def add_flex(
    graph: SubgraphBuilder, op: str, inputs: Sequence[int], outputs: Sequence[int], **attributes: str
) -> None:
    """A TensorFlow op of the graph."""
    graph.op(
        tflite.BuiltinOperator.CUSTOM,
        inputs,
        outputs,
        custom_code=f"Flex{op}",
        custom_options=flex_options(op, **attributes),
    )
