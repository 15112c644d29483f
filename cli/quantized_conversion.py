"""convert-model --quantize: a graph becomes a quantized model in one go."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from .calibration_data import read_samples
from .quantize import calibration

if TYPE_CHECKING:
    from ..converter.conversion import Conversion
    from ..converter.converter import Converter
    from ..converter.quantization.quantized_model import QuantizedModel


def quantized_conversion(
    converter: Converter, scheme: str, data: Path | None, io: str
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
    if data is None and quantizer.need_calibration:
        raise click.UsageError(
            f"--quantize {scheme}: its ranges come from data; --calibrate must name samples of the inputs "
            "(an .npz, say)"
        )
    if data is not None and not quantizer.uses_calibration:
        raise click.UsageError(f"--calibrate: --quantize {scheme} asks for no data")
    ends = "float32" if io == "float" else io
    made = quantizer.quantize(
        calibration(quantizer, None if data is None else read_samples(found.model, data)),
        input_type=ends,
        output_type=ends,
    )
    return replace(found, file=made.file), made
