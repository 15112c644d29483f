"""The search for a memory plan in a given arena: no operator's kernel, called by lite/arena_search.py.

Time is cut into sections, in each of which the same allocations are live. An allocation is put on the
highest of what was put below it in its sections; what is put later lies no lower (each plan can be built so).
A branch is given up where a section's floor and what must still go on it exceed the arena; what is apart in
time is searched apart.
"""

from numba import carray, njit

from ...lite.native_blocks import ARENA_SEARCH
from .driver.kernel_source import KernelSources
from .language.memory import int64_pointer

kernels = KernelSources()

FAR = 1 << 60
TOP, HEIGHTS_TOP, TRIED = 0, 1, 2  # of `used`: entries of the trail and of heights, placements tried
FOUND, NONE, NOT_ENDED = 0, 1, 2
PLACED, FILLED, FAILED = 0, 1, 2  # how a frame is
# Of a frame: its sections, the least offset and the place in the order to go on from, the candidates and the
# next one; of what it has put last, what take_back and the frames within need.
BEGIN, END, LEAST, PLACE, COUNT, NEXT, MARK, NEEDED, START, LOW, LOW_PLACE, FRAME = range(12)


@njit(error_model="numpy")
def of_allocations(a, address):
    return carray(int64_pointer(address), (a.count,))


@njit(error_model="numpy")
def of_sections(a, address):
    return carray(int64_pointer(address), (a.sections,))


@njit(error_model="numpy")
def put(a, k, offset):
    """Put allocation k at an offset; the height that what is left makes necessary above it."""
    first, last = of_allocations(a, a.first)[k], of_allocations(a, a.last)[k]
    height, live, crossing = of_sections(a, a.height), of_sections(a, a.live), of_sections(a, a.crossing)
    trail, heights = int64_pointer(a.trail), int64_pointer(a.heights)
    used = carray(int64_pointer(a.used), (3,))
    size = of_allocations(a, a.size)[k]
    trail[used[TOP]] = k
    used[TOP] += 1
    of_allocations(a, a.offsets)[k] = offset
    needed = 0
    for s in range(first, last):
        heights[used[HEIGHTS_TOP]] = height[s]
        used[HEIGHTS_TOP] += 1
        height[s] = offset + size
        live[s] -= size
        if live[s] > 0:
            needed = max(needed, height[s] + live[s])
    for s in range(first, last - 1):
        crossing[s] -= 1
    return needed


@njit(error_model="numpy")
def take_back(a, mark):
    """Undo what was put since the trail had `mark` entries."""
    first, last, sizes = of_allocations(a, a.first), of_allocations(a, a.last), of_allocations(a, a.size)
    height, live, crossing = of_sections(a, a.height), of_sections(a, a.live), of_sections(a, a.crossing)
    trail, heights = int64_pointer(a.trail), int64_pointer(a.heights)
    used = carray(int64_pointer(a.used), (3,))
    while used[TOP] > mark:
        used[TOP] -= 1
        k = trail[used[TOP]]
        of_allocations(a, a.offsets)[k] = -1
        for s in range(last[k] - 1, first[k] - 1, -1):
            used[HEIGHTS_TOP] -= 1
            height[s] = heights[used[HEIGHTS_TOP]]
            live[s] += sizes[k]
        for s in range(first[k], last[k] - 1):
            crossing[s] += 1


@njit(error_model="numpy")
def candidates_of(a, begin, end, least, depth):
    """List the allocations of these sections that could be next, the lowest first; -1 for none that fits.

    One that would lie above the end of another can wait for that.
    """
    order, offsets, sizes = (
        of_allocations(a, a.order),
        of_allocations(a, a.offsets),
        of_allocations(a, a.size),
    )
    first, last = of_allocations(a, a.first), of_allocations(a, a.last)
    height, live = of_sections(a, a.height), of_sections(a, a.live)
    places = of_allocations(a, a.candidates + 8 * depth * a.count)
    lowest = of_allocations(a, a.lowest + 8 * depth * a.count)
    floors = of_sections(a, a.floors + 8 * depth * a.sections)
    for s in range(begin, end):
        floors[s] = FAR
    found, nearest = 0, FAR
    for place in range(a.count):
        k = order[place]
        if offsets[k] >= 0 or first[k] < begin or last[k] > end:
            continue
        low = least
        for s in range(first[k], last[k]):
            low = max(low, height[s])
        for s in range(first[k], last[k]):
            floors[s] = min(floors[s], low)
        places[found], lowest[found] = place, low
        found += 1
        nearest = min(nearest, low + sizes[k])
    for s in range(begin, end):
        if live[s] > 0 and floors[s] + live[s] > a.capacity:
            return -1
    count = 0
    for i in range(found):
        place, low = places[i], lowest[i]
        if low >= nearest:
            continue
        j = count
        while j > 0 and lowest[j - 1] > low:
            places[j], lowest[j] = places[j - 1], lowest[j - 1]
            j -= 1
        places[j], lowest[j] = place, low
        count += 1
    return count


