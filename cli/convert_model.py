"""convert-model: TensorFlow graphs, SavedModels, ONNX, StableHLO and Keras models become .tflite files."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from .console import echo, make_table
from .json_output import json_option, print_json
from .main import run_command, show_log
from .output_file import check_output
from .quantize import SCHEMES, show_outcomes
from .sample_options import SampleOptions

if TYPE_CHECKING:
    from ..converter.conversion import NodeOutcome
    from ..converter.converter import Converter
    from .conversion_check import Difference

# How many nodes of a kind the table names.
_NAMED = 3


@click.command(name="convert-model")
@click.argument("source", required=False, type=click.Path(exists=True, path_type=Path))
@click.option(
    "--graph-def",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="A GraphDef file: .pb, or .pbtxt.",
)
@click.option(
    "--saved-model-dir",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="A SavedModel's folder.",
)
@click.option(
    "-o",
    "--output",
    required=True,
    type=click.Path(dir_okay=False, path_type=Path),
    help="The file to write.",
)
@click.option(
    "--signature",
    "signatures",
    multiple=True,
    metavar="KEY",
    help="A SavedModel's signature; may be repeated.",
)
@click.option(
    "--allow-files", is_flag=True, help="Let a SavedModel name files outside its own assets folder."
)
@click.option("--tags", metavar="NAMES", help="Tags of a SavedModel's graph, with commas between them.")
@click.option("--input-arrays", metavar="NAMES", help="Values that are fed, with commas between them.")
@click.option("--output-arrays", metavar="NAMES", help="Values that are wanted, with commas between them.")
@click.option(
    "--input-shapes",
    metavar="SHAPES",
    help="A shape for each input, with colons between them: 1,224,224,3:1,10. ? is a size not known yet.",
)
@click.option(
    "--channels-last",
    metavar="NAMES",
    help="Inputs and outputs of an ONNX model that shall be [n, ..., c], with commas between them.",
)
@click.option(
    "--keep-nan",
    is_flag=True,
    help="Let maxima and minima of a StableHLO program be NaN where a number is, for some operators more.",
)
@click.option(
    "--keras-config",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="For a Keras file that holds weights alone: the file with what model.to_json() gave.",
)
@click.option("--select-tf-ops", is_flag=True, help="Ops without a builtin operator become flex operators.")
@click.option("--no-builtins", is_flag=True, help="With --select-tf-ops: all ops become flex operators.")
@click.option(
    "--allow-custom-ops",
    is_flag=True,
    help="Other ops become custom operators; of unknown ones attribute _output_types must tell the results.",
)
@click.option(
    "--optimize",
    "optimizations",
    type=click.Choice(("off", "default", "aggressive")),
    default="off",
    help="Optimize the graph before, where that makes no larger model; off by default.",
)
@click.option(
    "--quantize",
    type=click.Choice(SCHEMES),
    help="Make the model smaller, too; more settings: numlite quantize.",
)
@click.option(
    "--calibrate",
    type=click.Path(exists=True, path_type=Path),
    metavar="DATA",
    help="With --quantize: samples of the inputs; an .npz, an .npy, a folder of .npy files or pictures, or a "
    "Python file whose representative_dataset() yields them.",
)
@click.option(
    "--random-calibration",
    is_flag=True,
    help="With --quantize: random numbers instead of samples, to try out time and size; the model says so.",
)
@click.option(
    "--data-preprocess",
    metavar="EXPRESSION",
    help='With --calibrate: what is done to samples of float inputs: "x/127.5-1".',
)
@click.option(
    "--io",
    type=click.Choice(["float", "int8", "uint8", "int16"]),
    default="float",
    show_default=True,
    help="With --quantize: what inputs and outputs become beside integer activations.",
)
@click.option(
    "--verify",
    type=click.IntRange(1),
    metavar="N",
    help="Compare with the graph on N random inputs.",
)
@click.option(
    "--report",
    "page",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write a page (HTML) of what became of each node.",
)
@json_option
@click.option("--debug", is_flag=True, help="On an error show the whole traceback.")
def command(
    source: Path | None,
    graph_def: Path | None,
    saved_model_dir: Path | None,
    output: Path,
    signatures: tuple[str, ...],
    allow_files: bool,
    tags: str | None,
    input_arrays: str | None,
    output_arrays: str | None,
    input_shapes: str | None,
    channels_last: str | None,
    keep_nan: bool,
    keras_config: Path | None,
    select_tf_ops: bool,
    no_builtins: bool,
    allow_custom_ops: bool,
    optimizations: str,
    quantize: str | None,
    calibrate: Path | None,
    random_calibration: bool,
    data_preprocess: str | None,
    io: str,
    verify: int | None,
    page: Path | None,
    as_json: bool,
    debug: bool,
) -> None:
    """Converts SOURCE (GraphDef, SavedModel, ONNX, StableHLO or Keras model); shows what became of it.

    By default a graph's inputs are its placeholders, its outputs the results that no node uses, and all of
    a SavedModel's signatures are converted.
    """
    from ..converter.source_file import FileKind, file_kind
    from ..converter.target_spec import OpsSet, TargetSpec

    path = _only_one(source, graph_def, saved_model_dir)
    kind = file_kind(path)
    if kind == FileKind.SAVED_MODEL and path.is_file():
        path = path.parent
    check_output(output, graph=path)
    if page is not None:
        check_output(page, option="--report", graph=path, file_of_output=output)
    if channels_last and kind != FileKind.ONNX:
        raise click.UsageError("--channels-last: only for an ONNX model")
    if keep_nan and kind != FileKind.STABLEHLO:
        raise click.UsageError("--keep-nan: only for a StableHLO program")
    if keras_config and kind != FileKind.KERAS:
        raise click.UsageError("--keras-config: only for a Keras model")
    if no_builtins and not select_tf_ops:
        raise click.UsageError("--no-builtins: only with --select-tf-ops")
    if quantize is None and (calibrate or random_calibration or io != "float"):
        raise click.UsageError("--calibrate, --random-calibration, --io: only with --quantize")
    if calibrate and random_calibration:
        raise click.UsageError("--calibrate, --random-calibration: only one of them can be given")
    if data_preprocess and not calibrate:
        raise click.UsageError("--data-preprocess: --calibrate must name the data")
    if quantize is not None and verify is not None:
        raise click.UsageError(
            "--verify: only without --quantize; numlite quantize --validate compares on data"
        )
    if path.is_dir():
        if input_arrays or output_arrays:
            raise click.UsageError("--input-arrays, --output-arrays: a SavedModel has signatures")
        converter = _of_saved_model(path, signatures, tags, input_shapes, allow_files)
    else:
        if signatures or tags or allow_files:
            raise click.UsageError("--signature, --tags, --allow-files: only a SavedModel has them")
        if kind in (FileKind.ONNX, FileKind.STABLEHLO, FileKind.KERAS) and (input_arrays or output_arrays):
            raise click.UsageError(
                "--input-arrays, --output-arrays: an ONNX, StableHLO or Keras model says what they are"
            )
        if kind == FileKind.ONNX:
            converter = _of_onnx(path, input_shapes, _names(channels_last) or [])
        elif kind == FileKind.STABLEHLO:
            converter = _of_stablehlo(path, input_shapes, keep_nan)
        elif kind == FileKind.KERAS:
            converter = _of_keras(path, keras_config, input_shapes)
        else:
            converter = _of_graph(path, _names(input_arrays), _names(output_arrays), input_shapes)
    sets = [
        *([] if no_builtins else [OpsSet.TFLITE_BUILTINS]),
        *([OpsSet.SELECT_TF_OPS] if select_tf_ops else []),
    ]
    converter.target_spec = TargetSpec(supported_ops=sets)
    converter.allow_custom_ops = allow_custom_ops
    converter.graph_optimizations = optimizations
    quantized = None
    if quantize is None:
        conversion = converter.conversion()
    else:
        from .quantized_conversion import quantized_conversion

        data = SampleOptions(
            () if calibrate is None else (calibrate,), (), data_preprocess, random_calibration
        )
        conversion, quantized = quantized_conversion(converter, quantize, data, io)
    size = conversion.file.write(output)
    if page is not None:
        from ..lite.whole_file import write_whole
        from .conversion_report import report

        write_whole(page, [report(output.name, conversion, size).encode()])
    if as_json:
        from ..lite.model import Model
        from .conversion_json import fields, of_quantized

        found = None if verify is None else _verify(output, converter, verify)
        told = fields(path, output, size, conversion, page, found)
        if quantized is not None:
            told |= of_quantized(Model(quantized.quantized_model))
        print_json("convert-model", told)
        return
    _show(conversion.outcomes)
    if quantized is not None:
        show_outcomes(quantized)
    echo(f"{output}: {size:,} bytes")
    if page is not None:
        echo(f"{page}: what became of each node")
    for difference in [] if verify is None else _verify(output, converter, verify):
        echo(str(difference))


def _verify(model: Path, converter: Converter, count: int) -> list[Difference]:
    from .conversion_check import differences

    try:
        return differences(model, converter.entries, count)
    except (ValueError, RuntimeError) as error:
        raise click.ClickException(
            f"--verify: {model} is written, but random inputs could not be run: {error}"
        ) from error


def _only_one(*paths: Path | None) -> Path:
    given = [path for path in paths if path is not None]
    if len(given) != 1:
        raise click.UsageError(
            f"one of SOURCE, --graph-def and --saved-model-dir must be given, got {len(given)}"
        )
    return given[0]


def _of_saved_model(
    path: Path, signatures: Sequence[str], tags: str | None, input_shapes: str | None, allow_files: bool
) -> Converter:
    from ..converter.converter import Converter

    keys, names = signatures or None, _names(tags)
    converter = Converter.from_saved_model(path, keys, names, allow_files=allow_files)
    if input_shapes is None:
        return converter
    inputs = list(dict.fromkeys(name for entry in converter.entries for name in entry.inputs))
    return Converter.from_saved_model(path, keys, names, _shapes(input_shapes, inputs), allow_files)


def _of_graph(
    path: Path, inputs: list[str] | None, outputs: list[str] | None, input_shapes: str | None
) -> Converter:
    from ..converter.converter import Converter

    if input_shapes is None:
        return Converter.from_graph_def(path, inputs, outputs)
    names = inputs or list(Converter.from_graph_def(path, None, outputs).entries[0].inputs)
    return Converter.from_graph_def(path, inputs, outputs, _shapes(input_shapes, names))


def _of_onnx(path: Path, input_shapes: str | None, channels_last: Sequence[str]) -> Converter:
    from ..converter.converter import Converter

    if input_shapes is None:
        return Converter.from_onnx(path, channels_last=channels_last)
    names = list(Converter.from_onnx(path).entries[0].inputs)
    return Converter.from_onnx(path, _shapes(input_shapes, names), channels_last=channels_last)


def _of_keras(path: Path, config: Path | None, input_shapes: str | None) -> Converter:
    from ..converter.converter import Converter

    if input_shapes is None:
        return Converter.from_keras_file(path, config)
    names = list(Converter.from_keras_file(path, config).entries[0].inputs)
    return Converter.from_keras_file(path, config, _shapes(input_shapes, names))


def _of_stablehlo(path: Path, input_shapes: str | None, keep_nan: bool) -> Converter:
    from ..converter.converter import Converter

    if input_shapes is None:
        return Converter.from_stablehlo(path, keep_nan=keep_nan)
    names = list(Converter.from_stablehlo(path).entries[0].inputs)
    return Converter.from_stablehlo(path, _shapes(input_shapes, names), keep_nan=keep_nan)


def _names(text: str | None) -> list[str] | None:
    return None if text is None else [name.strip() for name in text.split(",") if name.strip()]


def _shapes(text: str, inputs: Sequence[str]) -> dict[str, tuple[int, ...]]:
    """Shapes by input, from "1,8,8,3:1,?"."""
    parts = text.split(":")
    if len(parts) != len(inputs):
        raise click.UsageError(
            f"--input-shapes: {len(parts)} shapes for {len(inputs)} inputs ({', '.join(inputs)})"
        )
    return {name: _shape(part) for name, part in zip(inputs, parts, strict=True)}


def _shape(text: str) -> tuple[int, ...]:
    try:
        sizes = tuple(-1 if size.strip() == "?" else int(size) for size in text.split(",") if size.strip())
    except ValueError:
        raise click.UsageError(f"--input-shapes: sizes must be numbers or ?, got {text!r}") from None
    if any(size < -1 for size in sizes):
        raise click.UsageError(f"--input-shapes: sizes must not be negative, got {text!r}")
    return sizes


def _show(outcomes: Sequence[NodeOutcome]) -> None:
    """A table with one line for each op and what became of it."""
    from .console import make_console

    groups: dict[tuple[str, str], list[str]] = {}
    for outcome in outcomes:
        groups.setdefault((outcome.op, outcome.became), []).append(outcome.node)
    table = make_table("op", "nodes", "became", "names")
    for (op, became), nodes in sorted(groups.items()):
        more = f" and {len(nodes) - _NAMED} more" if len(nodes) > _NAMED else ""
        table.add_row(op, str(len(nodes)), became, ", ".join(nodes[:_NAMED]) + more)
    make_console().print(table)


def main(arguments: Sequence[str] | None = None) -> None:
    """Runs the command and ends the process: status 0, 1 for an error, 2 for wrong usage."""
    show_log()
    sys.exit(run_command(command, sys.argv[1:] if arguments is None else arguments))
