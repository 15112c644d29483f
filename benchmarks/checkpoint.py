"""Speed of reading checkpoints, with all checksums: `python benchmarks/checkpoint.py [--megabytes 500]`.

Each line is the best of three. The tensors are read from a file that the system has in memory.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from numlite.converter.execution.checkpoint_writer import write_checkpoint
from numlite.converter.saved_model import load_checkpoint
from numlite.converter.saved_model.crc32c import crc32c
from numlite.kernels.fallback.file_access import SavedTensor
from numlite.schema import graph_def

_TENSORS = 5


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--megabytes", type=int, default=500)
    total = parser.parse_args().megabytes * 1_000_000
    content = np.random.default_rng(0).bytes(total // _TENSORS // 4 * 4)
    show("checksum", len(content), lambda: crc32c(content))
    with tempfile.TemporaryDirectory() as folder:
        prefix = Path(folder) / "variables"
        write(prefix, content)
        checkpoint = load_checkpoint(prefix)
        names = list(checkpoint.tensors)
        show("read", len(content) * len(names), lambda: [checkpoint.read(name) for name in names])


def show(what: str, size: int, run: Callable[[], object]) -> None:
    times = []
    for _ in range(3):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    print(f"{what:<9} {size / 1e6:6.0f} MB  {min(times):6.3f} s  {size / min(times) / 1e6:6.0f} MB/s")


def write(prefix: Path, content: bytes) -> None:
    """A checkpoint of some float tensors with this content, each in its own part of one file."""
    value = np.frombuffer(content, np.float32)
    write_checkpoint(prefix, [SavedTensor(f"v{i}", graph_def.DT_FLOAT, value) for i in range(_TENSORS)])


if __name__ == "__main__":
    main()
