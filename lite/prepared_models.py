"""PreparedModels: what preparing a model has found, in the cache, once it is loaded for the second time."""

from __future__ import annotations

import os
import time
from contextlib import suppress
from typing import TYPE_CHECKING

from .environment import kept_bytes
from .errors import ModelError, UnsupportedError
from .preparation import may_be_kept
from .private_file import (
    DIGEST_BYTES,
    JUST_NOW_NS,
    RECENT_S,
    blake2b,
    open_private,
    others_may_write,
    read_private,
    told_of,
)

if TYPE_CHECKING:
    import numpy as np

    from .model import Model
    from .prepared_file import Mapped
    from .prepared_graph import PreparedGraph
    from .private_file import CodePlace
    from .settings import Settings

_FEW_NODES = 8  # are prepared as fast as a file is found
_MOST_MARKS = 4096
_MOST_STATES = 8


class ModelMark:
    """A small file of the cache: empty for a model that was seen once.

    From then on it holds a digest of the model's bytes, and the states of the latest codes that have verified
    them: several versions may use one cache.
    It is named by what the system says of the file, which changes with every write to it.
    """

    def __init__(self, name: str, place: CodePlace) -> None:
        self._path = os.path.join(place.folder, f"model-{name}.bin")
        self._state = place.state.encode()

    @classmethod
    def of_file(cls, info: os.stat_result, place: CodePlace) -> ModelMark | None:
        """The mark of a mapped file; None for one that has changed just now, and may again."""
        if max(info.st_mtime_ns, info.st_ctime_ns) > time.time_ns() - JUST_NOW_NS:
            return None
        return cls(blake2b(repr(told_of(info)).encode(), digest_size=16).hexdigest(), place)

    def was_seen(self) -> bool:
        """Whether the model was loaded before; the mark is there from now on."""
        known = read_private(self._path) is not None
        if not known:
            self._publish()
        return known

    @property
    def digest(self) -> bytes | None:
        """Of the model's bytes, None where it is not known."""
        return (read_private(self._path) or b"")[:DIGEST_BYTES] or None

    @property
    def is_verified(self) -> bool:
        """Whether this very code has verified the file, so that it can be read as it is."""
        return self._state in self._states()

    def put(self, digest: bytes) -> None:
        """Keep the digest of a model that this code has verified."""
        self._publish(digest, b"\n".join([*self._states(), self._state][-_MOST_STATES:]))

    def _states(self) -> list[bytes]:
        return (read_private(self._path) or b"")[DIGEST_BYTES:].split(b"\n")

    def _publish(self, *pieces: bytes) -> None:
        from .whole_file import publish  # what it imports takes 5 ms of a start

        with suppress(OSError):
            publish(self._path, *pieces)


