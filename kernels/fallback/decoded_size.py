"""How much files in tensors (images, sound, compressed data) may decode to."""

from __future__ import annotations

import os

from ...lite.available_memory import available_bytes
from .status import InvalidArgumentError, ResourceExhaustedError

LIMIT = "NUMLITE_MAX_DECODED_BYTES"
_DEFAULT_BYTES = 1 << 30
_SMALL_BYTES = 64 << 20  # so much is there


def most_decoded_bytes() -> int:
    """What one file may decode to: NUMLITE_MAX_DECODED_BYTES, or 1 GiB."""
    text = os.environ.get(LIMIT)
    if text is None:
        return _DEFAULT_BYTES
    if not (text.isascii() and text.isdigit()):
        raise InvalidArgumentError(f"{LIMIT}: it must be a number of bytes, got {text!r}")
    return int(text)


def check_decoded(what: str, nbytes: int, working_bytes: int = 0) -> None:
    """ResourceExhaustedError for what decodes to more than is allowed, or takes more memory than is there.

    working_bytes are what decoding takes, the result included; to be asked before the memory is taken.
    """
    most = most_decoded_bytes()
    if nbytes > most:
        raise ResourceExhaustedError(
            f"{what}: a file must decode to {most:,} bytes or fewer ({LIMIT}), got {nbytes:,}"
        )
    needed = max(nbytes, working_bytes)
    if needed > _SMALL_BYTES and needed > (available := available_bytes()):
        raise ResourceExhaustedError(f"{what}: decoding takes {needed:,} bytes, {available:,} are available")
