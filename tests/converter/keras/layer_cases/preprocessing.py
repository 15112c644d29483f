"""Layers that prepare numbers, images and texts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .case import Case, Keras, of_layer


def preprocessing() -> Iterator[Case]:
    yield of_layer("Rescaling", (4, 3), lambda L: L.Rescaling(1 / 127.5, offset=-1.0))
    yield of_layer("Rescaling channels", (4, 3), lambda L: L.Rescaling([1.0, 2.0, 3.0]))
    yield of_layer("Rescaling of bytes", (4, 3), lambda L: L.Rescaling(1 / 255), "uint8", high=255)
    yield of_layer(
        "Normalization", (4, 3), lambda L: L.Normalization(mean=[1.0, 2.0, 3.0], variance=[1.0, 4.0, 9.0])
    )
    yield of_layer("Normalization stored", (4, 3), lambda L: L.Normalization())
    yield of_layer("Normalization axes", (4, 3), lambda L: L.Normalization(axis=(1, 2)))
    yield of_layer(
        "Normalization invert",
        (4, 3),
        lambda L: L.Normalization(mean=2.0, variance=4.0, axis=None, invert=True),
    )
    for mode in ("bilinear", "nearest", "bicubic", "lanczos3", "area"):
        keras = (3, 2) if mode != "area" else (2,)
        yield of_layer(
            f"Resizing {mode}",
            (5, 7, 3),
            lambda L, mode=mode: L.Resizing(8, 4, interpolation=mode),
            keras=keras,
        )
    yield of_layer("Resizing crop", (5, 9, 3), lambda L: L.Resizing(6, 6, crop_to_aspect_ratio=True))
    yield of_layer(
        "Resizing pad",
        (5, 9, 3),
        lambda L: L.Resizing(6, 6, pad_to_aspect_ratio=True, fill_value=2.0),
        keras=(3,),
    )
    yield of_layer("Resizing antialias", (9, 9, 3), lambda L: L.Resizing(4, 5, antialias=True), keras=(3,))
    yield of_layer("CenterCrop", (7, 9, 3), lambda L: L.CenterCrop(4, 4))
    yield of_layer("CenterCrop larger", (4, 9, 3), lambda L: L.CenterCrop(6, 4))
    for name in (
        "RandomFlip",
        "RandomRotation",
        "RandomZoom",
        "RandomContrast",
        "RandomBrightness",
        "RandomTranslation",
    ):
        given = {"RandomFlip": (), "RandomTranslation": (0.1, 0.1)}.get(name, (0.2,))
        yield of_layer(name, (4, 5, 3), lambda L, name=name, given=given: getattr(L, name)(*given))
    yield of_layer("RandomCrop", (6, 8, 3), lambda L: L.RandomCrop(4, 4))
    for mode in ("multi_hot", "one_hot", "count"):
        size = 1 if mode == "one_hot" else 4
        yield of_layer(
            f"CategoryEncoding {mode}",
            (size,),
            lambda L, mode=mode: L.CategoryEncoding(5, output_mode=mode),
            "int32",
        )
    yield of_layer("Discretization", (4,), lambda L: L.Discretization([-1.0, 0.0, 0.5]))
    yield of_layer(
        "Discretization one_hot", (1,), lambda L: L.Discretization([-1.0, 0.0, 0.5], output_mode="one_hot")
    )
    yield of_layer("IntegerLookup", (4,), lambda L: L.IntegerLookup(vocabulary=[7, 3, 1]), "int64", high=9)
    yield of_layer(
        "IntegerLookup mask",
        (4,),
        lambda L: L.IntegerLookup(vocabulary=[7, 3, 1], mask_token=0, output_mode="multi_hot"),
        "int64",
        high=9,
    )
    yield of_layer(
        "IntegerLookup invert",
        (4,),
        lambda L: L.IntegerLookup(vocabulary=[7, 3, 1], invert=True),
        "int64",
        high=6,
    )
    yield of_layer(
        "IntegerLookup of strangers",
        (4,),
        lambda L: L.IntegerLookup(vocabulary=[7, 3, 1], num_oov_indices=3, mask_token=0),
        "int64",
        high=12,
    )
    yield of_layer(
        "IntegerLookup counts strangers",
        (4,),
        lambda L: L.IntegerLookup(vocabulary=[7, 3], num_oov_indices=2, mask_token=0, output_mode="count"),
        "int64",
        high=12,
    )
    words = ["cat", "dog", "the"]
    yield of_layer("StringLookup", (4,), lambda L: L.StringLookup(vocabulary=words), "string", high=1)
    yield of_layer(
        "StringLookup mask", (4,), lambda L: L.StringLookup(vocabulary=words, mask_token=""), "string", high=1
    )
    yield of_layer(
        "StringLookup count",
        (4,),
        lambda L: L.StringLookup(vocabulary=words, output_mode="count"),
        "string",
        high=1,
    )
    yield of_layer(
        "StringLookup invert", (4,), lambda L: L.StringLookup(vocabulary=words, invert=True), "int64", high=6
    )


def texts() -> Iterator[Case]:
    """Layers of SELECT."""
    words = ["cat", "dog", "the", "mat", "the cat", "t"]
    for name, settings in {
        "": {},
        " of a length": {"output_sequence_length": 2},
        " of more": {"output_sequence_length": 6, "standardize": "lower"},
        " characters": {"split": "character"},
        " ngrams": {"ngrams": 2},
        " some ngrams": {"ngrams": (2, 3), "standardize": None},
        " multi hot": {"output_mode": "multi_hot", "ngrams": 2},
        " count": {"output_mode": "count", "max_tokens": 9, "pad_to_max_tokens": True},
        " weights": {"output_mode": "tf_idf", "idf_weights": [0.5, 1.5, 2.0, 0.25, 1.0, 3.0]},
        " whole": {"split": None, "standardize": "strip_punctuation"},
    }.items():
        yield of_layer(
            f"TextVectorization{name}",
            (1,),
            lambda L, settings=settings: L.TextVectorization(vocabulary=words, **settings),
            "string",
            batch=3,
        )
    for name, dtypes, mode in (
        ("", ("string", "string"), "int"),
        (" of integers", ("int64", "int32"), "int"),
        (" one hot", ("string", "int64"), "one_hot"),
    ):

        def build(K: Keras, dtypes: tuple = dtypes, mode: str = mode) -> Any:
            inputs = [K.Input((1,), dtype=dtype) for dtype in dtypes]
            return K.Model(inputs, K.layers.HashedCrossing(num_bins=7, output_mode=mode)(inputs))

        yield Case(f"HashedCrossing{name}", build, batch=4)
    yield of_layer("Hashing", (3,), lambda L: L.Hashing(num_bins=5), "string")
    yield of_layer("Hashing of integers", (3,), lambda L: L.Hashing(num_bins=5, salt=7), "int64", high=90)
