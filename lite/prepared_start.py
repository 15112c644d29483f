"""PreparedStart: a prepared model that runs before anything else of it has been read."""

from __future__ import annotations

import mmap
import os
import time
from _thread import RLock
from typing import TYPE_CHECKING, Any

import numpy as np

from .available_memory import OVERREAD_BYTES, allocate
from .errors import ModelError, PrepareError, UnsupportedError
from .native_plan import NativePlan
from .prepared_file import Mapped
from .private_file import RECENT_S, open_private, others_may_write, told_of
from .start_file import read_start, start_path
from .turn import Turn

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from contextlib import AbstractContextManager

    from .interpreter import Interpreter
    from .kernel_call import KernelLibrary
    from .private_file import CodePlace
    from .start_file import End, Start
    from .tensor import Shape

    MakeWhole = Callable[[mmap.mmap, os.stat_result, Turn], Interpreter]


class PreparedStart:
    """What an Interpreter can do of which a start file is kept: values of inputs and outputs, and runs.

    All else, and each call that is not as usual, is for whole(): the same model in the same memory, which
    serves every call from then on. Methods are those of Interpreter.
    """

    def __init__(
        self,
        start: Start,
        content: mmap.mmap,
        info: os.stat_result,
        place: CodePlace,
        library: KernelLibrary,
        make_whole: MakeWhole,
    ) -> None:
        self._start = start
        self._content, self._info, self._place = content, info, place
        self._library = library
        self._make_whole = make_whole
        self.turn = Turn()
        self._lock = RLock()  # a signal handler may ask for what its thread is making
        self._whole: Interpreter | None = None
        self._memory: tuple[Mapped, np.ndarray] | None = None  # with the arena, once it is allocated
        self._values: dict[int, np.ndarray] = {}
        self._kept: tuple[object, ...] = ()
        self._plan: NativePlan | None = None
        self._entry: Callable[[], int] | None = None

    def whole(self) -> Interpreter:
        """The model with all that can be asked of it."""
        if self._whole is not None:
            return self._whole
        with self._lock:
            made = self._make_whole(self._content, self._info, self.turn)
            if self._memory is not None:
                made.take_over(*self._memory)
            if self._whole is None:  # a signal handler may have been here
                self._whole = made
            return self._whole

    def input_details(self) -> list[dict[str, Any]]:
        return self._details(self._start["inputs"]) if self._whole is None else self._whole.input_details()

    def output_details(self) -> list[dict[str, Any]]:
        return self._details(self._start["outputs"]) if self._whole is None else self._whole.output_details()

    def allocate_tensors(self) -> None:
        if self._whole is None:
            with self.turn.exclusive(), self._lock:
                if self._whole is None and (self._memory is not None or self._allocate()):
                    return
        self.whole().allocate_tensors()

    def set_tensor(self, index: int, value: object) -> None:
        known = self._values.get(index) if type(index) is int and self._whole is None else None
        if known is None or type(value) is not np.ndarray:
            self.whole().set_tensor(index, value)
        elif value.dtype == known.dtype and value.shape == known.shape:
            known[...] = value
        else:
            self.whole().set_tensor(index, value)

    def get_tensor(self, index: int, subgraph_index: int = 0) -> np.ndarray:
        known = self._values.get(index) if type(index) is int and self._whole is None else None
        if known is None or subgraph_index:
            return self.whole().get_tensor(index, subgraph_index)
        return known.copy() if known.ndim else known[()]

    def invoke(self) -> None:
        entry = self._entry
        if self._whole is not None or entry is None:
            self.whole().invoke()
            return
        turn = self.turn
        if turn.busy:
            raise turn.error()
        turn.busy = True
        try:
            status = entry()
            if status and self._plan is not None:
                self.whole().subgraphs[0].fail_as(self._plan.failed_row, status)
        finally:
            turn.busy = False
            if turn.cancel_asked:
                turn.forget_cancel()

    def limited(self, timeout_s: float | None) -> AbstractContextManager[None]:
        return self.turn.limited(timeout_s)

    def cancel(self) -> None:
        self.turn.cancel()

    def _details(self, ends: Sequence[End]) -> list[dict[str, Any]]:
        is_new = self._memory is None
        return [_details(end, end["first_shape"] if is_new else end["shape"]) for end in ends]

    def _allocate(self) -> bool:
        """Map the prepared file and place all in memory; False where whole() has to say why not."""
        start = self._start
        handle = open_private(os.path.join(self._place.folder, f"prepared-{start['key'].hex()}.bin"))
        if handle is None:
            return False
        try:
            info = os.fstat(handle)
            if told_of(info) != start["told"] or time.time() - info.st_mtime > RECENT_S:
                return False
            mapped = Mapped(handle, start["key"], is_verified=True)
            arena = allocate(start["arena_bytes"])
            self._bind(mapped, arena)
        except (ModelError, PrepareError, UnsupportedError):
            return False
        finally:
            os.close(handle)
        self._values = {
            end["index"]: np.ndarray(end["shape"], end["dtype"], arena[end["offset"] :])
            for end in (*start["inputs"], *start["outputs"])
        }
        self._memory = mapped, arena
        return True

    def _bind(self, mapped: Mapped, arena: np.ndarray) -> None:
        """Write the addresses of this process, and make the plan."""
        start = self._start
        model = np.frombuffer(self._content, np.uint8)
        copies = [_copy(model[at : at + nbytes]) for at, nbytes in start["copies"]]
        held = (arena, model, mapped.arrays, *copies)
        bases = np.array([_address(memory) for memory in held], np.int64)
        words = mapped.blocks.view(np.int64)
        _write(words, start["in_blocks"], bases)
        words[list(start["cancellations"])] = self.turn.cancellation.address
        whole_words = len(mapped.arrays) // 8 * 8
        _write(mapped.arrays[:whole_words].view(np.int64), start["in_arrays"], bases)
        rows = np.frombuffer(start["rows"], np.int64).reshape(-1, 4).copy()
        rows[:, 0] = self._addresses()[rows[:, 0]]
        rows[:, 1] += _address(words)
        self._kept = (words, *held)
        self._plan = NativePlan(rows, self._library, None, self.turn.cancellation)
        self._entry = self._plan.invoke

    def _addresses(self) -> np.ndarray:
        """Of the kernels."""
        wanted: dict[str, set[str]] = {"executor": {"run_plan", "invoke"}}
        for family, kernel in self._start["kernels"]:
            wanted.setdefault(family, set()).add(kernel)
        self._library.load(wanted)
        return np.array([self._library.address(*kernel) for kernel in self._start["kernels"]], np.int64)

    def __getstate__(self) -> object:
        from .turn import NO_COPY

        raise TypeError(NO_COPY)


