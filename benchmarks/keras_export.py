"""Saves keras.applications' nets with random weights, and what they give, as .keras or .h5 files.

    PYTHON benchmarks/keras_export.py FOLDER [--keras 3] [--form keras] [NET ...]

PYTHON has tensorflow and keras (tf_keras for --keras 2). benchmarks/keras_models.py converts the files.
"""

from __future__ import annotations

import argparse
import functools
import os
import time
from pathlib import Path

import numpy as np

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")

NETS = (
    "MobileNetV2",
    "ResNet50",
    "EfficientNetB0",
    "DenseNet121",
    "NASNetMobile",
    "ConvNeXtTiny",
    "Xception",
)
_RUNS = 5
# The size of nets that leave theirs open.
_OPEN = (224, 224, 3)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("nets", nargs="*", default=NETS)
    parser.add_argument("--keras", type=int, default=3)
    parser.add_argument("--form", choices=("keras", "h5"), default="keras")
    given = parser.parse_args()
    if given.keras == 3:
        import keras
    else:
        import tf_keras as keras
    import tensorflow as tf

    tf.config.threading.set_intra_op_parallelism_threads(1)
    tf.config.threading.set_inter_op_parallelism_threads(1)
    for name in given.nets:
        keras.utils.set_random_seed(7)
        make = functools.partial(getattr(keras.applications, name), weights=None, classifier_activation=None)
        net = make()
        if None in net.input_shape[1:]:
            net = make(input_shape=_OPEN)
        stem = f"{name}_{given.keras}_{given.form}"
        net.save(given.folder / f"{stem}.{given.form}")
        x = np.random.default_rng(3).uniform(0, 255, (1, *net.input_shape[1:])).astype(np.float32)
        run = tf.function(lambda x, net=net: net(x, training=False))
        times = []
        for _ in range(_RUNS):
            start = time.perf_counter()
            y = run(x).numpy()
            times.append(time.perf_counter() - start)
        np.savez(given.folder / f"{stem}.npz", x=x, y=y, seconds=min(times))
        print(stem, flush=True)


if __name__ == "__main__":
    main()
