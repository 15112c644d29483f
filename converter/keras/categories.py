"""Preprocessing of numbers and categories: statistics, bins, hashes, vocabularies, encodings."""

from __future__ import annotations

import numpy as np

from ...lite.errors import ModelError, UnsupportedError
from ...schema.graph_def import DT_FLOAT, DT_INT32, DT_INT64, DT_STRING
from ..building.movement import axis_of
from ..building.tensor import Tensor
from ..ir.types import element_type
from .call import Call
from .config import Config, cut, integers_of, plain
from .dtypes import type_of
from .kind import Kind
from .tables import found_in

_SMALLEST = 1e-7
# Stands for what is not in a vocabulary; -1 is the mask's token.
_STRANGE = -2
# Source: TensorFlow python/ops/sparse_ops.py, the key of cross_hashed where none is given.
_CROSSING_KEY = 0xDECAFCAFFE
MODES = ("int", "one_hot", "multi_hot", "count", "tf_idf", "binary")


def normalization(c: Call) -> Tensor:
    """x without its mean, by its deviation, for each place along the axes."""
    x = c.floats(c.x)
    told = c.config.get("axis")
    axes = [] if told is None else sorted(axis_of(axis, x.rank) for axis in integers_of(told, "axis"))
    sizes = [x.sizes[axis] if axis in axes else 1 for axis in range(x.rank)]
    mean, variance = (_statistic(c, name, sizes) for name in ("mean", "variance"))
    deviation = variance.apply("Sqrt").maximum(_SMALLEST)
    return x * deviation + mean if c.config.flag("invert") else (x - mean) / deviation


def _statistic(c: Call, name: str, sizes: list[int]) -> Tensor:
    if c.config.has("mean"):
        found = c.floats(c.as_tensor(plain(c.config.get(name)), name))
        return (
            found
            if found.shape == () or -1 in sizes
            else c.make("BroadcastTo", found, c.body.integers(sizes))
        )
    stored = c.weight(name)
    if -1 in sizes or stored.data is None or stored.data.size != np.prod(sizes):
        raise ModelError(f"weight {name!r} must be of the sizes {sizes}, got {list(stored.sizes)}")
    return c.body.reshaped(stored, sizes)


def _statistics(config: Config) -> str:
    return "" if config.has("mean") else "*mean *variance *count"


def category_encoding(c: Call) -> Tensor:
    """Categories as rows of 0 and 1, or counts."""
    mode = c.config.choice("output_mode", MODES, "multi_hot")
    return encoded(c, c.x, mode, c.config.positive("num_tokens"), c.optional(1, "count_weights"))


def encoded(c: Call, places: Tensor, mode: str, depth: int, weights: Tensor | None = None) -> Tensor:
    """Places [n, k] by the mode: themselves, [n, k, depth], or [n, depth]."""
    if mode == "int":
        return c.body.cast(places, _type(c, DT_INT64))
    if c.config.flag("sparse"):
        raise UnsupportedError("sparse=True is not built")
    if mode == "one_hot":
        if places.rank > 1 and places.sizes[-1] == 1:
            places = c.make("Squeeze", places, squeeze_dims=[places.rank - 1])
        return c.body.cast(_rows(c, places, depth), _type(c, DT_FLOAT))
    if places.rank == 1 and c.importer.shared.is_keras_2:
        places = c.make("ExpandDims", places, c.body.scalar(1, DT_INT32))
    rows = _rows(c, places, depth)
    axes = c.body.integers([rows.rank - 2])
    if mode in ("multi_hot", "binary"):
        return c.body.cast(c.make("Max", rows, axes), _type(c, DT_FLOAT))
    if weights is not None:
        rows = rows * c.make("ExpandDims", c.floats(weights), c.body.scalar(weights.rank, DT_INT32))
    return c.body.cast(c.make("Sum", rows, axes), _type(c, DT_FLOAT))


def _rows(c: Call, places: Tensor, depth: int) -> Tensor:
    places = places if places.type in (DT_INT32, DT_INT64) else c.body.cast(places, DT_INT32)
    one, zero = c.body.scalar(1.0, DT_FLOAT), c.body.scalar(0.0, DT_FLOAT)
    return c.make("OneHot", places, c.body.scalar(depth, DT_INT32), one, zero, axis=-1)


