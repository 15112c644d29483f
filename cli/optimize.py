"""`numlite optimize`: a TensorFlow graph, optimized as TensorFlow would, and what was done."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..schema.shown import shown
from .console import echo
from .output_file import check_output

if TYPE_CHECKING:
    from ..converter.ir.module import Module
    from ..converter.optimizers.config import OptimizerConfig
    from ..converter.optimizers.external import CheckFactory
    from ..converter.optimizers.item import GrapplerItem
    from ..converter.optimizers.result import OptimizationResult
    from ..converter.plugins.registry import PluginRegistry


@click.command("optimize")
@click.argument("graph", type=click.Path(exists=True, path_type=Path), required=False)
@click.option(
    "-o", "--output", type=click.Path(dir_okay=False, path_type=Path), help="Write .pb, .pbtxt or .tfg."
)
@click.option("--feeds", metavar="NAMES", help="What is fed, with commas; by default the placeholders.")
@click.option("--fetches", metavar="NAMES", help="What is fetched, with commas; of a SavedModel the outputs.")
@click.option("--signature", metavar="NAME", help="Which signature of a SavedModel.")
@click.option(
    "--config", type=click.Path(exists=True, dir_okay=False, path_type=Path), help="A RewriterConfig."
)
@click.option(
    "--set",
    "settings",
    metavar="FIELD=VALUE",
    multiple=True,
    help="One field: remapping=off, stages.convert_pow=off.",
)
@click.option("--optimizers", metavar="NAMES", help="These alone, in this order.")
@click.option("--aggressive", is_flag=True, help="AGGRESSIVE for those that know such a level.")
@click.option(
    "--target", type=click.Choice(("tensorflow", "numlite", "portable")), help="Who runs the graph."
)
@click.option("--device", metavar="NAME", help="Put nodes that name no device on this one.")
@click.option("--plugin", "plugins", metavar="PATH", multiple=True, help="One plugin more (.so, .py).")
@click.option("--no-plugin", "without", metavar="NAME", multiple=True, help="Without this plugin.")
@click.option("--no-plugins", is_flag=True, help="Without any plugin.")
@click.option("--iterations", type=click.IntRange(1, 2), help="How often the list is gone through.")
@click.option("--timeout-ms", type=click.IntRange(1), help="Stop after this long.")
@click.option("--min-graph-nodes", type=int, help="Leave smaller graphs; -1 leaves none.")
@click.option(
    "--verify", type=click.IntRange(1), metavar="N", help="Run it on N random inputs around each pass."
)
@click.option(
    "--report",
    "page",
    type=click.Path(dir_okay=False, path_type=Path, allow_dash=True),
    help="Write a page (HTML) of what was done; - is the standard output.",
)
@click.option("--explain", metavar="NODE", help="Which rules removed, replaced or changed this node.")
@click.option("--list", "shows_list", is_flag=True, help="List optimizers, rules and plugins.")
@click.option("--debug", is_flag=True, help="On an error show the whole traceback.")
def command(
    graph: Path | None,
    output: Path | None,
    feeds: str | None,
    fetches: str | None,
    signature: str | None,
    device: str | None,
    plugins: tuple[str, ...],
    without: tuple[str, ...],
    verify: int | None,
    page: Path | None,
    explain: str | None,
    shows_list: bool,
    debug: bool,
    **options: Any,
) -> None:
    """Optimize GRAPH as TensorFlow's Grappler does, and show what was done.

    GRAPH is a GraphDef (.pb or .pbtxt), a text of the graph IR (tfg), or the folder of a SavedModel.
    """
    if shows_list:
        _show_list(plugins, without)
        return
    if graph is None:
        raise click.UsageError("GRAPH must be given")
    if output is not None:
        check_output(output, graph=graph)
        if output.suffix not in (".pb", ".pbtxt", ".tfg"):
            raise click.UsageError(f"--output: must end in .pb, .pbtxt or .tfg, got {output.name}")
    to_console = page == Path("-")
    if page is not None and not to_console:
        others = {} if output is None else {"file_of_output": output}
        check_output(page, option="--report", graph=graph, **others)
    with _rare_collections():
        item = _item(graph, _names(feeds), _names(fetches), signature, device)
        result = _optimized(item, _config(options), plugins, without, verify)
    if page is not None:
        _write_report(graph.name, page, item, result)
    if not to_console:
        _show(result)
    if explain is not None:
        _explain(result, explain)
    if output is not None:
        _write(output, result.module)
    if verify is not None:
        _show_verdict(result, verify)


@contextmanager
def _rare_collections() -> Iterator[None]:
    """Graphs are many objects that live to the end: looking for dead ones takes a seventh of the time."""
    before = gc.get_threshold()
    gc.set_threshold(200_000, 20, 20)
    try:
        yield
    finally:
        gc.set_threshold(*before)


def _names(text: str | None) -> list[str]:
    return [name.strip() for name in (text or "").split(",") if name.strip()]


def _config(options: dict[str, Any]) -> OptimizerConfig:
    """The config of a file, then single fields; UsageError for what is none."""
    from ..converter.optimizers.config import OptimizerConfig

    path: Path | None = options["config"]
    try:
        config = OptimizerConfig() if path is None else OptimizerConfig.of(_content(path))
        fields: dict[str, Any] = {}
        for setting in options["settings"]:
            name, equals, value = setting.partition("=")
            if not equals:
                raise click.UsageError(f"--set: must be FIELD=VALUE, got {setting!r}")
            group, dot, stage = name.partition(".")
            if dot and group == "stages":
                fields.setdefault("stages", {})[stage] = _value(value)
            else:
                fields[name] = _value(value)
        OptimizerConfig.from_options(fields)
        given = {
            "optimizers": _names(options["optimizers"]) or None,
            "target": options["target"],
            "use_plugin_optimizers": False if options["no_plugins"] else None,
            "meta_optimizer_iterations": options["iterations"],
            "meta_optimizer_timeout_ms": options["timeout_ms"],
            "min_graph_nodes": options["min_graph_nodes"],
        }
        config = config.with_options(**fields, **{k: v for k, v in given.items() if v is not None})
    except ValueError as error:
        raise click.UsageError(str(error)) from error
    return config.aggressive() if options["aggressive"] else config


def _content(path: Path) -> str | bytes:
    return path.read_bytes() if path.suffix == ".pb" else path.read_text(encoding="utf-8-sig")


def _value(text: str) -> object:
    named = {"true": True, "false": False, "on": True, "off": False}
    if text.lower() in named:
        return named[text.lower()]
    return int(text) if text.lstrip("-").isdigit() else text


def _optimized(
    item: GrapplerItem,
    config: OptimizerConfig,
    plugins: tuple[str, ...],
    without: tuple[str, ...],
    verify: int | None,
) -> OptimizationResult:
    from ..converter.optimizers.meta_optimizer import MetaOptimizer
    from ..converter.plugins.choice import custom_factory, plugin_choice

    _add(plugins)
    check = None if verify is None else _verification(verify)
    result = MetaOptimizer(config, plugin_choice(without=without), custom_factory(), check).optimize(item)
    unknown = [name for name in config.optimizers if f"there is no optimizer {name!r}" in result.warnings]
    if unknown:
        raise click.UsageError(f"--optimizers: there is no {unknown[0]!r}; --list names them")
    return result


def _verification(count: int) -> CheckFactory:
    from ..converter.optimizers.verification import Verification

    return partial(Verification, count=count)


def _add(plugins: tuple[str, ...]) -> PluginRegistry:
    """The process's registry, with these plugins, too."""
    from ..converter.plugins.discovery import add_plugin
    from ..converter.plugins.registry import default_registry

    for plugin in plugins:
        add_plugin(default_registry(), plugin)
    return default_registry()


