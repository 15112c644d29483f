"""The file of a prepared model: damage costs a preparation, one that is shipped is used or refused."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from numlite.lite import prepared_file
from numlite.lite.errors import ModelError
from numlite.lite.prepared_file import HEADER

from ..model_builder import ModelBuilder
from ..small_models import Op
from .prepared_files import kept, loaded_twice, prepare, result

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="addresses are told apart by /proc/self/maps")


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
    whole = prepared_file.checksum_of
    monkeypatch.setattr(prepared_file, "checksum_of", lambda pieces: (sums.append(1), whole(pieces))[1])
    wanted = loaded_twice(path)
    assert [result(path) for _ in range(4)] == [wanted] * 4
    assert len(sums) == 1 and len(restored) == 4
    (file,) = kept(folder)
    flip(file, file.stat().st_size - 1)
    assert result(path) == wanted and len(restored) == 4


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
