"""`numlite compare`: where two models, two numerics, or numlite and LiteRT begin to differ."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from ..schema.shown import short_name, shown_name
from .console import make_console, make_table
from .json_output import json_option, print_json
from .model_options import RESOLVERS, comparison_options, input_option, resolver_option, seed_option

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.table import Table

    from ..model_comparison import ModelComparison, TensorComparison

_MODEL = click.Path(exists=True, dir_okay=False)


@click.command("compare")
@click.argument("first", type=_MODEL)
@click.argument("second", type=_MODEL, required=False)
@input_option("Real numbers, as for `run`.")
@seed_option
@resolver_option("Of FIRST.")
@comparison_options
@click.option("--all", "everything", is_flag=True, help="Show every tensor, not only those below the limit.")
@json_option
def command(
    first: str,
    second: str | None,
    sources: tuple[str, ...],
    seed: int,
    resolver: str,
    other_resolver: str | None,
    against: str | None,
    limit: float,
    everything: bool,
    as_json: bool,
) -> None:
    """Run FIRST and SECOND on the same inputs, and show how their tensors differ.

    Without SECOND it is FIRST again, in other numerics or on LiteRT. Quantized tensors count as the numbers
    that they stand for. Exit status 1 where an output is below the limit.
    """
    if second is None and other_resolver in (None, resolver) and against is None:
        raise click.UsageError("SECOND, --other-resolver or --against must say what FIRST is compared with")
    from ..interpreter import Interpreter, OpResolverType
    from ..model_comparison import compare_models
    from .model_inputs import named, read_inputs, settable

    others: Any = second or first
    other = RESOLVERS[other_resolver or resolver]
    try:
        if against is not None:
            others = _litert(others, other == "BUILTIN_REF")
        details = named(settable(Interpreter(first)))
        found = compare_models(
            first,
            others,
            read_inputs(sources, list(details)),
            resolver_type=OpResolverType[RESOLVERS[resolver]],
            other_resolver_type=OpResolverType[other],
            seed=seed,
        )
    except (ValueError, RuntimeError) as error:
        raise click.ClickException(str(error)) from error
    if as_json:
        print_json("compare", _fields(first, second, found, limit, everything))
    else:
        _show(found, limit, everything)
    if any(pair.diverges(limit) for pair in found.outputs):
        raise click.exceptions.Exit(1)


def _shown(found: ModelComparison, limit: float, everything: bool) -> list[TensorComparison]:
    return [pair for pair in found.tensors if everything or pair.diverges(limit)]


def _show(found: ModelComparison, limit: float, everything: bool) -> None:
    console = make_console()
    if shown := _shown(found, limit, everything):
        console.print(_table("tensors", shown))
    console.print(_table("outputs", found.outputs))
    equal = sum(pair.equal for pair in found.tensors)
    below = sum(pair.diverges(limit) for pair in found.tensors)
    console.print(
        f"{len(found.tensors)} tensors compared: {equal} equal, {below} below {limit:g} dB; "
        f"{len(found.unmatched)} without a counterpart"
    )
    for what, at in (("difference", float("inf")), (f"tensor below {limit:g} dB", limit)):
        pair = found.first_divergence(at)
        if pair is not None:
            console.print(
                f"first {what}: {shown_name(pair.name)}, node {pair.node} ({pair.operator}), {_db(pair)}"
            )


def _fields(
    first: str, second: str | None, found: ModelComparison, limit: float, everything: bool
) -> dict[str, Any]:
    """What docs/json.md says of the command."""
    return {
        "first": first,
        "second": second,
        "limit_db": limit,
        "compared": len(found.tensors),
        "equal": sum(pair.equal for pair in found.tensors),
        "unmatched": found.unmatched,
        "tensors": [_pair(pair) for pair in _shown(found, limit, everything)],
        "outputs": [_pair(pair) for pair in found.outputs],
        "first_difference": _node(found.first_divergence(float("inf"))),
        "first_below_limit": _node(found.first_divergence(limit)),
    }


def _pair(pair: TensorComparison) -> dict[str, Any]:
    return {**pair._asdict(), "equal": pair.equal}


def _node(pair: TensorComparison | None) -> int | None:
    return None if pair is None else pair.node


def _litert(model: str, reference: bool) -> Any:
    from .comparison import litert_interpreter

    return litert_interpreter(model, 1, reference, preserve_all=True)


def _table(title: str, pairs: Sequence[TensorComparison]) -> Table:
    table = make_table("node", "operator", "tensor", "types", "shape", "SQNR", "largest difference", "of")
    table.title = title
    for pair in pairs:
        types = pair.type if pair.type == pair.other_type else f"{pair.type}, {pair.other_type}"
        shape = "x".join(map(str, pair.shape)) or "scalar"
        place = f" at {list(pair.at)}" if pair.at and not pair.equal else ""
        node = "" if pair.node < 0 else str(pair.node)
        difference, largest = f"{pair.largest_difference:.3g}{place}", f"{pair.largest_value:.3g}"
        name = short_name(pair.name)
        table.add_row(node, pair.operator, name, types, shape, _db(pair), difference, largest)
    return table


def _db(pair: TensorComparison) -> str:
    return "equal" if pair.equal else f"{pair.sqnr_db:.1f} dB"
