"""calibrate_in_processes: each of some processes sees every n-th sample, and what they observed is merged.

Samples are read here, in order, and sent to the processes; so a generator runs once.
"""

from __future__ import annotations

import multiprocessing
import pickle
import sys
import threading
from collections.abc import Iterable
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ...lite.errors import ModelError, StateError
from ...lite.model import Model
from ..model_runner import model_interpreter
from .calibrate import Sample, calibrate_numbered
from .calibration import Calibration
from .channel_ranges import ChannelObserver
from .float_graph import Site
from .kept_samples import KeptSamples

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

if TYPE_CHECKING:
    from collections.abc import Iterator
    from multiprocessing.connection import Connection

# What may wait for a process, so that it need not wait for its next sample.
_PIPE_BYTES = 1 << 20


class _Task(NamedTuple):
    """What a process observes: a model's bytes, tensors, their observers' kind, and whose channels count."""

    model: bytes
    sites: frozenset[Site]
    kind: str
    channels: frozenset[Site]


class _Seen(NamedTuple):
    """What a process has seen (None without samples), or its error with the number of the sample."""

    ranges: str | None
    channels: dict[Site, np.ndarray]
    sample: int = -1
    error: Exception | None = None


def calibrate_in_processes(
    model: Model,
    samples: Iterable[Sample],
    sites: Iterable[Site],
    kind: str,
    channels: Iterable[Site],
    jobs: int,
) -> Calibration:
    """What calibrate gives in one process, ranges of channels included, whatever the number of jobs.

    kind must not depend on the order of samples. Raises what calibrate raises, for the first sample that is
    wrong among those that were sent, and StateError for a process that ends by itself.
    """
    task = _Task(bytes(model.content), frozenset(sites), kind, frozenset(channels))
    kept = KeptSamples()
    workers: list[_Worker] = []
    try:
        workers += [_Worker(task) for _ in range(jobs)]
        number = -1
        for number, sample in enumerate(samples):
            workers[number % jobs].put((number, sample))
            kept.add(sample)
        parts = [worker.finish() for worker in workers]
    finally:
        for worker in workers:
            worker.end()
    if number < 0:
        raise ModelError("calibration: there must be samples, got none")
    wrong = [part for part in parts if part.error is not None]
    if wrong:
        first = min(wrong, key=lambda part: part.sample)
        assert first.error is not None
        raise first.error
    found: Calibration | None = None
    for part in parts:
        if part.ranges is not None:
            seen = Calibration.from_json(part.ranges)
            seen.channels = part.channels
            found = seen if found is None else found.merged(seen)
    assert found is not None
    found.samples = kept
    return found


class _Worker:
    """A process, and the pipes of its samples and of what it has seen."""

    def __init__(self, task: _Task) -> None:
        # A fork starts at once, but is safe only where no other thread may hold a lock.
        alone = sys.platform == "linux" and threading.active_count() == 1
        context: Any = multiprocessing.get_context("fork" if alone else "spawn")
        theirs, self._samples = context.Pipe(duplex=False)
        self._seen, result = context.Pipe(duplex=False)
        _widen(self._samples)
        self._process = context.Process(target=_work, args=(task, theirs, result), daemon=True)
        self._process.start()
        theirs.close()
        result.close()

    def put(self, item: tuple[int, Sample] | None) -> None:
        """Send a sample, or None behind the last one; waits until there is room."""
        try:
            self._samples.send_bytes(pickle.dumps(item, protocol=pickle.HIGHEST_PROTOCOL))
        except BrokenPipeError as error:
            raise self._ended() from error

    def finish(self) -> _Seen:
        """What was seen of all samples."""
        self.put(None)
        try:
            return self._seen.recv()
        except EOFError as error:
            raise self._ended() from error

    def end(self) -> None:
        self._process.terminate()
        self._process.join()
        self._samples.close()
        self._seen.close()

    def _ended(self) -> StateError:
        self._process.join()
        return StateError(
            f"calibration: its processes must live until all samples are seen, got one that ended with "
            f"{self._process.exitcode} (out of memory?); fewer jobs need less"
        )


def _widen(pipe: Connection) -> None:
    """Let a sample wait in the pipe, where the system can."""
    if hasattr(fcntl, "F_SETPIPE_SZ"):
        with suppress(OSError):
            fcntl.fcntl(pipe.fileno(), fcntl.F_SETPIPE_SZ, _PIPE_BYTES)


def _work(task: _Task, samples: Connection, result: Connection) -> None:
    last = -1

    def received() -> Iterator[tuple[int, Sample]]:
        nonlocal last
        while (item := pickle.loads(samples.recv_bytes())) is not None:
            last = item[0]
            yield item

    given, channels = received(), ChannelObserver(task.channels)
    try:
        interpreter = model_interpreter(Model(task.model))
        found = calibrate_numbered(interpreter, given, task.sites, task.kind, channels=channels)
        seen = _Seen(found.to_json() if last >= 0 else None, channels.ranges)
    except Exception as error:  # whatever running a model raises: it is raised again by who asked
        seen = _Seen(None, {}, last, error)
        for _ in received():
            pass
    result.send(seen)
