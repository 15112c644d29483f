"""Files that commands write: what must hold of the path."""

from __future__ import annotations

from pathlib import Path

import click


def check_output(output: Path, **sources: str | Path) -> None:
    """UsageError where output names no file, or one of the files (by what they are) that are read."""
    if not output.name:
        raise click.UsageError("--output: it must name a file")
    for what, source in sources.items():
        try:
            same = output.samefile(source)
        except OSError:
            continue
        if same:
            raise click.UsageError(f"--output: it is the {what} itself, {output}")
