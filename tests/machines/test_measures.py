"""Measuring other machines: what is read of what programs print, and what is said where it cannot be done."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from numlite.benchmarks.machines import emulated as emulation
from numlite.benchmarks.machines import outputs
from numlite.benchmarks.machines.emulated import UnavailableError, debian_mirror, emulated
from numlite.benchmarks.machines.instructions import last_count
from numlite.benchmarks.machines.loops import asked, cycles, inner_loops
from numlite.benchmarks.machines.outputs import Place, differences, digests, integer_differences
from numlite.benchmarks.machines.turns import Ratio, against, ratio
from numlite.schema.tflite import BuiltinOperator
from numlite.tests.model_builder import ModelBuilder

ARM = """\
kernel:
\tmov\tx0, #0
.LBB0_1:                                // =>This Loop Header
\tldr\tq28, [x7], #16
.LBB0_2:                                // %inner
\t.p2align\t4
\tsdot\tv0.4s, v1.16b, v2.4b[1]         // kept
\tsdot\tv3.4s, v1.16b, v2.4b[0]
\tsubs\tx8, x8, #1
\tb.ne\t.LBB0_2
\tsdot\tv3.4s, v1.16b, v2.4b[0]
\tcbnz\tx9, .LBB0_1
\tb\t.LBB0_9
.LBB0_9:
\tret
"""
X86 = """\
.LBB3_7:                                # %loop
                                        # =>This Inner Loop Header
\t{vex}\tvpdpbusd\t(%rax), %ymm0, %ymm1
\taddq\t$32, %rax                       # kept
\tjne\t.LBB3_7
"""


def test_inner_loops_are_those_without_further_labels() -> None:
    assert list(inner_loops(ARM)) == [
        [
            "sdot\tv0.4s, v1.16b, v2.4b[1]",
            "sdot\tv3.4s, v1.16b, v2.4b[0]",
            "subs\tx8, x8, #1",
            "b.ne\t.LBB0_2",
        ]
    ]
    ((product, *rest),) = inner_loops(X86)
    assert product == "{vex}\tvpdpbusd\t(%rax), %ymm0, %ymm1" and rest == ["addq\t$32, %rax", "jne\t.LBB3_7"]


def test_instructions_are_counted_by_their_whole_name() -> None:
    lines = ["smlal\tv0.8h", "smlal2\tv1.8h", "smlalx\tv2.8h"]
    assert asked(lines, "smlal2?") == 2 and asked(lines, "smlal") == 1


def test_cycles_are_of_one_iteration() -> None:
    assert cycles("Iterations:        200\nTotal Cycles:      4253\n", 200) == 21.265
    with pytest.raises(ValueError, match="llvm-mca: must print its cycles"):
        cycles("error: invalid operand", 200)


def test_the_second_count_is_an_inference() -> None:
    assert last_count("INFO: delegate\ninstructions 90000\ninstructions 4449087\n") == 4449087
    with pytest.raises(ValueError, match="two counts must be printed, got 1"):
        last_count("instructions 90000\n")


def test_ratios_are_the_other_engines_time_over_numlites() -> None:
    assert ratio([(1.0, 3.0), (2.0, 2.0), (1.0, 4.0)]) == Ratio(1.0, 2.0, 2.0, 3.0)


def test_places() -> None:
    assert Place.read("aarch64:cortex-a72") == Place("aarch64", "cortex-a72")
    assert str(Place.read("haswell")) == "haswell"
    with pytest.raises(ValueError, match=r"target: must be one of sapphirerapids, .*got 'pentium'"):
        Place.read("pentium:a")
    assert differences({"a": "1", "b": "2"}, {"b": "3", "c": "4"}) == ["a", "b", "c"]


def test_differences_in_integers() -> None:
    """Digests are of all outputs, and of those in integers; a refusal has none."""
    one = {"same": "1 2", "floats": "1 2", "integers": "1 2", "refused": "1 2", "twice": "ValueError"}
    other = {
        "same": "1 2",
        "floats": "3 2",
        "integers": "3 4",
        "refused": "ValueError",
        "twice": "ValueError",
    }
    assert differences(one, other) == ["floats", "integers", "refused"]
    assert integer_differences(one, other) == ["integers", "refused"]


# Writes of each case that it is told how many it was told; dies at the one it is given.
REPLAYING = """
import sys
names = sys.stdin.read().split()
for name in names:
    if name == sys.argv[1]:
        print(name, end=" 0123", flush=True)
        sys.exit(1)
    sys.stdout.write(f"{name} {len(names):016x} {0:016x}\\n")
    sys.stdout.flush()
