"""Into how many pieces a kernel's work is cut."""

from ..lite.context import Context

# Waking a sleeping thread costs about 20 us; a piece should be worth several times that.
_PIECE_NS = 50_000
_PIECES_PER_THREAD = 4


def chunk_count(context: Context, work_ns: float, most: int = 1 << 20) -> int:
    """How many chunks to cut work of about work_ns (one thread) into; at most `most`.

    1 on one thread or for small work. More chunks than threads, so that a thread that is
    late does not hold up the others.
    """
    if context.num_threads == 1:
        return 1
    return max(1, min(most, context.num_threads * _PIECES_PER_THREAD, int(work_ns / _PIECE_NS)))