def _item(
    path: Path, feeds: list[str], fetches: list[str], signature: str | None, device: str | None
) -> GrapplerItem:
    from ..converter.optimizers.item import GrapplerItem, device_type
    from ..converter.saved_model.loader import load_saved_model
    from ..converter.source_file import FileKind, file_kind, load_graph

    if file_kind(path) == FileKind.SAVED_MODEL and not fetches:
        folder = path if path.is_dir() else path.parent
        item = GrapplerItem.from_frozen(load_saved_model(folder).freeze(signature))
    else:
        if signature is not None:
            raise click.UsageError("--signature is for a SavedModel without --fetches")
        if not fetches:
            raise click.UsageError("--fetches: a graph must have some, got none")
        module = load_graph(path, None)
        known = [] if module.graph is None else list(module.graph.body)
        fed = feeds or [node.name for node in known if node.op.startswith("Placeholder")]
        item = GrapplerItem(module, tuple(fed), tuple(fetches))
        item.check()
    if device is not None:
        if not device_type(device):
            raise click.UsageError(f"--device: must name a type as in /CPU:0, got {device!r}")
        for node in item.nodes():
            node.device = node.device or device
    return item


def _show(result: OptimizationResult) -> None:
    """One line for each pass, and the rules that changed something."""
    row = "{:<34}{:>5}{:>8}{:>8}{:>8}{:>8}{:>12}{:>12}{:>9}  {}"
    echo(row.format("pass", "iter", "nodes", "after", "edges", "after", "bytes", "after", "ms", "status"))
    for each in result.passes:
        name = f"{each.optimizer} {shown(each.function)}".strip()
        reason = f": {shown(each.reason)}" if each.reason else ""
        echo(row.format(name[:34], each.iteration, *each.sizes, f"{each.ms:.1f}", each.status + reason))
        if each.rules:
            echo("    " + ", ".join(f"{rule} {fired.count}" for rule, fired in each.rules.items()))
    for warning in result.warnings:
        echo(f"warning: {shown(warning)}")


