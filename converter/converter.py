"""Converter: TensorFlow graphs and models to .tflite, by the names that TensorFlow's converter has."""

from __future__ import annotations

import os
from collections.abc import Sequence
from os import PathLike

from google.protobuf.message import Message

from .conversion import (
    Conversion,
    Entry,
    Shapes,
    convert_module,
    entry_of,
    import_for_conversion,
)
from .graph_file import read_graph
from .ir.module import Module
from .target_spec import Settings, TargetSpec


class Converter:
    """Converts a graph, part by part, to the signatures of one model.

    Made by one of the from_ methods. target_spec and allow_custom_ops may be changed before convert().
    """

    def __init__(self, module: Module, entries: Sequence[Entry]) -> None:
        self.target_spec = TargetSpec()
        self.allow_custom_ops = False
        self._module = module
        self._entries = list(entries)

    @classmethod
    def from_graph_def(
        cls,
        graph_def: Message | bytes | str | PathLike[str],
        input_arrays: Sequence[str] | None = None,
        output_arrays: Sequence[str] | None = None,
        input_shapes: Shapes | None = None,
    ) -> Converter:
        """Of a GraphDef: a message (ours or TensorFlow's), its serialized form, or a .pb or .pbtxt file.

        See conversion.convert for the arrays and shapes.
        """
        if isinstance(graph_def, str | PathLike):
            graph_def = read_graph(graph_def)
        module = import_for_conversion(graph_def)
        return cls(module, [entry_of(module, input_arrays, output_arrays, input_shapes)])

    @classmethod
    def from_frozen_graph(
        cls,
        graph_def_file: str | PathLike[str],
        input_arrays: Sequence[str],
        output_arrays: Sequence[str],
        input_shapes: Shapes | None = None,
    ) -> Converter:
        """Of a file with a frozen GraphDef, as TensorFlow 1 named it."""
        return cls.from_graph_def(os.fspath(graph_def_file), input_arrays, output_arrays, input_shapes)

    @classmethod
    def from_concrete_functions(cls, functions: Sequence[object], trackable_obj: object = None) -> Converter:
        """Of TensorFlow's concrete functions, whose variables become constants. Needs TensorFlow."""
        from .tensorflow_functions import frozen_functions

        graph_def, entries = frozen_functions(functions, trackable_obj)
        return cls(import_for_conversion(graph_def), entries)

    @classmethod
    def from_keras_model(cls, model: object) -> Converter:
        """Of a Keras model, called for inference. Needs TensorFlow and Keras."""
        from .tensorflow_functions import keras_function

        return cls.from_concrete_functions([keras_function(model)], model)

    def convert(self) -> bytes:
        """The .tflite file.

        Raises ModelError for a graph that is wrong, UnsupportedError that lists the nodes for which
        there is no way into a model of the target spec, and the setting that would take each.
        """
        return self.conversion().model

    def conversion(self) -> Conversion:
        """The model and what became of each node."""
        settings = Settings.of(self.target_spec, self.allow_custom_ops)
        return convert_module(self._module, self._entries, settings)
