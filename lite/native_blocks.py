"""The argument blocks that Python and the native executor share: rows, plan, cancellation and thread pool."""

import numpy as np


def field_offset(block: np.dtype, field: str) -> int:
    """Bytes from a record's start to one of its fields."""
    assert block.fields is not None
    return block.fields[field][1]


# What a kernel returns when its outputs have another size than its block says: KernelCall.resize gives
# it to them. Kernels' own statuses are positive, and a kernel that raised gives -1.
RESIZE = -2
# What a row gives that has not run, or has not run to its end, because the run is to stop.
STOPPED = -3

# One kernel call: `int64 kernel(int64 args, int64 chunk, int64 chunks)`, once per chunk. cost is about how
# many KiB it touches, 1 at least: it decides how often the clock is looked at.
ROW = np.dtype([("kernel", np.int64), ("args", np.int64), ("chunks", np.int64), ("cost", np.int64)])

# What a row that is cut into chunks has taken at best in its trials, in ns: alone, and with the pool's
# threads. runs counts the runs, wait those from trials to trials; executor.py says more.
CHOICE = np.dtype([("runs", np.int64), ("wait", np.int64), ("alone", np.int64), ("shared", np.int64)])

# A list of rows, as run_plan takes it. pool is the address of a POOL, 0 for one thread;
# helpers is how many of its threads may join in, choices where a CHOICE for each row lies. status and
# failed_row are written when a row fails. cancellation is the address of a CANCELLATION. The last one is
# CPython's function of this name.
PLAN = np.dtype(
    [
        ("rows", np.int64),
        ("count", np.int64),
        ("pool", np.int64),
        ("helpers", np.int64),
        ("choices", np.int64),
        ("status", np.int64),
        ("failed_row", np.int64),
        ("cancellation", np.int64),
        ("PyLong_FromLongLong", np.int64),
    ]
)

# A stage of a run that was seen before (known_runs.py). kernel and args are those of its plan's last row,
# whose result has the address and the first size that lie at y and size; RESIZE says that found has another
# one. All are 0 in the last stage. A follower is a size, the result's address, and that of a KNOWN_STAGE.
KNOWN_STAGE = np.dtype(
    [
        (name, np.int64)
        for name in ("plan", "kernel", "args", "y", "size", "found", "followers", "follower_count")
    ]
)
FOLLOWER_WORDS = 3

# A run from the first stage on. last is the address of the stage that ran last, status its plan's.
KNOWN_RUN = np.dtype([(name, np.int64) for name in ("runner", "first", "last", "status")])

# Why a run is to stop: the word `stop` of CANCELLATION, 0 while it may go on.
CANCELLED, TIMED_OUT, RAISED = 1, 2, 3

# What native code looks at while it runs; kernels/compiled/driver/cancellation.py says how. Times are ns of
# the clock, which is clock_gettime or, on Windows, GetTickCount64. main_thread is the address of a word: the
# main thread's identifier, 0 for unknown. owner and thread_state are of the thread in `invoke`; raised is 1
# when a signal handler has raised an exception there. The last ones are addresses of CPython's functions.
CANCELLATION = np.dtype(
    [
        ("stop", np.int64),
        ("credit", np.int64),
        ("next_look", np.int64),
        ("deadline", np.int64),
        ("raised", np.int64),
        ("thread_state", np.int64),
        ("owner", np.int64),
        ("main_thread", np.int64),
        ("clock_gettime", np.int64),
        ("clock_id", np.int64),
        ("seconds", np.int64),
        ("nanoseconds", np.int64),
        ("GetTickCount64", np.int64),
        ("PyEval_SaveThread", np.int64),
        ("PyEval_RestoreThread", np.int64),
        ("PyErr_CheckSignals", np.int64),
        ("PyThread_get_thread_ident", np.int64),
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

LINE_BYTES = 64  # a word that threads contend for has a cache line of its own

MOST_THREADS = 1024
_CONTENDED = ("ticket", "done", "asleep", "wakeups", "taken", "stop")
_CALL = ("kernel", "args", "chunks", "status", "cancellation")
_SYSTEM = ("spins", "syscall", "futex", "sched_yield", "sleep", "sleep_time")
_OFFSETS = (
    *(LINE_BYTES * n for n in range(len(_CONTENDED))),
    *(LINE_BYTES * len(_CONTENDED) + 8 * n for n in range(len(_CALL))),
    *(LINE_BYTES * (len(_CONTENDED) + 1) + 8 * n for n in range(len(_SYSTEM))),
)

# The words of the thread pool; kernels/compiled/driver/executor.py says how they are used. Each share is the
# first word of a line.
POOL = np.dtype(
    {
        "names": [*_CONTENDED, *_CALL, *_SYSTEM, "shares"],
        "formats": [*[np.int64] * len(_OFFSETS), (np.uint8, (MOST_THREADS, LINE_BYTES))],
        "offsets": [*_OFFSETS, LINE_BYTES * (len(_CONTENDED) + 2)],
        "itemsize": LINE_BYTES * (len(_CONTENDED) + 2 + MOST_THREADS),
    }
)

# A search for offsets (arena_search.py): numbers, and the addresses of int64 arrays that it works with.
ARENA_SEARCH = np.dtype(
    [
        (name, np.int64)
        for name in (
            *("count", "sections", "capacity", "steps", "hasty"),
            *("order", "first", "last", "size", "height", "live", "crossing", "offsets", "trail", "heights"),
            *("candidates", "lowest", "ends", "frames", "used"),
        )
    ]
)
