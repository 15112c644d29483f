"""In which loop of TensorFlow 1 each node of a block runs."""

from __future__ import annotations

from collections.abc import Iterator

from ...lite.errors import ModelError
from ..ir.node import Block, Node
from .purity import ENTERS

# A frame's name within the frame around it; the graph's own is the empty one.
FrameKey = tuple[str, ...]
EXITS = ("Exit", "RefExit")


def frame_keys(block: Block) -> dict[Node, FrameKey]:
    """The frame of each node that anything can reach; ModelError for an Exit that leaves no loop.

    An Enter is of the frame that it enters, an Exit of the one that it comes to.
    """
    keys: dict[Node, FrameKey] = {}
    waiting = [node for node in block if not node.operands and not node.controls]
    for node in waiting:
        keys[node] = ()
    # What a function is given is outside of its loops.
    for user in (user for argument in block.arguments for user in argument.users if user not in keys):
        keys[user] = _key_of(user, ())
        waiting.append(user)
    while waiting:
        node = waiting.pop()
        key = keys[node]
        for user in users_of(node):
            if user in keys:
                continue
            keys[user] = _key_of(user, key)
            waiting.append(user)
    return keys


def _key_of(node: Node, around: FrameKey) -> FrameKey:
    if node.op in ENTERS:
        return (*around, node.text("frame_name"))
    if node.op in EXITS:
        if not around:
            raise ModelError(f"node {node.name!r} ({node.op}): it leaves no loop")
        return around[:-1]
    return around


def users_of(node: Node) -> Iterator[Node]:
    """What uses the node's results, and what waits for it; a node for each use."""
    for value in node.results:
        yield from value.users
    if node.has_control:
        yield from node.control.users
