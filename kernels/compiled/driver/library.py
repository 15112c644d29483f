"""Library: compiled kernels by family and name, from the cache or freshly compiled."""

from __future__ import annotations

import os
from _thread import RLock  # a third of a millisecond less than threading's
from collections.abc import Mapping

from ....lite.errors import UnsupportedError
from ....lite.private_file import CodePlace
from ..language.target import target
from .cache import cache_directory, open_image, write
from .image import Kernels, load_image, uses_shared_objects
from .packs import Pack, find_pack, in_checkout
from .sources import cache_key, code_state, source_digest


def _in_memory() -> bool:
    """Whether NUMLITE_JIT asks for kernels that are kept nowhere."""
    text = os.environ.get("NUMLITE_JIT", "")
    if text not in ("", "memory"):
        raise UnsupportedError(f"NUMLITE_JIT: must be 'memory', or not set, got {text!r}")
    return text == "memory"


class Library:
    """The process's compiled kernels.

    A family comes from the target's pack, else from the cache directory; else it is compiled as a whole,
    once per target, and kept there. With `NUMLITE_JIT=memory` each kernel is compiled by itself, in this
    process, and never kept.
    """

    _families: dict[str, Kernels] = {}  # noqa: RUF012 (one per process, whoever asks)
    _lock = RLock()

    @staticmethod
    def place() -> CodePlace | None:
        """Where the cache is, and what its kernels depend on; None where none is kept, or nothing tells."""
        state = None if _in_memory() else code_state()
        return None if state is None else CodePlace(cache_directory(), state)

    def load(self, wanted: Mapping[str, set[str]]) -> None:
        """Make the kernels of each family callable, compiling what no pack and no cache holds.

        UnsupportedError where that takes Numba, which is not installed.
        """
        missing = [family for family in wanted if family not in self._families]
        if not missing:
            return
        with self._lock:
            if _in_memory():
                _check_compiler(missing[0])
                self._families.update((family, _InMemory(family)) for family in missing)
                return
            to_compile = [f for f in missing if not self._load_packed(f) and not self._load_cached(f)]
            if to_compile:
                _check_compiler(to_compile[0])
                self._compile(to_compile)

    def address(self, family: str, kernel: str) -> int:
        """Address of `int64 kernel(int64 args, int64 chunk, int64 chunks)`, loading it if need be."""
        found = self._families.get(family)
        if found is None:
            self.load({family: {kernel}})
            found = self._families[family]
        return found.address(kernel)

    def _load_packed(self, family: str) -> bool:
        pack = family_pack(family)
        if pack is not None:
            self._families[family] = pack.code
        return pack is not None

    def _load_cached(self, family: str) -> bool:
        found = open_image(*cache_key(family))
        if found is None:
            return False
        self._install(family, *found)
        return True

    def _install(self, family: str, image: bytes, handle: int | None = None) -> None:
        """Load an image, which the file behind the descriptor begins with where there is one."""
        # What was checked is what is loaded. The descriptor stays open where that is done by its name:
        # a file that got the same number later would be taken for this one.
        path = f"/proc/self/fd/{handle}" if handle is not None and uses_shared_objects() else ""
        try:
            self._families[family] = load_image(image, path)
        except OSError as error:
            _warn("kernels are compiled in each process: the system does not load shared objects (%s)", error)
            self._families[family] = _InMemory(family)
            path = ""
        if handle is not None and not path:
            os.close(handle)

    def _compile(self, families: list[str]) -> None:
        from .build import build
        from .progress import Progress

        unit = "family" if len(families) == 1 else "families"
        with Progress("Compiling kernels", len(families), f"{unit}, once per machine") as progress:

            def done(family: str, image: bytes) -> None:
                _keep(family, image)
                if not self._load_cached(family):
                    self._install(family, image)
                progress.step()

            try:
                build(families, done)
            except OSError:
                from .compiler_process import family_image

                for family in families:
                    if family not in self._families:
                        done(family, family_image(family))


class _InMemory:
    """A family's kernels, each compiled when it is first asked for."""

    def __init__(self, family: str) -> None:
        from ..families import FAMILIES

        self._sources = FAMILIES[family].sources()
        self._owners: dict[str, Kernels] = {}

    def address(self, kernel: str) -> int:
        from .compile import MemoryKernels

        if kernel not in self._owners:
            self._owners[kernel] = MemoryKernels({kernel: self._sources[kernel]})
        return self._owners[kernel].address(kernel)


def _check_compiler(family: str) -> None:
    from .packed import check_compiler  # no use for it where nothing is compiled

    check_compiler(family)


def family_pack(family: str) -> Pack | None:
    """The target's pack; None where it lacks the family, or has another one than the sources say."""
    pack = find_pack(target().name).pack
    if pack is None or family not in pack.families:
        return None
    if in_checkout() and pack.families[family][0] != source_digest(family):
        if pack.path not in _warnings:
            import logging

            _warnings.add(pack.path)
            text = "%s was made from other sources: what has changed is compiled"
            logging.getLogger("numlite").info(text, pack.path)
        return None
    return pack


def _keep(family: str, image: bytes) -> None:
    """Write an image to the cache, or say that nothing can be written."""
    try:
        write(*cache_key(family), image)
    except OSError as error:
        _warn(
            "compiled kernels are not kept: cannot write %s (%s); NUMLITE_CACHE_DIR names another place",
            cache_directory(),
            error.strerror or error,
        )


_warnings: set[str] = set()


def _warn(message: str, *values: object) -> None:
    """Log a warning, once for each message."""
    if message not in _warnings:
        import logging

        _warnings.add(message)
        logging.getLogger("numlite").warning(message, *values)
