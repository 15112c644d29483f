"""Cubin: the machine code of one kernel, and its form in files."""

from __future__ import annotations

import json
import struct
from dataclasses import asdict, dataclass
from hashlib import blake2b

_MAGIC = b"NLCUBIN1"
_HEADER = struct.Struct("<8sI")
_CHECKSUM_BYTES = 32


@dataclass(frozen=True)
class Cubin:
    """Machine code of one kernel, and what a launch has to know.

    shared is dynamic shared memory in bytes; scratch is how many pointers Triton's kernels take behind
    the declared arguments (they are null).
    """

    code: bytes
    name: str
    shared: int
    warps: int
    scratch: int

    def pack(self) -> bytes:
        """As bytes that unpack reads; damage is found there."""
        fields = {key: value for key, value in asdict(self).items() if key != "code"}
        header = json.dumps(fields).encode()
        content = _HEADER.pack(_MAGIC, len(header)) + header + self.code
        return content + blake2b(content, digest_size=_CHECKSUM_BYTES).digest()

    @classmethod
    def unpack(cls, packed: bytes) -> Cubin | None:
        """What pack wrote, or None where it is damaged or cut short."""
        content, checksum = packed[:-_CHECKSUM_BYTES], packed[-_CHECKSUM_BYTES:]
        if len(content) < _HEADER.size or checksum != blake2b(content, digest_size=_CHECKSUM_BYTES).digest():
            return None
        magic, header_bytes = _HEADER.unpack_from(content)
        if magic != _MAGIC:
            return None
        end = _HEADER.size + header_bytes
        return cls(code=content[end:], **json.loads(content[_HEADER.size : end]))
