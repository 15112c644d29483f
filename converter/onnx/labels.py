"""Scores as labels and probabilities, and what models of tables do with columns: ai.onnx.ml."""

from __future__ import annotations

import numpy as np

from ...lite.errors import ModelError, UnsupportedError
from ...schema.graph_def import DT_FLOAT, DT_INT32, DT_INT64, DT_STRING
from ..building.contraction import product
from ..building.tensor import Tensor
from ..ir.types import element_type
from .call import Call, Rule
from .text import text_constant


def transformed(c: Call, scores: Tensor, how: str) -> Tensor:
    """Scores [n, classes] as the node's post_transform makes them."""
    if how == "NONE":
        return scores
    if how == "LOGISTIC":
        return scores.apply("Sigmoid")
    if how == "SOFTMAX":
        return scores.apply("Softmax")
    raise UnsupportedError(f"post_transform {how}: NONE, LOGISTIC and SOFTMAX are built")


def labels_of(c: Call) -> Tensor:
    """The classes' names, in order."""
    if c.has("classlabels_strings"):
        return text_constant(c, c.texts("classlabels_strings"))
    name = "classlabels_ints" if c.has("classlabels_ints") else "classlabels_int64s"
    return c.body.constant(np.array(c.integers(name), np.int64))


def classified(c: Call, scores: Tensor, one_sided: bool, positive: bool) -> list[Tensor]:
    """Labels of the highest scores, and the scores; of two classes there may be the second's score alone."""
    names, how = labels_of(c), c.text("post_transform", "NONE")
    if one_sided:
        # A probability when no weight is negative, else how far it is from the decision boundary.
        other = 1 - scores if positive and how == "NONE" else -scores
        scores = c.make("ConcatV2", other, scores, c.body.scalar(1, DT_INT32))
    if scores.sizes[1] != names.sizes[0]:
        raise ModelError(
            f"class labels must be one for each score, got {names.sizes[0]} and {scores.sizes[1]}"
        )
    best = c.make("ArgMax", scores, c.body.scalar(1, DT_INT32), output_type=element_type(DT_INT32))
    labels = c.make("GatherV2", names, best, c.body.scalar(0, DT_INT32))
    return [labels, transformed(c, scores, how)]


def _linear(c: Call, rows: int) -> Tensor:
    """x times the coefficients [rows, features], and the intercepts."""
    x = c.body.cast(c.input(0), DT_FLOAT)
    coefficients = np.array(c.reals("coefficients"), np.float32)
    if rows < 1 or coefficients.size % rows:
        raise ModelError(f"coefficients must be as many for each of {rows}, got {coefficients.size}")
    y = product(x, c.body.constant(np.ascontiguousarray(coefficients.reshape(rows, -1).T)))
    added = np.array(c.reals("intercepts", []), np.float32)
    return y + c.body.constant(added) if added.size else y


def linear_regressor(c: Call) -> Tensor:
    return transformed(c, _linear(c, c.integer("targets", 1)), c.text("post_transform", "NONE"))


def linear_classifier(c: Call) -> list[Tensor]:
    """Labels and scores; two classes may have one row of coefficients."""
    count = labels_of(c).sizes[0]
    rows = len(c.reals("intercepts", [])) or count
    return classified(c, _linear(c, rows), rows == 1 and count == 2, False)


def scaler(c: Call) -> Tensor:
    """(x - offset) scale, by columns."""
    offset, scale = (np.array(c.reals(name), np.float32) for name in ("offset", "scale"))
    return (c.body.cast(c.input(0), DT_FLOAT) - c.body.constant(offset)) * c.body.constant(scale)


def normalizer(c: Call) -> Tensor:
    """Rows by their largest, the sum of sizes, or their length."""
    x, how = c.body.cast(c.input(0), DT_FLOAT), c.text("norm", "MAX")
    axes = c.body.integers([x.rank - 1])
    if how == "MAX":
        # Not of sizes: what the specification and onnxruntime say, though scikit-learn means sizes.
        by = c.make("Max", x, axes, keep_dims=True)
    elif how == "L1":
        by = c.make("Sum", x.apply("Abs"), axes, keep_dims=True)
    elif how == "L2":
        by = c.make("Sum", x * x, axes, keep_dims=True).apply("Sqrt")
    else:
        raise ModelError(f"norm must be MAX, L1 or L2, got {how!r}")
    return x / by.equals(0).choose(1, by)


def binarizer(c: Call) -> Tensor:
    x = c.input(0)
    return c.body.cast(x > c.real("threshold", 0.0), x.type)


