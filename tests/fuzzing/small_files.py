"""Damaged small files: arrays (.npy, .npz), selections of operators, and what models say in metadata."""

from __future__ import annotations

import io
import json
import random
import tempfile
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click
import numpy as np
from numlite.cli.model_inputs import read_inputs
from numlite.delegates.serialization import Serialization, SerializationParams
from numlite.kernels.register import BuiltinOpResolver
from numlite.kernels.selection import Selection, read_selection
from numlite.lite.control_edges import parse_control_dependencies, serialize_control_dependencies
from numlite.lite.partition_program import Compilation, pack_compilations, parse_compilations
from numlite.metadata import Metadata, with_metadata
from numlite.metadata import read as read_metadata

from tests.fuzzing.kind import Kind, Mutant, Seed
from tests.fuzzing.messages import NUMBERS, damaged_bytes
from tests.fuzzing.text_changes import damaged_text
from tests.small_models import chain

REFUSED = "refused"


def array_seeds(given: Sequence[Path]) -> list[Seed]:
    """.npy and .npz files: those that are named, else some of all types."""
    if given:
        return [Seed(path.name, path.read_bytes()) for path in given]
    arrays = [
        np.arange(6, dtype=np.float32).reshape(2, 3),
        np.array(7, np.int8),
        np.array([b"ab", b""]),
        np.zeros((0, 3), np.complex64),
        np.asfortranarray(np.arange(6, dtype=">i4").reshape(2, 3)),
        np.array([("a", 1)], [("n", "U1"), ("v", "<i4")]),
    ]
    seeds = []
    for place, array in enumerate(arrays):
        seeds.append(Seed(f"array{place}.npy", _saved(np.save, array)))
    seeds.append(Seed("plain.npz", _saved(np.savez, *arrays[:4])))
    return [*seeds, Seed("compressed.npz", _saved(np.savez_compressed, x=arrays[0], y=arrays[1]))]


def _saved(save: Callable[..., None], *arrays: np.ndarray, **named: np.ndarray) -> bytes:
    file = io.BytesIO()
    save(file, *arrays, **named)
    return file.getvalue()


def damage_arrays(seed: Seed, draw: random.Random) -> Mutant:
    """Bytes of the file, or of an array in an archive that is whole again."""
    content = seed.content
    if seed.name.endswith(".npz") and draw.random() < 0.7:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            parts = {name: archive.read(name) for name in archive.namelist()}
        name = draw.choice(sorted(parts))
        parts[name] = _damaged_npy(parts[name], draw)
        file = io.BytesIO()
        with zipfile.ZipFile(file, "w", draw.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED))) as archive:
            for name, part in parts.items():
                archive.writestr(zipfile.ZipInfo(name), part)  # without the time of day
        content = file.getvalue()
    else:
        content = _damaged_npy(content, draw) if seed.name.endswith(".npy") else damaged_bytes(content, draw)
    return Mutant(content, f"damaged {seed.name}", draw=draw.getrandbits(32))


def _damaged_npy(content: bytes, draw: random.Random) -> bytes:
    """The header's text changed and made whole, zeros without end behind it, or bytes changed."""
    if draw.random() < 0.4:
        return damaged_bytes(content, draw)
    if draw.random() < 0.05:
        return content + bytes(1 << 24)
    end = 10 + int.from_bytes(content[8:10], "little")
    header = damaged_text(content[10:end].decode("latin1"), draw, "(),'{}: <>|fiubcOUSV?0123456789-LTrue")
    text = header.rstrip("\n").encode("latin1", "replace")[: 1 << 15]
    text += b" " * (-(len(text) + 11) % 64) + b"\n"
    return content[:8] + len(text).to_bytes(2, "little") + text + content[end:]


def read_arrays(mutant: Mutant) -> str:
    with tempfile.NamedTemporaryFile(suffix=Path(mutant.how).suffix) as file:
        file.write(mutant.content)
        file.flush()
        try:
            read_inputs([file.name], ["x", "y", "z", "t"])
        except click.ClickException as error:
            return REFUSED if str(error) else "refused without a word"
    return "read"


def json_seeds(given: Sequence[Path]) -> list[Seed]:
    """Selections of operators: those that are named, else one of everything."""
    if given:
        return [Seed(path.name, path.read_text()) for path in given]
    full = Selection(
        {"ADD": (1, 5), "IF": (1, 1)}, {"Twice"}, {"AddV2", "Sort"}, {"binary"}, {"m.tflite": "why"}
    )
    return [Seed("selection", full.to_json()), Seed("empty", Selection().to_json())]


