"""`_output_shapes`, which TensorFlow's tools leave on nodes."""

from __future__ import annotations

from collections.abc import Collection

from ..ir.module import Module
from ..transforms.bodies import bodies


def drop_output_shapes(module: Module, skip: Collection[str] = ()) -> None:
    """Drop the attribute `_output_shapes` of all nodes but those of the ops in skip ("tfg." counts not).

    Given:  AddV2 {T = i32, _output_shapes = [<1>]}
    Result: AddV2 {T = i32}
    """
    left = {op.removeprefix("tfg.") for op in skip}
    for body in bodies(module):
        for node in body.body.walk():
            if node.op not in left:
                node.attributes.pop("_output_shapes", None)
