"""A plugin in a process of its own: what it does there, crash, exit or never return, leaves this one as it
is.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
import weakref
from collections import deque
from contextlib import suppress
from typing import IO

from ...lite.environment import for_children
from ...lite.errors import PluginError
from .frames import EndOfFramesError, Header, LateFrameError, receive, send

DEFAULT_TIMEOUT_S = 60.0
# For a new process beside: Python and our own modules start in it first.
_START_S = 30.0
_MAIN = (
    "import sys; sys.path[:] = {path!r}; from {package}.process_child import main; "
    "main({requests}, {answers}, {plugin!r})"
)
_STDERR_PIECES, _PIECE_BYTES, _SHOWN_CHARACTERS = 8, 4096, 800
_LAST_WORDS_S = 2.0


class PluginProcess:
    """The process of one plugin. It is started when it is first asked for something, and anew after it has
    ended.
    """

    def __init__(self, path: str, timeout_s: float = DEFAULT_TIMEOUT_S) -> None:
        """timeout_s: how long it may take for one answer."""
        self.path = path
        self.timeout_s = timeout_s
        self._child: _Child | None = None
        self._lock = threading.RLock()

    def ask(self, request: str, content: bytes = b"", **values: object) -> tuple[Header, bytes]:
        """The process's answer. PluginError for what went wrong there; the process is gone then if it
        crashed, ended or was late.
        """
        with self._lock:
            deadline = time.monotonic() + self.timeout_s
            if self._child is None:
                self._child = _Child(self.path)
                deadline += _START_S
            try:
                send(self._child.requests, {"request": request, **values}, content, deadline)
                header, found = receive(self._child.answers, deadline)
            except LateFrameError as error:
                raise self._gone(
                    f"it must answer {request!r} in {self.timeout_s:g} s, and was ended", True
                ) from error
            except EndOfFramesError as error:
                raise self._gone(f"its process must live through {request!r}, and {{end}}", False) from error
            except PluginError as error:
                raise self._gone(str(error), True) from error
            except BaseException:
                self.close()  # an interrupt: an answer that comes later would be taken for the next one's
                raise
            if "error" in header:
                raise PluginError(str(header["error"]))
            return header, found

    @property
    def is_alive(self) -> bool:
        """Whether there is a process now."""
        return self._child is not None

    def close(self) -> None:
        """End the process, if there is one."""
        with self._lock:
            child, self._child = self._child, None
            if child is not None:
                child.end()

    def _gone(self, what: str, kill: bool) -> PluginError:
        child, self._child = self._child, None
        assert child is not None
        end, said = child.last_words(kill)
        text = f"plugin {self.path!r}: {what.replace('{end}', end)}"
        return PluginError(f"{text}; the end of its stderr: {said}" if said else text)


class _Child:
    def __init__(self, path: str) -> None:
        theirs_in, self.requests = os.pipe()
        self.answers, theirs_out = os.pipe()
        code = _MAIN.format(
            path=sys.path, package=__package__, requests=theirs_in, answers=theirs_out, plugin=path
        )
        try:
            # In a session of its own an interrupt from the keyboard does not reach it, and all of it can be
            # ended.
            self.process = subprocess.Popen(
                [sys.executable or "python", "-c", code],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                env=for_children(),
                pass_fds=(theirs_in, theirs_out),
                start_new_session=True,
            )
        except OSError as error:
            for pipe in (self.requests, self.answers):
                os.close(pipe)
            raise PluginError(f"plugin {path!r}: its process must start, got: {error}") from error
        finally:
            os.close(theirs_in)
            os.close(theirs_out)
        self.said: deque[bytes] = deque(maxlen=_STDERR_PIECES)
        assert self.process.stderr is not None
        self._reader = threading.Thread(target=_drain, args=(self.process.stderr, self.said), daemon=True)
        self._reader.start()
        self.end = weakref.finalize(self, _end, self.process, self.requests, self.answers)

    def last_words(self, kill: bool) -> tuple[str, str]:
        """How the process ended, in words, and the end of what it wrote on stderr."""
        if not kill:
            with suppress(subprocess.TimeoutExpired):
                self.process.wait(_LAST_WORDS_S)
        code = self.process.poll()
        self.end()
        self._reader.join(_LAST_WORDS_S)
        text = " ".join(b"".join(self.said).decode(errors="replace").split())
        return _end_in_words(code), text[-_SHOWN_CHARACTERS:]


def _drain(stream: IO[bytes], said: deque[bytes]) -> None:
    with suppress(OSError, ValueError):
        while piece := os.read(stream.fileno(), _PIECE_BYTES):
            said.append(piece)


def _end(process: subprocess.Popen[bytes], *pipes: int) -> None:
    # The group may outlive its leader: a plugin can have processes of its own.
    with suppress(OSError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    for pipe in pipes:
        with suppress(OSError):
            os.close(pipe)


def _end_in_words(code: int | None) -> str:
    if code is None:
        return "closed its pipe"
    if code >= 0:
        return f"ended with status {code}"
    try:
        return f"ended by {signal.Signals(-code).name}"
    except ValueError:
        return f"ended by signal {-code}"
