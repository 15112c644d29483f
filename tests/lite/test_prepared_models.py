"""What preparing a model finds is kept from its second load on, with the same bytes; damage costs time."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numlite import Interpreter, OpResolver, OpResolverType
from numlite.cli.main import cli, run_command
from numlite.kernels.compiled.driver.library import Library
from numlite.lite import model, prepared_model, prepared_models
from numlite.lite import prepared_models as module
from numlite.lite.errors import ModelError, UnsupportedError
from numlite.lite.kernel_call import CodePlace
from numlite.lite.prepared_contents import MappedRanges, _relocated, contents
from numlite.lite.prepared_model import HEADER, NotKept
from numlite.lite.private_file import DIGEST_BYTES
from numlite.lite.registration import Registration

from ..model_builder import ModelBuilder
from ..small_models import Op, chain, custom

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="addresses are told apart by /proc/self/maps")

LAYERS, WIDTH = 9, 48


def layers(scale: float = 1.0) -> bytes:
    """FULLY_CONNECTED layers of float32, whose weights are packed."""
    model, x, y = layers_of(scale)
    return model.build([x], [y])


def layers_of(scale: float) -> tuple[ModelBuilder, int, int]:
    model = ModelBuilder()
    random = np.random.default_rng(5)
    x = model.tensor([2, WIDTH], name="x", shape_signature=[-1, WIDTH])
    y = x
    for n in range(LAYERS):
        weights = (scale * random.standard_normal((WIDTH, WIDTH)) / WIDTH**0.5).astype(np.float32)
        given = [y, model.constant(weights), model.constant(random.standard_normal(WIDTH).astype(np.float32))]
        y = model.tensor([2, WIDTH], name=f"y{n}", shape_signature=[-1, WIDTH])
        model.op(Op.FULLY_CONNECTED, given, [y])
    return model, x, y


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache for prepared models only, which also takes files that have changed just now."""
    place = tmp_path / "cache"
    place.mkdir(0o700)
    monkeypatch.delenv("NUMLITE_PREPARED")
    monkeypatch.setattr(prepared_models, "JUST_NOW_NS", 0)
    monkeypatch.setattr(Library, "place", staticmethod(lambda: CodePlace(str(place), "state")))
    return place


@pytest.fixture
def path(tmp_path: Path) -> str:
    file = tmp_path / "model.tflite"
    file.write_bytes(layers())
    return str(file)


def result(model: Any, rows: int | None = None, **arguments: Any) -> bytes:
    interpreter = Interpreter(model, **arguments)
    if rows is not None:
        interpreter.resize_tensor_input(0, [rows, WIDTH])
    interpreter.allocate_tensors()
    return run(interpreter)


def loaded_twice(model: str) -> bytes:
    """The result of a model that is kept now."""
    result(model)
    return result(model)


def run(interpreter: Interpreter) -> bytes:
    for given in interpreter.get_input_details():
        values = np.random.default_rng(1).standard_normal(given["shape"])
        interpreter.set_tensor(given["index"], (50 * values).astype(given["dtype"]))
    interpreter.invoke()
    return b"".join(interpreter.get_tensor(y["index"]).tobytes() for y in interpreter.get_output_details())


def kept(folder: Path) -> list[Path]:
    return sorted(folder.glob("prepared-*.bin"))


