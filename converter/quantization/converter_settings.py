"""What TensorFlow's converter calls optimizations: which scheme its settings ask for, and the model of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any

import numpy as np

from ...lite.errors import UnsupportedError
from ...lite.model import Model
from ..flatbuffer import ModelFile
from .calibrated_model import calibrated_model
from .input_stats import with_input_ranges
from .quantizer import Quantizer
from .recipe import Recipe, scheme_recipe
from .scheme import BIAS_BITS, SCHEMES
from .trained_ranges import trained_model

_INT8, _INT16 = "TFLITE_BUILTINS_INT8", "EXPERIMENTAL_TFLITE_BUILTINS_ACTIVATIONS_INT16_WEIGHTS_INT8"
_ENDS = ("float32", "int8", "uint8", "int16")


class Optimize(Enum):
    """What a model is quantized for, by TensorFlow's names; the first three are one."""

    DEFAULT = "DEFAULT"
    OPTIMIZE_FOR_SIZE = "OPTIMIZE_FOR_SIZE"
    OPTIMIZE_FOR_LATENCY = "OPTIMIZE_FOR_LATENCY"
    # Not built: converting with it is an UnsupportedError.
    EXPERIMENTAL_SPARSITY = "EXPERIMENTAL_SPARSITY"

    def __str__(self) -> str:
        return self.value


@dataclass(frozen=True)
class RepresentativeDataset:
    """Samples of a model's inputs: a function without arguments that gives them, one after another.

    A sample is a list of arrays in the order of the inputs, a dictionary of them by name, or for a model with
    several signatures a pair of a signature's key and such a dictionary. Types and shapes are the inputs'.
    """

    input_gen: Callable[[], Iterable[Any]]


