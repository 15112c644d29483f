"""ThreadPool: the native threads that run the chunks of a kernel call, one pool per process."""

from __future__ import annotations

import ctypes
import os
import sys
from _thread import allocate_lock
from typing import TYPE_CHECKING

import numpy as np

from .native_blocks import MOST_THREADS, POOL, field_offset

if TYPE_CHECKING:
    import threading

    from .kernel_call import KernelLibrary

# A worker that finds no work spins this often (100 to 400 us) before it sleeps.
_SPINS = 8000
_FUTEX_CALLS = {"x86_64": 202, "aarch64": 98, "riscv64": 98}
_FUTEX_WAKE_PRIVATE = 129
_SLEEP_US = 500
_JOIN_S = 0.05


class ThreadPool:
    """What a plan needs of the pool: its address, and how many of its threads may help."""

    __slots__ = ("address", "helpers")

    def __init__(self, address: int, helpers: int) -> None:
        self.address = address
        self.helpers = helpers


def _address(library: ctypes.CDLL, name: str) -> int:
    return ctypes.cast(getattr(library, name), ctypes.c_void_p).value or 0


def _system_calls() -> dict[str, int]:
    """The addresses and numbers that workers need of the system; futex is 0 where it has none."""
    if sys.platform == "win32":
        kernel32 = ctypes.CDLL("kernel32")
        return {
            "sched_yield": _address(kernel32, "SwitchToThread"),
            "sleep": _address(kernel32, "Sleep"),
            "sleep_time": 1,
        }
    libc = ctypes.CDLL(None)
    linux = sys.platform == "linux"
    return {
        "syscall": _address(libc, "syscall") if linux else 0,
        "futex": _FUTEX_CALLS.get(os.uname().machine, 0) if linux else 0,
        "sched_yield": _address(libc, "sched_yield"),
        "sleep": _address(libc, "usleep"),
        "sleep_time": _SLEEP_US,
    }


class _Workers:
    """The pool's block and threads. The block is never freed: a thread may outlive Python's exit."""

    def __init__(self, library: KernelLibrary) -> None:
        self.lock = allocate_lock()
        self.threads: list[threading.Thread] = []
        memory = np.zeros(POOL.itemsize + 64, np.uint8)
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(memory))
        start = -memory.ctypes.data % 64
        self.block = memory[start : start + POOL.itemsize].view(POOL)
        self.address = self.block.ctypes.data
        signature = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64, ctypes.c_int64, ctypes.c_int64)
        self.work = signature(library.address("executor", "work"))
        self.reset()

    def reset(self) -> None:
        self.block[:] = np.zeros(1, POOL)
        self.block["spins"] = _SPINS
        for name, value in _system_calls().items():
            self.block[name] = value

    def grow(self, count: int) -> None:
        """Have at least count threads besides the caller's."""
        import threading

        with self.lock:
            while len(self.threads) < count:
                name = f"numlite-{len(self.threads) + 1}"
                arguments = (self.address, len(self.threads) + 1, self.address)
                thread = threading.Thread(target=self.work, args=arguments, name=name, daemon=True)
                thread.start()
                self.threads.append(thread)

    def stop(self) -> None:
        """End all threads once they have finished their chunks; plans run alone from then on."""
        self.block["taken"] = 1
        self.block["stop"] = 1
        for thread in self.threads:
            # Again and again: a wake-up that crosses one of a running plan's may be lost.
            while thread.is_alive():
                self._wake()
                thread.join(_JOIN_S)

    def _wake(self) -> None:
        self.block["wakeups"] += 1
        futex = int(self.block["futex"][0])
        if futex:
            wakeups = ctypes.c_void_p(self.address + field_offset(POOL, "wakeups"))
            syscall = ctypes.CDLL(None).syscall
            syscall(futex, wakeups, _FUTEX_WAKE_PRIVATE, len(self.threads), None, None, 0)

    def restart_in_child(self) -> None:
        """After a fork the threads are gone, and so is whoever was using them."""
        global _creation
        count = len(self.threads)
        _creation = allocate_lock()
        self.lock = allocate_lock()
        self.threads = []
        self.reset()
        self.grow(count)


_workers: _Workers | None = None
_creation = allocate_lock()


def shared_pool(num_threads: int, library: KernelLibrary) -> ThreadPool | None:
    """The process's pool, grown to num_threads (the caller's included); None for one thread.

    Any number of plans and Python threads may use it: the one that finds it taken runs its
    chunks alone. It lives on in a forked child and ends when Python exits.
    """
    global _workers
    helpers = min(num_threads, MOST_THREADS) - 1
    if helpers < 1:
        return None
    with _creation:
        if _workers is None:
            _workers = _Workers(library)
            if hasattr(os, "register_at_fork"):
                os.register_at_fork(after_in_child=_workers.restart_in_child)
            import atexit

            atexit.register(_workers.stop)
    _workers.grow(helpers)
    return ThreadPool(_workers.address, helpers)