"""


def test_replays_that_were_ended_go_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the cases that were not written to their end, as long as pack and corpus are the same."""
    (tmp_path / "index.json").write_text("{}")
    pack = tmp_path / "haswell.pack"
    pack.write_bytes(b"one")
    place, cases, dying = Place("haswell"), ["a/0", "b/1", "c/2", "d/3"], ["c/2"]

    def process(*_: object) -> tuple[list[str], dict[str, str]]:
        return [sys.executable, "-c", REPLAYING, dying[0]], dict(os.environ)

    def found() -> list[int]:
        got = digests(place, cases, "AUTO", str(pack), tmp_path, str(tmp_path))
        return [int(got[case].split(" ")[0], 16) for case in cases]

    monkeypatch.setattr(outputs, "_process", process)
    monkeypatch.setattr(outputs.os, "cpu_count", lambda: 1)
    with pytest.raises(subprocess.CalledProcessError):
        found()
    dying[0] = "none"
    assert found() == [4, 4, 2, 2]
    assert found() == [4, 4, 2, 2]
    pack.write_bytes(b"other")
    assert found() == [4, 4, 4, 4]
    monkeypatch.setattr(outputs.os, "cpu_count", lambda: 3)
    (tmp_path / "index.json").write_text("{ }")
    assert found() == [2, 1, 1, 2]


def test_another_checkout_is_a_peer(tmp_path: Path) -> None:
    """Of one's own, too; turns of a small model."""
    model = ModelBuilder()
    x, y = model.tensor((1, 8)), model.tensor((1, 8))
    model.op(BuiltinOperator.NEG, [x], [y])
    path = tmp_path / "neg.tflite"
    path.write_bytes(model.build([x], [y]))
    found = against(sys.executable, "numlite", sys.executable, "", path, turns=2)
    assert found.numlite > 0 and found.other > 0


def test_mirrors_of_both_forms_of_sources() -> None:
    listed = "# deb http://no\ndeb [signed-by=/k] http://mirror/debian/ bookworm main\n"
    described = "Types: deb\nURIs: https://mirror/debian\nSuites: bookworm\n"
    others = "deb http://mirror/debian-security bookworm-security main\nURIs: http://mirror/ubuntu\n"
    assert debian_mirror([others, listed, described]) == "http://mirror/debian"
    assert debian_mirror([others, described]) == "https://mirror/debian"
    assert debian_mirror([others]) == ""


@pytest.fixture
def nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No emulated machine has been made yet."""
    monkeypatch.setattr(emulation, "FOLDER", tmp_path / "machines")


@pytest.mark.usefixtures("nothing")
def test_other_systems_are_told_that_there_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(emulation.platform, "machine", lambda: "arm64")
    with pytest.raises(UnavailableError, match="is made for Linux on x86-64"):
        emulated()
    assert list(emulation.FOLDER.iterdir()) == []


@pytest.mark.usefixtures("nothing")
def test_packages_that_cannot_be_had_are_told_of(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(emulation.platform, "system", lambda: "Linux")
    monkeypatch.setattr(emulation.platform, "machine", lambda: "x86_64")
    monkeypatch.setattr(emulation, "_unpack_wheels", lambda packages, to: None)
    monkeypatch.setattr(emulation, "_apt_sources", lambda: [])
    with pytest.raises(UnavailableError, match="packages are Debian's, for which apt has no source"):
        emulated()


@pytest.mark.usefixtures("nothing")
def test_a_command_that_fails_is_quoted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(emulation.platform, "system", lambda: "Linux")
    monkeypatch.setattr(emulation.platform, "machine", lambda: "x86_64")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    with pytest.raises(UnavailableError, match=r"-m pip failed: ERROR: No matching distribution"):
        emulated()
    assert list(emulation.FOLDER.iterdir()) == []


def test_the_command_refuses_unknown_targets() -> None:
    command = [sys.executable, "-m", "numlite.benchmarks.machines", "bytes", "--on", "pentium"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 2 and "argument --on: invalid" in done.stderr
