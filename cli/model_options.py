"""What all commands that run a model ask for: the model, the threads, the numerics, a delegate."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
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


def resolver_option(text: str) -> Callable[[Command], Command]:
    """--resolver; the text says of what."""
    kinds = click.Choice(list(RESOLVERS))
    return click.option("--resolver", type=kinds, default="auto", show_default=True, help=text)


_resolver = resolver_option(
    "auto and builtin give LiteRT's default results, ref those of the reference kernels."
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


seed_option = click.option(
    "--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Seed of the random inputs."
)


def input_option(text: str = "As for `numlite run`.") -> Callable[[Command], Command]:
    """-i, any number of times."""
    return click.option("-i", "--input", "sources", multiple=True, metavar="[NAME=]FILE", help=text)


def output_option(text: str, required: bool = False) -> Callable[[Command], Command]:
    """-o, a file to write."""
    kind = click.Path(dir_okay=False, path_type=Path)
    return click.option("-o", "--output", type=kind, required=required, help=text)


def comparison_options(command: Command) -> Command:
    """Adds what says with what a model is compared, and when the two are told to diverge."""
    numerics = click.option(
        "--other-resolver",
        type=click.Choice(list(RESOLVERS)),
        help="The second run's numerics (default: the first one's).",
    )
    litert = click.option("--against", type=click.Choice(["litert"]), help="The second run is LiteRT's.")
    limit = click.option(
        "--limit", type=float, default=30.0, show_default=True, metavar="DB", help="Below it tensors diverge."
    )
    return numerics(litert(limit(command)))


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