def damage_json(seed: Seed, draw: random.Random) -> Mutant:
    return Mutant(damaged_json(seed.content, draw), "damaged JSON", draw=draw.getrandbits(32))


def damaged_json(text: str, draw: random.Random) -> bytes:
    """A value in it becomes another one, or the text is damaged."""
    if draw.random() < 0.4:
        return damaged_text(text, draw, '{}[]",:0-1e.tnu\\').encode(errors="surrogateescape")
    whole: list[Any] = [json.loads(text)]
    for _ in range(draw.choice((1, 1, 2, 4))):
        _change_value(whole, draw)
    return json.dumps(whole[0]).encode()


def _change_value(owner: Any, draw: random.Random) -> None:
    keys = list(owner) if isinstance(owner, dict) else list(range(len(owner)))
    if not keys:
        return
    key = draw.choice(keys)
    inner = owner[key]
    if isinstance(inner, dict | list) and draw.random() < 0.7:
        _change_value(inner, draw)
        return
    odd = (
        None,
        True,
        "",
        "ADD",
        "\x1b[0m",
        [],
        {},
        [[]],
        {"a": [1]},
        1e308,
        *NUMBERS,
        10**30,
        [1, 2, 3],
        inner,
    )
    owner[key] = draw.choice(odd)
    if isinstance(owner, dict) and draw.random() < 0.3:
        owner[draw.choice(("format", "builtin", "\ud800", "x"))] = owner.pop(key)


def use_selection(mutant: Mutant) -> str:
    with tempfile.NamedTemporaryFile(suffix=".json") as file:
        file.write(mutant.content)
        file.flush()
        read_selection(file.name).to_json()
        BuiltinOpResolver.from_selection(file.name)
    return "read"


_EDGES, _COMPILED, _ENTRY = "control dependencies", "compilations", "cache entry"
_TABLE = "model with metadata"
_COMPILATIONS = [
    Compilation(
        **{name: "cpu" for name in Compilation.__dataclass_fields__ if name != "options"}, options={"a": "1"}
    )
]


def metadata_seeds(given: Sequence[Path]) -> list[Seed]:
    """What models and caches hold beside graphs: order of nodes, who compiled them, delegates' own data."""
    return [
        Seed(_EDGES, serialize_control_dependencies([[(0, 1), (1, 300), (-1, 2)], [], [(5, 6)]])),
        Seed(_COMPILED, pack_compilations(_COMPILATIONS)),
        Seed(_ENTRY, b"data of a delegate"),
        Seed(_TABLE, with_metadata(chain(), _described())),
    ]


def _described() -> Metadata:
    """Labels, numbers and a file."""
    found = Metadata()
    found.set_labels(["cat", "dog"])
    found.set_normalization([1.0, 2.0], 3.0)
    found.model.name = "Pets"
    found.inputs[0].dimension_names = ["batch", ""]
    return found


def damage_metadata(seed: Seed, draw: random.Random) -> Mutant:
    if seed.name == _COMPILED:
        content = damaged_json(seed.content.decode(), draw)
    else:
        content = damaged_bytes(seed.content, draw)
    return Mutant((seed.name, content), f"damaged {seed.name}", draw=draw.getrandbits(32))


def use_metadata(mutant: Mutant) -> str:
    kind, content = mutant.content
    if kind == _EDGES:
        parse_control_dependencies(content)
    elif kind == _COMPILED:
        parse_compilations(content)
    elif kind == _TABLE:
        read_metadata(content).to_json()
    else:
        return _use_entry(content, random.Random(mutant.draw))
    return "read"


def _use_entry(content: bytes, draw: random.Random) -> str:
    """What is not what was kept must count as not found."""
    with tempfile.TemporaryDirectory() as folder:
        entry = Serialization(SerializationParams("model", folder))._entry("key", _Graph(), (), ())
        entry.set_data(b"data of a delegate")
        whole = entry.path.read_bytes()
        entry.path.write_bytes(draw.choice((damaged_bytes(whole, draw), whole + content, content)))
        found = entry.get_data()
    return "read" if found in (None, b"data of a delegate") else "gave damaged data"


class _Graph:
    """A subgraph as entries are named by it."""

    index = 0


def _write_metadata(mutant: Mutant, path: Path) -> None:
    path.write_bytes(mutant.content[1])


ARRAYS = Kind("arrays", array_seeds, damage_arrays, read_arrays, frozenset({"read", REFUSED}), ".npz")
SELECTIONS = Kind("selections", json_seeds, damage_json, use_selection, frozenset({"read"}), ".json")
METADATA = Kind(
    "metadata", metadata_seeds, damage_metadata, use_metadata, frozenset({"read"}), ".bin", _write_metadata
)
