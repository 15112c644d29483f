"""Conversion of TensorFlow graphs to .tflite models, without TensorFlow."""

from importlib import import_module
from typing import TYPE_CHECKING

from ..lite.extras import needed_for

if TYPE_CHECKING:
    from .conversion import Conversion, convert, convert_graph
    from .converter import Converter
    from .execution.graph_runner import GraphRunner, run_graph
    from .ir.graph_def_file import read_graph
    from .optimizers.optimize import optimize
    from .quantization.converter_settings import Optimize, RepresentativeDataset
    from .saved_model.frozen_graph import FrozenGraph
    from .saved_model.loader import SavedModel, load_saved_model
    from .source_file import load_graph
    from .target_spec import OpsSet, TargetSpec

# Name: module that has it. Nothing is imported before it is asked for.
_HOMES = {
    "Conversion": ".conversion",
    "Converter": ".converter",
    "FrozenGraph": ".saved_model.frozen_graph",
    "GraphRunner": ".execution.graph_runner",
    "OpsSet": ".target_spec",
    "Optimize": ".quantization.converter_settings",
    "RepresentativeDataset": ".quantization.converter_settings",
    "SavedModel": ".saved_model.loader",
    "TargetSpec": ".target_spec",
    "convert": ".conversion",
    "convert_graph": ".conversion",
    "load_graph": ".source_file",
    "load_saved_model": ".saved_model.loader",
    "optimize": ".optimizers.optimize",
    "read_graph": ".ir.graph_def_file",
    "run_graph": ".execution.graph_runner",
}
__all__ = [
    "Conversion",
    "Converter",
    "FrozenGraph",
    "GraphRunner",
    "OpsSet",
    "Optimize",
    "RepresentativeDataset",
    "SavedModel",
    "TargetSpec",
    "convert",
    "convert_graph",
    "load_graph",
    "load_saved_model",
    "optimize",
    "read_graph",
    "run_graph",
]


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    with needed_for("converter"):
        return getattr(import_module(_HOMES[name], __name__), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