class PreparedModels:
    """The prepared graphs of one model with its settings, in a cache's folder.

    A model that is loaded for the first time leaves a mark, a file of a few bytes; of one that has a mark
    graphs are kept. The folder holds kept_bytes() at most: what was not used for longest goes.
    """

    def __init__(self, model: Model, settings: Settings, place: CodePlace) -> None:
        self._model = model
        self._settings = settings
        self._place = place
        self._content: bytes | None = None
        self.is_sound = True  # whether no graph of the model has a fault: then its file is known as it is
        self._wanted: set[int] = set()  # graphs that are to be kept when they are prepared
        # What the first graph has already: its file and its arena.
        self.taken_over: tuple[Mapped, np.ndarray] | None = None

    def restore(self, graph: PreparedGraph) -> bool:
        """Give a graph that was never allocated what is kept for it; False where there is nothing.

        ModelError where settings name a file for it that is another model's, or damaged.
        """
        if self.taken_over is not None:
            from .prepared_model import restore

            restore(graph, *self.taken_over)
            self.taken_over = None
            return True
        own = may_be_kept(graph, graph.schedule)
        if self._settings.prepared_model is not None:
            if not own:
                raise ModelError("prepared model: it is for numlite's operators, got a model with others")
            return self._restore_from(self._settings.prepared_model, graph)
        if not own or len(graph.nodes) < _FEW_NODES or not self._was_seen():
            return False
        path = self._path(graph)
        handle = open_private(path)
        if handle is None:
            self._wanted.add(graph.index)
            return False
        try:
            self._restore_kept(handle, graph)
        except ModelError:
            self._wanted.add(graph.index)  # damaged: it is written anew
            return False
        finally:
            os.close(handle)
        return True

    def _restore_kept(self, handle: int, graph: PreparedGraph) -> None:
        """From a file of the cache; its bytes are summed up once for all who find them unchanged."""
        from .prepared_file import Mapped
        from .prepared_model import restore  # a first load does without

        info, key = os.fstat(handle), self.key(graph)
        mark = ModelMark.of_file(info, self._place)
        is_verified = mark is not None and mark.is_verified
        mapped = Mapped(handle, key, is_verified)
        restore(graph, mapped)
        if time.time() - info.st_mtime > RECENT_S:
            with suppress(OSError):
                os.utime(handle)
        elif mark is not None:
            if not is_verified:
                mark.put(key)
            self._keep_start(graph, mapped, told_of(info))

    def _keep_start(self, graph: PreparedGraph, mapped: Mapped, told: tuple[int, ...]) -> None:
        """Keep what a run needs to know, for who loads the file next; it has been verified by then."""
        settings, file = self._settings, self._model.file
        is_usual = (graph.num_threads, *settings[1:4]) == (1, 1, False, False)
        mark = self._mark()
        if file is None or others_may_write(file) or not is_usual or mark is None or not mark.is_verified:
            return
        from .prepared_file import NotKept
        from .start_file import read_start, start_bytes, start_path

        path = start_path(file, self._place, settings.numerics.value == "reference")
        known = read_start(path)
        if known is not None and (known["key"], known["told"]) == (mapped.key, told):
            return
        from .start_contents import start_of  # it is written once

        with suppress(NotKept, OSError):
            _publish(path, start_bytes(path, start_of(graph, mapped, self._model, told)))

    def _restore_from(self, path: str, graph: PreparedGraph) -> bool:
        """From a file that the caller trusts: it is for the first graph in the shapes that it had."""
        if graph.index != 0:
            return False
        from .prepared_file import Mapped
        from .prepared_model import restore

        try:
            with open(path, "rb") as file:
                mapped = Mapped(file.fileno(), self.key(graph))
        except OSError as error:
            raise ModelError(f"prepared model {path!r}: {error.strerror or error}") from error
        except ModelError as error:
            raise ModelError(f"{path!r}: {error}") from error
        restore(graph, mapped)
        return True

    def keep_now(self, graph: PreparedGraph) -> None:
        """Keep an allocated graph for all who load the model from now on; NotKept, or OSError."""
        _publish(self._path(graph), *self.contents(graph))
        self.content_digest()
        _forget_oldest(self._place.folder)

    def contents(self, graph: PreparedGraph) -> list[bytes | memoryview]:
        """The file of an allocated graph, for who ships it; NotKept where there is none."""
        from .prepared_contents import contents  # who reads a file does not write one

        return contents(graph, self.key(graph))

    def keep(self, graph: PreparedGraph) -> None:
        """Keep a graph that has just been prepared, if it is worth it."""
        if graph.index not in self._wanted:
            return
        from .prepared_file import NotKept

        self._wanted.remove(graph.index)
        with suppress(NotKept, OSError):
            self.keep_now(graph)

    def key(self, graph: PreparedGraph) -> bytes:
        """What the graph's preparation depends on."""
        settings = self._settings
        inputs = [(x.shape, int(x.type), x.first_shape) for x in map(graph.tensor, graph.inputs)]
        operators = [(n.registration.name, n.version) for n in graph.nodes]
        choices = (
            settings.numerics.value,
            graph.num_threads,
            settings.preserve_all_tensors,
            settings.compress_zero_points,
        )
        text = repr((self._place.state, graph.index, choices, inputs, operators))
        return blake2b(self.content_digest() + text.encode(), digest_size=DIGEST_BYTES).digest()

    def _path(self, graph: PreparedGraph) -> str:
        return os.path.join(self._place.folder, f"prepared-{self.key(graph).hex()}.bin")

    def content_digest(self) -> bytes:
        """Of the model's bytes. A mapped file's is kept in its mark, unless others may write to it."""
        if self._content is None:
            mark = self._mark()
            known = None if mark is None else mark.digest
            self._content = known or blake2b(self._model.content, digest_size=DIGEST_BYTES).digest()
            if mark is not None and self.is_sound and not mark.is_verified:
                mark.put(self._content)
        return self._content

    def _was_seen(self) -> bool:
        """Whether the model has a mark; it has one from now on."""
        mark = self._mark()
        return mark is not None and mark.was_seen()

    def _mark(self) -> ModelMark | None:
        info = self._model.file
        if info is not None and not others_may_write(info):
            return ModelMark.of_file(info, self._place)
        self._content = self._content or blake2b(self._model.content, digest_size=DIGEST_BYTES).digest()
        return ModelMark(self._content.hex(), self._place)


def prepared_models(model: Model, settings: Settings) -> PreparedModels | None:
    """Where a model's prepared graphs are kept, None for nowhere."""
    place = settings.code_place()
    if place is None and settings.prepared_model is not None:
        raise UnsupportedError(
            "prepared model: kernels of the cache are needed, got NUMLITE_JIT=memory, or sources that have "
            "changed just now"
        )
    return None if place is None else PreparedModels(model, settings, place)


def _publish(path: str, *pieces: bytes | memoryview) -> None:
    from .whole_file import publish  # what it imports takes 5 ms of a start

    publish(path, *pieces)


def _forget_oldest(folder: str) -> None:
    """Remove what was used longest ago: models beyond kept_bytes(), marks beyond their number."""
    prepared, marks = list[tuple[float, int, str]](), list[tuple[float, int, str]]()
    with os.scandir(folder) as entries:
        for entry in entries:
            kind = entry.name.partition("-")[0]
            if kind in ("prepared", "start", "model"):
                info = entry.stat(follow_symlinks=False)
                (marks if kind == "model" else prepared).append((info.st_mtime, info.st_size, entry.path))
    room = kept_bytes()
    for _, size, path in sorted(prepared, reverse=True):
        room -= size
        if room < 0:
            with suppress(OSError):  # another process may be doing the same
                os.unlink(path)
    for _, _, path in sorted(marks, reverse=True)[_MOST_MARKS:]:
        with suppress(OSError):
            os.unlink(path)
