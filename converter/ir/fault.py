"""What verification found wrong, as an error that says where."""

from __future__ import annotations

from ...lite.errors import ModelError
from ...schema.shown import shown
from .module import Function
from .node import Node


def op_fault(node: Node, message: str) -> ModelError:
    """About a node."""
    name = f" {node.name!r}" if node.name else ""
    return ModelError(f"{_line(node.line)}'tfg.{shown(node.op)}' op{name} {message}")


def scope_fault(function: Function, message: str) -> ModelError:
    """About a function."""
    return ModelError(f"{_line(function.line)}function {function.name!r} {message}")


def see_function(function: Function) -> str:
    """A pointer to the function that a node does not fit."""
    return f" ({_line(function.line)}see referenced function {function.name!r})"


def _line(line: int) -> str:
    return f"line {line}: " if line else ""
