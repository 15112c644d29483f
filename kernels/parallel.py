"""Into how many pieces a kernel's work is cut: what every family asks, told apart from all of them."""

from ..lite.context import Context

# Waking a sleeping thread costs about 20 us; a piece should be worth several times that.
_PIECE_NS = 50_000
_PIECES_PER_THREAD = 4
# A run can be stopped between pieces: also on one thread none should take longer than this. What prepare
# hooks expect of a kernel may be a few times less than what it takes.
LONGEST_NS = 20_000_000


def chunk_count(context: Context, work_ns: float, most: int = 1 << 20) -> int:
    """How many chunks to cut work of about work_ns (one thread) into; at most `most`.

    1 for small work; more than that on one thread only so that work of many ms can be stopped. More
    chunks than threads, so that a thread that is late does not hold up the others.
    """
    pieces = int(work_ns / LONGEST_NS)
    if context.num_threads > 1:
        pieces = max(pieces, min(context.num_threads * _PIECES_PER_THREAD, int(work_ns / _PIECE_NS)))
    return max(1, min(most, pieces))
