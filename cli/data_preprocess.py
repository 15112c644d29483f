"""DataPreprocess: what turns stored samples into a model's inputs, as `x/127.5-1` in --data-preprocess."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from typing import Any

import click
import numpy as np

_BINARY: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
}
_UNARY: dict[type[ast.unaryop], Callable[[Any], Any]] = {ast.USub: operator.neg, ast.UAdd: operator.pos}
_ALLOWED = "x, numbers, lists of numbers (one a channel), + - * / ** and parentheses"


class DataPreprocess:
    """A function of x, computed in float32; its result has x's shape.

    UsageError for a text that is none: names and calls are not run.
    """

    def __init__(self, text: str) -> None:
        self._text = text
        try:
            self._tree = ast.parse(text.strip(), mode="eval").body
            made = self._of(self._tree, np.zeros(1, np.float32))
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            raise click.UsageError(
                f"--data-preprocess {text!r}: it must be made of {_ALLOWED}: {error}"
            ) from error
        if not any(isinstance(node, ast.Name) for node in ast.walk(self._tree)) or made.dtype != np.float32:
            raise click.UsageError(f"--data-preprocess {text!r}: it must be made of {_ALLOWED}: x is missing")

    def __call__(self, values: np.ndarray) -> np.ndarray:
        """The values (of any number type) as the model takes them, float32."""
        x = values.astype(np.float32)
        try:
            found = np.asarray(self._of(self._tree, x))
        except ValueError as error:
            raise click.ClickException(
                f"--data-preprocess {self._text!r}: it must fit the samples, got {x.shape}: {error}"
            ) from error
        if found.shape != x.shape:
            raise click.ClickException(
                f"--data-preprocess {self._text!r}: its result must have the samples' shape {x.shape}, "
                f"got {found.shape}"
            )
        return found

    def _of(self, node: ast.expr, x: np.ndarray) -> np.ndarray:
        if isinstance(node, ast.BinOp) and type(node.op) in _BINARY:
            with np.errstate(all="ignore"):  # what is not finite is named by whoever reads the samples
                return np.asarray(_BINARY[type(node.op)](self._of(node.left, x), self._of(node.right, x)))
        if isinstance(node, ast.UnaryOp) and type(node.op) in _UNARY:
            return np.asarray(_UNARY[type(node.op)](self._of(node.operand, x)))
        if isinstance(node, ast.Name) and node.id == "x":
            return x
        if isinstance(node, ast.Constant) and isinstance(node.value, int | float):
            return np.asarray(float(node.value), np.float32)
        if isinstance(node, ast.List | ast.Tuple) and node.elts:
            return np.stack([self._of(each, np.empty(0)) for each in node.elts])
        raise ValueError(f"got {ast.unparse(node)!r}")
