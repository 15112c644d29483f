"""What all commands that run a model ask for: the model, the threads, the numerics."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from ..interpreter import Interpreter

RESOLVERS = {"auto": "AUTO", "builtin": "BUILTIN", "ref": "BUILTIN_REF"}

Command = TypeVar("Command", bound=Callable[..., Any])

model_argument = click.argument("model", type=click.Path(exists=True, dir_okay=False))

_threads = click.option(
    "--threads", type=click.IntRange(min=1), default=1, show_default=True, help="Threads a kernel may use."
)
_resolver = click.option(
    "--resolver",
    type=click.Choice(list(RESOLVERS)),
    default="auto",
    show_default=True,
    help="auto and builtin give LiteRT's default results, ref those of the reference kernels.",
)


def run_options(command: Command) -> Command:
    """Adds --threads and --resolver to a command."""
    return _threads(_resolver(command))


def open_interpreter(model: str, threads: int, resolver: str) -> Interpreter:
    """The interpreter that these options describe, not allocated yet."""
    from ..interpreter import Interpreter, OpResolverType

    kind = OpResolverType[RESOLVERS[resolver]]
    try:
        return Interpreter(model, num_threads=threads, experimental_op_resolver_type=kind)
    except (ValueError, RuntimeError) as error:
        raise click.ClickException(f"{model}: {error}") from error
