"""Converter: TensorFlow graphs and models to .tflite, by the names that TensorFlow's converter has."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
from google.protobuf.message import Message

from ..lite.errors import ModelError
from .conversion import (
    Conversion,
    Entry,
    Shapes,
    convert_entries,
    entry_of,
    find_failures,
    import_for_conversion,
)
from .ir.graph_def_file import read_graph
from .known_settings import KnownSettings
from .lite_graph import Failure
from .target_spec import Settings, TargetSpec

if TYPE_CHECKING:
    from .onnx.model_import import OnnxShapes
    from .quantization.converter_settings import Quantization


class Converter(KnownSettings):
    """Converts a graph, part by part, to the signatures of one model.

    Made by one of the from_ methods. target_spec and allow_custom_ops may be changed before convert().
    entries are the parts that become signatures. With optimizations the model is quantized: its weights
    alone, or to float16 (target_spec.supported_types), or with a representative_dataset, which gives samples,
    all of it; then its float inputs and outputs may be integers. inference_type int8 takes the ranges that
    training has put into the graph, and quantized_input_stats, a mean and a deviation for each input by name:
    real = (q - mean) / deviation; inputs and outputs are then of that type, too, unless others are set.
    graph_optimizations ("off", "default", "aggressive") optimizes the graph before, where that makes no
    larger model. Setting anything else is an error: settings of TensorFlow's converter that are not built
    raise UnsupportedError.
    """

    target_spec: TargetSpec
    allow_custom_ops: bool
    graph_optimizations: str
    entries: list[Entry]
    optimizations: Sequence[Any]
    representative_dataset: Any
    inference_type: Any
    inference_input_type: Any
    inference_output_type: Any
    quantized_input_stats: Mapping[str, tuple[float, float]]
    _experimental_calibrate_only: bool
    _experimental_disable_per_channel: bool
    _experimental_disable_per_channel_quantization_for_dense_layers: bool
    _experimental_full_integer_quantization_bias_type: Any
    _experimental_variable_quantization: bool

    def __init__(self, entries: Sequence[Entry]) -> None:
        self.target_spec = TargetSpec()
        self.allow_custom_ops = False
        self.graph_optimizations = "off"
        self.optimizations = ()
        self.representative_dataset = None
        self.inference_type = np.float32
        self.inference_input_type = self.inference_output_type = None
        self.quantized_input_stats = {}
        self._experimental_calibrate_only = False
        self._experimental_disable_per_channel = False
        self._experimental_disable_per_channel_quantization_for_dense_layers = False
        self._experimental_full_integer_quantization_bias_type = None
        self._experimental_variable_quantization = False
        self.entries = list(entries)

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
        module = import_for_conversion(graph_def, input_arrays, output_arrays)
        return cls([entry_of(module, input_arrays, output_arrays, input_shapes)])

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
    def from_saved_model(
        cls,
        saved_model_dir: str | PathLike[str],
        signature_keys: Sequence[str] | None = None,
        tags: Iterable[str] | None = None,
        input_shapes: Shapes | None = None,
        allow_files: bool = False,
    ) -> Converter:
        """Of a SavedModel's signatures, all or those named, in that order; tags choose among its graphs.

        Of signatures that are the same function (Keras 3 exports "serve" and "serving_default") one is taken,
        unless they are named.
        input_shapes replace those of inputs, by the names that the signatures give them. allow_files lets
        the model fill tables from files outside its own assets folder.
        """
        from .saved_model.loader import load_saved_model
        from .saved_model.twin_signatures import distinct_signatures
        from .signature_entry import signature_entries

        model = load_saved_model(saved_model_dir, tags, allow_files)
        keys = distinct_signatures(model) if signature_keys is None else list(signature_keys)
        if not keys:
            raise ModelError(f"{os.fspath(saved_model_dir)}: it has no signatures, and none is named")
        return cls(signature_entries(model, keys, input_shapes or {}))

    @classmethod
    def from_onnx(
        cls,
        onnx_model: Message | bytes | str | PathLike[str],
        input_shapes: OnnxShapes | None = None,
        input_values: Mapping[str, object] | None = None,
        channels_last: Collection[str] = (),
    ) -> Converter:
        """Of an ONNX model: a file, its content, or a ModelProto. Neither onnx nor onnxruntime is needed.

        input_shapes replace those of inputs, by name (a list of shapes for a sequence); input_values are
        inputs that become constants; channels_last names inputs and outputs that shall be [n, ..., c] where
        the model has [n, c, ...].
        Data outside the file are read from its folder alone.
        """
        from .onnx.model_import import onnx_entry

        return cls([onnx_entry(onnx_model, input_shapes, input_values, channels_last)])

    @classmethod
    def from_keras_file(
        cls,
        keras_file: str | PathLike[str] | bytes,
        config: str | PathLike[str] | Mapping[str, object] | None = None,
        input_shapes: Shapes | None = None,
        custom_layers: Mapping[str, Callable[[Any], Any]] | None = None,
    ) -> Converter:
        """Of a Keras model, 2 or 3: a .keras or .h5 file, or its content. Keras is not needed; h5py is.

        A file of weights alone needs config: what model.to_json() gives, or a file of it. input_shapes
        replace those of inputs, by name; custom_layers are functions that make layers of classes that are
        not Keras's, by the names of classes or layers (see docs/keras.md). No code of the file is run.
        """
        from .keras.model_import import keras_entry

        return cls([keras_entry(keras_file, config, input_shapes, custom_layers)])

    @classmethod
    def from_stablehlo(
        cls,
        program: bytes | str | PathLike[str],
        input_shapes: Shapes | None = None,
        input_values: Mapping[str, object] | None = None,
        keep_composites: Sequence[str] = (),
        keep_nan: bool = False,
    ) -> Converter:
        """Of a StableHLO program: a file or its content, as jax.export serializes it. JAX is not needed.

        The export itself, its mlir_module_serialized, or MLIR's text, which a str of several lines is.
        input_shapes replace those of inputs, by name; input_values are inputs that become constants.
        Composites of the names in keep_composites become STABLEHLO_COMPOSITE operators, for a delegate that
        knows them; others their decompositions. With keep_nan maxima and minima are NaN where a number is,
        as StableHLO has it, for some operators more; else TFLite's operators decide.
        """
        from .stablehlo.model_import import stablehlo_entry

        return cls([stablehlo_entry(program, input_shapes, input_values, keep_composites, keep_nan)])

    @classmethod
    def from_concrete_functions(cls, functions: Sequence[object], trackable_obj: object = None) -> Converter:
        """Of TensorFlow's concrete functions; several become signatures by their names. Needs TensorFlow.

        Variables become constants, unless a function assigns to one: then trackable_obj must hold them.
        """
        from .tensorflow_functions import function_entries

        return cls(function_entries(functions, trackable_obj))

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
        """The model and what became of each node; quantizing changes the model alone."""
        made = self.unquantized()
        return replace(made, file=self.quantization().quantize(made.file)) if self._quantizes else made

    def quantization(self) -> Quantization:
        """The settings that speak of integers and smaller types."""
        from .quantization.converter_settings import Quantization

        names = frozenset(str(getattr(each, "value", each)) for each in self.target_spec.supported_ops)
        return Quantization(
            tuple(self.optimizations or ()),
            names,
            tuple(self.target_spec.supported_types or ()),
            self.representative_dataset,
            self.inference_input_type,
            self.inference_output_type,
            inference_type=self.inference_type,
            input_stats=dict(self.quantized_input_stats or {}),
            per_channel=not self._experimental_disable_per_channel,
            dense_per_channel=not self._experimental_disable_per_channel_quantization_for_dense_layers,
            bias_type=self._experimental_full_integer_quantization_bias_type,
            calibrates_only=bool(self._experimental_calibrate_only),
            quantizes_variables=bool(self._experimental_variable_quantization),
        )

    def unquantized(self) -> Conversion:
        """As conversion(), without quantizing."""
        if self.graph_optimizations == "off":
            return convert_entries(self.entries, self._settings())
        from .graph_optimization import smaller_conversion

        return smaller_conversion(self.entries, self.graph_optimizations, self._settings())

    @property
    def _quantizes(self) -> bool:
        """Whether a setting speaks of integers or smaller types."""
        types = (self.inference_type, self.inference_input_type, self.inference_output_type)
        sets = " ".join(map(str, self.target_spec.supported_ops))
        changed = bool(self.optimizations) or any(type not in (None, np.float32) for type in types)
        changed = changed or bool(self.quantized_input_stats) or self._experimental_calibrate_only
        changed = changed or self._experimental_full_integer_quantization_bias_type is not None
        changed = changed or self._experimental_variable_quantization
        return changed or bool(self.target_spec.supported_types) or "INT8" in sets

    def failures(self) -> list[Failure]:
        """The nodes that convert() would refuse, by op, with reasons and settings; no model is made.

        Raises ModelError for a graph that is wrong.
        """
        return find_failures(self.entries, self._settings())

    def _settings(self) -> Settings:
        found = Settings.of(self.target_spec, self.allow_custom_ops)
        keeps = self._quantizes and self.quantization().takes_trained_ranges
        return replace(found, keeps_fake_quant=keeps)
