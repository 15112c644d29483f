"""A family's digest changes with all that its code is made from, and with nothing else."""

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from numlite.kernels.compiled.driver import cache
from numlite.kernels.compiled.driver import sources as module
from numlite.kernels.compiled.families import FAMILIES, Family
from numlite.kernels.compiled.language.target import target
from numlite.kernels.compiled.language.targets import TARGETS


@pytest.fixture
def sources(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A copy of kernels/compiled that a test may edit; digests are computed anew."""
    copy = tmp_path / "compiled"
    shutil.copytree(Path(module._FOLDER), copy, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(module, "_FOLDER", str(copy))
    monkeypatch.setattr(cache, "cache_directory", lambda: str(tmp_path / "cache"))
    forget()
    yield copy
    forget()


_CACHED = (
    *(module.family_digest, module.source_digest, module.code_state, module._digests, module._package_state),
    *(module._source, module._content, module._environment),
)


def forget() -> None:
    """What a process keeps; the cache's files of imports and digests stay."""
    for cached in _CACHED:
        cached.cache_clear()
    module._known = None


def digest(family: str = "executor") -> str:
    forget()
    return module._computed_digest(family)


def kept_digest() -> str:
    forget()
    return module.source_digest("executor")


def made_digest() -> str:
    """Of what is made from the sources."""
    forget()
    return module.family_digest("executor")


def test_a_digest_is_stable(sources: Path) -> None:
    assert digest() == digest()


SOURCES = ["driver/executor", "language/primitives", "language/memory"]
COMPILER = ["driver/compile", "driver/linker/shared_object", "driver/linker/aarch64", "language/targets"]


@pytest.mark.parametrize("source", [*SOURCES, *COMPILER])
def test_a_digest_covers_sources(sources: Path, source: str) -> None:
    before = digest()
    with (sources / f"{source}.py").open("a") as file:
        file.write("\n# changed\n")
    assert digest() != before


IMPORTS = {
    "at the top": "from .middle import {what}",
    "in brackets": "from .middle import (\n    {what},  # a comment\n)",
    "in a function": "def late():\n    from .middle import {what}",
    "after a function": "def first(): pass\n\nfrom .middle import {what} as other",
    "under a condition": "if True:\n    x = 1; from .middle import {what}",
    "of the module": "from . import middle",
}


@pytest.mark.parametrize("how", IMPORTS)
@pytest.mark.parametrize("behind", ["at the top", "in a function"])
def test_a_digest_covers_what_is_imported_indirectly(
    sources: Path, monkeypatch: pytest.MonkeyPatch, how: str, behind: str
) -> None:
    monkeypatch.setitem(FAMILIES, "made", Family("made"))
    (sources / "made.py").write_text(IMPORTS[how].format(what="last"))
    (sources / "middle.py").write_text(IMPORTS[behind].replace(".middle", ".language.last").format(what="x"))
    (sources / "language" / "last.py").write_text("x = 1")
    before = digest("made")
    assert digest("made") == before
    (sources / "language" / "last.py").write_text("x = 2")
    changed = digest("made")
    assert changed != before
    # An import that a source gets or loses counts from then on.
    (sources / "middle.py").write_text("x = 1")
    without = digest("made")
    (sources / "language" / "last.py").write_text("x = 3")
    assert digest("made") == without != changed


def test_a_warm_start_parses_nothing(sources: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = digest()
    monkeypatch.setattr(module, "_parsed", lambda *source: pytest.fail("parsed"))
    assert digest() == before


def test_an_unwritable_cache_changes_no_digest(sources: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = digest()
    (sources / "file").touch()
    monkeypatch.setattr(cache, "cache_directory", lambda: str(sources / "file"))
    assert digest() == before


def test_a_function_from_elsewhere_counts_with_what_it_imports(sources: Path) -> None:
    assert "numlite.lite.native_blocks" in module._needed(module._module("executor"))


def test_a_digest_covers_which_kernels_a_family_has(sources: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = digest()
    monkeypatch.setitem(FAMILIES, "executor", Family("driver.executor", "run_*"))
    assert digest() != before


def test_a_digest_leaves_out_other_families(sources: Path) -> None:
    before = digest()
    (sources / "elementwise.py").write_text("changed")
    assert digest() == before


def test_a_digest_covers_imported_values(sources: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from numlite.lite import native_blocks

    before = digest()
    monkeypatch.setattr(native_blocks, "ROW", np.dtype([("kernel", np.int32)]))
    assert digest() != before


def test_a_digest_leaves_out_errors(sources: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = digest()
    monkeypatch.setattr(module.sys.modules["numlite.lite.errors"], "__file__", "/nowhere")
    assert digest() == before


def test_a_digest_covers_versions_and_target(sources: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = made_digest()
    monkeypatch.setattr(module, "_distribution", lambda package: b"another version")
    other_version = made_digest()
    other = TARGETS["x86-64-v2" if module.target().name != "x86-64-v2" else "x86-64"]
    monkeypatch.setattr(module, "target", lambda: other)
    assert len({before, other_version, made_digest()}) == 3
    assert module.cache_key("executor")[0] == f"executor-{other.name}"


def test_a_digest_leaves_out_all_else_of_the_machine(sources: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = made_digest()
    other = target()._replace(needs=frozenset(["microcode"]))
    monkeypatch.setattr(module, "target", lambda: other)
    assert made_digest() == before


def test_versions_are_those_of_the_packages() -> None:
    import llvmlite
    import numba

    for package in (numba, llvmlite):
        assert package.__version__.encode() in module._distribution(package.__name__)
    assert module._distribution("no_such_package") == b"missing"


RECORD = np.dtype([("a", np.int32), ("b", np.int64)])


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (RECORD, np.dtype([("a", np.int32), ("b", np.int64)], align=True)),
        (RECORD, np.dtype([("a", np.int32), ("c", np.int64)])),
        (RECORD, np.dtype([("a", np.int32), ("b", np.float64)])),
        (np.dtype([("a", RECORD)]), np.dtype([("a", RECORD, 2)])),
        ((1, 2), (2, 1)),
        (1, 1.0),
        ({"a": 1}, {"a": 2}),
        (np.arange(3), np.arange(3.0)),
    ],
    ids=str,
)
def test_different_values_have_different_texts(one: object, other: object) -> None:
    assert module._text(one) == module._text(one)
    assert module._text(one) != module._text(other)


def test_other_values_are_refused() -> None:
    with pytest.raises(TypeError, match="plain constants"):
        module._text(object())


def age(folder: Path) -> None:
    """Have the sources be an hour old, as those of an installed package are."""
    for file in folder.rglob("*.py"):
        os.utime(file, (time.time() - 3600,) * 2)


def test_a_second_start_reads_no_source(sources: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    age(sources)
    before = kept_digest()
    assert before == digest()
    forget()
    monkeypatch.setattr(module, "_computed_digest", None)
    assert module.source_digest("executor") == before


def test_what_another_process_keeps_meanwhile_stays(sources: Path) -> None:
    age(sources)
    kept_digest()
    state = module.code_state()
    assert state is not None
    digests = module._digests(state)
    cache.write("digests", state, f"executor {digests['executor']}\nelsewhere 00".encode())
    module.source_digest(next(family for family in FAMILIES if family not in digests))
    forget()
    assert module._digests(state).keys() >= {"executor", "elsewhere"} and len(module._digests(state)) == 3


@pytest.mark.parametrize("change", ["content", "time"])
def test_an_edited_source_is_seen_at_the_next_start(sources: Path, change: str) -> None:
    age(sources)
    file = sources / "driver" / "executor.py"
    before, state = kept_digest(), module.code_state()
    if change == "content":
        file.write_text(file.read_text() + "#")
    os.utime(file, (time.time() - 1800,) * 2)
    after = kept_digest()
    assert module.code_state() not in (None, state)
    assert (after == before) == (change == "time")


def test_what_has_changed_just_now_has_no_state(sources: Path) -> None:
    age(sources)
    assert kept_digest() and module.code_state() is not None
    (sources / "driver" / "executor.py").touch()
    assert kept_digest() and module.code_state() is None


def test_every_family_has_a_digest() -> None:
    """Also those whose kernels no model has: what they import from other folders is constants."""
    assert len({module._computed_digest(family) for family in FAMILIES}) == len(FAMILIES)


_DIGESTS = """
import sys
from numlite.kernels.compiled.language.target import compile_for
from numlite.kernels.compiled.language.targets import TARGETS
compile_for(TARGETS[sys.argv[1]])
from numlite.kernels.compiled.driver.sources import _computed_digest
from numlite.kernels.compiled.families import all_families
for family in sorted(all_families()):
    print(family, _computed_digest(family))
"""


def test_sources_are_the_same_for_all_targets() -> None:
    """Packs are made on machines of other targets, and say from which sources."""

    def digests(name: str) -> str:
        command = [sys.executable, "-c", _DIGESTS, name]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout

    expected = digests("x86-64-v3")
    assert len(expected.splitlines()) > 100
    for name in ("aarch64", "icelake"):
        assert digests(name) == expected
