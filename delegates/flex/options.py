"""Options of flex operators: the TensorFlow node that each stands for."""

from __future__ import annotations

import struct
from collections.abc import Sequence

from google.protobuf.message import DecodeError

from ...lite.errors import ModelError
from ...schema.graph_def import NodeDef

# What reading a damaged flexbuffer may raise.
_DAMAGED = (AssertionError, LookupError, OverflowError, RecursionError, struct.error, TypeError, ValueError)


_STRING, _VECTOR = 5, 10  # flexbuffer types
_FOUR_BYTES = 2  # the logarithm of the size in which everything is written


def options_of(node: NodeDef) -> bytes:
    """The custom options of a flex operator for the node."""
    return _vector_of_strings([node.op.encode(), node.SerializeToString(deterministic=True)])


def _vector_of_strings(strings: Sequence[bytes]) -> bytes:
    """A flexbuffer. The library's own writer takes only strings of text."""
    written, places = bytearray(), []
    for string in strings:
        written += bytes(-len(written) % 4) + struct.pack("<I", len(string))
        places.append(len(written))
        written += string + b"\0"
    written += bytes(-len(written) % 4) + struct.pack("<I", len(places))
    vector = len(written)
    for place in places:
        written += struct.pack("<I", len(written) - place)
    written += bytes([_STRING << 2 | _FOUR_BYTES] * len(places))
    written += struct.pack("<I", len(written) - vector)
    return bytes(written) + bytes([_VECTOR << 2 | _FOUR_BYTES, 4])


def node_def_of(custom_options: bytes) -> NodeDef:
    """The node that custom options hold: a flexbuffer vector of the op's name and the NodeDef's bytes.

    The op is the one that is named before the NodeDef. ModelError when it is not so.
    Source: TensorFlow lite/delegates/flex/kernel.cc, InitializeNodeDef.
    """
    # Imported here because start-up time counts.
    from flatbuffers import flexbuffers

    try:
        vector = flexbuffers.GetRoot(bytearray(custom_options)).AsVector
        if len(vector) != 2:
            raise ValueError(f"a vector of {len(vector)}")
        op, content = vector[0].AsString, bytes(vector[1].AsStringBytes)
        node = NodeDef.FromString(content)
    except (*_DAMAGED, DecodeError) as error:
        message = "custom options must be a flexbuffer vector of an op's name and a NodeDef"
        raise ModelError(f"{message}, got {type(error).__name__}: {error}") from error
    node.op = op
    return node
