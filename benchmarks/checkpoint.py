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
from numlite.converter.saved_model import load_checkpoint
from numlite.converter.saved_model.crc32c import crc32c, masked
from numlite.schema import graph_def
from numlite.schema.saved_model import BundleEntryProto, BundleHeaderProto

_TENSORS = 5
_MAGIC = 0xDB4775248B80FB57


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
    rows = [(b"", BundleHeaderProto(num_shards=1).SerializeToString())]
    checksum = masked(crc32c(content))
    with open(f"{prefix}.data-00000-of-00001", "wb") as file:
        for i in range(_TENSORS):
            made = BundleEntryProto(dtype=graph_def.DT_FLOAT, offset=i * len(content), size=len(content))
            made.crc32c = checksum
            made.shape.dim.add(size=len(content) // 4)
            rows.append((b"v%d" % i, made.SerializeToString()))
            file.write(content)
    data = block(rows)
    out = sealed(data)
    handles = b""
    for part in (block([]), block([(b"w", number(0) + number(len(data)))])):
        handles += number(len(out)) + number(len(part))
        out += sealed(part)
    Path(f"{prefix}.index").write_bytes(out + handles.ljust(40, b"\0") + _MAGIC.to_bytes(8, "little"))


def number(value: int) -> bytes:
    parts = []
    while value >= 128:
        parts.append(value & 127 | 128)
        value >>= 7
    return bytes([*parts, value])


def block(rows: list[tuple[bytes, bytes]]) -> bytes:
    out = b"".join(number(0) + number(len(key)) + number(len(value)) + key + value for key, value in rows)
    return out + (0).to_bytes(4, "little") + (1).to_bytes(4, "little")


def sealed(content: bytes) -> bytes:
    typed = content + b"\0"
    return typed + masked(crc32c(typed)).to_bytes(4, "little")


if __name__ == "__main__":
    main()
