"""make_integrable: float operators without integer kernels, written by others that have them; equal values.

Given    ADD(a, NEG(x))     SUB(a, NEG(x))     MUL(NEG(x), c)     ADD(a, MUL(NEG(x), y))     other NEG(x)
Result   SUB(a, x)          ADD(a, x)          MUL(x, -c)         SUB(a, MUL(x, y))          MUL(x, -1)

Given    SQUARE(x)     SQUARED_DIFFERENCE(a, b), for int16
Result   MUL(x, x)     d = SUB(a, b); MUL(d, d)

NEG of integers is no way out: it takes the lowest one, which stands for all that lies beyond, to itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ...lite.tensor import TensorType
from ...schema import tflite
from .constraints import INT16
from .float_graph import Site
from .model_editor import ModelEditor
from .operator_schemes import OperatorSchemes

Range = tuple[float, float]

# Operators that others are written for, by the bits of activations.
REWRITTEN = {8: ("NEG", "SQUARE"), 16: ("NEG", "SQUARE", "SQUARED_DIFFERENCE")}


def make_integrable(
    editor: ModelEditor, schemes: OperatorSchemes, ranges: Mapping[Site, Range]
) -> dict[Site, Range]:
    """Rewrite operators for the activations of their schemes; ranges of tensors that are new, or have
    other values.

    Tensors keep their numbers.
    """
    changed: dict[Site, Range] = {}
    for number, subgraph in enumerate(editor.subgraphs):
        rewrite = _Rewrite(editor, number, subgraph, ranges, changed)
        for operator, name in editor.operators(subgraph):
            type = schemes.type((number, tuple(operator.outputs or ())))
            if type is None or not rewrite.is_float(operator):
                continue
            if name == "SQUARE":
                rewrite.square(operator)
            elif name == "NEG":
                rewrite.negate(operator)
            elif name == "SQUARED_DIFFERENCE" and type is INT16:
                rewrite.square_difference(operator)
    return changed


class _Rewrite:
    """The rewrites in one subgraph."""

    def __init__(
        self,
        editor: ModelEditor,
        number: int,
        subgraph: tflite.SubGraphT,
        ranges: Mapping[Site, Range],
        changed: dict[Site, Range],
    ) -> None:
        self._editor, self._number, self._subgraph = editor, number, subgraph
        self._ranges, self._changed = ranges, changed
        self._outputs = set(subgraph.outputs or ())

    def is_float(self, operator: tflite.OperatorT) -> bool:
        tensors = self._subgraph.tensors or []
        named = [t for t in (*(operator.inputs or ()), *(operator.outputs or ())) if t >= 0]
        return bool(operator.outputs) and all(tensors[t].type == TensorType.FLOAT32 for t in named)

    def square(self, operator: tflite.OperatorT) -> None:
        (x,) = operator.inputs  # type: ignore[misc]
        self._become(operator, "MUL", [x, x], tflite.MulOptionsT())

    def square_difference(self, operator: tflite.OperatorT) -> None:
        a, b = operator.inputs  # type: ignore[misc]
        (y,) = operator.outputs  # type: ignore[misc]
        like = self._tensor(y)
        d = self._editor.add_tensor(self._subgraph, f"{like.name}_difference", TensorType.FLOAT32, like)
        seen = self._ranges.get(Site(self._number, y))
        if seen is not None:
            most = float(np.sqrt(max(seen[1], 0.0)))
            self._changed[Site(self._number, d)] = -most, most
        place = (self._subgraph.operators or []).index(operator)
        self._editor.insert(self._subgraph, place, "SUB", [a, b], [d], tflite.SubOptionsT())
        self._become(operator, "MUL", [d, d], tflite.MulOptionsT())

    def negate(self, operator: tflite.OperatorT) -> None:
        (x,), (y,) = operator.inputs, operator.outputs  # type: ignore[misc]
        user = self._only_user(y)
        if user is not None and self._takes_sign(user, y, x):
            assert self._subgraph.operators is not None
            self._subgraph.operators.remove(operator)
            return
        one = self._constant(np.array(-1, np.float32), "minus_one")
        self._become(operator, "MUL", [x, one], tflite.MulOptionsT())

    def _takes_sign(self, user: tflite.OperatorT, y: int, x: int) -> bool:
        """Have y's only user take x, of which y is the negative; False where it cannot."""
        name, options = self._editor.name(user), user.builtin_options
        if name in ("ADD", "SUB"):
            return self._change_sign(user, y, x)
        if name != "MUL" or getattr(options, "fused_activation_function", 0) != 0:
            return False
        operands = list(user.inputs or ())
        place = operands.index(y)
        other = operands[1 - place]
        values = self._editor.constant(self._tensor(other))
        if values is not None:
            operands[place] = x
            operands[1 - place] = self._constant(-values, f"{self._tensor(other).name}_negative")
            user.inputs = operands
            return True
        (product,) = user.outputs  # type: ignore[misc]
        last = self._only_user(product)
        if last is None or self._editor.name(last) not in ("ADD", "SUB"):
            return False
        if not self._change_sign(last, product, product):
            return False
        operands[place] = x
        user.inputs = operands
        seen = self._ranges.get(Site(self._number, product))
        if seen is not None:
            self._changed[Site(self._number, product)] = -seen[1], -seen[0]
        return True

    def _change_sign(self, user: tflite.OperatorT, y: int, x: int) -> bool:
        """Make ADD of y the SUB of x, and SUB the ADD; False where y is what is subtracted from."""
        operands = list(user.inputs or ())
        other = operands[1 - operands.index(y)]
        options: Any = user.builtin_options
        fused = getattr(options, "fused_activation_function", 0)
        if self._editor.name(user) == "ADD":
            self._become(user, "SUB", [other, x], tflite.SubOptionsT(fused_activation_function=fused))
            return True
        if operands[0] == y:
            return False
        self._become(user, "ADD", [other, x], tflite.AddOptionsT(fused_activation_function=fused))
        return True

    def _only_user(self, t: int) -> tflite.OperatorT | None:
        """The operator that alone reads a tensor, once."""
        if t in self._outputs:
            return None
        users = [o for o in self._subgraph.operators or () for i in o.inputs or () if i == t]
        return users[0] if len(users) == 1 and self.is_float(users[0]) else None

    def _become(self, operator: tflite.OperatorT, name: str, operands: list[int], options: Any) -> None:
        operator.inputs, operator.builtin_options = operands, options
        operator.builtin_options_type = 0  # that of the options
        self._editor.set_operator(self._subgraph, operator, name)

    def _constant(self, values: np.ndarray, name: str) -> int:
        return self._editor.add_constant(self._subgraph, name, TensorType.FLOAT32, values)

    def _tensor(self, t: int) -> tflite.TensorT:
        tensors = self._subgraph.tensors
        assert tensors is not None
        return tensors[t]
