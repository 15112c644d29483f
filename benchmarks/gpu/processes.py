"""Processes with a limit of time, and one for when they say nothing."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

_LOOK_SECONDS = 0.2


@dataclass(frozen=True)
class End:
    """How a process ended: its status, and why it was ended, "" when it ended by itself."""

    status: int
    why: str = ""


def run_process(
    command: Sequence[str], log: TextIO, watched: Path, seconds: float, stall: float, own_group: bool = True
) -> End:
    """Run it until it ends, its time is over, or the watched file has not grown for stall seconds.

    Its output goes to the log. With own_group all that it has started is ended with it.
    """
    process = subprocess.Popen(
        command, stdout=log, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, start_new_session=own_group
    )
    start = grown = time.monotonic()
    size, why = _size(watched), ""
    try:
        while process.poll() is None:
            time.sleep(_LOOK_SECONDS)
            now, present = time.monotonic(), _size(watched)
            if present != size:
                size, grown = present, now
            if now - start > seconds:
                why = f"its {seconds:.0f} s were over"
            elif now - grown > stall:
                why = f"it said nothing for {stall:.0f} s"
            if why:
                break
    finally:
        _end(process, own_group)
    return End(process.wait(), why)


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def _end(process: subprocess.Popen[bytes], own_group: bool) -> None:
    """End the process and its group: what it has started may outlive it."""
    with suppress(ProcessLookupError, PermissionError):
        if own_group:
            os.killpg(process.pid, signal.SIGKILL)
        elif process.poll() is None:
            process.kill()