def _type(c: Call, default: int) -> int:
    """The type that the layer gives, of its policy."""
    told = c.config.get("dtype")
    if told is None:
        return default
    found = type_of(told)
    is_other = found == DT_STRING or (found == DT_FLOAT and default == DT_INT64)
    return default if is_other else found


def discretization(c: Call) -> Tensor:
    """Numbers as the bins that they fall into."""
    bounds = plain(c.config.get("bin_boundaries"))
    if not isinstance(bounds, list) or not all(isinstance(each, int | float) for each in bounds):
        raise ModelError(f"bin_boundaries must be numbers, got {cut(bounds)}")
    if not bounds:
        raise ModelError("bin_boundaries must be there, got none")
    table = c.body.constant(np.array(bounds, np.float32))
    x = c.make("ExpandDims", c.floats(c.x), c.body.scalar(c.x.rank, DT_INT32))
    beyond = c.body.cast(x >= table, DT_INT32)
    places = c.make("Sum", beyond, c.body.integers([x.rank - 1]))
    return encoded(c, places, c.config.choice("output_mode", MODES, "int"), len(bounds) + 1)


def hashing(c: Call) -> Tensor:
    """Categories as one of so many bins, by a hash of their text; needs the op as it is (select TF ops)."""
    bins, x = c.config.positive("num_bins"), c.x
    text = x if x.type == DT_STRING else c.make("AsString", x)
    masks = c.config.has("mask_value")
    count = bins - 1 if masks and bins > 1 else bins
    if c.config.has("salt"):
        salt = c.config.integers("salt")
        key = (salt * 2)[:2]
        places = c.make("StringToHashBucketStrong", text, num_buckets=count, key=key)
    else:
        places = c.make("StringToHashBucketFast", text, num_buckets=count)
    if masks:
        value = c.config.get("mask_value")
        mask = c.make("Equal", x, _like(c, value, x))
        places = mask.choose(places * 0, places + 1)
    return encoded(c, places, c.config.choice("output_mode", MODES, "int"), bins)


def hashed_crossing(c: Call) -> Tensor:
    """Bins of the combinations of several categories, by a hash; needs the op as it is (select TF ops)."""
    inputs, bins = c.inputs, c.config.positive("num_bins")
    if len(inputs) < 2:
        raise ModelError(f"it must be called with at least two tensors, got {len(inputs)}")
    x = inputs[0]
    if x.rank > 2 or (x.rank == 2 and x.sizes[1] != 1):
        raise ModelError(f"its inputs must be one category for each row, got {x}")
    rows = [
        c.body.reshaped(each if each.type == DT_STRING else c.body.cast(each, DT_INT64), [-1, 1])
        for each in inputs
    ]
    texts = all(each.type == DT_STRING for each in rows)
    _, places, _ = c.body.ops(
        "SparseCross",
        *rows,
        N=0,
        sparse_types=(),
        dense_types=tuple(element_type(each.type) for each in rows),
        hashed_output=True,
        num_buckets=bins,
        hash_key=_CROSSING_KEY,
        out_type=element_type(DT_INT64),
        internal_type=element_type(DT_STRING if texts else DT_INT64),
    )
    places = c.body.reshaped(places, c.body.sizes_of(x))
    mode = c.config.choice("output_mode", ("int", "one_hot"), "int")
    return encoded(c, places, mode, bins)


def _like(c: Call, value: object, x: Tensor) -> Tensor:
    if x.type != DT_STRING:
        return c.body.cast(c.as_tensor(value, "mask_value"), x.type)
    return c.body.constant(np.array(str(value).encode(), object))


def vocabulary(c: Call, special: list[object]) -> list[object]:
    """The tokens without the special ones."""
    stored = c.layer.assets.get("vocabulary.txt")
    found = plain(c.config.get("vocabulary"))
    tokens: list[object]
    if stored is not None:
        text = stored.decode(errors="replace")
        tokens = list(text.removesuffix("\n").split("\n"))
    elif isinstance(found, list):
        tokens = list(found)
    else:
        raise UnsupportedError("its vocabulary is in another file or was not learned; give it as a list")
    if c.layer.kind == "IntegerLookup":
        tokens = [
            integers_of(int(str(each)) if isinstance(each, str) else each, "vocabulary")[0] for each in tokens
        ]
    return tokens[len(special) :] if special and tokens[: len(special)] == special else tokens


