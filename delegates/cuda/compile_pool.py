"""CompilePool: kernels compiled side by side, in processes of our own that need no main script."""

from __future__ import annotations

import atexit
import os
import pickle
import secrets
import select
import signal
import subprocess
import sys
import tempfile
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field
from shutil import rmtree
from threading import Condition, Thread, current_thread

from ...lite.available_memory import available_bytes
from ...lite.environment import for_children, processors
from ...lite.errors import UnsupportedError
from .cubin import Cubin
from .launch import Kernel

_MAIN = (
    "import os, sys; os.mkdir({folder!r}, 0o700); sys.path[:] = {path!r}; "
    "from {package}.compiler_process import main; main({folder!r})"
)
_PROCESS_BYTES = 400 << 20  # Triton's with room to spare
_IDLE_S = 2.0  # kept for a model's next partition
_START_S = 60.0
READY = b"numlite compiles\n"  # what a process says first


@dataclass(eq=False)
class _Job:
    kernel: Kernel
    arch: int
    key: str
    keep: Callable[[Cubin], None]
    result: Future[Cubin] = field(default_factory=Future)


class CompilePool:
    """Processes that compile, as many as there are processors and memory, while there is work.

    What is not urgent takes half of them. Every thread may use it.
    """

    def __init__(self) -> None:
        self._owner = os.getpid()
        self._condition = Condition()
        self._urgent: OrderedDict[str, _Job] = OrderedDict()
        self._later: OrderedDict[str, _Job] = OrderedDict()
        self._running: dict[str, _Job] = {}
        self._threads: dict[Thread, _Process | None] = {}
        self._no_process: str | None = None  # why none can be started
        atexit.register(self.stop)

    def compile(
        self, kernel: Kernel, arch: int, key: str, keep: Callable[[Cubin], None], urgent: bool = True
    ) -> Future[Cubin]:
        """The kernel's code, in time; keep is called with it first, in another thread.

        A key that is waited for already is not compiled twice. The result may be an UnsupportedError,
        or an OSError where no process can be started.
        """
        with self._condition:
            known = self._running.get(key) or self._urgent.get(key)
            if known is not None:
                return known.result
            job = self._later.pop(key, None) or _Job(kernel, arch, key, keep)
            (self._urgent if urgent else self._later)[key] = job
            if len(self._threads) < self._most_threads():
                thread = Thread(target=self._work, name="numlite-compile", daemon=True)
                self._threads[thread] = None
                thread.start()
            self._condition.notify()
            return job.result

    def waiting(self, key: str) -> bool:
        """Whether the key is being compiled, or is going to be."""
        with self._condition:
            return key in self._running or key in self._urgent or key in self._later

    def stop(self) -> None:
        """End all processes; those who wait get an error. Work that comes later starts others."""
        if os.getpid() != self._owner:
            return  # a fork, whose parent's they are
        with self._condition:
            for job in (*self._urgent.values(), *self._later.values()):
                job.result.set_exception(UnsupportedError(f"{job.kernel}: compiling was interrupted"))
            self._urgent.clear()
            self._later.clear()
            threads, self._threads = self._threads, {}
            for process in threads.values():
                if process is not None:
                    process.kill()
            self._condition.notify_all()
        for thread in threads:
            thread.join(timeout=5)

    def _most_threads(self) -> int:
        room = max(1, min(processors(), available_bytes() // _PROCESS_BYTES + len(self._threads)))
        wanted = len(self._urgent) + len(self._later) + len(self._running)
        return min(wanted, room if self._urgent else max(1, room // 2))

    def _work(self) -> None:
        me, process = current_thread(), None
        try:
            while (job := self._next(me)) is not None:
                try:
                    if process is None or not process.is_running:
                        process = self._start(me, process)
                    cubin = process.ask(job)
                    with suppress(OSError):  # a cache that cannot be written costs time, not results
                        job.keep(cubin)
                    self._finish(job)
                    job.result.set_result(cubin)
                except Exception as error:
                    self._finish(job)
                    job.result.set_exception(error)
        finally:
            if process is not None:
                process.end()

    def _next(self, me: Thread) -> _Job | None:
        """The thread's next job; None when it is to end."""
        with self._condition:
            if me in self._threads and not self._urgent and not self._later:
                self._condition.wait(_IDLE_S)
            jobs = self._urgent or self._later
            too_many = jobs is self._later and len(self._threads) > max(1, processors() // 2)
            if me not in self._threads or not jobs or too_many:
                self._threads.pop(me, None)
                return None
            key, job = jobs.popitem(last=False)
            self._running[key] = job
            return job

    def _start(self, me: Thread, before: _Process | None) -> _Process:
        if before is not None:
            before.end()
        if self._no_process is not None:
            raise OSError(self._no_process)
        try:
            process = _Process()
            with self._condition:
                if me in self._threads:
                    self._threads[me] = process  # before it is ready: who stops everything ends it, too
                else:
                    process.kill()  # everything was stopped meanwhile
            process.wait_until_ready()
        except OSError as error:
            with self._condition:
                if me not in self._threads:
                    raise UnsupportedError("compiling was interrupted") from None
            self._no_process = str(error)
            raise
        return process

    def _finish(self, job: _Job) -> None:
        with self._condition:
            self._running.pop(job.key, None)


class _Process:
    """One compiling process, in a session of its own: an interrupt from the keyboard does not reach it.

    Triton's temporary files and its own cache lie in a folder that goes with the process. It makes the folder
    itself: a program that is killed while it starts one leaves none that nobody removes.
    """

    def __init__(self) -> None:
        """OSError where none can be started: with a Python inside another program, say."""
        if not sys.executable or getattr(sys, "frozen", False):
            raise OSError("there is no Python to start")
        self._folder = os.path.join(tempfile.gettempdir(), f"numlite-compile-{secrets.token_hex(8)}")
        self._process = subprocess.Popen(
            [sys.executable, "-c", _MAIN.format(path=sys.path, package=__package__, folder=self._folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=for_children() | {"TMPDIR": self._folder, "TRITON_CACHE_DIR": self._folder},
            start_new_session=True,
        )

    def wait_until_ready(self) -> None:
        """OSError, and the process is no more, where it does not say that it is what it should be."""
        assert self._process.stdout is not None
        readable, _, _ = select.select([self._process.stdout], [], [], _START_S)
        if not readable or self._process.stdout.read(len(READY)) != READY:
            self.end()
            raise OSError(f"{sys.executable}: it must start as Python does")

    @property
    def is_running(self) -> bool:
        return self._process.poll() is None

    def ask(self, job: _Job) -> Cubin:
        """UnsupportedError when it does not compile, or when the process dies of it."""
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None and stdout is not None
        try:
            pickle.dump((job.kernel, job.arch), stdin)
            stdin.flush()
            key, answer = pickle.load(stdout)
        except (OSError, EOFError, pickle.UnpicklingError):
            code = self._process.wait()
            raise UnsupportedError(
                f"{job.kernel}: the process that compiles it must not end before, got exit code {code}"
            ) from None
        if isinstance(answer, str):
            raise UnsupportedError(answer)
        cubin = Cubin.unpack(answer)
        if key != job.key or cubin is None:
            raise UnsupportedError(
                f"{job.kernel}: its sources must stay as they are while it is compiled; start again"
            )
        return cubin

    def kill(self) -> None:
        """At once, with what it has started."""
        with suppress(OSError):
            os.killpg(self._process.pid, signal.SIGKILL)

    def end(self) -> None:
        self.kill()
        self._process.communicate()
        rmtree(self._folder, ignore_errors=True)


_POOLS: dict[int, CompilePool] = {}


def compile_pool() -> CompilePool:
    """This process's pool; a fork gets another."""
    owner = os.getpid()
    return _POOLS.get(owner) or _POOLS.setdefault(owner, CompilePool())