@pytest.fixture
def restored(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """A list that gets an entry whenever a graph is restored."""
    seen = list[int]()
    restore = prepared_model.restore

    def counted(graph: Any, mapped: Any) -> None:
        restore(graph, mapped)
        seen.append(graph.index)

    monkeypatch.setattr(prepared_model, "restore", counted)
    return seen


def test_the_second_load_keeps_and_the_third_restores(folder: Path, path: str, restored: list[int]) -> None:
    first = result(path)
    assert [file.name.partition("-")[0] for file in folder.iterdir()] == ["model"]
    assert result(path) == first
    assert len(kept(folder)) == 1 and not restored
    assert result(path) == first
    assert restored == [0]
    (file,) = kept(folder)
    assert file.stat().st_mode & 0o777 == 0o600


def test_a_model_without_a_file_is_known_by_its_bytes(folder: Path, restored: list[int]) -> None:
    models = [layers(scale) for scale in (1.0, 2.0)]
    results = [[result(None, model_content=model) for model in models] for _ in range(3)]
    assert results[0] == results[1] == results[2] and results[0][0] != results[0][1]
    assert len(kept(folder)) == 2 and len(restored) == 2


def test_a_copy_of_the_file_finds_what_was_kept(folder: Path, path: str, restored: list[int]) -> None:
    wanted = [result(path) for _ in range(2)]
    other = Path(path).with_name("copy.tflite")
    other.write_bytes(Path(path).read_bytes())
    assert [result(str(other)) for _ in range(2)] == wanted
    assert len(kept(folder)) == 1 and restored == [0]


def test_a_file_that_changes_is_another_model(folder: Path, path: str, restored: list[int]) -> None:
    for _ in range(2):
        before = result(path)
    Path(path).write_bytes(layers(2.0))
    assert result(path) != before and not restored


@pytest.mark.parametrize("is_own", [True, False])
def test_a_file_that_others_may_write_is_known_by_its_bytes(
    folder: Path, path: str, restored: list[int], monkeypatch: pytest.MonkeyPatch, is_own: bool
) -> None:
    """What the system says of it tells nothing then: it is verified each time."""
    verified = list[memoryview]()
    monkeypatch.setattr(model, "_verify", verified.append)
    os.chmod(path, 0o600 if is_own else 0o606)
    results = [result(path) for _ in range(4)]
    assert len(set(results)) == 1 and restored == [0, 0]
    assert len(verified) == (2 if is_own else 4)


def test_a_file_is_verified_until_the_cache_knows_it(
    folder: Path, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    verified = list[str]()
    verify = model._verify

    def counted(content: memoryview) -> None:
        verify(content)
        verified.append("verified")

    monkeypatch.setattr(model, "_verify", counted)
    wanted = [result(path) for _ in range(4)]
    assert len(verified) == 2 and len(set(wanted)) == 1
    place = CodePlace(str(folder), "other code")
    with monkeypatch.context() as other:
        other.setattr(Library, "place", staticmethod(lambda: place))
        assert [result(path) for _ in range(2)] == wanted[:2]
        assert len(verified) == 3
    assert result(path) == wanted[0] and len(verified) == 3  # both codes are known
    damaged = bytearray(layers())
    damaged[4:8] = b"none"
    Path(path).write_bytes(damaged)
    with pytest.raises(ValueError, match="identifier"):
        result(path)


SETTINGS: list[dict[str, Any]] = [
    {"num_threads": 2},
    {"experimental_op_resolver_type": OpResolverType.BUILTIN_REF},
    {"experimental_preserve_all_tensors": True},
    {"experimental_compress_quantization_zero_points": True},
    {"rows": 3},
]


@pytest.mark.filterwarnings("ignore:Warning. Enabling")
@pytest.mark.parametrize("other", SETTINGS, ids=lambda other: next(iter(other)))
def test_each_setting_has_a_file_of_its_own(
    folder: Path, path: str, restored: list[int], other: dict[str, Any]
) -> None:
    plain, wanted = loaded_twice(path), result(path, **other)
    assert len(kept(folder)) == 2
    assert result(path, **other) == wanted and result(path) == plain
    assert len(restored) == 2


def test_two_versions_live_side_by_side(
    folder: Path, path: str, restored: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    for state in ("old", "new", "new", "old"):
        place = CodePlace(str(folder), state)
        monkeypatch.setattr(Library, "place", staticmethod(lambda place=place: place))
        loaded_twice(path)
    assert len(kept(folder)) == 2 and len(restored) == 5


def test_other_shapes_after_restoring_are_prepared(folder: Path, path: str, restored: list[int]) -> None:
    for _ in range(2):
        result(path)
    wanted = Interpreter(path)
    interpreter = Interpreter(path)
    for rows in (2, 5, 2):
        for each in (wanted, interpreter):
            each.resize_tensor_input(0, [rows, WIDTH])
            each.allocate_tensors()
        assert run(interpreter) == run(wanted)
    assert len(restored) == 2


def test_a_restored_model_tells_of_itself(folder: Path, path: str, restored: list[int]) -> None:
    interpreters = []
    for _ in range(3):
        interpreters.append(Interpreter(path))
        interpreters[-1].allocate_tensors()
    first, _, last = interpreters
    assert restored and run(first) == run(last)
    assert last.memory_report().arena_bytes == first.memory_report().arena_bytes
    assert len(last.profile(1)) == len(first.profile(1)) == LAYERS


def flip(file: Path, at: int) -> None:
    content = bytearray(file.read_bytes())
    content[at] ^= 0x10
    file.write_bytes(content)


PARTS: dict[str, Callable[[np.void, int], int]] = {
    **{name: lambda header, size, name=name: HEADER.fields[name][1] for name in HEADER.names or ()},  # type: ignore[misc,index]
    "padding of the header": lambda header, size: HEADER.itemsize - 1,
    "the description": lambda header, size: HEADER.itemsize + 40,
    "blocks": lambda header, size: HEADER.itemsize + int(header["description"]) + 40,
    "arrays": lambda header, size: HEADER.itemsize + int(header["description"] + header["blocks"]) + 4096,
    "the end": lambda header, size: size - 1,
}


@pytest.mark.parametrize("part", PARTS)
def test_a_flipped_bit_costs_a_preparation(folder: Path, path: str, restored: list[int], part: str) -> None:
    wanted = loaded_twice(path)
    (file,) = kept(folder)
    whole = file.read_bytes()
    header = np.frombuffer(whole, HEADER, 1)[0]
    flip(file, PARTS[part](header, len(whole)))
    assert result(path) == wanted and not restored
    assert result(path) == wanted
    assert restored and len(file.read_bytes()) == len(whole)


def test_unchanged_bytes_are_summed_up_once(
    folder: Path, path: str, restored: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    sums = []
    whole = prepared_model.checksum_of
    monkeypatch.setattr(prepared_model, "checksum_of", lambda pieces: (sums.append(1), whole(pieces))[1])
    wanted = loaded_twice(path)
    assert [result(path) for _ in range(4)] == [wanted] * 4
    assert len(sums) == 1 and len(restored) == 4
    (file,) = kept(folder)
    flip(file, file.stat().st_size - 1)
    assert result(path) == wanted and len(restored) == 4


def test_a_model_with_a_faulty_graph_stays_unknown(folder: Path, tmp_path: Path) -> None:
    """What makes no sense in a graph that nobody runs is found each time."""
    builder, x, y = layers_of(1.0)
    other = builder.add_subgraph("other")
    a, b = other.tensor([2]), other.tensor([2])
    other.op(Op.NEG, [a], [b])
    other.op(Op.ABS, [a], [b])
    other.finish([a], [b])
    path = tmp_path / "faulty.tflite"
    path.write_bytes(builder.build([x], [y]))
    for _ in range(4):
        interpreter = Interpreter(str(path))
        interpreter.allocate_tensors()
        with pytest.raises(ValueError, match="already written"):
            interpreter.core.allocate_tensors(1)


@pytest.mark.parametrize("nbytes", [0, 1, HEADER.itemsize, 5000])
def test_a_file_cut_short_costs_a_preparation(
    folder: Path, path: str, restored: list[int], nbytes: int
) -> None:
    wanted = loaded_twice(path)
    (file,) = kept(folder)
    file.write_bytes(file.read_bytes()[:nbytes])
    assert result(path) == wanted and not restored
    assert result(path) == wanted and restored


def test_a_file_that_others_can_write_is_not_read(folder: Path, path: str, restored: list[int]) -> None:
    wanted = loaded_twice(path)
    kept(folder)[0].chmod(0o666)
    assert result(path) == wanted and not restored


def test_a_full_disk_is_no_fault(
    folder: Path, path: str, monkeypatch: pytest.MonkeyPatch, restored: list[int]
) -> None:
    wanted = result(path)

    def full(path: str, *pieces: bytes) -> None:
        raise OSError(errno.ENOSPC, "No space left on device", path)

    monkeypatch.setattr(module, "_publish", full)
    assert [result(path) for _ in range(3)] == [wanted] * 3
    assert not kept(folder) and not restored


def test_off_keeps_nothing(folder: Path, path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NUMLITE_PREPARED", "off")
    for _ in range(3):
        result(path)
    assert not list(folder.iterdir())


def test_an_unknown_limit_is_refused(folder: Path, path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NUMLITE_PREPARED", "-1")
    with pytest.raises(UnsupportedError, match="must be 'off' or a number of MiB, got '-1'"):
        Interpreter(path)


def test_what_was_used_least_recently_goes_first(
    folder: Path, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for threads in (1, 2, 3):
        for _ in range(2):
            result(path, num_threads=threads)
        if threads == 1:
            (first,) = kept(folder)
            os.utime(first, (1, 1))
    assert len(kept(folder)) == 3
    result(path)  # is used
    older = [file for file in kept(folder) if file != first]
    monkeypatch.setattr(module, "kept_bytes", lambda: 2 * first.stat().st_size + 4096)
    os.utime(older[0], (2, 2))
    module._forget_oldest(str(folder))
    assert kept(folder) == sorted([first, older[1]])


@pytest.mark.parametrize(
    "content", [chain((Op.ABS,) * 3), custom("Twice", between=True)], ids=["few nodes", "a custom operator"]
)
def test_what_gains_nothing_or_cannot_is_not_kept(folder: Path, tmp_path: Path, content: bytes) -> None:
    class Twice:
        def prepare(self, context: Any, node: Any) -> None:
            context.resize_tensor(context.output(node, 0), context.input(node, 0).shape)

        def invoke(self, context: Any, node: Any) -> None:
            context.output(node, 0).array()[...] = 2 * context.input(node, 0).array()

    from numlite import InterpreterWithCustomOps

    for _ in range(3):
        interpreter = InterpreterWithCustomOps([("Twice", Twice())], model_content=content)
        interpreter.allocate_tensors()
    assert not kept(folder)


def test_an_operator_of_the_callers_own_is_never_replaced(
    folder: Path, tmp_path: Path, restored: list[int]
) -> None:
    path = tmp_path / "chain.tflite"
    path.write_bytes(chain((Op.ABS,) * 9))
    assert prepare(path) == 0 and prepare(path, "-o", tmp_path / "prepared") == 0

    def resized(context: Any, node: Any) -> None:
        context.resize_tensor(context.output(node, 0), context.input(node, 0).shape)

    def negated(context: Any, node: Any) -> None:
        context.output(node, 0).array()[...] = -context.input(node, 0).array()

    resolver = OpResolver()
    resolver.add_builtin(Registration("ABS", resized, negated, builtin_code=int(Op.ABS), max_version=5))
    ours = {"experimental_op_resolver_type": resolver}
    plain = np.frombuffer(result(str(path)), np.float32)
    mine = np.frombuffer(result(str(path), **ours), np.float32)
    np.testing.assert_array_equal(np.abs(mine), plain)
    assert (mine != plain).any()
    with pytest.raises(ModelError, match="it is for numlite's operators"):
        result(str(path), prepared_model=tmp_path / "prepared", **ours)


def test_an_address_of_something_else_is_found() -> None:
    memory, other = np.zeros(64, np.uint8), np.zeros(64, np.uint8)
    address, stray = (array.__array_interface__["data"][0] for array in (memory, other))
    known = [(address, 64, -1, 128)]
    mapped = MappedRanges()
    words = np.array([0, address + 8, -1, 1 << 40, address], np.int64)
    assert _relocated(words, known, mapped) == [(1, -1, 136), (4, -1, 128)]
    with pytest.raises(NotKept, match="of something else"):
        _relocated(np.array([stray + 200], np.int64), known, mapped)
    words = np.array([stray + 200, address], np.int64)
    assert _relocated(words, known, mapped, others=False) == [(1, -1, 128)]


def test_packed_weights_may_look_like_addresses(monkeypatch: pytest.MonkeyPatch) -> None:
    """Seven weights beside two zeros do, where the system has put much into a process."""
    monkeypatch.setattr(MappedRanges, "__contains__", lambda self, address: True)
    quads = np.array([[127, 127, 127, 127], [127, 127, 0, 0]], np.int8)
    weights = quads[np.random.default_rng(1).integers(0, 2, (64, 16))].reshape(64, 64)
    model = ModelBuilder()
    x, y = (model.tensor(shape, np.int8, scale=0.5) for shape in ([1, 64], [1, 64]))
    model.op(Op.FULLY_CONNECTED, [x, model.constant(weights, scale=0.01), -1], [y], version=4)
    interpreter = Interpreter(model_content=model.build([x], [y]))
    interpreter.allocate_tensors()
    assert contents(interpreter.core.subgraph(), bytes(DIGEST_BYTES))


def test_packed_weights_do_not_stay_in_memory_twice(tmp_path: Path) -> None:
    """The pages of the model's file that were packed are given back."""
    program = """
import sys
from numlite import Interpreter
interpreter = Interpreter(sys.argv[1])
interpreter.allocate_tensors()
lines = open("/proc/self/smaps").read().split(sys.argv[1])[1].splitlines()
print(next(int(line.split()[1]) for line in lines if line.startswith("Rss:")))
"""
    model = ModelBuilder()
    x = y = model.tensor([8, 1024])
    for _ in range(3):
        x_of, y = y, model.tensor([8, 1024])
        model.op(Op.FULLY_CONNECTED, [x_of, model.constant(np.ones((1024, 1024), np.float32)), -1], [y])
    file = tmp_path / "large.tflite"
    file.write_bytes(model.build([x], [y]))
    done = subprocess.run([sys.executable, "-c", program, file], capture_output=True, text=True, check=True)
    # Pages at the edges stay, with those that the system maps together with them.
    assert 1024 * int(done.stdout) < file.stat().st_size / 2


def prepare(*arguments: object) -> int:
    return run_command(cli, ["prepare", *map(str, arguments)])


def test_a_shipped_file_is_used(folder: Path, path: str, tmp_path: Path, restored: list[int]) -> None:
    wanted, file = result(path), tmp_path / "prepared"
    assert prepare(path, "-o", file) == 0
    assert result(path, prepared_model=file) == wanted
    assert restored == [0]


def test_a_shipped_file_can_be_made_of_a_restored_model(
    folder: Path, path: str, tmp_path: Path, restored: list[int]
) -> None:
    wanted, file = result(path), tmp_path / "prepared"
    assert prepare(path) == 0
    assert prepare(path, "-o", file) == 0
    assert restored == [0]
    assert result(path, prepared_model=file) == wanted


def test_without_a_file_the_cache_has_it_at_once(folder: Path, path: str, restored: list[int]) -> None:
    assert prepare(path) == 0
    result(path)
    assert restored == [0]


def test_a_shipped_file_for_anything_else_is_refused(folder: Path, path: str, tmp_path: Path) -> None:
    file = tmp_path / "prepared"
    assert prepare(path, "-o", file) == 0
    with pytest.raises(ModelError, match="made for another model, numlite, processor or setting"):
        result(path, num_threads=2, prepared_model=file)
    flip(file, len(file.read_bytes()) // 2)
    with pytest.raises(ModelError, match="damaged"):
        result(path, prepared_model=file)
    with pytest.raises(ModelError, match="No such file"):
        result(path, prepared_model=tmp_path / "missing")
    with pytest.raises(ModelError, match="is not one"):
        result(path, prepared_model=path)


def test_what_cannot_be_kept_is_said(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = ModelBuilder()
    x, y = model.tensor([4]), model.tensor([1], np.int64)
    model.op(Op.WHERE, [x], [y])
    (tmp_path / "where.tflite").write_bytes(model.build([x], [y]))
    assert prepare(tmp_path / "where.tflite", "-o", tmp_path / "prepared") == 1
    assert "it is prepared anew each time: nodes" in capsys.readouterr().err


def test_real_models_give_the_same_bytes(folder: Path, model_path: Path, restored: list[int]) -> None:
    for kind in (OpResolverType.AUTO, OpResolverType.BUILTIN_REF):
        results = {result(str(model_path), experimental_op_resolver_type=kind) for _ in range(3)}
        assert len(results) == 1
    nodes = len(Interpreter(str(model_path)).core.subgraph().nodes)
    # In the second numerics it has a mark already.
    assert (len(kept(folder)), len(restored)) == ((2, 3) if nodes >= module._FEW_NODES else (0, 0))
