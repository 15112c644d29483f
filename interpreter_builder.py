"""InterpreterBuilder: interpreters of one model, whose operators one resolver finds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .interpreter import Interpreter

if TYPE_CHECKING:
    from .kernels.register import BuiltinOpResolver as OpResolver
    from .lite.model import Model


class InterpreterBuilder:
    """Makes interpreters of a model whose operators a resolver finds.

        builder = numlite.InterpreterBuilder(numlite.Model.from_path("square.tflite"), numlite.OpResolver())
        interpreter = builder(num_threads=2)

    They share the model's bytes, and each has memory of its own.
    Source: LiteRT tflite/core/interpreter_builder.h.
    """

    def __init__(self, model: Model, resolver: OpResolver) -> None:
        self.model = model
        self.resolver = resolver

    def __call__(self, num_threads: int | None = None, **settings: Any) -> Interpreter:
        """An interpreter; settings are those of Interpreter. Raises what making an Interpreter raises."""
        ends: dict[str, Any] = {"model_content": self.model, "experimental_op_resolver_type": self.resolver}
        return Interpreter(num_threads=num_threads, **ends, **settings)
