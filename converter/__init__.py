"""Conversion of TensorFlow graphs to .tflite models, without TensorFlow."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .conversion import Conversion, convert, convert_graph
    from .graph_file import read_graph

__all__ = ["Conversion", "convert", "convert_graph", "read_graph"]


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = ".graph_file" if name == "read_graph" else ".conversion"
    return getattr(import_module(module, __name__), name)
