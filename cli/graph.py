"""`numlite graph`: what a TensorFlow graph holds, its texts, differences and pictures."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from .console import echo
from .graph_source import load, named_function
from .json_output import json_option, print_json
from .output_file import check_output

if TYPE_CHECKING:
    from ..converter.ir.module import Function, Graph, Module

_SHOWS = ("text", "to_pbtxt", "dot", "svg", "diff")


@click.command("graph")
@click.argument("graph", type=click.Path(exists=True, path_type=Path))
@click.option("--tags", metavar="TAGS", help="Which graph of a SavedModel, with commas between the tags.")
@click.option("--signature", metavar="NAME", help="Freeze this signature of a SavedModel first.")
@click.option("--function", metavar="NAME", help="Show only this function of the graph.")
@click.option("--text", is_flag=True, help="Print the graph IR's text.")
@click.option("--to-pbtxt", is_flag=True, help="Print the GraphDef in text form.")
@click.option("--dot", is_flag=True, help="Print a picture for Graphviz.")
@click.option("--svg", is_flag=True, help="Print a picture as SVG.")
@click.option(
    "--diff",
    metavar="OTHER",
    type=click.Path(exists=True, path_type=Path),
    help="Show what OTHER has that GRAPH has not, and the reverse. The status is 1 where they differ.",
)
@json_option
@click.option(
    "-o", "--output", type=click.Path(dir_okay=False, path_type=Path), help="Write to this file instead."
)
def command(
    graph: Path,
    tags: str | None,
    signature: str | None,
    function: str | None,
    text: bool,
    to_pbtxt: bool,
    dot: bool,
    svg: bool,
    diff: Path | None,
    as_json: bool,
    output: Path | None,
) -> None:
    """Show what GRAPH holds: signatures, inputs and outputs, ops, functions, variables.

    GRAPH is a GraphDef (.pb or .pbtxt), a text of the graph IR (tfg), or the folder of a SavedModel.
    """
    chosen = [name for name, asked in zip(_SHOWS, (text, to_pbtxt, dot, svg, diff), strict=True) if asked]
    if len(chosen) > 1:
        raise click.UsageError(f"only one of --{' and --'.join(chosen).replace('_', '-')} can be shown")
    if as_json and (output is not None or (chosen and diff is None)):
        raise click.UsageError("--json is for the summary and for --diff, and goes to stdout")
    if output is not None:
        check_output(output, graph=graph)
        if diff is not None:
            check_output(output, other_graph=diff)
    if not chosen and as_json:
        from .graph_json import summary_fields

        print_json("graph", summary_fields(graph, _tags(tags), signature, function))
        return
    if not chosen:
        from .graph_summary import summary

        _give(summary(graph, _tags(tags), signature, function), output)
        return
    module = _module(graph, _tags(tags), signature, function)
    if diff is None:
        _give(_shown(chosen[0], module, function), output)
        return
    from .graph_diff import differences

    lines = differences(module, _module(diff, _tags(tags), signature, function))
    if as_json:
        print_json("graph", {"graph": str(graph), "other": str(diff), "differences": lines})
    else:
        _give("\n".join(lines) if lines else "no difference", output)
    if lines:
        raise click.exceptions.Exit(1)


def _tags(text: str | None) -> list[str] | None:
    return None if text is None else [tag.strip() for tag in text.split(",") if tag.strip()]


def _module(path: Path, tags: list[str] | None, signature: str | None, function: str | None) -> Module:
    """The graph of a file, or the module of one function of it."""
    from ..converter.ir.module import Module

    module = load(path, tags, signature)
    return module if function is None else Module([named_function(module, function)])


def _shown(what: str, module: Module, function: str | None) -> str:
    if what == "text":
        from ..converter.tfg.text_printer import print_module

        return print_module(module)
    if what == "to_pbtxt":
        from google.protobuf import text_format

        from ..converter.ir.export_graph import export_graph_def

        # Beyond ASCII, too, by the form's own escapes: some letters turn or hide what is around them.
        return text_format.MessageToString(export_graph_def(module), as_utf8=False).rstrip("\n")
    body: Graph | Function | None = module.graph if function is None else module.functions[function]
    if body is None:
        raise click.UsageError("the file has no graph, only functions: choose one with --function")
    if what == "dot":
        from .graph_dot import dot

        return dot(body)
    from .graph_svg import svg

    return svg(body)


def _give(text: str, output: Path | None) -> None:
    if output is None:
        echo(text)
        return
    from ..lite.whole_file import write_whole

    write_whole(output, [(text + "\n").encode(errors="surrogateescape")])
    echo(f"{output}: {len(text) + 1:,} bytes")
