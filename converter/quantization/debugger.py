"""QuantizationDebugger: which layers of a quantized model err most, by the names of TensorFlow's debugger.

Models are TensorFlow's debug models, or made here of a converter's settings, without improvements.
"""

from __future__ import annotations

import csv
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from os import PathLike
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from ...lite.errors import ModelError
from ...lite.model import Model
from ..model_runner import model_interpreter
from .calibrate import run_sample
from .debug_model import NUMERIC_VERIFY, Verified, debug_model, verified
from .integer_recipe import activation_schemes
from .layer_statistics import as_taken, real_values
from .quantized_model import QuantizedModel
from .quantizer import Quantizer
from .recipe import Recipe, Rule
from .rewrite import QUANTIZED

if TYPE_CHECKING:
    from ...lite.interpreter import Interpreter
    from ..converter import Converter
    from .calibration import Calibration

LayerMetric = Callable[[np.ndarray], float]
ModelMetric = Callable[[Sequence[np.ndarray], Sequence[np.ndarray]], float]
CompareMetric = Callable[[np.ndarray, np.ndarray, float, np.int32], float]
Samples = Callable[[], Iterable[Sequence[np.ndarray]]]

_LAYER_METRICS: dict[str, LayerMetric] = {
    "num_elements": lambda differences: differences.size,
    "stddev": lambda differences: float(np.std(differences)),
    "mean_error": lambda differences: float(np.average(differences)),
    "max_abs_error": lambda differences: float(np.max(np.abs(differences))),
    "mean_squared_error": lambda differences: float(np.average(differences**2)),
}


class QuantizationDebugOptions:
    """What is measured, and what stays float.

    layer_debug_metrics get the differences of a layer (quantized less float), model_debug_metrics the outputs
    of the float model and of the quantized one, layer_direct_compare_metrics a layer's floats, its integers,
    their scale and zero point. denylisted_ops are operators by name, denylisted_nodes the names of their
    results. fully_quantize makes inputs and outputs integers, too. Raises ValueError for two metrics of one
    name.
    """

    def __init__(
        self,
        layer_debug_metrics: Mapping[str, LayerMetric] | None = None,
        model_debug_metrics: Mapping[str, ModelMetric] | None = None,
        layer_direct_compare_metrics: Mapping[str, CompareMetric] | None = None,
        denylisted_ops: Sequence[str] | None = None,
        denylisted_nodes: Sequence[str] | None = None,
        fully_quantize: bool = False,
    ) -> None:
        self.layer_debug_metrics = layer_debug_metrics
        self.model_debug_metrics = model_debug_metrics
        self.layer_direct_compare_metrics = layer_direct_compare_metrics
        self.denylisted_ops, self.denylisted_nodes = denylisted_ops, denylisted_nodes
        self.fully_quantize = fully_quantize
        names = [
            name
            for metrics in (layer_debug_metrics, model_debug_metrics, layer_direct_compare_metrics)
            for name in metrics or ()
        ]
        if len(names) != len(set(names)):
            raise ValueError(f"metrics: their names must differ, got {names}")


