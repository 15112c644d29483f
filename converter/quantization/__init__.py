"""Quantization after training: a float .tflite in, a smaller one out.

from numlite.converter import quantization

    made = quantization.Quantizer("float.tflite", quantization.recipes.dynamic_int8()).quantize()
    made.export_model("small.tflite")
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from . import recipes
    from .calibrator import Calibrator, add_intermediate_tensors
    from .debugger import QuantizationDebugger, QuantizationDebugOptions
    from .quantized_model import QuantizedModel
    from .quantizer import Quantizer
    from .recipe import Recipe, Rule, load_recipe
    from .scheme import Scheme
    from .validation import Validation, validate

# Name: module that has it. Nothing is imported before it is asked for.
_HOMES = {
    "Calibrator": ".calibrator",
    "QuantizationDebugger": ".debugger",
    "QuantizationDebugOptions": ".debugger",
    "QuantizedModel": ".quantized_model",
    "Quantizer": ".quantizer",
    "Recipe": ".recipe",
    "Rule": ".recipe",
    "Scheme": ".scheme",
    "Validation": ".validation",
    "add_intermediate_tensors": ".calibrator",
    "validate": ".validation",
    "load_recipe": ".recipe",
}
__all__ = [
    "Calibrator",
    "QuantizationDebugOptions",
    "QuantizationDebugger",
    "QuantizedModel",
    "Quantizer",
    "Recipe",
    "Rule",
    "Scheme",
    "Validation",
    "add_intermediate_tensors",
    "load_recipe",
    "recipes",
    "validate",
]


def __getattr__(name: str) -> object:
    if name == "recipes":
        return import_module(".recipes", __package__)
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name], __package__), name)
