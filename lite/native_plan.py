"""NativePlan: a list of kernel calls that runs as one native call."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import cache, partial
from typing import TYPE_CHECKING

import numpy as np

from .cancellation import Cancellation, python_function
from .native_blocks import CHOICE, PLAN, ROW

if TYPE_CHECKING:
    from .kernel_call import KernelLibrary
    from .thread_pool import ThreadPool

INTERNAL_ERROR = -1  # the status of a kernel that raised; no kernel returns it itself

_METH_NOARGS = 4


class _MethodDef(ctypes.Structure):
    _fields_ = (
        ("name", ctypes.c_char_p),
        ("function", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    )


@cache
def _payload_offset() -> int:
    """Where the bytes of a bytes object start, or -1 where reading memory does not prove it."""
    probe = b"numlite!"
    offset = bytes.__basicsize__ - 1
    proved = ctypes.sizeof(ctypes.c_void_p) == 8 and ctypes.string_at(id(probe) + offset, 8) == probe
    return offset if proved else -1


def _run_kept(run: Callable[[int, int, int], int], kept: tuple[np.ndarray, *tuple[object, ...]]) -> int:
    """Run the plan whose block is the first of what it needs."""
    return run(kept[0].ctypes.data, 0, 1)


class NativePlan:
    """Rows of kernel calls, run in order without the GIL by one call of `invoke`.

    rows is a contiguous int64 array of shape (n, 4): the kernel's address, the address of its
    argument block, the number of chunks (1 to 2**20 - 1), and the cost. The caller may write new
    argument addresses into it between runs; it is kept alive here, but what it points to is not.
    invoke() returns 0, or the status of the first row that failed: its number is failed_row
    then, and the rows after it have not run. A status of INTERNAL_ERROR means that a kernel
    raised, one of STOPPED that the cancellation has stopped the run (or a row in it, whatever the status).
    What a signal handler raises meanwhile, KeyboardInterrupt say, invoke() raises.
    One plan must not run in two threads at once.
    """

    __slots__ = ("_block", "_cancellation", "_choices", "_run", "invoke", "rows", "runner")

    def __init__(
        self,
        rows: np.ndarray,
        library: KernelLibrary,
        pool: ThreadPool | None = None,
        cancellation: Cancellation | None = None,
    ) -> None:
        if rows.dtype != np.int64 or rows.shape[1:] != (4,) or not rows.flags.c_contiguous:
            raise ValueError(f"plan: rows must be contiguous int64 of n x 4, got {rows.dtype} {rows.shape}")
        self.rows = rows
        self._cancellation = cancellation or Cancellation()
        self._block = np.zeros(1, PLAN)
        block = self._block[0]
        block["rows"] = rows.ctypes.data
        block["count"] = len(rows)
        self._choices: np.ndarray | None = None
        if pool is not None:
            block["pool"] = pool.address
            block["helpers"] = pool.helpers
            self._choices = np.zeros(len(rows), CHOICE)
            block["choices"] = self._choices.ctypes.data
        block["cancellation"] = self._cancellation.address
        block["PyLong_FromLongLong"] = python_function("PyLong_FromLongLong")
        # Kernels that run other plans call `runner` with a plan's address.
        self.runner = library.address("executor", "run_plan")
        # Called with the GIL, which it releases itself; ctypes raises the exception that is set after it.
        signature = ctypes.PYFUNCTYPE(ctypes.c_int64, ctypes.c_int64, ctypes.c_int64, ctypes.c_int64)
        self._run = signature(library.address("executor", "invoke_plan"))
        self.invoke = self._entry(library)

    @property
    def address(self) -> int:
        """Address of the plan's block: the args of a row that runs this plan with `run_plan`."""
        return self._block.ctypes.data

    @property
    def failed_status(self) -> int:
        """The status that failed_row returned."""
        return int(self._block["status"][0])

    @property
    def failed_row(self) -> int:
        """The row that failed in the last invoke that returned a status."""
        return int(self._block["failed_row"][0])

    def failed_at(self, row: int, status: int) -> None:
        """Note that a row gave a status, which another plan of the same calls has run."""
        self._block["status"], self._block["failed_row"] = status, row

    def run_row(self, index: int) -> int:
        """Run one row by itself, as one does whose outputs were resized; returns its status."""
        block = self._block.copy()
        block["rows"] = self.rows.ctypes.data + index * ROW.itemsize
        block["choices"] += index * CHOICE.itemsize
        block["count"] = 1
        status: int = self._run(block.ctypes.data, 0, 1)
        if status:
            self._block["status"] = status
            self._block["failed_row"] = index
        return status

    def _entry(self, library: KernelLibrary) -> Callable[[], int]:
        kept = (self._block, self.rows, self._choices, self._cancellation)
        if _payload_offset() < 0:
            return partial(_run_kept, self._run, kept)
        new = ctypes.pythonapi.PyCFunction_NewEx
        new.restype = ctypes.py_object
        new.argtypes = (ctypes.c_void_p, ctypes.py_object, ctypes.py_object)
        method = _MethodDef(b"invoke", library.address("executor", "invoke"), _METH_NOARGS, None)
        holder = self.address.to_bytes(8, "little")
        # The last argument becomes __module__, which may be any object: it keeps what the
        # function reads alive for as long as the function itself.
        entry: Callable[[], int] = new(ctypes.addressof(method), holder, (method, *kept))
        return entry