class QuantizationDebugger:
    """Runs a debug model on samples; debug_dataset is a function that gives them, each a list of arrays.

    With a converter, whose optimizations and representative_dataset must be set, the model is made by its
    settings; else it is a debug model of TensorFlow's or of get_debug_quantized_model, and float_model_*
    what model_debug_metrics compare it with. After run(), layer_statistics is {name: {metric: mean over
    samples}}, model_statistics {metric: mean}. Raises ValueError where neither is given, for a converter that
    does not quantize by data, and for a model without differences.
    """

    def __init__(
        self,
        quant_debug_model_path: str | PathLike[str] | None = None,
        quant_debug_model_content: bytes | None = None,
        float_model_path: str | PathLike[str] | None = None,
        float_model_content: bytes | None = None,
        debug_dataset: Samples | None = None,
        debug_options: QuantizationDebugOptions | None = None,
        converter: Converter | None = None,
    ) -> None:
        self._samples = debug_dataset
        self._options = debug_options or QuantizationDebugOptions()
        self._made = None if converter is None else _Made(converter)
        if self._made is not None:
            self._float_model: Model | None = self._made.float_model
            self._model = Model(self.get_debug_quantized_model())
        else:
            found = _opened(quant_debug_model_path, quant_debug_model_content)
            if found is None:
                raise ValueError("debugger: it must be given a converter, or a debug model, got neither")
            self._model, self._float_model = found, _opened(float_model_path, float_model_content)
        self._start()

    @property
    def options(self) -> QuantizationDebugOptions:
        return self._options

    @options.setter
    def options(self, options: QuantizationDebugOptions) -> None:
        self._options = options
        if self._made is not None:
            self._model = Model(self.get_debug_quantized_model())
            self._start()

    def _start(self) -> None:
        self._layers = verified(self._model)
        if not self._layers:
            raise ValueError(f"debugger: its model must have {NUMERIC_VERIFY} operators, got one without")
        self._layer_metrics = _LAYER_METRICS | dict(self._options.layer_debug_metrics or {})
        self.layer_statistics: dict[str, dict[str, float]] | None = None
        self.model_statistics: dict[str, float] | None = None

    def get_nondebug_quantized_model(self) -> bytes:
        """The model that is debugged, without differences. ValueError without a converter."""
        return self._of_converter().quantized(self._options).quantized_model

    def get_debug_quantized_model(self) -> bytes:
        """The model with differences. ValueError without a converter."""
        made = self._of_converter().quantized(self._options)
        return debug_model(made.prepared_model(), Model(made.quantized_model))

    def _of_converter(self) -> _Made:
        if self._made is None:
            raise ValueError("debugger: a converter must have been given to make models, got none")
        return self._made

    def run(self) -> None:
        """Measure on all samples. ModelError where there is none, or one does not fit."""
        if self._samples is None:
            raise ValueError("debugger: a debug_dataset must have been given to run, got None")
        compares = self._options.layer_direct_compare_metrics or {}
        interpreter = model_interpreter(self._model, preserve_all_tensors=bool(compares))
        layers: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
        outputs = self._options.model_debug_metrics or {}
        whole: dict[str, list[float]] = defaultdict(list)
        real = self._model_interpreter() if outputs else None
        count = 0
        for count, sample in enumerate(self._samples(), 1):
            where = f"sample {count - 1}"
            run_sample(interpreter, as_taken(interpreter, sample), where)
            for layer in self._layers:
                self._measure(interpreter, layer, layers[interpreter.tensor(layer.difference).name], compares)
            if real is not None:
                run_sample(real, sample, where)
                for name, metric in outputs.items():
                    whole[name].append(metric(_outputs(real), _outputs(interpreter)))
        if not count:
            raise ModelError("debugger: there must be samples, got none")
        self.layer_statistics = {layer: _means(metrics) for layer, metrics in layers.items()}
        if outputs:
            self.model_statistics = _means(whole)

    def _measure(
        self,
        interpreter: Interpreter,
        layer: Verified,
        into: dict[str, list[float]],
        compares: Mapping[str, CompareMetric],
    ) -> None:
        differences = interpreter.get_tensor(layer.difference)
        for name, metric in self._layer_metrics.items():
            into[name].append(metric(differences))
        for name, compare in compares.items():
            pair = interpreter.get_tensor(layer.real), interpreter.get_tensor(layer.quantized)
            into[name].append(compare(*pair, *_scale(interpreter, layer)))

    def _model_interpreter(self) -> Interpreter:
        if self._float_model is None:
            raise ValueError("model_debug_metrics: a float model must have been given, got none")
        return model_interpreter(self._float_model)

    def layer_statistics_dump(self, file: IO[str]) -> None:
        """Write CSV, a row a layer: op_name, tensor_idx, the metrics, scale, zero_point, tensor_name."""
        compares = self._options.layer_direct_compare_metrics or {}
        fields = ["op_name", "tensor_idx", *self._layer_metrics, *compares]
        writer = csv.DictWriter(file, [*fields, "scale", "zero_point", "tensor_name"])
        writer.writeheader()
        interpreter = model_interpreter(self._model)
        for layer in self._layers if self.layer_statistics else ():
            assert self.layer_statistics is not None
            name = interpreter.tensor(layer.difference).name
            scale, zero_point = _scale(interpreter, layer)
            writer.writerow(
                {
                    "op_name": layer.operation,
                    "tensor_idx": layer.quantized,
                    **self.layer_statistics[name],
                    "scale": scale,
                    "zero_point": zero_point,
                    "tensor_name": _operand_name(interpreter, layer),
                }
            )


class _Made:
    """The models that a converter's settings make, calibrated once."""

    def __init__(self, converter: Converter) -> None:
        settings = converter.quantization()
        self._recipe, self._samples = settings.integer_recipe(), settings.samples
        self.float_model = Model(converter.unquantized().model)

    @cached_property
    def _ranges(self) -> Calibration:
        return Quantizer(self.float_model, self._recipe).calibrate(self._samples())

    def quantized(self, options: QuantizationDebugOptions) -> QuantizedModel:
        recipe = Recipe(list(self._recipe.rules))
        for name in options.denylisted_ops or ():
            recipe.add(Rule(operation=name, scheme=None))
        for name in options.denylisted_nodes or ():
            recipe.add(Rule(rf"(^|;){re.escape(name)}($|;)", scheme=None))
        [scheme] = activation_schemes(recipe)
        ends = f"int{scheme.activation_bits}" if options.fully_quantize else "float32"
        return Quantizer(self.float_model, recipe).quantize(
            self._ranges, input_type=ends, output_type=ends, improve="none"
        )


def _opened(path: str | PathLike[str] | None, content: bytes | None) -> Model | None:
    if content is not None:
        return Model(content)
    return None if path is None else Model.from_path(path)


def _scale(interpreter: Interpreter, layer: Verified) -> tuple[float, np.int32]:
    """With a zero point that int8 can be taken from without going around, as TensorFlow's."""
    found = interpreter.tensor(layer.quantized).quantization
    return (1.0, np.int32(0)) if found is None else (found.scales[0], np.int32(found.zero_points[0]))


def _outputs(interpreter: Interpreter) -> list[np.ndarray]:
    subgraph = interpreter.subgraph()
    found = [(subgraph.tensors[t], interpreter.get_tensor(t)) for t in subgraph.outputs]
    return [real_values(tensor, np.asarray(values)).astype(np.float32) for tensor, values in found]


def _means(metrics: Mapping[str, Sequence[Any]]) -> dict[str, float]:
    return {name: float(np.nanmean(values)) for name, values in metrics.items()}


def _operand_name(interpreter: Interpreter, layer: Verified) -> str:
    """The layer's result in the float model: TensorFlow and numlite put something behind it for integers."""
    name = interpreter.tensor(layer.quantized).name.removesuffix(QUANTIZED)
    known = {tensor.name for tensor in interpreter.subgraph().tensors}
    return name[:-1] if name[-1:].isdigit() and name[:-1] in known else name
