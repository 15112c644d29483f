"""What one writes without numlite.batch: a loop of Pillow, Interpreter and pyarrow over parquet files.

python benchmarks/batch_plain.py model.tflite output/ a.parquet b.parquet
"""

from __future__ import annotations

import io
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numlite import Interpreter
from PIL import Image

BATCH, PART_ROWS = 4, 1000


def run(model: str, output: Path, files: Sequence[str]) -> None:
    """The scores of all pictures, a parquet file for each PART_ROWS of them."""
    interpreter = Interpreter(model)
    taken, made = interpreter.get_input_details()[0]["index"], interpreter.get_output_details()[0]["index"]
    output.mkdir(parents=True, exist_ok=True)
    for path in files:
        with pq.ParquetFile(path) as source:
            for number, batch in enumerate(source.iter_batches(PART_ROWS)):
                pictures = batch.column("image").to_pylist()
                groups = [pictures[begin : begin + BATCH] for begin in range(0, len(pictures), BATCH)]
                scores = [_scores(interpreter, taken, made, group) for group in groups]
                table = pa.table({"id": batch.column("id"), "scores": _lists(np.concatenate(scores))})
                pq.write_table(table, output / f"{Path(path).stem}-{number:04}.parquet")


def _scores(interpreter: Interpreter, taken: int, made: int, pictures: Sequence[bytes]) -> np.ndarray:
    pixels = np.stack([np.asarray(Image.open(io.BytesIO(picture)).convert("RGB")) for picture in pictures])
    interpreter.resize_tensor_input(taken, pixels.shape)
    interpreter.allocate_tensors()
    interpreter.set_tensor(taken, (pixels.astype(np.float32) - np.float32(127.5)) / np.float32(127.5))
    interpreter.invoke()
    found: np.ndarray = interpreter.get_tensor(made)
    return found


def _lists(values: np.ndarray) -> pa.Array:
    offsets = np.arange(0, values.size + 1, values.shape[1], np.int32)
    return pa.ListArray.from_arrays(pa.array(offsets), pa.array(values.ravel()))


if __name__ == "__main__":
    run(sys.argv[1], Path(sys.argv[2]), sys.argv[3:])
