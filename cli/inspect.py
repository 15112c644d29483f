"""`numlite inspect`: what a model file holds, and the memory it needs."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..schema.shown import shown
from .console import counted, echo, make_table
from .delegate_options import delegate_option
from .json_output import json_option, print_json
from .model_file import operator_name, shape_of, type_name
from .model_options import trust_option

if TYPE_CHECKING:
    from collections.abc import Callable

    from rich.console import Console
    from rich.table import Table

    from ..lite.model import Model


@click.command("inspect")
@click.argument("model", type=click.Path(exists=True, dir_okay=False), required=False)
@click.option(
    "--machine", is_flag=True, help="Show instead which kernels run here, and where they come from."
)
@click.option("--tensors", is_flag=True, help="List every tensor, with its place in memory.")
@click.option("--nodes", is_flag=True, help="List every operator with its tensors.")
@click.option(
    "--quantization", is_flag=True, help="Show instead scales, zero points and floats between integers."
)
@click.option("--strict", is_flag=True, help="List instead what is wrong or unusual in the file.")
@click.option("--delegate", metavar="NAME", help="Show what this delegate takes: its name, or its module.")
@json_option
@delegate_option
@trust_option
def command(
    model: str | None,
    machine: bool,
    tensors: bool,
    nodes: bool,
    quantization: bool,
    strict: bool,
    delegate: str | None,
    as_json: bool,
    options: tuple[str, ...],
    trust_compiled_code: bool,
) -> None:
    """Show what MODEL holds: signatures, inputs and outputs, operators, memory.

    With --machine, which needs no MODEL, show the target whose kernels this machine runs, and their pack.

    Works also for models with operators that numlite cannot run. With --delegate it shows instead
    which nodes the delegate takes, what is copied, and why it leaves the others.

    With --quantization it shows each tensor's scales and zero point, the share of a constant's values at
    the ends of its type, and float islands: float operators between integer ones, which cost conversions.

    Files that break rules of the format are opened where they can be read all the same. With --strict
    every such place is listed, and the exit code is 1 when there is any.
    """
    if machine:
        _show_machine(as_json)
        return
    if model is None:
        raise click.UsageError("Missing argument 'MODEL'.")
    if strict:
        _show_findings(model, as_json)
        return
    if delegate is not None:
        from .inspect_delegate import show_delegate

        show_delegate(model, delegate, options, as_json)
        return
    from ..lite.errors import ModelError
    from ..lite.model import Model
    from .console import make_console

    try:
        opened = Model.from_path(model)
    except ModelError as error:
        raise click.ClickException(f"{model}: {error}") from error
    if quantization:
        _show_quantization(model, opened, as_json)
        return
    if as_json:
        from .inspect_json import file_fields

        print_json("inspect", file_fields(model, opened, trust_compiled_code))
        return
    console = make_console()
    _show_file(console, model, opened)
    _show_signatures(console, opened)
    for index, subgraph in enumerate(opened.root.subgraphs):
        _show_interface(console, index, subgraph)
        console.print(_operator_counts(opened, subgraph))
        if nodes:
            console.print(_node_table(opened, subgraph))
        if tensors:
            console.print(_tensor_table(opened, subgraph))
    _show_memory(console, model, tensors, trust_compiled_code)


def _show_machine(as_json: bool) -> None:
    from ..kernels.compiled.driver.packed import machine_facts

    facts = machine_facts()
    if as_json:
        print_json("inspect", {"machine": facts})
    else:
        for name, fact in facts.items():
            echo(f"{name}: {fact}")


def _show_quantization(path: str, opened: Model, as_json: bool) -> None:
    from .console import make_console
    from .inspect_quantization import quantization_of, show_quantization

    found = quantization_of(opened)
    if as_json:
        print_json("inspect", {"model": path, "quantization": found})
    else:
        show_quantization(make_console(), found)


def _show_findings(path: str, as_json: bool) -> None:
    from ..lite.strict_check import model_findings

    try:
        found = model_findings(Path(path).read_bytes())
    except OSError as error:
        raise click.ClickException(f"{path}: {error.strerror or error}") from error
    if as_json:
        print_json("inspect", {"model": path, "findings": list(map(str, found))})
    else:
        for finding in found or [f"{path}: nothing found"]:
            echo(finding)
    if found:
        raise click.exceptions.Exit(1)


def _show_file(console: Console, path: str, model: Model) -> None:
    root = model.root
    about = f", {shown(model.description)}" if model.description else ""
    console.print(f"{path}: {model.nbytes:,} bytes, schema version {root.version}{about}")
    metadata = model.metadata()
    if metadata:
        console.print(f"metadata: {', '.join(map(shown, metadata))}")
    _show_metadata(console, model)
    _show_compilations(console, metadata)


def _show_metadata(console: Console, model: Model) -> None:
    from ..lite.errors import ModelError
    from ..metadata import read
    from .metadata import metadata_lines

    try:
        found = read(model)
    except ModelError as error:
        console.print(shown(error))
        return
    if found.is_given:
        for line in metadata_lines(found):
            console.print(f"  {line}")


def _show_compilations(console: Console, metadata: dict[str, bytes]) -> None:
    from ..lite.errors import ModelError
    from ..lite.partition_program import METADATA_NAME, parse_compilations

    try:
        entries = parse_compilations(metadata.get(METADATA_NAME, b"[]"))
    except ModelError as error:
        console.print(str(error))
        return
    for entry in entries:
        console.print(
            f"compiled for delegate {entry.delegate!r}, version {shown(entry.version)} "
            f"({shown(entry.class_path)}), from the model of digest {shown(entry.source_digest)}"
        )


def _show_signatures(console: Console, model: Model) -> None:
    for key, signature in model.signatures().items():
        inputs, outputs = (", ".join(map(shown, names)) for names in (signature.inputs, signature.outputs))
        console.print(f"signature {key!r}: ({inputs}) -> ({outputs}), subgraph {signature.subgraph_index}")


def _show_interface(console: Console, index: int, subgraph: Any) -> None:
    named = f" {subgraph.name!r}" if subgraph.name else ""
    console.print(
        f"\nsubgraph {index}{named}: {counted(len(subgraph.operators), 'operator')}, "
        f"{counted(len(subgraph.tensors), 'tensor')}",
        markup=False,
    )
    for kind, tensors in (("input", subgraph.inputs), ("output", subgraph.outputs)):
        for t in tensors:
            console.print(f"  {kind:<6} {t}: {_named(subgraph, t, _describe)}")


def _named(subgraph: Any, t: int, told: Callable[[Any], str]) -> str:
    """What is told of the tensor of that index, which not all files have."""
    return told(subgraph.tensors[int(t)]) if 0 <= t < len(subgraph.tensors) else "no such tensor"


def _describe(tensor: Any) -> str:
    text = f"{shown(tensor.name or '(no name)')}  {type_name(tensor.type)} {_shape(tensor)}"
    quantization = _quantization(tensor)
    return f"{text}  {quantization}" if quantization else text


def _operator_counts(model: Model, subgraph: Any) -> Table:
    counts = Counter(operator_name(model, operator) for operator in subgraph.operators)
    table = make_table("operator", "version", "count")
    table.columns[2].justify = "right"
    for (name, version), count in sorted(counts.items(), key=lambda item: (-item[1], item[0])):
        table.add_row(name, str(version), str(count))
    return table


def _node_table(model: Model, subgraph: Any) -> Table:
    table = make_table("node", "operator", "inputs", "outputs", "output shape")
    for index, operator in enumerate(subgraph.operators):
        inputs, outputs = (" ".join(map(str, vector)) for vector in (operator.inputs, operator.outputs))
        shapes = ", ".join(_named(subgraph, t, _shape) for t in operator.outputs)
        table.add_row(str(index), operator_name(model, operator)[0], inputs, outputs, shapes)
    return table


def _tensor_table(model: Model, subgraph: Any) -> Table:
    table = make_table("tensor", "type", "shape", "constant bytes", "quantization", "name")
    table.columns[3].justify = "right"
    for index, tensor in enumerate(subgraph.tensors):
        data = model.buffer(tensor.buffer)
        constant = "" if data is None else f"{data.size:,}"
        quantization = _quantization(tensor)
        table.add_row(
            str(index), type_name(tensor.type), _shape(tensor), constant, quantization, tensor.name or ""
        )
    return table


def _shape(tensor: Any) -> str:
    return "x".join("?" if extent < 0 else str(extent) for extent in shape_of(tensor)) or "scalar"


def _quantization(tensor: Any) -> str:
    quantization = tensor.quantization
    if quantization is None or not len(quantization.scale):
        return ""
    scale, zero_point = quantization.scale, quantization.zero_point
    if len(scale) > 1:
        return f"{len(scale)} scales along axis {quantization.quantized_dimension}"
    point = int(zero_point[0]) if len(zero_point) else 0
    return f"scale {float(scale[0]):.6g}, zero point {point}"


def _show_memory(console: Console, path: str, tensors: bool, trust_compiled_code: bool) -> None:
    """The memory plan, or why there is none: a model that cannot run can still be looked at."""
    from ..interpreter import Interpreter

    try:
        interpreter = Interpreter(path, trust_compiled_code=trust_compiled_code)
        interpreter.allocate_tensors()
        report = interpreter.memory_report()
    except (ValueError, RuntimeError) as error:
        console.print(f"\nmemory: not planned, {' '.join(str(error).split())}")
        return
    console.print(f"\nmemory:\n{report if tensors else report.summary()}")