@njit(error_model="numpy")
def next_put(a, frame, depth):
    """Put the next candidate of a frame where it leaves enough room; False where there is none any more.

    Of those that lie at the frame's `least` only the ones behind its place in the order: the others came
    before.
    """
    order = of_allocations(a, a.order)
    places = of_allocations(a, a.candidates + 8 * depth * a.count)
    lowest = of_allocations(a, a.lowest + 8 * depth * a.count)
    used = carray(int64_pointer(a.used), (3,))
    while frame[NEXT] < frame[COUNT]:
        place, low = places[frame[NEXT]], lowest[frame[NEXT]]
        frame[NEXT] += 1
        if low == frame[LEAST] and place < frame[PLACE]:
            continue
        used[TRIED] += 1
        if used[TRIED] > a.steps:
            return False
        frame[MARK] = used[TOP]
        frame[NEEDED] = put(a, order[place], low)
        if frame[NEEDED] <= a.capacity:
            frame[START], frame[LOW], frame[LOW_PLACE] = frame[BEGIN], low, place
            return True
        take_back(a, frame[MARK])
    return False


@njit(error_model="numpy")
def next_part(a, frame, inner):
    """Have the inner frame be about the next part of these sections that is apart, if there is one."""
    live, crossing = of_sections(a, a.live), of_sections(a, a.crossing)
    while frame[START] < frame[END]:
        start = stop = frame[START]
        stop += 1
        while stop < frame[END] and crossing[stop - 1] > 0:
            stop += 1
        frame[START] = stop
        if live[start] > 0:
            inner[BEGIN], inner[END], inner[LEAST], inner[PLACE] = start, stop, frame[LOW], frame[LOW_PLACE]
            return True
    return False


@njit(error_model="numpy")
def give_up_placement(a, frame):
    """Take back what a frame has put last; False where another in its place would not help either.

    So it is where nothing lies above it.
    """
    used = carray(int64_pointer(a.used), (3,))
    take_back(a, frame[MARK])
    return frame[NEEDED] > 0 and used[TRIED] <= a.steps


@njit(error_model="numpy")
def enter(a, frame, depth):
    """Begin with a frame's sections."""
    frame[COUNT], frame[NEXT] = candidates_of(a, frame[BEGIN], frame[END], frame[LEAST], depth), 0
    if frame[COUNT] == 0:
        return FILLED
    return PLACED if next_put(a, frame, depth) else FAILED


@kernels.add(ARENA_SEARCH)
def search(a, chunk, chunks):
    """Offsets of all allocations in an arena of a.capacity bytes.

    A frame is about some sections, the one within it about a part of them that its last placement has left.
    """
    frames = carray(int64_pointer(a.frames), (a.count + 2, FRAME))
    frames[0, BEGIN], frames[0, END], frames[0, LEAST], frames[0, PLACE] = 0, a.sections, 0, -1
    depth = 0
    state = enter(a, frames[0], 0)
    while state == PLACED or depth > 0:
        frame = frames[depth]
        if state == PLACED:
            state = FILLED
            if next_part(a, frame, frames[depth + 1]):
                depth += 1
                state = enter(a, frames[depth], depth)
            continue
        depth -= 1
        frame = frames[depth]
        if state == FILLED or (give_up_placement(a, frame) and next_put(a, frame, depth)):
            state = PLACED
    if state == FILLED:
        return FOUND
    used = carray(int64_pointer(a.used), (3,))
    return NOT_ENDED if used[TRIED] > a.steps else NONE
