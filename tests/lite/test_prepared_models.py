"""What preparing a model finds is kept from its second load on, with the same bytes; damage costs time."""

from __future__ import annotations

import errno
import os
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numlite import Interpreter, OpResolver, OpResolverType
from numlite.kernels.compiled.driver.library import Library
from numlite.lite import model
from numlite.lite import prepared_models as module
from numlite.lite.errors import ModelError, UnsupportedError
from numlite.lite.private_file import CodePlace
from numlite.lite.registration import Registration

from ..model_builder import ModelBuilder
from ..small_models import Op, chain, custom
from .prepared_files import LAYERS, WIDTH, kept, layers, layers_of, loaded_twice, prepare, result, run

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="addresses are told apart by /proc/self/maps")


def test_the_second_load_keeps_and_the_third_restores(folder: Path, path: str, restored: list[int]) -> None:
    first = result(path)
    assert [file.name.partition("-")[0] for file in folder.iterdir()] == ["model"]
    assert result(path) == first
    assert len(kept(folder)) == 1 and not restored
    assert result(path) == first
    assert restored == [0]
    (file,) = kept(folder)
    assert file.stat().st_mode & 0o777 == 0o600


def test_weights_that_nodes_share_are_counted_once(tmp_path: Path, folder: Path, restored: list[int]) -> None:
    model = ModelBuilder()
    weights = model.constant(np.ones((WIDTH, WIDTH), np.float32))
    x = y = model.tensor([2, WIDTH], shape_signature=[-1, WIDTH])
    for _ in range(LAYERS):
        y, given = model.tensor([2, WIDTH], shape_signature=[-1, WIDTH]), [y, weights]
        model.op(Op.FULLY_CONNECTED, given, [y])
    path = tmp_path / "shared.tflite"
    path.write_bytes(model.build([x], [y]))
    packed = []
    for _ in range(3):
        interpreter = Interpreter(str(path))
        interpreter.allocate_tensors()
        packed.append(interpreter.memory_report().packed_bytes)
    assert restored == [0] and packed[0] == packed[1] == packed[2] < 2 * WIDTH * WIDTH * 4


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


def test_real_models_give_the_same_bytes(folder: Path, model_path: Path, restored: list[int]) -> None:
    for kind in (OpResolverType.AUTO, OpResolverType.BUILTIN_REF):
        results = {result(str(model_path), experimental_op_resolver_type=kind) for _ in range(4)}
        assert len(results) == 1
    nodes = len(Interpreter(str(model_path)).core.subgraph().nodes)
    # In the second numerics it has a mark already.
    assert (len(kept(folder)), len(restored)) == ((2, 5) if nodes >= module._FEW_NODES else (0, 0))
