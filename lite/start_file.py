"""The start file: what a run of a prepared model needs to know, so that its tables are not read.

It lies beside the prepared file (prepared_file.py), which it names, and is known by what the system says of
the model's file. A checksum, then marshal; whatever it says of memory is trusted as the prepared file is.
"""

from __future__ import annotations

import marshal
import os
from typing import TYPE_CHECKING, cast

from .private_file import CodePlace, blake2b, read_private, told_of

if TYPE_CHECKING:
    from typing import TypedDict

    from .tensor import Shape

# What an offset is in; from COPIES on, the copies that are made of constants.
ARENA, MODEL, ARRAYS, COPIES = range(4)
_SUM_BYTES = 8


if TYPE_CHECKING:  # making such classes takes half a millisecond of a start

    class End(TypedDict):
        """An input or output: what its details say, and where in the arena it lies.

        first_shape is the file's, shape that of the preparation; signature is None where the file gives none.
        scales are float32, zero_points int32, as bytes; quantization is a single scale and zero point.
        """

        index: int
        name: str
        first_shape: Shape
        shape: Shape
        signature: Shape | None
        dtype: str
        offset: int
        nbytes: int
        quantization: tuple[float, int]
        scales: bytes
        zero_points: bytes
        quantized_dimension: int

    class Start(TypedDict):
        """key and told are those of the prepared file: what it is for, and what the system says of it.

        kernels are (family, kernel). rows are int64 [n, 4]: the number of a kernel, where its block starts,
        chunks and cost. in_blocks and in_arrays are int64 [n, 3], of addresses: the number of the word, what
        it is in, and where in that. copies are of bytes of the model: where they begin, and how many.
        cancellations are words of blocks.
        """

        key: bytes
        told: tuple[int, ...]
        arena_bytes: int
        inputs: list[End]
        outputs: list[End]
        kernels: list[tuple[str, str]]
        rows: bytes
        in_blocks: bytes
        in_arrays: bytes
        copies: list[tuple[int, int]]
        cancellations: list[int]


def start_path(info: os.stat_result, place: CodePlace, is_reference: bool) -> str:
    """Where the start of a model's file is kept, for this code and these numerics."""
    text = repr((told_of(info), place.state, is_reference))
    return os.path.join(place.folder, f"start-{blake2b(text.encode(), digest_size=16).hexdigest()}.bin")


def read_start(path: str) -> Start | None:
    """The start at this path; None where there is none, or a damaged one."""
    content = read_private(path)
    if content is None or content[:_SUM_BYTES] != _sum(path, content[_SUM_BYTES:]):
        return None
    start: Start = marshal.loads(memoryview(content)[_SUM_BYTES:])
    return start


def start_bytes(path: str, start: Start) -> bytes:
    """What is kept at this path."""
    content = marshal.dumps(cast("dict[str, object]", start))
    return _sum(path, content) + content


def _sum(path: str, content: bytes) -> bytes:
    """Of another file's content under this name, too, it is wrong."""
    return blake2b(content, key=os.path.basename(path).encode(), digest_size=_SUM_BYTES).digest()
