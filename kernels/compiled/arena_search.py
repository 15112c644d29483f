"""The search for a memory plan in a given arena: no operator's kernel, called by lite/arena_search.py.

Time is cut into sections, in each of which the same allocations are live. An allocation is put on the
highest of what was put below it in its sections; what is put later lies no lower (each plan can be built so).
A branch is given up where what must still go into a section would exceed the arena, were it stacked there in
the order in which it can begin; what is apart in time is searched apart.
A hasty search takes back at once all that lies apart in time from what has made a branch fail: it may miss
plans.
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
# Of a frame: its sections, the least offset and the place in the order to go on from, how many are left.
BEGIN, END, LEAST, PLACE, LEFT = range(5)
# How many of these could be next and the next one; of what it has put last, what take_back and the frames
# within need; the sections that its failures are about.
COUNT, NEXT, MARK, NEEDED, START, LOW, LOW_PLACE, WHY_BEGIN, WHY_END, FRAME = range(5, 15)


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
def blame(frame, begin, end):
    """Add sections to those that a frame's failures are about."""
    frame[WHY_BEGIN] = min(frame[WHY_BEGIN], begin)
    frame[WHY_END] = max(frame[WHY_END], end)


@njit(error_model="numpy")
def sort_left(a, frame, depth, outer_left):
    """List what is left of the outer frame's list in this one's sections, the lowest first."""
    order, offsets = of_allocations(a, a.order), of_allocations(a, a.offsets)
    first, last, height = of_allocations(a, a.first), of_allocations(a, a.last), of_sections(a, a.height)
    outer = of_allocations(a, a.candidates + 8 * depth * a.count)
    places = of_allocations(a, a.candidates + 8 * (depth + 1) * a.count)
    lowest = of_allocations(a, a.lowest + 8 * (depth + 1) * a.count)
    left = 0
    for i in range(outer_left):
        place = outer[i]
        k = order[place]
        if offsets[k] >= 0 or first[k] < frame[BEGIN] or last[k] > frame[END]:
            continue
        low = frame[LEAST]
        for s in range(first[k], last[k]):
            low = max(low, height[s])
        j = left
        while j > 0 and (lowest[j - 1] > low or (lowest[j - 1] == low and places[j - 1] > place)):
            places[j], lowest[j] = places[j - 1], lowest[j - 1]
            j -= 1
        places[j], lowest[j] = place, low
        left += 1
    frame[LEFT] = left


@njit(error_model="numpy")
def full_section(a, frame, depth):
    """A section where what is left does not fit, or -1."""
    order, sizes = of_allocations(a, a.order), of_allocations(a, a.size)
    first, last = of_allocations(a, a.first), of_allocations(a, a.last)
    places = of_allocations(a, a.candidates + 8 * (depth + 1) * a.count)
    lowest = of_allocations(a, a.lowest + 8 * (depth + 1) * a.count)
    ends = of_sections(a, a.ends)
    for s in range(frame[BEGIN], frame[END]):
        ends[s] = 0
    for i in range(frame[LEFT]):
        k, low = order[places[i]], lowest[i]
        for s in range(first[k], last[k]):
            ends[s] = max(ends[s], low) + sizes[k]
            if ends[s] > a.capacity:
                return s
    return -1


@njit(error_model="numpy")
def blame_section(a, frame, depth, section):
    """Blame what keeps a section's last unbroken stack from beginning lower."""
    order, sizes = of_allocations(a, a.order), of_allocations(a, a.size)
    first, last = of_allocations(a, a.first), of_allocations(a, a.last)
    places = of_allocations(a, a.candidates + 8 * (depth + 1) * a.count)
    lowest = of_allocations(a, a.lowest + 8 * (depth + 1) * a.count)
    end = 0
    for i in range(frame[LEFT]):
        k, low = order[places[i]], lowest[i]
        if first[k] > section or last[k] <= section:
            continue
        if low > end:
            frame[WHY_BEGIN], frame[WHY_END], end = section, section + 1, low
        blame(frame, first[k], last[k])
        end += sizes[k]
        if end > a.capacity:
            return


