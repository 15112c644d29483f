"""Which inputs of a node nobody reads any more, so that an output may take their memory.

A file of its own: it counts references, and the few that it makes itself must stay in sight.
"""

from __future__ import annotations

from sys import getrefcount

import numpy as np

NONE: frozenset[int] = frozenset()
# References to an array that nothing but a list holds, as getrefcount counts them: its argument is one.
_ONLY_LISTED = 2


def forwardable(arrays: list[np.ndarray]) -> frozenset[int]:
    """Places of the writable arrays that nothing but this list holds, not even as a view."""
    # By index: a loop's variable would be one more reference.
    free = [
        i
        for i in range(len(arrays))
        if getrefcount(arrays[i]) == _ONLY_LISTED and arrays[i].base is None and arrays[i].flags.writeable
    ]
    return frozenset(free) if free else NONE
