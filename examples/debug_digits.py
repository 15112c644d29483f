"""TensorFlow's guide to its quantization debugger, with numlite and without TensorFlow.

    python -m numlite.examples.debug_digits     or     python examples/debug_digits.py

Quantizes the digits net, finds the layers that err most, and leaves these as floats. Where the guide goes
on with TensorFlow's internal functions (calibrate only, whole-model verify), numlite's Quantizer does that.
"""

from __future__ import annotations

import csv
import re
import runpy
import tempfile
from pathlib import Path

import numpy as np
from numlite.converter import Optimize
from numlite.converter.quantization import (
    QuantizationDebugger,
    QuantizationDebugOptions,
    Quantizer,
    recipes,
)

_GUIDE = runpy.run_path(str(Path(__file__).parent / "quantize_digits.py"))
accuracy, converter, representative_dataset = (
    _GUIDE[name] for name in ("accuracy", "converter", "representative_dataset")
)

Rows = list[dict[str, str]]


def debugger(options: QuantizationDebugOptions | None = None) -> QuantizationDebugger:
    return QuantizationDebugger(
        converter=converter(optimizations=[Optimize.DEFAULT], representative_dataset=representative_dataset),
        debug_dataset=representative_dataset,
        debug_options=options,
    )


def layer_statistics(debugged: QuantizationDebugger, path: Path) -> Rows:
    """What a debugger has measured, by way of its file, with two columns more."""
    with path.open("w") as file:
        debugged.layer_statistics_dump(file)
    with path.open() as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        scale = float(row["scale"])
        row["range"] = f"{255 * scale:.4g}"
        row["rmse/scale"] = f"{np.sqrt(float(row['mean_squared_error'])) / scale:.3f}"
    return rows


def show(title: str, rows: Rows, *columns: str) -> None:
    print(f"\n{title}")
    for row in rows:
        print("  " + "   ".join(f"{column} {row[column]}" for column in columns))


def suspected_layers(rows: Rows) -> list[str]:
    """Those that err by more than rounding alone would have it (0.289), and the first one."""
    return [
        row["tensor_name"] for place, row in enumerate(rows) if not place or float(row["rmse/scale"]) > 0.7
    ]


def selective_models(suspected: list[str]) -> dict[str, bytes]:
    """The model without the suspected layers, and without all layers of an operator, quantized."""
    options = {
        "suspected layers float": QuantizationDebugOptions(denylisted_nodes=suspected),
        "SOFTMAX float": QuantizationDebugOptions(denylisted_ops=["SOFTMAX"]),
    }
    return {name: debugger(each).get_nondebug_quantized_model() for name, each in options.items()}


def own_metrics() -> QuantizationDebugOptions:
    return QuantizationDebugOptions(
        layer_debug_metrics={"mean_abs_error": lambda difference: float(np.mean(np.abs(difference)))},
        layer_direct_compare_metrics={
            "correlation": lambda real, quantized, scale, zero_point: float(
                np.corrcoef(real.flatten(), (quantized.flatten() - zero_point) / scale)[0, 1]
            )
        },
        model_debug_metrics={
            "argmax_accuracy": lambda real, made: float(np.mean(np.argmax(real) == np.argmax(made)))
        },
    )


def calibrated_once(suspected: list[str]) -> dict[str, bytes]:
    """Several models of one calibration, whose ranges could be a file of their own."""
    quantizer = Quantizer(converter().convert(), recipes.static_int8())
    ranges = quantizer.calibrate(representative_dataset())
    made = quantizer.quantize(ranges)
    print("\nwhole model beside the float one")
    for layer in made.report.layers:
        print(f"  {layer.operation} {layer.scope}: {layer.sqnr_db:.1f} dB")
    for name in suspected:
        quantizer.update_quantization_recipe(regex=f"^{re.escape(name)}$", weights=None)
    return {"all layers": made.quantized_model, "but for them": quantizer.quantize(ranges).quantized_model}


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        results = Path(folder) / "debugger_results.csv"
        debugged = debugger()
        debugged.run()
        rows = layer_statistics(debugged, results)
        show("layers", rows, "op_name", "range", "rmse/scale", "tensor_name")
        suspected = suspected_layers(rows)
        debugged = debugger(own_metrics())
        debugged.run()
        rows = layer_statistics(debugged, results)
        show("by own metrics", rows, "op_name", "mean_abs_error", "correlation")
        print(f"\nmodel: {debugged.model_statistics}")
    models = selective_models(suspected) | calibrated_once(suspected)
    print("\nmodels")
    for name, model in models.items():
        print(f"  {name:24} {len(model):8,} bytes   accuracy {accuracy(model):.4f}")


if __name__ == "__main__":
    main()
