"""convert-model --quantize: a graph becomes a quantized model in one go."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import click

from .quantize import calibration
from .sample_options import SampleOptions

if TYPE_CHECKING:
    from ..converter.conversion import Conversion
    from ..converter.converter import Converter
    from ..converter.quantization.quantized_model import QuantizedModel


def quantized_conversion(
    converter: Converter, scheme: str, data: SampleOptions, io: str
) -> tuple[Conversion, QuantizedModel]:
    """The conversion with the model that `numlite quantize` makes of its model; and what that was made by.

    Raises UsageError where the scheme asks for data and there are none, or does not and there are.
    """
    from ..converter.quantization.converter_settings import Optimize
    from ..converter.quantization.quantizer import Quantizer
    from ..converter.quantization.recipe import scheme_recipe

    if scheme.startswith("int"):
        converter.optimizations = [Optimize.DEFAULT]  # ranges that training has found stay in the model
    found = converter.unquantized()
    quantizer = Quantizer(found.model, scheme_recipe(scheme))
    samples = data.samples(found.model)
    if samples is None and quantizer.need_calibration:
        raise click.UsageError(
            f"--quantize {scheme}: its ranges come from data; --calibrate must name samples of the inputs "
            "(an .npz, say)"
        )
    if samples is not None and not quantizer.uses_calibration:
        raise click.UsageError(f"--calibrate: --quantize {scheme} asks for no data")
    ends = "float32" if io == "float" else io
    ranges = calibration(quantizer, samples, is_random=data.is_random)
    made = quantizer.quantize(ranges, input_type=ends, output_type=ends)
    return replace(found, file=made.file), made
