"""An interpreter for models that the converter asks: of floats to calibrate, of one operator in question.

It stands alone, since it reaches for kernels, their compiler and a delegate.
"""

from __future__ import annotations

from ..kernels.compiled.driver.library import Library
from ..kernels.register import BuiltinOpResolver
from ..lite.interpreter import Interpreter
from ..lite.model import Model
from ..lite.settings import Settings


def model_interpreter(model: Model, preserve_all_tensors: bool = False) -> Interpreter:
    """Runs a model with numlite's kernels, TensorFlow ops among them.

    Raises UnsupportedError or ModelError for one that numlite cannot run.
    """
    resolver = BuiltinOpResolver()
    interpreter = Interpreter(model, resolver, Library(), Settings(preserve_all_tensors=preserve_all_tensors))
    if interpreter.has_flex_operators:
        from ..delegates.flex import FlexDelegate  # few models need it, and what it imports is much

        interpreter.modify_graph_with_delegate(FlexDelegate(resolver.fallback_kernels()))
    return interpreter
