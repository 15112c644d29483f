"""Calibrator: a float model's ranges, and the integer model of them, by the names of tf.lite's calibrator."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from ...lite.errors import UnsupportedError
from ...lite.model import Model
from .calibrate import Sample
from .calibrated_model import calibrated_model
from .converter_settings import Quantization, not_whole, sets_of, type_name
from .model_editor import ModelEditor
from .quantizer import Quantizer
from .recipe import Recipe, Rule
from .recurrent_ranges import add_inner_tensors
from .scheme import SCHEMES

_Samples = Callable[[], Iterable[Sample]]


def add_intermediate_tensors(model_content: bytes) -> bytes:
    """The float model whose LSTMs have the intermediate tensors that integer ones ask for."""
    editor = ModelEditor(Model(model_content))
    return editor.finish().content() if add_inner_tensors(editor) else model_content


class Calibrator:
    """Of a float model's bytes; each call runs it on the samples that dataset_gen() gives.

    A sample is a list of arrays, arrays by name, or a signature's key and such. Types are NumPy's or
    TensorFlow's. Models are what TensorFlow's settings make, without improvements. Free sizes of inputs
    become the samples'; a sample of another shape is a ModelError. Raises ValueError for what is no model.
    """

    def __init__(
        self,
        model_content: bytes,
        custom_op_registerers_by_name: Sequence[str] | None = None,
        custom_op_registerers_by_func: Sequence[Any] | None = None,
    ) -> None:
        if not model_content:
            raise ValueError("model_content: must be a .tflite file, got nothing")
        if custom_op_registerers_by_name or custom_op_registerers_by_func:
            raise UnsupportedError(
                "Calibrator: custom operators are not built; a model without them can be calibrated"
            )
        self._model = Model(model_content)

    def calibrate(self, dataset_gen: _Samples) -> bytes:
        """The float model, whose tensors have min and max over the samples."""
        return calibrated_model(self._model, dataset_gen()).content()

    def calibrate_and_quantize(
        self,
        dataset_gen: _Samples,
        input_type: Any,
        output_type: Any,
        allow_float: bool,
        activations_type: Any = np.int8,
        bias_type: Any = np.int32,
        resize_input: bool = True,
        disable_per_channel: bool = False,
        disable_per_channel_quantization_for_dense_layers: bool = False,
    ) -> bytes:
        """The integer model, with activations of int8 or int16.

        Raises UnsupportedError that lists the operators which stay float, unless allow_float.
        """
        _check_resizing(resize_input)
        sets = sets_of(type_name(activations_type), allow_float)
        settings = Quantization(
            *(("DEFAULT",), sets, (), dataset_gen, input_type, output_type),
            per_channel=not disable_per_channel,
            dense_per_channel=not disable_per_channel_quantization_for_dense_layers,
            bias_type=bias_type,
            improves=False,
        )
        made = settings.quantized(self._model)
        assert made is not None
        return made.content()

    def calibrate_and_quantize_single(
        self,
        dataset_gen: _Samples,
        input_type: Any,
        output_type: Any,
        allow_float: bool,
        op_output_name: str,
        resize_input: bool = True,
    ) -> bytes:
        """As calibrate_and_quantize, of the operator alone whose result has that name.

        Raises ModelError where none has it.
        """
        _check_resizing(resize_input)
        rule = Rule(f"^{re.escape(op_output_name)}$", scheme=SCHEMES["int8"])
        quantizer = Quantizer(self._model, Recipe([rule]))
        made = quantizer.quantize(
            quantizer.calibrate(dataset_gen()),
            input_type=type_name(input_type),
            output_type=type_name(output_type),
            improve="none",
        )
        left = [outcome for outcome in made.outcomes if outcome.reason]
        if left and not allow_float:
            raise UnsupportedError(not_whole(left, "int8"))
        return made.quantized_model


def _check_resizing(resize_input: bool) -> None:
    if not resize_input:
        raise UnsupportedError(
            "resize_input: False is not built; True is the same for samples of the shapes that the model has"
        )
