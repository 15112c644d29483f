"""Files of arrays that are damaged or hostile: refused in one line."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import click
import numpy as np
import pytest
from numlite.cli.model_inputs import read_inputs
from numlite.lite import available_memory


def npy(header: str, data: bytes = b"") -> bytes:
    text = header.encode() + b"\n"
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text + data


def npz(**members: bytes) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return file.getvalue()


def fields(shape: str, descr: str = "'<f4'") -> str:
    return f"{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, }}"


DAMAGED = {
    "header cut off": npy("{'descr': '<f4', 'shape': (1,"),
    "header of brackets": npy("(" * 300),
    "no such type": npy(fields("(1,)", "'<q9'")),
    "negative size": npy(fields("(-1,)"), bytes(4)),
    "size beyond memory": npz(**{"x.npy": npy(fields(f"({1 << 60},)"))}),
    "objects": npy(fields("(1,)", "'|O'"), bytes(8)),
    "no array": npz(x=b"text"),
    "member damaged": npz(**{"x.npy": npy(fields("(4096,)"), bytes(4 * 4096))}).replace(
        b"\x01\x02", b"\x07\xff"
    ),
    "empty": b"",
}


@pytest.mark.parametrize("name", DAMAGED)
def test_damaged_arrays_are_refused(name: str, tmp_path: Path) -> None:
    path = tmp_path / "x.npz"
    content = DAMAGED[name]
    path.write_bytes(content[:-40] + content[-20:] if name == "member damaged" else content)
    with pytest.raises(click.ClickException, match=r"not an \.npy or \.npz file|take more memory"):
        read_inputs([str(path)], ["x"])


def test_an_archive_larger_than_memory_is_not_unpacked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    np.savez_compressed(tmp_path / "x.npz", x=np.zeros(1 << 20, np.uint8))
    assert read_inputs([str(tmp_path / "x.npz")], ["x"])["x"].size == 1 << 20
    monkeypatch.setattr(available_memory, "available_bytes", lambda: 1 << 19)
    with pytest.raises(click.ClickException, match="its arrays take more memory than is left"):
        read_inputs([str(tmp_path / "x.npz")], ["x"])


def test_what_is_no_file_of_arrays_is_told_nothing_of_pickles(tmp_path: Path) -> None:
    (tmp_path / "labels.txt").write_text("cat\ndog\n")
    with pytest.raises(click.ClickException) as refused:
        read_inputs([str(tmp_path / "labels.txt")], ["x"])
    assert refused.value.message == f"{tmp_path / 'labels.txt'}: not an .npy or .npz file of plain arrays"


def test_paths_may_hold_a_sign_of_equality(tmp_path: Path) -> None:
    """As folders of tables do; an input's name before it is taken as ever."""
    folder = tmp_path / "date=2024-01-01"
    folder.mkdir()
    np.save(folder / "x.npy", np.float32([1, 2]))
    for source in (folder / "x.npy", f"x={folder / 'x.npy'}", f"in_0={folder / 'x.npy'}"):
        assert read_inputs([str(source)], ["x"])["x"].tolist() == [1, 2]
    with pytest.raises(click.ClickException, match="No such file"):
        read_inputs([str(folder / "y.npy")], ["x"])