def prepared_start(
    path: str | os.PathLike[str],
    place: CodePlace,
    is_reference: bool,
    library: KernelLibrary,
    make_whole: MakeWhole,
) -> PreparedStart | None:
    """The start of a model's file, None where none is kept.

    make_whole makes an interpreter of the mapped file, which this very code has verified.
    """
    try:
        with open(os.fspath(path), "rb") as file:
            info = os.fstat(file.fileno())
            if others_may_write(info):
                return None
            start = read_start(start_path(info, place, is_reference))
            if start is None:
                return None
            content = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except (OSError, ValueError):
        return None  # who opens it for good says why
    return PreparedStart(start, content, info, place, library, make_whole)


def _details(end: End, shape: Shape) -> dict[str, Any]:
    """As tensor_details.tensor_details gives them."""
    signature = shape if end["signature"] is None else end["signature"]
    return {
        "name": end["name"],
        "index": end["index"],
        "shape": np.array(shape, np.int32),
        "shape_signature": np.array(signature, np.int32),
        "dtype": np.dtype(end["dtype"]).type,
        "quantization": end["quantization"],
        "quantization_parameters": {
            "scales": np.frombuffer(end["scales"], np.float32).copy(),
            "zero_points": np.frombuffer(end["zero_points"], np.int32).copy(),
            "quantized_dimension": end["quantized_dimension"],
            "block_size": 0,
        },
        "sparsity_parameters": {},
    }


def _write(words: np.ndarray, places: bytes, bases: np.ndarray) -> None:
    table = np.frombuffer(places, np.int64).reshape(-1, 3)
    words[table[:, 0]] = bases[table[:, 1]] + table[:, 2]


def _copy(data: np.ndarray) -> np.ndarray:
    """As Model.buffer copies what ends too near to the file's end."""
    memory = np.zeros(data.size + OVERREAD_BYTES, np.uint8)
    memory[: data.size] = data
    return memory


def _address(memory: np.ndarray) -> int:
    address: int = memory.__array_interface__["data"][0]
    return address
