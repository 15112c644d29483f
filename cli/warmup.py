"""`numlite warmup`: compiles every kernel."""

from __future__ import annotations

import click


@click.command("warmup")
def command() -> None:
    """Compile the kernels of all operators into the cache, so that no model has to wait for them.

    What the cache already holds is not compiled again. NUMLITE_CACHE_DIR says where it lies,
    NUMLITE_CPU compiles for another processor than this machine's.
    """
    from ..kernels import warmup

    warmup.warmup()
    click.echo(f"{len(warmup.compiled_families())} kernel families are ready")
