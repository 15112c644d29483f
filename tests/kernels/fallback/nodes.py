"""Nodes written by hand, and run."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numlite.kernels.fallback.attribute_text import attribute_from_text
from numlite.kernels.fallback.node_runner import run_node
from numlite.kernels.fallback.registry import KernelRegistry
from numlite.schema.graph_def import NodeDef


def node(op: str, **attributes: str) -> NodeDef:
    """A node whose attributes are texts such as "f32" and "list(i32)$1,2"."""
    made = NodeDef(op=op, name="n")
    for name, text in attributes.items():
        made.attr[name].CopyFrom(attribute_from_text(text))
    return made


def run(
    op: str, inputs: Sequence[object], registry: KernelRegistry | None = None, **attributes: str
) -> list[np.ndarray]:
    """Outputs of a node of the op for these inputs."""
    return run_node(node(op, **attributes), [np.asarray(value) for value in inputs], registry)


def strings(values: object) -> np.ndarray:
    """Bytes, nested in lists, as a tensor of strings."""
    return np.array(values, object)
