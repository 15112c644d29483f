"""What all commands that run a model ask for: the model, the threads, the numerics, a delegate."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import click

from .custom_operators import custom_op_option, custom_operators
from .delegate_options import delegate_option, parse_options

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

timeout_option = click.option(
    "--timeout",
    type=click.FloatRange(min=0, min_open=True),
    metavar="SECONDS",
    help="Give up when one inference, with its preparation, takes longer.",
)

_delegate = click.option(
    "--delegate", metavar="NAME", help="Let this delegate run what it takes: its name, or its module."
)


trust_option = click.option(
    "--trust-compiled-code",
    is_flag=True,
    help="Run what a compiled model carries, by the installed delegate that it names.",
)


def prepare_options(command: Command) -> Command:
    """Adds --threads and --resolver to a command."""
    return _threads(_resolver(command))


def run_options(command: Command) -> Command:
    """Adds --threads, --resolver, --delegate, --option, --trust-compiled-code, --custom-op to a command."""
    return prepare_options(_delegate(delegate_option(trust_option(custom_op_option(command)))))


def open_interpreter(
    model: str,
    threads: int,
    resolver: str,
    delegate: str | None = None,
    options: Sequence[str] = (),
    trust_compiled_code: bool = False,
    custom_ops: Sequence[str] = (),
    keep_all: bool = False,
) -> Interpreter:
    """The interpreter that these options describe, not allocated yet."""
    from ..delegates.loading import load_delegate
    from ..interpreter import InterpreterWithCustomOps, OpResolverType

    if options and delegate is None:
        raise click.UsageError("--option is for a delegate, which --delegate names")
    chosen = parse_options(options)
    kind = OpResolverType[RESOLVERS[resolver]]
    operators = custom_operators(custom_ops)
    try:
        delegates = None if delegate is None else [load_delegate(delegate, chosen)]
        return InterpreterWithCustomOps(
            operators,
            model_path=model,
            num_threads=threads,
            experimental_op_resolver_type=kind,
            experimental_delegates=delegates,
            experimental_preserve_all_tensors=keep_all,
            trust_compiled_code=trust_compiled_code,
        )
    except (ValueError, RuntimeError) as error:
        raise click.ClickException(f"{model}: {error}") from error
