"""Asks a process of its own, which may die of a question; questions and answers are pickles."""

from __future__ import annotations

import os
import pickle
import select
import struct
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, BinaryIO

ROOT = Path(__file__).resolve().parents[1]


class Process:
    """A process that answers one question after another, started again after each death."""

    def __init__(self, command: Sequence[str], timeout_s: float) -> None:
        self.command = command
        self.timeout_s = timeout_s
        self.child: subprocess.Popen[bytes] | None = None

    def ask(self, question: object) -> Any:
        """The answer; None when the process died of the question, or took too long."""
        if self.child is None:
            pipe = subprocess.PIPE
            self.child = subprocess.Popen(
                self.command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, cwd=ROOT
            )
        assert self.child.stdin is not None and self.child.stdout is not None
        try:
            _write(self.child.stdin, question)
            ready, _, _ = select.select([self.child.stdout], [], [], self.timeout_s)
            if ready:
                return _read(self.child.stdout)
        except (BrokenPipeError, EOFError):
            pass
        self.stop()
        return None

    def stop(self) -> None:
        if self.child is not None:
            self.child.kill()
            self.child.communicate()
            self.child = None


def serve(answer: Callable[..., object]) -> None:
    """The process: answers tuples of arguments until its input ends. What the answer prints is dropped."""
    pipe = os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    while True:
        try:
            question = _read(sys.stdin.buffer)
        except EOFError:
            return
        _write(pipe, answer(*question))


def _write(stream: BinaryIO | Any, value: object) -> None:
    data = pickle.dumps(value)
    stream.write(struct.pack("<q", len(data)) + data)
    stream.flush()


def _read(stream: BinaryIO | Any) -> Any:
    size = stream.read(8)
    if len(size) < 8:
        raise EOFError
    return pickle.loads(stream.read(struct.unpack("<q", size)[0]))
