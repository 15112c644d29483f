"""TOPK_V2, with a heap of the k best places of a row."""

from numba import njit

from ...lite.native_blocks import STOPPED
from ..top_k import TOP_K_ARGS
from .driver.cancellation import COST, TURNS, is_to_stop
from .driver.kernel_source import KernelSources
from .language.element_types import F32, I8, I16, I32, I64, U8, ElementType
from .language.memory import int16_pointer, int32_pointer

kernels = KernelSources()


@njit(error_model="numpy")
def better(x, a, b):
    """Whether place a comes before place b: larger first, equal ones in order, NaNs last."""
    if x[a] > x[b]:
        return True
    if x[a] < x[b]:
        return False
    a_is_number = x[a] == x[a]
    if a_is_number != (x[b] == x[b]):
        return a_is_number
    return a < b


@njit(error_model="numpy")
def sift_down(x, heap, root, size):
    """Restore the heap, whose root is its worst place, below `root`."""
    place = heap[root]
    while True:
        child = 2 * root + 1
        if child >= size:
            break
        if child + 1 < size and better(x, heap[child], heap[child + 1]):
            child += 1
        if not better(x, place, heap[child]):
            break
        heap[root] = heap[child]
        root = child
    heap[root] = place


@njit(error_model="numpy")
def best_places(x, size, heap, k, cancellation):
    """Set heap to the places of the k best of x[:size], best first; False when the run is to stop."""
    for i in range(k):
        heap[i] = i
    for root in range(k // 2 - 1, -1, -1):
        if root % TURNS == 0 and is_to_stop(cancellation, COST):
            return False
        sift_down(x, heap, root, k)
    for i in range(k, size):
        if i % TURNS == 0 and is_to_stop(cancellation, COST):
            return False
        if better(x, i, heap[0]):
            heap[0] = i
            sift_down(x, heap, 0, k)
    for last in range(k - 1, 0, -1):
        if last % TURNS == 0 and is_to_stop(cancellation, COST):
            return False
        worst = heap[0]
        heap[0] = heap[last]
        heap[last] = worst
        sift_down(x, heap, 0, last)
    return True


def top_k(type_: ElementType):
    pointer, item_bytes = type_.pointer, type_.bytes

    def kernel(a, chunk, chunks):
        k = a.k
        for row in range(a.rows * chunk // chunks, a.rows * (chunk + 1) // chunks):
            x = pointer(a.x + row * a.size * item_bytes)
            values = pointer(a.values + row * k * item_bytes)
            heap = int32_pointer(a.heap + row * k * 4)
            if not best_places(x, a.size, heap, k, a.cancellation):
                return STOPPED
            for i in range(k):
                values[i] = x[heap[i]]
            if a.short:
                places = int16_pointer(a.places + row * k * 2)
                for i in range(k):
                    places[i] = heap[i]
        return 0

    return kernel


for _type in (F32, I8, U8, I16, I32, I64):
    kernels.add(TOP_K_ARGS, f"top_k_{_type.name}")(top_k(_type))
