"""The command `numlite`: its subcommands, and how errors reach the user."""

from __future__ import annotations

import importlib
import logging
import os
import sys
from collections.abc import Sequence

import click

from .. import __version__
from .console import echo

# Name: module of this folder, and what the command list says. The modules are imported when
# their command is used, so that help is quick.
COMMANDS = {
    "run": ("run", "Run a model once on given or random inputs."),
    "inspect": ("inspect", "Show a model's signatures, operators, tensors and memory."),
    "compile": ("compile", "Compile what a delegate can run of a model ahead of time."),
    "plan": ("plan", "Show how much memory a model's tensors take, and look for the smallest arena."),
    "prepare": ("prepare", "Prepare a model ahead of time, so that it loads at once."),
    "benchmark": ("benchmark", "Measure a model's latency, also against LiteRT."),
    "quantize": ("quantize", "Make a float model smaller: weights of 8, 4 or 2 bits, or float16."),
    "compare": ("compare", "Show where two models, two numerics, or numlite and LiteRT differ."),
    "explore": ("explore", "Draw a model, or two beside each other, as a page: graph, memory, time, values."),
    "graph": ("graph", "Show a TensorFlow graph: summary, text, differences, pictures."),
    "optimize": ("optimize", "Optimize a TensorFlow graph as TensorFlow would."),
    "map": ("map", "Run a model on every row of a parquet file or every file of a folder."),
    "metadata": ("metadata", "Show or change what a model says of itself: names, labels, normalization."),
    "plugins": ("plugins", "Show the plugins that optimize graphs, and why others cannot be had."),
    "select-ops": ("select_ops", "List the operators and kernels that models need."),
    "warmup": ("warmup", "Compile all kernels now, so that no model has to wait."),
    "demo": ("demo", "Convert a small classifier, run it, and show how it did."),
}

# Threads of NumPy's linear algebra would gain these nothing: they spin as they start, and as they wait.
_OF_SMALL_MATRICES = ("quantize",)


class _Commands(click.Group):
    """Subcommands by the table above."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS:
            return None
        if name in _OF_SMALL_MATRICES:
            os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # which NumPy reads when it is imported
        module = importlib.import_module(f".{COMMANDS[name][0]}", __package__)
        command = module.command
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in COMMANDS.items()])


@click.group(cls=_Commands, invoke_without_command=True)
@click.option("--debug", is_flag=True, help="On an error show the whole traceback.")
@click.version_option(__version__, prog_name="numlite")
@click.pass_context
def cli(ctx: click.Context, debug: bool) -> None:
    """Runs .tflite models with compiled kernels."""
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


def main(arguments: Sequence[str] | None = None) -> None:
    """Runs the command and ends the process: status 0, 1 for an error, 2 for wrong usage."""
    show_log()
    sys.exit(run_command(cli, sys.argv[1:] if arguments is None else arguments))


def show_log() -> None:
    """What numlite logs goes to stderr in plain lines: that kernels are being compiled, say."""
    log = logging.getLogger("numlite")
    if not log.handlers:
        handler = logging.StreamHandler()
        handler.setFormatter(logging.Formatter("%(name)s: %(message)s"))
        log.addHandler(handler)
        log.setLevel(logging.INFO)


def run_command(command: click.Command, arguments: Sequence[str]) -> int:
    """Run a command; an error becomes one line on stderr. Returns the exit status.

    With the command's --debug option an error shows its traceback too.
    """
    debug = False
    try:
        with command.make_context(command.name, list(arguments)) as ctx:
            debug = bool(ctx.params.get("debug"))
            command.invoke(ctx)
        sys.stdout.flush()
        return 0
    except click.exceptions.Exit as stop:
        return stop.exit_code
    except (KeyboardInterrupt, click.Abort):
        return _fail(command, "interrupted", 130)
    except BrokenPipeError:
        # The reader went away (`numlite inspect model | head`): nothing left to say, also not at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except click.ClickException as error:
        if debug:
            _show_traceback()
        return _fail(command, error.format_message(), error.exit_code)
    except Exception as error:
        if debug:
            _show_traceback()
        return _fail(command, _describe(error), 1)


def _describe(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror and error.filename:
        return f"{error.filename}: {error.strerror}"
    known = isinstance(error, (ValueError, RuntimeError, OSError))
    text = str(error)
    return text if known and text else f"{type(error).__name__}: {text} (--debug shows where)"


def _fail(command: click.Command, message: str, status: int) -> int:
    echo(f"{command.name}: {one_line(message)}", err=True)
    return status


def one_line(message: str) -> str:
    """The message without its line breaks; of a long one (a compiler's, say) the first and the last line."""
    lines = message.split("\n")
    if len(lines) > 5:
        lines = [lines[0], "...", lines[-1]]
    return " ".join(" ".join(lines).split())


def _show_traceback() -> None:
    import traceback

    traceback.print_exc()


cli.name = "numlite"
