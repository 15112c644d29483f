"""`numlite plan`: the arena that a model's tensors need, and the smallest that can be found."""

from __future__ import annotations

from pathlib import Path

import click

from .console import echo
from .model_options import model_argument, open_interpreter
from .output_file import check_output


@click.command("plan")
@model_argument
@click.option("--optimal", is_flag=True, help="Search for the smallest arena, for some ten seconds at most.")
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write the model with the plan, which numlite and TFLite Micro then use.",
)
def command(model: str, optimal: bool, output: Path | None) -> None:
    """Show the arena that MODEL's tensors take, in the shapes that the file has.

    The lower bound is what is live at once at the fullest point. A plan that is written is metadata,
    OfflineMemoryAllocation: offsets of the model's tensors; scratch memory of kernels is placed around them.
    """
    from ..lite import offline_plan
    from ..lite.arena_planner import OFFLINE_PLAN
    from ..lite.arena_search import best_offsets
    from ..lite.whole_file import write_whole
    from ..metadata import with_entry

    if output is not None:
        check_output(output, model=model)
    core = open_interpreter(model, 1, "auto").core
    graph = core.subgraph()
    try:
        core.allocate_tensors()
    except (ValueError, RuntimeError) as error:
        raise click.ClickException(f"{model}: {error}") from error
    if len(graph.stages) != 1:
        raise click.ClickException(f"{model}: it has tensors whose sizes only a run finds out: no plan holds")
    memory = graph.stages[0].memory
    offsets, size = memory.offsets, memory.arena_bytes
    echo(f"lower bound {memory.lower_bound_bytes():12,} bytes")
    echo(f"arena       {size:12,} bytes")
    if optimal:
        found, best = best_offsets(memory.lifetimes, core.runtime.library)
        offsets, size = (found, best) if best < size else (offsets, size)
        echo(f"best found  {size:12,} bytes")
    if output is not None:
        count = graph.model_tensor_count
        own = {x.tensor: at for x, at in zip(memory.lifetimes, offsets, strict=True) if x.tensor < count}
        content = offline_plan.packed(graph.index, count, own)
        write_whole(output, [with_entry(core.model, OFFLINE_PLAN, content)])
        echo(f"{output}: written")
