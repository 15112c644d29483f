"""`numlite plugins`: the graph optimizers that are installed as plugins, and why others cannot be had."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from ..schema.shown import shown
from .console import make_console, make_table

if TYPE_CHECKING:
    from ..converter.plugins.registry import PluginEntry, PluginRegistry

_READY, _FAILED = "ready", "failed"


@click.command("plugins")
@click.option("--plugin", "paths", multiple=True, metavar="PATH", help="A plugin's .so or .py to show, too.")
@click.option("--tensorflow-plugins", is_flag=True, help="Plugins installed for TensorFlow, too.")
@click.option("--json", "as_json", is_flag=True, help="All of it as JSON.")
def command(paths: tuple[str, ...], tensorflow_plugins: bool, as_json: bool) -> None:
    """Show plugins that optimize graphs: device type, version, configs, ops, kernels, status.

    What is installed is looked for; --plugin names more. A plugin that is a shared library is opened in a
    process of its own.
    """
    rows = _rows(_registry(paths, tensorflow_plugins))
    if as_json:
        click.echo(json.dumps(rows, indent=2))
        return
    console = make_console()
    if not rows:
        console.print("no plugins")
        return
    table = make_table("plugin", "device", "version", "configs", "ops", "kernels", "status")
    for row in rows:
        configs = ", ".join(f"{name} {state}" for name, state in row["configs"].items())
        counts = str(row["ops"]), _kernel_text(row)
        table.add_row(row["name"], row["device_type"], row["version"], configs, *counts, row["status"])
    console.print(table)
    for row in rows:
        for line in _lines(row):
            console.print(f"{row['name']}: {line}")


def _registry(paths: tuple[str, ...], tensorflow: bool) -> PluginRegistry:
    """A registry of what is installed and named; each failure is among its own."""
    from ..converter.plugins.discovery import add_plugin, discover
    from ..converter.plugins.registry import PluginRegistry
    from ..lite.errors import PluginError

    registry = PluginRegistry()
    discover(registry, tensorflow)
    for path in paths:
        try:
            add_plugin(registry, path)
        except PluginError as error:
            registry.failures[path] = str(error)
    return registry


def _rows(registry: PluginRegistry) -> list[dict[str, Any]]:
    failures = (_failure(name, reason) for name, reason in registry.failures.items())
    return [*map(_row, registry.plugins()), *failures]


def _row(entry: PluginEntry) -> dict[str, Any]:
    notes = entry.notes
    kernels = notes.get("kernels")
    listed = kernels if isinstance(kernels, list) else [[kernel.op] for kernel in entry.kernels]
    return {
        "name": shown(entry.name),
        "path": shown(entry.path) if entry.path else "",
        "device_type": shown(entry.device_type),
        "version": ".".join(map(str, entry.api_version)),
        "configs": {name: state.name for name, state in entry.configs.items()},
        "configs_bytes": notes.get("configs_bytes", 0),
        "ops": len(entry.ops),
        "kernels": len(listed),
        "kernel_ops": len({kernel[0] for kernel in listed}),
        "isolation": notes.get("isolation", "none"),
        "unanswered": notes.get("unanswered", []),
        "not_called": notes.get("not_called", []),
        "status": _READY,
        "reason": "",
    }


def _failure(name: str, reason: str) -> dict[str, Any]:
    empty = {"device_type": "", "version": "", "configs": {}, "configs_bytes": 0, "ops": 0, "kernels": 0}
    more = {"kernel_ops": 0, "isolation": "", "unanswered": [], "not_called": []}
    return {
        "name": shown(name),
        "path": shown(name),
        **empty,
        **more,
        "status": _FAILED,
        "reason": shown(reason),
    }


def _kernel_text(row: dict[str, Any]) -> str:
    return f"{row['kernels']} of {row['kernel_ops']} ops" if row["kernels"] else "0"


def _lines(row: dict[str, Any]) -> list[str]:
    """What a table has no column for."""
    lines = [f"{row['path']}, {row['configs_bytes']} bytes of configs"] if row["configs_bytes"] else []
    if row["reason"]:
        lines.append(row["reason"])
    if row["unanswered"]:
        lines.append(f"fails where it calls what is not built: {', '.join(row['unanswered'])}")
    if row["not_called"]:
        lines.append(f"has functions that are not called here: {', '.join(row['not_called'])}")
    return lines
