"""numlite quantize: a float model becomes a smaller one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..schema.shown import shown
from .calibration_data import Sample, read_labels
from .console import counted, echo, make_console, make_table
from .output_file import check_output
from .sample_options import SampleOptions

if TYPE_CHECKING:
    from ..converter.quantization.calibration import Calibration
    from ..converter.quantization.quantized_model import QuantizedModel
    from ..converter.quantization.quantizer import Quantizer
    from ..converter.quantization.recipe import Recipe
    from ..converter.quantization.scheme import Scheme

# The exit status where --require does not hold.
_BELOW = 3
SCHEMES = ("int8", "int16x8", "dynamic", "float16", "weight-int8", "weight-int4")


@click.command(name="quantize")
@click.argument("model", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option(
    "-o",
    "--output",
    required=True,
    type=click.Path(dir_okay=False, path_type=Path),
    help="The file to write.",
)
@click.option(
    "--scheme",
    type=click.Choice(SCHEMES),
    help="int8 (the default with data), int16x8: all integers; dynamic (the default without): int8 weights, "
    "inputs quantized by the operators; the others: weights only.",
)
@click.option(
    "--calibrate",
    multiple=True,
    type=click.Path(exists=True, path_type=Path),
    metavar="DATA",
    help="Samples: an .npz with an array for each input, an .npy, a folder of .npy files or pictures, or a "
    "Python file whose representative_dataset() yields them; one for each --signature.",
)
@click.option(
    "--random-calibration",
    is_flag=True,
    help="Random numbers instead of samples, to try out time and size; the model says so.",
)
@click.option(
    "--signature",
    multiple=True,
    metavar="KEY",
    help="The samples are for this signature's inputs, by its names; may be repeated with --calibrate.",
)
@click.option(
    "--data-preprocess",
    metavar="EXPRESSION",
    help='What is done to samples of float inputs: "x/127.5-1", or "(x - [123.7, 116.3, 103.5]) / 58".',
)
@click.option(
    "--ranges",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="What --only-calibrate has written, instead of samples.",
)
@click.option("--only-calibrate", is_flag=True, help="Write the ranges (JSON) to the output, and no model.")
@click.option(
    "--observer",
    default="minmax",
    show_default=True,
    help="What is taken for a range: minmax, moving-average, percentile:99.99, mse or entropy.",
)
@click.option(
    "--jobs",
    type=click.IntRange(0),
    default=1,
    show_default=True,
    metavar="N",
    help="Processes that share the samples, for the same result; 0: one a processor.",
)
@click.option(
    "--improve",
    type=click.Choice(["none", "bias", "equalize", "softmax", "whole", "all"]),
    help="What may bring integers nearer to the float model, measured on samples; all with --calibrate.",
)
@click.option(
    "--io",
    type=click.Choice(["float", "int8", "uint8", "int16"]),
    default="float",
    show_default=True,
    help="The model's inputs and outputs, with --scheme int8 or int16x8.",
)
@click.option(
    "--bits",
    type=click.Choice(["8", "4", "2"]),
    help="Bits of weights; with --scheme int8 8 or 4, of FULLY_CONNECTED and CONV_2D.",
)
@click.option(
    "--block", type=click.Choice(["32", "64", "128", "256"]), help="4-bit weights: inputs that share a scale."
)
@click.option("--per-tensor", is_flag=True, help="One scale for all weights of an operator.")
@click.option(
    "--algorithm",
    type=click.Choice(["minmax", "mse", "octav", "balanced", "gptq", "hadamard", "decomposed-hadamard"]),
    help="How weights are rounded; minmax for 8 bits, else balanced, unless told. gptq wants --calibrate; "
    "hadamard rotates them and inputs of FULLY_CONNECTED.",
)
@click.option(
    "--recipe",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="A JSON file of rules, as ai-edge-quantizer has them, instead of a scheme.",
)
@click.option(
    "--skip",
    multiple=True,
    metavar="REGEX",
    help="Operators that stay float, by their results' names; may be repeated.",
)
@click.option(
    "--keep-float",
    multiple=True,
    metavar="OP",
    help="Operators that stay float: CONV_2D, say; may be repeated.",
)
@click.option(
    "--min-weight-elements",
    type=click.IntRange(0),
    metavar="N",
    help="Smaller weights stay float; 1024 for dynamic, else 0, unless told.",
)
@click.option(
    "--auto",
    metavar="GOAL",
    help="Give the fewest operators 16 bits, or leave them float, that reach sqnr>=35, agree>=0.99 or "
    "cosine>=0.99 on the data.",
)
@click.option(
    "--report",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write a page (.json: its numbers) of what each operator became and costs, by --calibrate.",
)
@click.option(
    "--validate",
    type=click.Path(exists=True, path_type=Path),
    metavar="DATA",
    help="Samples to compare the float model and the quantized one on.",
)
@click.option(
    "--labels",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="With --validate: an .npy of what the samples are, for the accuracy of both.",
)
@click.option(
    "--require",
    metavar="GOAL",
    help='With --validate: below it the exit status is 3; "sqnr>=30", or cosine, agree, accuracy, iou (of '
    "maps of classes) or boxes (of detected objects).",
)
@click.option("--debug", is_flag=True, help="On an error show the whole traceback.")
def command(
    model: Path,
    output: Path,
    calibrate: tuple[Path, ...],
    random_calibration: bool,
    signature: tuple[str, ...],
    data_preprocess: str | None,
    ranges: Path | None,
    only_calibrate: bool,
    observer: str,
    jobs: int,
    improve: str | None,
    io: str,
    recipe: Path | None,
    skip: tuple[str, ...],
    keep_float: tuple[str, ...],
    auto: str | None,
    report: Path | None,
    validate: Path | None,
    labels: Path | None,
    require: str | None,
    debug: bool,
    **changes: Any,
) -> None:
    """Quantizes MODEL, a float .tflite file, and shows what became of its operators."""
    from ..converter.quantization.quantizer import Quantizer
    from ..converter.quantization.recipe import Rule, load_recipe

    check_output(output, model=model)
    if report is not None:
        check_output(report, model=model)
    for goal in (auto, require):
        if goal is not None:
            from ..converter.quantization.validation import parsed_goal

            parsed_goal(goal)
    if len([given for given in (calibrate, ranges, random_calibration) if given]) > 1:
        raise click.UsageError("--calibrate, --ranges, --random-calibration: only one of them can be given")
    if improve not in (None, "none") and not calibrate:
        raise click.UsageError("--improve: --calibrate must name the data")
    if auto is not None and not calibrate:
        raise click.UsageError("--auto: --calibrate must name the data")
    if validate is None and (labels or require):
        raise click.UsageError("--labels, --require: --validate must name the data")
    if only_calibrate and not (calibrate or random_calibration):
        raise click.UsageError("--only-calibrate: --calibrate must name the data")
    data = SampleOptions(calibrate, signature, data_preprocess, random_calibration)
    data.check(validate)
    if (calibrate or ranges or random_calibration) and recipe is None and changes["scheme"] is None:
        changes["scheme"] = "int8"
    given = [f"--{name.replace('_', '-')}" for name, value in changes.items() if value not in (None, False)]
    if recipe is not None and given:
        raise click.UsageError(f"--recipe: it says itself how, without {', '.join(given)}")
    if changes["scheme"] == "float16" and (changes["bits"] or changes["algorithm"] or changes["per_tensor"]):
        raise click.UsageError("--scheme float16: it has no --bits, --algorithm or --per-tensor")
    rules = _recipe(**changes) if recipe is None else load_recipe(recipe)
    for regex in skip:
        rules.add(Rule(regex, scheme=None))
    for name in keep_float:
        rules.add(Rule(operation=name, scheme=None))
    quantizer = Quantizer(model, rules)
    found = calibration(quantizer, data.samples(model), ranges, observer, jobs, random_calibration)
    if only_calibrate and found is not None:
        found.save(output)
        echo(f"{output}: ranges of {len(found)} tensors")
        return
    tried: list[tuple[int, int, int, float]] = []
    taken: int | None = None
    if auto is not None and found is not None:
        chosen = quantizer.reach(auto, found, improve=improve)
        taken = chosen.taken
        for step in chosen.steps:
            tried.append((step.floats, step.wide, step.nbytes, step.validation.worst_db))
            echo(f"{step.floats} operators float, {step.wide} of 16 bits: {step.validation.worst_db:.1f} dB")
        echo(
            f"{auto} holds with {len(chosen.floats)} operators float and {len(chosen.wide)} of 16 bits, "
            f"{chosen.work:.1%} of the multiply-adds"
        )
    ends = "float32" if io == "float" else io
    made = quantizer.quantize(found, input_type=ends, output_type=ends, improve=improve)
    size = made.export_model(output)
    show_outcomes(made)
    before = model.stat().st_size
    echo(f"{output}: {size:,} bytes, {size / before:.0%} of the {before:,} before")
    if report is not None:
        from ..converter.quantization.report import trials

        replace(made.report, tried=trials(tried, taken)).save(report)
        echo(f"{report}: {counted(len(made.report.layers), 'operator')}")
    if validate is not None and not _validated(made, data.of(model, validate), labels, require):
        raise click.exceptions.Exit(_BELOW)


def _validated(
    made: QuantizedModel, samples: Iterable[Sample], labels: Path | None, require: str | None
) -> bool:
    """Compare on samples and show it; whether what is required holds."""
    known = None if labels is None else read_labels(labels)
    found = made.validate(samples, known)
    maps = ("IoU",) if any(each.iou is not None for each in found.outputs) else ()
    table = make_table("output", "SQNR dB", "cosine", "largest error", "top-1", "top-5", *maps)
    for each in found.outputs:
        told = (each.top1, each.top5, *((each.iou,) if maps else ()))
        shares = ["" if share is None else f"{share:.1%}" for share in told]
        table.add_row(
            shown(each.name), f"{each.sqnr_db:.1f}", f"{each.cosine:.6f}", f"{each.max_error:.4g}", *shares
        )
    make_console().print(table)
    if found.accuracy is not None:
        echo(f"accuracy: {found.accuracy[1]:.1%}, of the float model {found.accuracy[0]:.1%}")
    for each in found.outputs:
        if each.labelled_iou is not None:
            real, other = each.labelled_iou
            echo(f"IoU with the labels: {other:.1%}, of the float model {real:.1%}")
    if found.detections is not None:
        echo(
            f"objects of the float model that are found: {found.detections.found:.1%} of "
            f"{found.detections.objects:,}; of those found that it has: {found.detections.right:.1%}; "
            f"their boxes overlap by {found.detections.overlap:.1%}"
        )
    if require is None or found.reaches(require):
        return True
    echo(f"required: {require}, which does not hold", err=True)
    return False


def calibration(
    quantizer: Quantizer,
    samples: Iterable[Sample] | None,
    ranges: Path | None = None,
    observer: str = "minmax",
    jobs: int = 1,
    is_random: bool = False,
) -> Calibration | None:
    """The ranges of activations; UsageError where they are asked for and nothing gives them, or not."""
    from ..converter.quantization.calibration import Calibration

    is_given = samples is not None or ranges is not None
    if is_given and not quantizer.uses_calibration:
        raise click.UsageError("--calibrate, --ranges: neither activations nor gptq ask for them")
    if not is_given and not quantizer.need_calibration:
        return None
    if ranges is not None:
        return Calibration.load(ranges)
    if samples is None:
        raise click.UsageError(
            "integer activations and gptq need data: --calibrate must name samples of the inputs (an .npz, "
            "say), or --ranges what --only-calibrate wrote"
        )
    found = quantizer.calibrate(samples, observer=observer, jobs=jobs)
    found.is_random = is_random
    return found


def _recipe(
    scheme: str | None,
    bits: str | None,
    block: str | None,
    per_tensor: bool,
    algorithm: str | None,
    min_weight_elements: int | None,
) -> Recipe:
    from ..converter.quantization.recipe import scheme_recipe

    changes: dict[str, Any] = {"per_channel": not per_tensor}
    if bits is not None:
        changes["weight_bits"] = int(bits)
    if block is not None:
        changes |= {"block": int(block), "weight_bits": int(bits or 4)}
    return scheme_recipe(scheme or "dynamic", least=min_weight_elements, algorithm=algorithm or "", **changes)


def show_outcomes(made: QuantizedModel) -> None:
    """A row for each kind of operator and what became of its weights, or why they stayed."""
    from ..converter.quantization.weight_rewrite import NO_WEIGHTS

    counts = Counter(
        (o.operation, f"as before: {o.reason}" if o.scheme is None else _words(o.scheme))
        for o in made.outcomes
        if o.reason != NO_WEIGHTS
    )
    table = make_table("operator", "becomes", "count")
    for (operation, words), count in sorted(counts.items()):
        table.add_row(operation, words, str(count))
    make_console().print(table)


def _words(scheme: Scheme) -> str:
    """What a scheme makes of an operator."""
    if scheme.activation_bits:
        is_plain = scheme.activation_bits == scheme.weight_bits == 8
        return f"int{scheme.activation_bits}" + ("" if is_plain else f" by int{scheme.weight_bits}")
    kind = "float16" if scheme.is_float16 else f"int{scheme.weight_bits}"
    where = f" in blocks of {scheme.block}" if scheme.block else "" if scheme.per_channel else " per tensor"
    return f"{kind}{where}, {'dequantized' if scheme.dequantize else 'inputs quantized, too'}"
