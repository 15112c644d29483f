"""What delegates keep on disk: found again, told apart, damaged, and written by two processes at once."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numlite.delegates import (
    DelegateContext,
    DelegateParams,
    Serialization,
    SerializationEntry,
    SerializationParams,
    options_key,
)
from numlite.delegates.serialization import get_delegated_nodes, save_delegated_nodes, str_fingerprint
from numlite.interpreter import Interpreter
from numlite.lite.errors import StateError

from .graphs import sine, sine_model
from .numpy_delegate import NumpyDelegate, NumpyKernel
from .test_application import X, run


class CachingKernel(NumpyKernel):
    def __init__(self, delegate: Caching) -> None:
        self.delegate = delegate

    def init(self, context: DelegateContext, params: DelegateParams) -> None:
        super().init(context, params)
        delegate = self.delegate
        entry = delegate.serialization.get_entry_for_kernel(delegate.key, context, params)

        def build() -> bytes:
            delegate.built += 1
            return repr(self.steps).encode()

        assert entry.data_or(build) == repr(self.steps).encode()
        delegate.entries.append(entry)


class Caching(NumpyDelegate):
    """Keeps what its kernels build, and the nodes it takes."""

    def __init__(self, directory: Path, token: str = "model", **options: object) -> None:
        super().__init__("SIN", "MUL")
        self.serialization = Serialization(SerializationParams(token, directory))
        self.key = options_key(self, options)
        self.built = 0
        self.entries: list[SerializationEntry] = []
        self.known: list[int] | None = None

    def prepare(self, context: DelegateContext) -> None:
        self.known = get_delegated_nodes(context, self.serialization, self.key)
        if self.known is None:
            save_delegated_nodes(context, self.serialization, self.key, [0, 2, 3])
        super().prepare(context)

    def create_kernel(self) -> CachingKernel:
        return CachingKernel(self)


def used(directory: Path, token: str = "model") -> Caching:
    delegate = Caching(directory, token)
    interpreter = Interpreter(model_content=sine_model(), experimental_delegates=[delegate])
    assert np.array_equal(run(interpreter, X), sine(X))
    return delegate


def test_the_second_run_builds_nothing(tmp_path: Path) -> None:
    first, second = used(tmp_path / "new" / "cache"), used(tmp_path / "new" / "cache")
    assert (first.built, first.known) == (1, None)
    assert (second.built, second.known) == (0, [0, 2, 3])
    assert not [path for path in (tmp_path / "new" / "cache").iterdir() if path.suffix != ".bin"]


@pytest.mark.parametrize(
    "settings",
    [{"token": "other"}, {"level": 3}, {"content": sine_model((2, 1))}],
    ids=["model token", "options", "shapes"],
)
def test_what_differs_is_built_again(tmp_path: Path, settings: dict[str, Any]) -> None:
    used(tmp_path)
    delegate = Caching(tmp_path, **{key: value for key, value in settings.items() if key != "content"})
    content = settings.get("content", sine_model())
    interpreter = Interpreter(model_content=content, experimental_delegates=[delegate])
    assert interpreter and delegate.built == 1 and delegate.known is None


def test_another_version_of_the_delegate_has_other_entries(tmp_path: Path) -> None:
    class Newer(Caching):
        version = "2"

    older = Caching(tmp_path)
    newer = Newer(tmp_path)
    assert len({older.key, newer.key, Caching(tmp_path, a=1).key}) == 3
    assert Caching(tmp_path, a=1, b=2).key == Caching(tmp_path, b=2, a=1).key


def cut(content: bytes) -> bytes:
    return content[:-1]


def changed(content: bytes) -> bytes:
    return content[:-1] + bytes([content[-1] ^ 1])


def of_other_fingerprint(content: bytes) -> bytes:
    return content[:8] + bytes(8) + content[16:]


@pytest.mark.parametrize("damage", [cut, changed, of_other_fingerprint, lambda content: b""])
def test_damaged_entries_are_rebuilt(tmp_path: Path, damage: Callable[[bytes], bytes]) -> None:
    for entry in used(tmp_path).entries:
        entry.path.write_bytes(damage(entry.path.read_bytes()))
        assert entry.get_data() is None
    assert used(tmp_path).built == 1
    assert used(tmp_path).built == 0


def test_a_directory_that_cannot_be_written(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "file").write_text("in the way")
    delegate = Caching(tmp_path / "file")
    delegate.prepare = super(Caching, delegate).prepare  # type: ignore[method-assign]
    interpreter = Interpreter(model_content=sine_model(), experimental_delegates=[delegate])
    assert np.array_equal(run(interpreter, X), sine(X)) and delegate.built == 1
    assert "cache directory must be writable" in caplog.text
    with pytest.raises(StateError, match="must be writable"):
        delegate.entries[0].set_data(b"data")


def test_names_do_not_leave_the_directory(tmp_path: Path) -> None:
    delegate = used(tmp_path / "cache", token="../../outside")
    assert all(entry.path.parent == tmp_path / "cache" for entry in delegate.entries)
    assert [path.name for path in tmp_path.iterdir()] == ["cache"]


def test_misuse() -> None:
    with pytest.raises(StateError, match="must name the model"):
        Serialization(SerializationParams("", "."))
    with pytest.raises(StateError, match="must be numbers"):
        options_key(NumpyDelegate(), {"device": object()})


def test_str_fingerprint_is_farmhash() -> None:
    assert str_fingerprint("") == "11160318154034397263"
    assert str_fingerprint(b"a") == str_fingerprint("a") == "12917804110809363939"


WRITER = """
import sys
from pathlib import Path
from numlite.delegates import SerializationEntry
entry = SerializationEntry(Path(sys.argv[1]), 7)
for _ in range(200):
    entry.set_data(sys.argv[2].encode() * 5000)
"""


def test_two_processes_at_once(tmp_path: Path) -> None:
    path = tmp_path / "entry.bin"
    entry = SerializationEntry(path, 7)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", WRITER, str(path)]
    writers = [subprocess.Popen([*command, letter], env=environment) for letter in "ab"]
    seen = set()
    while any(writer.poll() is None for writer in writers):
        seen.add(entry.get_data())
    assert [writer.returncode for writer in writers] == [0, 0]
    assert seen <= {None, b"a" * 5000, b"b" * 5000} and entry.get_data() is not None
    assert list(tmp_path.iterdir()) == [path]
