"""calibrate_in_processes: processes, this one among them, share the samples, and what they saw is merged.

Samples are read here, in order, so a generator runs once. One is sent to a process that has begun with all it
got, and run here where there is none.
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
    number = -1

    def ours() -> Iterator[tuple[int, Sample]]:
        nonlocal number
        for number, sample in enumerate(samples):
            worker = next((worker for worker in workers if worker.has_room()), None)
            if worker is not None:
                worker.put((number, sample))
            else:
                yield number, sample
            kept.add(sample)

    try:
        workers += [_Worker(task) for _ in range(jobs - 1)]
        own = _observed(model, task, ours())
        # Where reading them raises, what was read before is wrong first.
        parts = [*(worker.finish() for worker in workers), own._replace(sample=number)]
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
    """A process, the pipe of its samples, and that of what it says: a word when it starts and for each sample
    that it begins, and what it has seen."""

    def __init__(self, task: _Task) -> None:
        # A fork starts at once, but is safe only where no other thread may hold a lock.
        alone = sys.platform == "linux" and threading.active_count() == 1
        context: Any = multiprocessing.get_context("fork" if alone else "spawn")
        theirs, self._samples = context.Pipe(duplex=False)
        self._said, said = context.Pipe(duplex=False)
        _widen(self._samples)
        self._process = context.Process(target=_work, args=(task, theirs, said), daemon=True)
        self._process.start()
        self._waiting = 1  # samples that it has not begun, and its start
        theirs.close()
        said.close()

    def has_room(self) -> bool:
        """Whether it has started, and begun with all of its samples."""
        while self._waiting and self._said.poll():
            self._hear()
        return not self._waiting

    def put(self, item: tuple[int, Sample] | None) -> None:
        """Send a sample, or None behind the last one; what the pipe does not hold waits for the process."""
        arrays: list[pickle.PickleBuffer] = []
        header = pickle.dumps(item, protocol=5, buffer_callback=arrays.append)
        try:
            self._samples.send_bytes(pickle.dumps((header, len(arrays))))
            for array in arrays:
                self._samples.send_bytes(array.raw())
        except BrokenPipeError as error:
            raise self._ended() from error
        self._waiting += item is not None

    def finish(self) -> _Seen:
        """What was seen of all samples."""
        self.put(None)
        while self._waiting:
            self._hear()
        try:
            return self._said.recv()
        except EOFError as error:
            raise self._ended() from error

    def _hear(self) -> None:
        try:
            self._said.recv_bytes()
        except EOFError as error:
            raise self._ended() from error
        self._waiting -= 1

    def end(self) -> None:
        self._process.terminate()
        self._process.join()
        self._samples.close()
        self._said.close()

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


def _work(task: _Task, samples: Connection, said: Connection) -> None:
    def received() -> Iterator[tuple[int, Sample]]:
        while (item := _received(samples)) is not None:
            said.send_bytes(b"begun")
            yield item

    said.send_bytes(b"started")
    seen = _observed(Model(task.model), task, received())
    if seen.error is not None:
        for _ in received():
            pass
    said.send(seen)


def _received(samples: Connection) -> tuple[int, Sample] | None:
    """What put sent."""
    header, count = pickle.loads(samples.recv_bytes())
    item: tuple[int, Sample] | None = pickle.loads(
        header, buffers=[samples.recv_bytes() for _ in range(count)]
    )
    return item


def _observed(model: Model, task: _Task, samples: Iterator[tuple[int, Sample]]) -> _Seen:
    """What the model's tensors hold over the samples, as far as none is wrong."""
    last, channels = -1, ChannelObserver(task.channels)

    def counted() -> Iterator[tuple[int, Sample]]:
        nonlocal last
        for number, sample in samples:
            last = number
            yield number, sample

    try:
        interpreter = model_interpreter(model)
        found = calibrate_numbered(interpreter, counted(), task.sites, task.kind, channels=channels)
    except Exception as error:  # whatever running a model raises: it is raised again by who asked
        return _Seen(None, {}, last, error)
    return _Seen(found.to_json() if last >= 0 else None, channels.ranges)
