"""Writes ONNX's own node tests to a folder: run by the Python of a venv that has the onnx package."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

import numpy as np


def write(folder: Path) -> int:
    """Each test as <name>.onnx and <name>.npz; how many there are.

    Its inputs are i0 ..., its outputs o0 ...; of a sequence i0[] says how many items it has, i0[0] ... are
    the items, and i0[none] stands for an optional value that is not there.
    """
    warnings.simplefilter("ignore")
    from onnx import TensorProto, numpy_helper
    from onnx.backend.test.case.node import collect_testcases

    count = 0
    for case in collect_testcases(None):
        arrays = {}
        for inputs, outputs in case.data_sets[:1]:
            for role, values in (("i", inputs), ("o", outputs)):
                for place, value in enumerate(values):
                    if isinstance(value, TensorProto):
                        value = numpy_helper.to_array(value)
                    if isinstance(value, np.ndarray | np.generic):
                        arrays[f"{role}{place}"] = _plain(np.asarray(value))
                    elif isinstance(value, list):
                        arrays[f"{role}{place}[]"] = np.array(len(value))
                        items = enumerate(value)
                        arrays |= {f"{role}{place}[{at}]": _plain(np.asarray(item)) for at, item in items}
                    elif value is None:
                        arrays[f"{role}{place}[none]"] = np.array(True)
        (folder / f"{case.name}.onnx").write_bytes(case.model.SerializeToString())
        np.savez(folder / f"{case.name}.npz", **arrays)
        count += 1
    return count


def _plain(array: np.ndarray) -> np.ndarray:
    """Of NumPy's own types: bfloat16 as float32, texts as fixed ones."""
    if array.dtype.kind == "O":
        return array.astype(str)
    return (
        array.astype(np.float32)
        if array.dtype.kind == "V" or "float8" in str(array.dtype) or str(array.dtype) == "bfloat16"
        else array
    )


if __name__ == "__main__":
    print(write(Path(sys.argv[1])))
