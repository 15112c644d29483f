"""The argument blocks that Python and the native executor share: rows, plan and thread pool."""

import numpy as np


def field_offset(block: np.dtype, field: str) -> int:
    """Bytes from a record's start to one of its fields."""
    assert block.fields is not None
    return block.fields[field][1]


# What a kernel returns when its outputs have another size than its block says: KernelCall.resize gives
# it to them. Kernels' own statuses are positive, and a kernel that raised gives -1.
RESIZE = -2

# One kernel call: `int64 kernel(int64 args, int64 chunk, int64 chunks)`, once per chunk.
ROW = np.dtype([("kernel", np.int64), ("args", np.int64), ("chunks", np.int64)])

# A list of rows, as run_plan takes it. pool is the address of a POOL, 0 for one thread;
# helpers is how many of its threads may join in. status and failed_row are written when a row
# fails. The last three are the addresses of CPython's functions of these names.
PLAN = np.dtype(
    [
        ("rows", np.int64),
        ("count", np.int64),
        ("pool", np.int64),
        ("helpers", np.int64),
        ("status", np.int64),
        ("failed_row", np.int64),
        ("PyEval_SaveThread", np.int64),
        ("PyEval_RestoreThread", np.int64),
        ("PyLong_FromLongLong", np.int64),
    ]
)

# A bytes object whose first eight bytes are the address of a PLAN.
PLAN_HOLDER = np.dtype(
    {
        "names": ["plan"],
        "formats": [np.int64],
        "offsets": [bytes.__basicsize__ - 1],
        "itemsize": bytes.__basicsize__ + 7,
    }
)

_LINE_BYTES = 64  # a word that threads contend for has a cache line of its own

# The words of the thread pool; kernels/compiled/executor.py says how they are used.
POOL = np.dtype(
    {
        "names": [
            "ticket",
            "done",
            "asleep",
            "wakeups",
            "taken",
            "stop",
            "kernel",
            "args",
            "chunks",
            "status",
            "spins",
            "syscall",
            "futex",
            "sched_yield",
            "sleep",
            "sleep_time",
        ],
        "formats": [np.int64] * 16,
        "offsets": [_LINE_BYTES * n for n in range(6)] + [_LINE_BYTES * 6 + 8 * n for n in range(10)],
        "itemsize": _LINE_BYTES * 8,
    }
)