def _write_report(title: str, page: Path, before: GrapplerItem, result: OptimizationResult) -> None:
    from ..lite.whole_file import write_whole
    from .optimize_report import report

    text = report(title, before, result, replace(before, module=result.module))
    if page == Path("-"):
        echo(text)
    else:
        write_whole(page, [text.encode()])


def _show_verdict(result: OptimizationResult, count: int) -> None:
    """How many passes were looked at. ClickException when one changed what the graph gives."""
    wrong = [each for each in result.passes if each.reason.startswith("DifferenceError")]
    if wrong:
        raise click.ClickException(f"--verify: {shown(wrong[0].reason)}; the pass was undone")
    checked = sum(each.status == "changed" for each in result.passes)
    if any(warning.startswith("verify: ") for warning in result.warnings):
        raise click.ClickException("--verify: nothing was compared (see the warning)")
    echo(f"verify: {checked} passes that changed something give the same on {count} random inputs")


def _explain(result: OptimizationResult, name: str) -> None:
    """The rules that had the node as their root, as far as records name it."""
    found = [
        f"{name}: {each.optimizer}.{rule} in iteration {each.iteration}"
        for each in result.passes
        for rule, fired in each.rules.items()
        if name in fired.nodes
    ]
    graph = result.module.graph
    is_there = graph is not None and any(node.name == name for node in graph.body)
    echo("\n".join(found) if found else f"{name}: no record names it")
    echo(f"{name}: it {'stays' if is_there else 'is gone'}")


def _show_list(plugins: tuple[str, ...], without: tuple[str, ...]) -> None:
    from ..converter.optimizers.register import OPTIMIZERS
    from ..converter.optimizers.rule_table import rules_of
    from ..converter.plugins.discovery import OFF, discover, plugins_setting

    for each in OPTIMIZERS:
        state = "on by default" if each.is_on_by_default else "off by default"
        echo(f"{each.name} ({each.field}): {state}")
        for rule in rules_of(each):
            echo(f"    {rule.name}")
    if plugins_setting() == OFF:
        return
    discover()
    registry = _add(plugins)
    for entry in registry.plugins():
        if entry.name not in without:
            echo(f"plugin {shown(entry.name)}: on devices of type {shown(entry.device_type)}")
    for name, reason in registry.failures.items():
        echo(f"plugin {shown(name)}: cannot be had: {shown(reason)}")


def _write(output: Path, module: Module) -> None:
    from google.protobuf import text_format

    from ..converter.ir.export_graph import export_graph_def
    from ..converter.tfg.text_printer import print_module
    from ..lite.whole_file import write_whole

    if output.suffix == ".tfg":
        content = (print_module(module) + "\n").encode(errors="surrogateescape")
    elif output.suffix == ".pbtxt":
        content = text_format.MessageToString(export_graph_def(module), as_utf8=False).encode()
    else:
        content = export_graph_def(module).SerializeToString(deterministic=True)
    write_whole(output, [content])