def _special(c: Call) -> list[object]:
    """The mask's token and those for what is not in the vocabulary."""
    masks = [c.config.get("mask_token")] if c.config.has("mask_token") else []
    default: object = -1 if c.layer.kind == "IntegerLookup" else "[UNK]"
    oov = c.config.get("oov_token")
    return [*masks, *[default if oov is None else oov] * c.config.integer("num_oov_indices", 1)]


def lookup(c: Call) -> Tensor:
    """Places of tokens in a vocabulary, or tokens of places."""
    special = _special(c)
    tokens = vocabulary(c, special)
    masks, strangers = c.config.has("mask_token"), c.config.integer("num_oov_indices", 1)
    mode = c.config.choice("output_mode", MODES, "int")
    if mode != "int" and masks:
        # The mask's token has no row there.
        special = special[1:]
    all_tokens = [*special, *tokens]
    if c.config.flag("invert"):
        return _tokens_of(c, all_tokens)
    keys = [*([c.config.get("mask_token")] if masks else []), *tokens]
    first = len(special)
    places = [*([0 if mode == "int" else -1] if masks else []), *range(first, first + len(tokens))]
    if strangers > 1:
        y = found_in(c, c.x, keys, places, _STRANGE)
        is_strange = c.make("Equal", y, c.body.scalar(_STRANGE, DT_INT32))
        y = is_strange.choose(_hashed(c, strangers) + (first - strangers), y)
    else:
        y = found_in(c, c.x, keys, places, first - 1 if strangers else -1)
    return weighted(c, y, mode, len(all_tokens))


def weighted(c: Call, places: Tensor, mode: str, count: int) -> Tensor:
    """Places in a vocabulary of so many tokens by the mode; tf_idf are counts times the tokens' weights."""
    depth = c.config.positive("max_tokens") if c.config.flag("pad_to_max_tokens") else count
    if mode != "tf_idf":
        return encoded(c, places, mode, depth)
    stored = [layer.weights["idf_weights"] for layer in c.layer.all() if "idf_weights" in layer.weights]
    weights = [float(each) for each in stored[-1]] if stored else plain(c.config.get("idf_weights"))
    if not isinstance(weights, list) or not all(isinstance(each, int | float) for each in weights):
        raise UnsupportedError(
            "weights of output_mode tf_idf are not in the file; save it as .keras, or give idf_weights"
        )
    if not 0 < len(weights) <= count:
        raise ModelError(f"idf_weights must be one for each of at most {count} tokens, got {len(weights)}")
    # What is not in the vocabulary has the mean.
    row = [*[float(np.mean(weights))] * (count - len(weights)), *weights, *[0.0] * (depth - count)]
    return encoded(c, places, "count", depth) * c.body.constant(np.array(row, np.float32))


def _hashed(c: Call, count: int) -> Tensor:
    """Which of so many places an element has that is not in the vocabulary; for texts a TensorFlow op."""
    if c.x.type == DT_STRING:
        return c.body.cast(c.make("StringToHashBucketFast", c.x, num_buckets=count), DT_INT32)
    x = c.body.cast(c.x, DT_INT64)
    return c.body.cast(c.make("FloorMod", x, c.body.scalar(count, DT_INT64)), DT_INT32)


def _tokens_of(c: Call, tokens: list[object]) -> Tensor:
    """Tokens by places; the last token for what is not in the vocabulary stands for all others."""
    x = c.body.cast(c.x, DT_INT32)
    inside = c.make("LogicalAnd", x >= 0, x < len(tokens))
    stranger = int(c.config.has("mask_token"))
    x = c.make("SelectV2", inside, x, c.body.scalar(stranger, DT_INT32))
    if c.layer.kind == "IntegerLookup":
        table = c.body.constant(np.array([0 if each is None else each for each in tokens], np.int64))
    else:
        table = c.body.constant(np.array([str(each).encode() for each in tokens], object))
    return c.make("GatherV2", table, x, c.body.scalar(0, DT_INT32))


REGISTRATIONS: dict[str, Kind] = {
    "CategoryEncoding": Kind(category_encoding),
    "Discretization": Kind(discretization),
    "HashedCrossing": Kind(hashed_crossing),
    "Hashing": Kind(hashing),
    "IntegerLookup": Kind(lookup),
    "Normalization": Kind(normalization, names=_statistics),
    "StringLookup": Kind(lookup),
}
