"""Messages about operators that a user wrote in Python."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numlite.interpreter import InterpreterWithCustomOps
from numlite.lite.errors import InvokeError, PrepareError

from ..small_models import custom
from .rows import Row


def run(
    prepare: Callable[[], object] = lambda: None, invoke: Callable[[], object] | None = lambda: None
) -> None:
    """A model with one custom operator, whose hooks these are."""

    class Operator:
        def prepare(self, context: object, node: object) -> object:
            return prepare()

    operator: Any = Operator()
    if invoke is not None:
        operator.invoke = lambda context, node: invoke()
    interpreter = InterpreterWithCustomOps([("Twice", operator)], model_content=custom())
    interpreter.allocate_tensors()
    interpreter.invoke()


def fails(error: Exception) -> Callable[[], object]:
    def hook() -> object:
        raise error

    return hook


def registered(operator: object) -> None:
    InterpreterWithCustomOps([("Twice", operator)], model_content=custom())


NODE = "node 1 (Twice), output 'b': Twice: "
NO_CALLS = NODE + "prepare must return a list of KernelCalls, or None to have invoke run, got "

ROWS = {
    "KeyError in invoke": Row(lambda _: run(invoke=fails(KeyError(4))), InvokeError, NODE + "KeyError: 4"),
    "ValueError in invoke": Row(
        lambda _: run(invoke=fails(ValueError("too odd"))), InvokeError, NODE + "ValueError: too odd"
    ),
    "an error without words in invoke": Row(
        lambda _: run(invoke=fails(AssertionError())), InvokeError, NODE + "AssertionError"
    ),
    "KeyError in prepare": Row(
        lambda _: run(fails(KeyError(4))), PrepareError, NODE + "could not be prepared (KeyError: 4)"
    ),
    "prepare that returns no calls": Row(
        lambda _: run(lambda: []),
        PrepareError,
        NODE + "prepare must return None to have invoke run, or calls that write the outputs, got []",
    ),
    "prepare that returns no calls, without invoke": Row(
        lambda _: run(lambda: (), None),
        PrepareError,
        NODE + "prepare must return None to ... outputs, got ()",
    ),
    "prepare that returns nothing, without invoke": Row(
        lambda _: run(invoke=None), PrepareError, NODE + "prepare returned no calls and there is no invoke"
    ),
    "prepare that returns a number": Row(lambda _: run(lambda: 5), PrepareError, NO_CALLS + "5"),
    "prepare that returns a text": Row(lambda _: run(lambda: "no"), PrepareError, NO_CALLS + "'no'"),
    "prepare that returns a list of numbers": Row(lambda _: run(lambda: [5]), PrepareError, NO_CALLS + "[5]"),
    "a pair without a list": Row(
        lambda _: InterpreterWithCustomOps(("Twice", 5), model_content=custom()),
        TypeError,
        "custom_op_registerers: must be a list of (name, operator), got ('Twice', 5): put it in a list",
    ),
    "an operator without hooks": Row(
        lambda _: registered(5),
        ValueError,
        "custom operator 'Twice': it must have invoke(context, node), got 5",
    ),
    "a class as operator": Row(
        lambda _: registered(type("Twice", (), {"invoke": print})),
        ValueError,
        "custom operator 'Twice': it must be an object, got the class Twice: make one, Twice()",
    ),
}
