"""Metadata of TensorFlow Lite Support and of numlite, each read by the other.

    python tests/metadata_peer.py PYTHON model.tflite ...

Run by hand. PYTHON has tflite-support (0.4.4 is its last; on Python 3.11 it installs beside 'numpy<2'). Of
each model that has one input and one output, its writer makes metadata with labels, normalization and a
threshold, which numlite must read and write back byte for byte; numlite makes the same, which its displayer
must read.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

from numlite import Interpreter, metadata

CHILD = Path(__file__).with_name("metadata_peer_child.py")


def main(python: str, *models: str) -> int:
    failed = 0
    for model in models:
        details = Interpreter(model)
        if len(details.get_input_details()) != 1 or len(details.get_output_details()) != 1:
            print(f"{Path(model).name}: has several inputs or outputs")
            continue
        with tempfile.TemporaryDirectory() as made:
            folder = Path(made)
            try:
                told = [theirs_read_by_us(python, model, folder), ours_read_by_them(python, model, folder)]
            except AssertionError as error:
                told, failed = [f"FAILED: {error}"], failed + 1
        print(f"{Path(model).name}: {'; '.join(told)}", flush=True)
    return 1 if failed else 0


def theirs_read_by_us(python: str, model: str, folder: Path) -> str:
    """What their writer makes, read by numlite and written back."""
    path = folder / "theirs.tflite"
    child(python, "write", model, str(path))
    found = metadata.read(path)
    same(found.model.name, "peer")
    same(found.labels(), ["cat", "dog", "emu"])
    normalization = found.normalization()
    assert normalization is not None, "no normalization"
    same((normalization.mean.tolist(), normalization.std.tolist()), ([127.5], [64.0]))
    same(found.score_threshold(), 0.25)
    same(found.files["labels.txt"], b"cat\ndog\nemu")
    metadata.write(path, found, folder / "again.tflite")
    assert (folder / "again.tflite").read_bytes() == path.read_bytes(), "is written otherwise"
    return f"theirs is read, and written back byte for byte ({path.stat().st_size:,} bytes)"


def ours_read_by_them(python: str, model: str, folder: Path) -> str:
    """What numlite makes, in the words of their displayer."""
    found = metadata.Metadata()
    found.model.name = "peer"
    found.set_labels(["cat", "dog", "emu"])
    found.set_normalization(127.5, 64.0)
    found.set_score_threshold(0.25)
    found.describe_input(0, "image", "what is seen")
    metadata.write(model, found, folder / "ours.tflite")
    told = json.loads(child(python, "read", str(folder / "ours.tflite")))
    same(told["files"], {"labels.txt": "cat\ndog\nemu\n"})
    graph = told["metadata"]["subgraph_metadata"][0]
    image, scores = graph["input_tensor_metadata"][0], graph["output_tensor_metadata"][0]
    same((told["metadata"]["name"], image["name"], image["description"]), ("peer", "image", "what is seen"))
    same(image["process_units"][0]["options"], {"mean": [127.5], "std": [64.0]})
    same(scores["process_units"][0]["options"], {"global_score_threshold": 0.25})
    same([file["type"] for file in scores["associated_files"]], ["TENSOR_AXIS_LABELS"])
    return "ours is read by theirs"


def same(found: object, wanted: object) -> None:
    assert found == wanted, f"must be {wanted!r}, got {found!r}"


def child(python: str, *arguments: str) -> str:
    ended = subprocess.run([python, str(CHILD), *arguments], capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr[-600:]
    return ended.stdout


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
