"""Hashes of numbers that were made strings first."""

from __future__ import annotations

from ...graph.rule import rule
from ...ir.attributes import Attributes
from ...ir.node import Node
from .fused_node import FusingRewriter, device_of, element, known_attributes, source

_INTEGERS = ("i8", "i16", "i32", "i64", "ui8", "ui16", "ui32", "ui64")
# How AsString writes integers when nothing else is asked for.
_PLAIN: Attributes = {"width": -1, "fill": b"", "precision": -1, "scientific": False, "shortest": False}


@rule("StringToHashBucketFast", needs=("devices",))
def fuse_hash_bucket(rewriter: FusingRewriter, node: Node) -> bool:
    """The bucket of an integer's text.

    Given:  s = AsString(x); y = StringToHashBucketFast(s) {num_buckets = 100}
    Result: s = AsString(x); y = _TensorToHashBucketFast(x) {T = i8, num_buckets = 100}
    """
    if device_of(node) != "cpu":
        return False
    text = source(node.operands[0], ("AsString",))
    if text is None or element(text.operands[0]) not in _INTEGERS or text.device != node.device:
        return False
    if any(text.attributes.get(name, plain) != plain for name, plain in _PLAIN.items()):
        return False
    type = text.attributes.get("T")
    held: Attributes = {} if type is None else {"T": type}
    attributes = known_attributes("_TensorToHashBucketFast", node.attributes, held)
    return rewriter.put_in_place(node, "_TensorToHashBucketFast", text.operands, attributes, text)
