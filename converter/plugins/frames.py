"""Frames: what this process and a plugin's own process say to each other over pipes.

A frame is a mark, the bytes of its header (JSON) and of what follows it, then both. A plugin can write
anything into its pipe, so that nothing in a frame is taken for more than text, numbers and bytes.
"""

from __future__ import annotations

import json
import os
import select
import struct
import time
from typing import Any

from ...lite.errors import PluginError

_HEAD = struct.Struct("<4sIQ")
_MARK = b"NLP1"
_MOST_HEADER_BYTES = 1 << 26
_MOST_CONTENT_BYTES = 1 << 31
_PIECE_BYTES = 1 << 16

Header = dict[str, Any]


class EndOfFramesError(PluginError):
    """The other side has closed its pipe."""


class LateFrameError(PluginError):
    """The deadline has passed before a whole frame was there, or was taken."""


def send(pipe: int, header: Header, content: bytes = b"", deadline: float | None = None) -> None:
    """Write a frame; EndOfFramesError when nobody reads any more, LateFrameError past the deadline
    (time.monotonic).
    """
    text = json.dumps(header).encode()
    waiting = memoryview(_HEAD.pack(_MARK, len(text), len(content)) + text + content)
    while waiting:
        _wait(pipe, deadline, to_write=True)
        try:
            waiting = waiting[os.write(pipe, waiting[:_PIECE_BYTES]) :]
        except BrokenPipeError as error:
            raise EndOfFramesError("pipe: must be open, got one that is closed") from error


def receive(pipe: int, deadline: float | None = None) -> tuple[Header, bytes]:
    """The header and the content of the next frame, waited for until deadline (time.monotonic) at most.

    Raises EndOfFramesError when the other side has closed the pipe, LateFrameError past the deadline, and
    PluginError for what is no frame: another mark, sizes beyond 64 MiB (header) and 2 GiB (content), a
    header that is no JSON object.
    """
    mark, header_bytes, content_bytes = _HEAD.unpack(_read(pipe, _HEAD.size, deadline))
    if mark != _MARK or header_bytes > _MOST_HEADER_BYTES or content_bytes > _MOST_CONTENT_BYTES:
        raise PluginError("plugin's process: it must answer in frames, got something else on its pipe")
    text = _read(pipe, header_bytes, deadline)
    try:
        header = json.loads(text)
    except ValueError as error:
        raise PluginError("plugin's process: a frame's header must be JSON, got something else") from error
    if not isinstance(header, dict):
        raise PluginError(
            f"plugin's process: a frame's header must be an object, got {type(header).__name__}"
        )
    return header, _read(pipe, content_bytes, deadline)


def _read(pipe: int, nbytes: int, deadline: float | None) -> bytes:
    found = bytearray()
    while len(found) < nbytes:
        _wait(pipe, deadline, to_write=False)
        piece = os.read(pipe, min(_PIECE_BYTES, nbytes - len(found)))
        if not piece:
            raise EndOfFramesError("pipe: must be open, got its end")
        found += piece
    return bytes(found)


def _wait(pipe: int, deadline: float | None, to_write: bool) -> None:
    if deadline is None:
        return
    poll = select.poll()
    poll.register(pipe, select.POLLOUT if to_write else select.POLLIN)
    left = deadline - time.monotonic()
    if left <= 0 or not poll.poll(max(1, int(left * 1000))):
        raise LateFrameError("deadline: must not have passed")
