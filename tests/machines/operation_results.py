"""Calls the function of a library on each row of given arrays, where it was compiled for.

    python operation_results.py FOLDER

FOLDER has operations.so, whose function `operations` takes addresses of five arrays and of room for its
results, and given.npz, the arrays with a row for each call. Writes results.npy, uint8 [calls, 30, 64].
"""

from __future__ import annotations

import ctypes
import sys
from pathlib import Path

import numpy as np


def main(folder: Path) -> None:
    function = ctypes.CDLL(str(folder / "operations.so")).operations
    function.argtypes = [ctypes.c_void_p] * 6
    stored = np.load(folder / "given.npz")
    given = [np.ascontiguousarray(stored[name]) for name in stored.files]
    results = np.zeros((len(given[0]), 30, 64), np.uint8)
    for row in range(len(results)):
        function(*(array[row].ctypes.data for array in (*given, results)))
    np.save(folder / "results.npy", results)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