@njit(error_model="numpy")
def list_candidates(a, frame, depth, outer_left):
    """Find what could be next; none where what is left does not fit.

    One that would lie above the end of another can wait for that.
    """
    order, sizes = of_allocations(a, a.order), of_allocations(a, a.size)
    places = of_allocations(a, a.candidates + 8 * (depth + 1) * a.count)
    lowest = of_allocations(a, a.lowest + 8 * (depth + 1) * a.count)
    sort_left(a, frame, depth, outer_left)
    frame[COUNT], frame[NEXT], frame[WHY_BEGIN], frame[WHY_END] = 0, 0, a.sections, 0
    section = full_section(a, frame, depth)
    if section >= 0:
        blame_section(a, frame, depth, section)
        return
    nearest = FAR
    for i in range(frame[LEFT]):
        nearest = min(nearest, lowest[i] + sizes[order[places[i]]])
    while frame[COUNT] < frame[LEFT] and lowest[frame[COUNT]] < nearest:
        frame[COUNT] += 1


@njit(error_model="numpy")
def next_put(a, frame, depth):
    """Put the next candidate of a frame where it leaves enough room; False where there is none any more.

    Of those that lie at the frame's `least` only the ones behind its place in the order: the others came
    before.
    """
    order = of_allocations(a, a.order)
    places = of_allocations(a, a.candidates + 8 * (depth + 1) * a.count)
    lowest = of_allocations(a, a.lowest + 8 * (depth + 1) * a.count)
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
        k = order[place]
        blame(frame, of_allocations(a, a.first)[k], of_allocations(a, a.last)[k])
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
def give_up_placement(a, frame, inner):
    """Take back what a frame has put last; False where another in its place would not help either.

    So it is where nothing lies above it, or for the hasty where what has failed within is apart from it.
    """
    used = carray(int64_pointer(a.used), (3,))
    take_back(a, frame[MARK])
    k = of_allocations(a, a.order)[frame[LOW_PLACE]]
    if inner[WHY_END] == 0:  # all its candidates were tried before
        blame(inner, inner[BEGIN], inner[END])
    blame(frame, inner[WHY_BEGIN], inner[WHY_END])
    first, last = of_allocations(a, a.first)[k], of_allocations(a, a.last)[k]
    if a.hasty and (inner[WHY_END] <= first or last <= inner[WHY_BEGIN]):
        return False
    return frame[NEEDED] > 0 and used[TRIED] <= a.steps


@njit(error_model="numpy")
def enter(a, frame, depth, outer_left):
    """Begin with a frame's sections."""
    list_candidates(a, frame, depth, outer_left)
    if frame[LEFT] == 0:
        return FILLED
    return PLACED if next_put(a, frame, depth) else FAILED


@kernels.add(ARENA_SEARCH)
def search(a, chunk, chunks):
    """Offsets of all allocations in an arena of a.capacity bytes.

    A frame is about some sections, the one within it about a part of them that its last placement has left.
    """
    frames = carray(int64_pointer(a.frames), (a.count + 2, FRAME))
    everything = of_allocations(a, a.candidates)
    for place in range(a.count):
        everything[place] = place
    frames[0, BEGIN], frames[0, END], frames[0, LEAST], frames[0, PLACE] = 0, a.sections, 0, -1
    depth = 0
    state = enter(a, frames[0], 0, a.count)
    while state == PLACED or depth > 0:
        frame, inner = frames[depth], frames[depth + 1]
        if state == PLACED:
            state = FILLED
            if next_part(a, frame, inner):
                depth += 1
                state = enter(a, inner, depth, frame[LEFT])
            continue
        depth -= 1
        frame, inner = frames[depth], frames[depth + 1]
        if state == FILLED or (give_up_placement(a, frame, inner) and next_put(a, frame, depth)):
            state = PLACED
    if state == FILLED:
        return FOUND
    used = carray(int64_pointer(a.used), (3,))
    return NOT_ENDED if a.hasty or used[TRIED] > a.steps else NONE
