"""A process that runs the checks of gpu_checks.py: a kernel that breaks its GPU takes only that one along."""

from __future__ import annotations

import gc
import os
import pickle
import select
import struct
import subprocess
import sys
import time
import traceback
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any, NamedTuple

_ROOT = Path(__file__).resolve().parents[3]
_SIZE = struct.Struct("<Q")
# A variable: have the driver's stand-in for a driver. "launches" is for one that looks at launches and
# computes nothing, as it does where there is no interpreter; a number, of kernels before one that breaks it.
_STAND_IN = "NUMLITE_STAND_IN"
_PATIENCE_S = {True: 1800.0, False: 120.0}  # by whether it is the stand-in, whose kernels are interpreted
_ILLEGAL_ADDRESS = 700


class Outcome(NamedTuple):
    """What a check returned, or the text of its failure; is_lost where the process is of no use now."""

    value: object = None
    failure: str = ""
    is_lost: bool = False


class Worker:
    """Checks one after the other in another process, which is started anew when it is lost."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._log: IO[bytes] | None = None
        self.starts = 0

    def call(self, check: str, *args: object, seconds: float | None = None) -> Outcome:
        """The outcome of gpu_checks.<check>(*args), a failure after so many seconds, too."""
        seconds = _PATIENCE_S[bool(os.environ.get(_STAND_IN))] if seconds is None else seconds
        process = self._process or self._start()
        assert process.stdin is not None and process.stdout is not None
        try:
            process.stdin.write(pickle.dumps((check, args)))
            process.stdin.flush()
            outcome = Outcome(*_read(process.stdout, time.monotonic() + seconds))
        except (EOFError, BrokenPipeError):
            process.wait()
            outcome = Outcome(failure=f"the process ended by {process.returncode}", is_lost=True)
        except TimeoutError:
            outcome = Outcome(failure=f"nothing for {seconds:.0f} seconds", is_lost=True)
        if outcome.is_lost:
            outcome = outcome._replace(failure=f"{outcome.failure}\n{self._said()}")
            self.stop()
        return outcome

    def _start(self) -> subprocess.Popen[bytes]:
        self._log = TemporaryFile()  # noqa: SIM115  # until stop
        paths = [str(_ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
        self.starts += 1
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.delegates.cuda.gpu_worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            cwd=_ROOT,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
        )
        return self._process

    def _said(self) -> str:
        assert self._log is not None
        self._log.seek(0)
        return self._log.read()[-4000:].decode(errors="replace")

    def stop(self) -> None:
        if self._process is not None and self._log is not None:
            self._process.kill()
            self._process.communicate()
            self._log.close()
        self._process = None


def _write(pipe: IO[bytes], value: object) -> None:
    content = pickle.dumps(value)
    pipe.write(_SIZE.pack(len(content)) + content)
    pipe.flush()


def _read(pipe: IO[bytes], deadline: float) -> tuple[Any, ...]:
    (nbytes,) = _SIZE.unpack(_bytes(pipe, _SIZE.size, deadline))
    found: tuple[Any, ...] = pickle.loads(_bytes(pipe, nbytes, deadline))
    return found


def _bytes(pipe: IO[bytes], nbytes: int, deadline: float) -> bytes:
    content = b""
    while len(content) < nbytes:
        if not select.select([pipe], [], [], max(0.0, deadline - time.monotonic()))[0]:
            raise TimeoutError
        part = os.read(pipe.fileno(), nbytes - len(content))
        if not part:
            raise EOFError
        content += part
    return content


def main() -> None:
    with os.fdopen(os.dup(1), "wb") as answers, _perhaps_stand_in():
        os.dup2(2, 1)  # what is printed goes to the log
        while True:
            try:
                check, args = pickle.load(sys.stdin.buffer)
            except EOFError:
                return
            _write(answers, tuple(_outcome(check, args)))


def _outcome(check: str, args: tuple[object, ...]) -> Outcome:
    from . import gpu_checks

    value, failure = None, ""
    try:
        value = getattr(gpu_checks, check)(*args)
    except Exception:
        failure = traceback.format_exc()
    gc.collect()
    if os.environ.get(_STAND_IN):
        failure += _seen_by_the_stand_in()
    return Outcome(value, failure, is_lost=bool(failure) and not gpu_checks.gpu_works())


def _seen_by_the_stand_in() -> str:
    """What was wrong with launches and memory, "" for nothing."""
    from .driver_stand_in import stand_in

    found = [*stand_in().failures, stand_in().complaint]
    stand_in().failures.clear()
    return "\n".join(filter(None, found))


@contextmanager
def _perhaps_stand_in() -> Iterator[None]:
    with ExitStack() as stack:
        wanted = os.environ.get(_STAND_IN)
        if wanted:
            from . import gpu_checks
            from .driver_stand_in import stand_in

            stand_in().configure(memory_bytes=300 << 20)
            stand_in().computes &= wanted != "launches"
            gpu_checks.compares = stand_in().computes
            if wanted.isdigit():
                stand_in().fail("kernel", _ILLEGAL_ADDRESS, int(wanted))
            stack.enter_context(stand_in().watch())
        yield


if __name__ == "__main__":
    main()