def imputer(c: Call) -> Tensor:
    """What stands for nothing, replaced by a number for each column."""
    x = c.input(0)
    if c.has("imputed_value_floats"):
        values, lost = (
            np.array(c.reals("imputed_value_floats"), np.float32),
            c.real("replaced_value_float", 0.0),
        )
    else:
        values, lost = (
            np.array(c.integers("imputed_value_int64s"), np.int64),
            c.integer("replaced_value_int64", 0),
        )
    missing = x.apply("IsNan") if lost != lost else x.equals(lost)
    return missing.choose(c.body.cast(c.body.constant(values), x.type), x)


def _known(c: Call, name: str) -> Tensor | None:
    """A list of an attribute: keys, values or categories of one of its types."""
    if c.has(f"{name}_strings"):
        return text_constant(c, c.texts(f"{name}_strings"))
    if c.has(f"{name}_int64s"):
        return c.body.constant(np.array(c.integers(f"{name}_int64s"), np.int64))
    if c.has(f"{name}_floats"):
        return c.body.constant(np.array(c.reals(f"{name}_floats"), np.float32))
    return c.importer.constant(c.array(f"{name}_tensor")) if c.has(f"{name}_tensor") else None


def label_encoder(c: Call) -> Tensor:
    """For each key its value, a default for others."""
    x, keys, values = c.input(0), _known(c, "keys"), _known(c, "values")
    if keys is None or values is None or keys.sizes != values.sizes:
        raise ModelError("keys and values must be as many")
    if values.type == DT_STRING:
        default: np.ndarray = np.array([c.text("default_string", "_Unused").encode()], object)
    elif values.type == DT_INT64:
        default = np.array([c.integer("default_int64", -1)], np.int64)
    else:
        default = np.array([c.real("default_float", -0.0)], np.float32)
    if c.has("default_tensor"):
        default = c.importer.constant(c.array("default_tensor")).data.reshape(-1)  # type: ignore[union-attr]
    found = _matches(c, x, keys)
    zero = c.body.scalar(0, DT_INT32)
    # The first key that is equal, or the place behind all of them.
    place = c.make("ArgMax", found, c.body.scalar(x.rank, DT_INT32), output_type=element_type(DT_INT32))
    any_ = c.make("Max", found, c.body.integers([x.rank]), keep_dims=False) > 0
    place = any_.choose(place, keys.sizes[0])
    return c.make("GatherV2", c.make("ConcatV2", values, c.body.constant(default), zero), place, zero)


def _matches(c: Call, x: Tensor, keys: Tensor) -> Tensor:
    """[..., keys]: 1 where an element is the key."""
    wide = c.make("ExpandDims", x, c.body.scalar(x.rank, DT_INT32))
    same = wide.equals(keys if keys.type == x.type else c.body.cast(keys, x.type))
    if keys.data is not None and keys.data.dtype.kind == "f" and np.isnan(keys.data).any():
        same = c.make("LogicalOr", same, c.make("LogicalAnd", wide.apply("IsNan"), keys.apply("IsNan")))
    return c.body.cast(same, DT_FLOAT)


def one_hot_encoder(c: Call) -> Tensor:
    """For each element a row with 1 at its category."""
    categories = _known(c, "cats")
    if categories is None:
        raise ModelError("categories must be there")
    x = c.input(0)
    if not c.flag("zeros", True):
        raise UnsupportedError("zeros=0: what is no category must be an error, which no operator raises")
    return _matches(c, x, categories)


def feature_vectorizer(c: Call) -> Tensor:
    """All inputs side by side."""
    parts = [c.body.cast(x, DT_FLOAT) for x in c.inputs()]
    return parts[0] if len(parts) == 1 else c.make("ConcatV2", *parts, c.body.scalar(1, DT_INT32))


def zip_map(c: Call) -> Tensor:
    """Maps are no tensors."""
    raise UnsupportedError("a list of maps is no tensor; export the classifier with zipmap=False")


_RULES: dict[str, Rule] = {
    "Binarizer": binarizer,
    "FeatureVectorizer": feature_vectorizer,
    "Imputer": imputer,
    "LabelEncoder": label_encoder,
    "LinearClassifier": linear_classifier,
    "LinearRegressor": linear_regressor,
    "Normalizer": normalizer,
    "OneHotEncoder": one_hot_encoder,
    "Scaler": scaler,
    "ZipMap": zip_map,
}
REGISTRATIONS: dict[str, Rule] = {f"ai.onnx.ml.{name}": rule for name, rule in _RULES.items()}