@dataclass(frozen=True)
class Quantization:
    """The settings that were given, by the converter's names; sets are the target's, by their names.

    Values may be TensorFlow's.
    """

    optimizations: Sequence[Any]
    sets: frozenset[str]
    types: Sequence[Any]
    representative_dataset: Any
    inference_input_type: Any
    inference_output_type: Any
    inference_type: Any = np.float32
    input_stats: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    per_channel: bool = True
    dense_per_channel: bool = True
    bias_type: Any = None
    calibrates_only: bool = False
    quantizes_variables: bool = False
    improves: bool = True

    def quantize(self, model: ModelFile) -> ModelFile:
        """The quantized model; the float one where nothing asks for another. As quantized raises."""
        return self.quantized(Model(model.content())) or model

    def quantized(self, opened: Model) -> ModelFile | None:
        """The quantized model, None where nothing asks for one.

        Raises ValueError for settings that contradict each other, UnsupportedError for what is not built, and
        for operators that have no integer kernel where the model must be whole integer.
        """
        ends = self._ends()
        is_calibrated = bool(self.optimizations) and self.representative_dataset is not None
        if self._is_integer_type and (self.input_stats or not is_calibrated):
            opened = with_input_ranges(opened, self.input_stats, ends[0])
        trained = self.takes_trained_ranges and bool(trained_model(opened).ranges)
        scheme = self._scheme(trained)
        self._check(scheme)
        if self.calibrates_only:
            return calibrated_model(opened, self.samples())
        if scheme not in ("int8", "int16x8") and set(ends) != {"float32"}:
            raise ValueError(
                "inference_input_type, inference_output_type: must be float32 without integer activations, "
                f"which take optimizations and a representative_dataset; got {ends}"
            )
        if scheme is None:
            return None
        quantizer = Quantizer(opened, self._recipe(scheme))
        if scheme not in ("int8", "int16x8"):
            return quantizer.quantize().file
        found = None if self.representative_dataset is None else quantizer.calibrate(self.samples())
        improves = found is not None and len(found.samples) > 0 and not trained
        improve = "none" if not self.improves else "whole" if improves and self._is_whole else None
        made = quantizer.quantize(
            found,
            input_type=ends[0],
            output_type=ends[1],
            improve=improve,
            variables=self.quantizes_variables,
        )
        if self._is_whole:
            left = [outcome for outcome in made.outcomes if outcome.reason]
            if left:
                raise UnsupportedError(not_whole(left, scheme))
        return made.file

    def integer_recipe(self) -> Recipe:
        """That of a model with integer activations. ValueError for settings that ask for no such one."""
        scheme = self._scheme()
        if scheme not in ("int8", "int16x8"):
            raise ValueError(
                "converter: must ask for integer activations, by optimizations = [Optimize.DEFAULT] and a "
                f"representative_dataset; got {scheme or 'no optimizations'}"
            )
        self._check(scheme)
        return self._recipe(scheme)

    def _recipe(self, scheme: str) -> Recipe:
        bits = 0 if self.bias_type is None else 8 * np.dtype(type_name(self.bias_type)).itemsize
        found = scheme_recipe(scheme, per_channel=self.per_channel, bias_bits=bits)
        (rule,) = found.rules
        if rule.scheme is not None and not (self.dense_per_channel or rule.scheme.is_float16):
            one_scale = replace(rule.scheme, per_channel=False)
            found.add(replace(rule, operation="FULLY_CONNECTED", scheme=one_scale))
        return found

    @property
    def _is_integer_type(self) -> bool:
        """Whether the model shall compute in integers by what training says, as TensorFlow 1 asks for it.

        Raises ValueError for another type than float32 and int8, UnsupportedError for uint8.
        """
        name = type_name(self.inference_type)
        if name == "uint8":
            raise UnsupportedError(
                "inference_type: uint8 throughout is not built; int8 with inference_input_type = "
                "inference_output_type = np.uint8 computes the same"
            )
        if name not in ("float32", "int8"):
            raise ValueError(f"inference_type: must be float32 or int8, got {name}")
        return name == "int8"

    def _ends(self) -> list[str]:
        """The types of inputs and outputs; without optimizations they are inference_type unless told."""
        usual = np.float32 if self.optimizations else self.inference_type
        given = (self.inference_input_type, self.inference_output_type)
        ends = [type_name(usual if each is None else each) for each in given]
        if not set(ends) <= set(_ENDS):
            raise ValueError(f"inference_input_type, inference_output_type: must be of {_ENDS}, got {ends}")
        return ends

    def _check(self, scheme: str | None) -> None:
        """ValueError for settings that the scheme would not look at."""
        is_integer = scheme in ("int8", "int16x8")
        if self.input_stats and not self._is_integer_type:
            raise ValueError("quantized_input_stats: inference_type must be int8 beside them, got float32")
        if self.bias_type is not None:
            activations = 0 if scheme is None else SCHEMES[scheme].activation_bits
            name = type_name(self.bias_type)
            if name not in (f"int{bits}" for bits in BIAS_BITS.get(activations, ())):
                raise ValueError(
                    "_experimental_full_integer_quantization_bias_type: must be int32 beside int8, "
                    f"int32 or int64 beside int16x8, got {name} beside {scheme or 'float32'}"
                )
        if self.quantizes_variables and not is_integer:
            raise ValueError(
                "_experimental_variable_quantization: must be with integer activations, "
                f"got {scheme or 'float32'}"
            )
        if self.calibrates_only and (not is_integer or self.representative_dataset is None):
            raise ValueError(
                "_experimental_calibrate_only: must be with optimizations = [Optimize.DEFAULT], a "
                f"representative_dataset and integer activations, got {scheme or 'float32'}"
            )

    @property
    def takes_trained_ranges(self) -> bool:
        """Whether fake quantization of the graph becomes scales."""
        if self._is_integer_type:
            return True
        return bool(self.optimizations) and "float16" not in {type_name(each) for each in self.types}

    def _scheme(self, trained: bool = False) -> str | None:
        """The scheme's name, None for a float model; trained tells that the model brings ranges along."""
        names = [str(getattr(each, "value", each)) for each in self.optimizations]
        unknown = set(names).difference(Optimize.__members__)
        if unknown:
            raise ValueError(
                f"optimizations: must be of {', '.join(Optimize.__members__)}, got {sorted(unknown)}"
            )
        if "EXPERIMENTAL_SPARSITY" in names:
            raise UnsupportedError("optimizations: EXPERIMENTAL_SPARSITY is not built; DEFAULT would run")
        types = {type_name(each) for each in self.types}
        wants_integers = bool(self.sets & {_INT8, _INT16}) or "int8" in types
        if not names and self._is_integer_type:
            return "int8"
        if not names:
            if wants_integers:
                raise ValueError("optimizations: must be [Optimize.DEFAULT] for integers, got none")
            return None
        if not types <= {"float16", "int8", "float32"}:
            raise ValueError(f"supported_types: must be of float16, int8 and float32, got {sorted(types)}")
        if "float16" in types:
            return "float16"
        if self.representative_dataset is None and not trained:
            if wants_integers:
                raise ValueError("representative_dataset: must be given for a model of integers, got None")
            return "dynamic"
        return "int16x8" if _INT16 in self.sets else "int8"

    @property
    def _is_whole(self) -> bool:
        """Whether no operator may stay float: no other set would take it."""
        types = {type_name(each) for each in self.types}
        return types == {"int8"} or (bool(self.sets) and self.sets <= {_INT8, _INT16})

    def samples(self) -> Iterable[Any]:
        """Those of the representative_dataset. ValueError where it is no function that gives them."""
        given = self.representative_dataset
        function = getattr(given, "input_gen", given)
        if not callable(function):
            raise ValueError(f"representative_dataset: must be a function that gives samples, got {given!r}")
        return function()


def sets_of(activations: str, allow_float: bool) -> frozenset[str]:
    """The sets by which a converter is asked for activations of that type; ValueError for another."""
    if activations not in ("int8", "int16"):
        raise ValueError(f"activations: must be int8 or int16, got {activations}")
    integers = _INT8 if activations == "int8" else _INT16
    return frozenset({integers, "TFLITE_BUILTINS"} if allow_float else {integers})


def type_name(type: Any) -> str:
    """NumPy's name of a type that is NumPy's or TensorFlow's."""
    found = getattr(type, "as_numpy_dtype", type)
    try:
        return np.dtype(found).name
    except TypeError:
        raise ValueError(f"types: must be NumPy's or TensorFlow's, got {type!r}") from None


def not_whole(left: Sequence[Any], scheme: str) -> str:
    lines = [f"{outcome.operation} {outcome.scope!r}: {outcome.reason}" for outcome in left[:20]]
    more = [f"and {len(left) - 20} more"] if len(left) > 20 else []
    return "\n  ".join(
        [
            f"supported_ops: {len(left)} operators cannot be of integers in {scheme}; with TFLITE_BUILTINS "
            "among supported_ops they stay float",
            *lines,
            *more,
        ]
    )
