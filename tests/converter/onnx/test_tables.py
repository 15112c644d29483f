"""Models of tables (ai.onnx.ml) against NumPy, and what has no tensors."""

from __future__ import annotations

import numpy as np
import pytest
from numlite import Interpreter
from numlite.converter import Converter
from numlite.lite.errors import ModelError, UnsupportedError
from numlite.schema.onnx import NodeProto

from ...onnx_builder import model, node, value

RANDOM = np.random.default_rng(4)
ML = "ai.onnx.ml"


def run(made: NodeProto, x: np.ndarray, *outputs: str) -> dict[str, np.ndarray]:
    names = outputs or ("y",)
    built = model(
        [made], [value("x", ["n", *x.shape[1:]], x.dtype.type)], [value(name, None) for name in names]
    )
    for info in built.graph.output:
        info.type.Clear()
    built.opset_import.add(domain=ML, version=3)
    return Interpreter(model_content=Converter.from_onnx(built).convert()).get_signature_runner()(x=x)


def ml(op: str, outputs: object = "y", **attributes: object) -> NodeProto:
    return node(op, ["x"], outputs, domain=ML, **attributes)  # type: ignore[arg-type]


def forest(**more: object) -> dict[str, object]:
    """Two trees: x0 <= .5 ? (x1 <= 0 ? a : b) : c, and a leaf alone."""
    return {
        "nodes_treeids": [0, 0, 0, 0, 0, 1],
        "nodes_nodeids": [0, 1, 2, 3, 4, 0],
        "nodes_featureids": [0, 1, 0, 0, 0, 0],
        "nodes_modes": ["BRANCH_LEQ", "BRANCH_LEQ", "LEAF", "LEAF", "LEAF", "LEAF"],
        "nodes_values": [0.5, 0.0, 0.0, 0.0, 0.0, 0.0],
        "nodes_truenodeids": [1, 2, 0, 0, 0, 0],
        "nodes_falsenodeids": [4, 3, 0, 0, 0, 0],
        **more,
    }


X = np.array([[0.5, -1], [0.5, 1], [0.6, -1], [np.nan, 0]], np.float32)


def test_trees_of_numbers() -> None:
    given = {"target_treeids": [0, 0, 0, 1], "target_nodeids": [2, 3, 4, 0], "target_ids": [0, 0, 1, 0]}
    attributes = forest(**given, target_weights=[1.0, 2.0, 3.0, 10.0], n_targets=2, base_values=[0.5, 0.0])
    found = run(ml("TreeEnsembleRegressor", **attributes), X)["y"]
    np.testing.assert_array_equal(found, [[11.5, 0], [12.5, 0], [10.5, 3], [10.5, 3]])
    missing = {**attributes, "nodes_missing_value_tracks_true": [1, 0, 0, 0, 0, 0]}
    found = run(ml("TreeEnsembleRegressor", **missing), X)["y"]
    np.testing.assert_array_equal(found[3], [11.5, 0])


def test_trees_of_classes() -> None:
    given = {"class_treeids": [0, 0, 0, 1], "class_nodeids": [2, 3, 4, 0], "class_ids": [0, 1, 2, 2]}
    attributes = forest(**given, class_weights=[1.0, 2.0, 3.0, 0.5], classlabels_int64s=[7, 8, 9])
    found = run(ml("TreeEnsembleClassifier", ["label", "y"], **attributes), X, "label", "y")
    np.testing.assert_array_equal(found["label"], [7, 8, 9, 9])
    np.testing.assert_array_equal(found["y"], [[1, 0, 0.5], [0, 2, 0.5], [0, 0, 3.5], [0, 0, 3.5]])


def test_trees_of_two_classes_give_the_second_ones_score() -> None:
    given = {"class_treeids": [0, 0, 0], "class_nodeids": [2, 3, 4], "class_ids": [0, 0, 0]}
    attributes = forest(**given, class_weights=[-1.0, 2.0, 0.5], classlabels_strings=["no", "yes"])
    made = ml("TreeEnsembleClassifier", ["label", "y"], **attributes, post_transform="LOGISTIC")
    found = run(made, X[:3], "label", "y")
    assert found["label"].tolist() == [b"no", b"yes", b"yes"]
    np.testing.assert_allclose(found["y"][:, 1], 1 / (1 + np.exp([1, -2, -0.5])), rtol=1e-6)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"nodes_truenodeids": [9, 2, 0, 0, 0, 0]}, "must lead to nodes of their tree"),
        ({"nodes_truenodeids": [0, 2, 0, 0, 0, 0]}, "one root each and no circles"),
        ({"nodes_values": [0.5]}, "must be named once and have one of each attribute"),
        ({"target_ids": [5]}, "target_ids must be of nodes and in"),
        ({"target_treeids": [3]}, "target_ids must be of nodes and in"),
    ],
)
def test_trees_that_are_none_are_refused(change: dict[str, object], message: str) -> None:
    given = {"target_treeids": [0], "target_nodeids": [2], "target_ids": [0], "target_weights": [1.0]}
    with pytest.raises(ModelError, match=message):
        run(ml("TreeEnsembleRegressor", **{**forest(**given), **change}), X)


def test_linear_models_and_columns() -> None:
    x = RANDOM.uniform(-1, 1, (5, 3)).astype(np.float32)
    w, b = RANDOM.uniform(-1, 1, (2, 3)).astype(np.float32), np.array([0.5, -0.5], np.float32)
    flat, added = [float(n) for n in w.reshape(-1)], [float(n) for n in b]
    found = run(ml("LinearRegressor", coefficients=flat, intercepts=added, targets=2), x)["y"]
    np.testing.assert_allclose(found, x @ w.T + b, rtol=1e-5, atol=1e-6)
    made = ml(
        "LinearClassifier",
        ["l", "y"],
        coefficients=flat,
        intercepts=added,
        classlabels_ints=[3, 4],
        post_transform="SOFTMAX",
    )
    both = run(made, x, "l", "y")
    e = np.exp(x @ w.T + b)
    np.testing.assert_allclose(both["y"], e / e.sum(1, keepdims=True), rtol=1e-5)
    np.testing.assert_array_equal(both["l"], 3 + (x @ w.T + b).argmax(1))
    scaled = run(ml("Scaler", offset=[1.0, 0.0, 2.0], scale=[2.0, 1.0, 0.5]), x)["y"]
    np.testing.assert_allclose(scaled, (x - [1, 0, 2]) * [2, 1, 0.5], rtol=1e-5, atol=1e-6)
    for norm, by in (("MAX", x.max(1)), ("L1", np.abs(x).sum(1)), ("L2", np.sqrt((x * x).sum(1)))):
        np.testing.assert_allclose(run(ml("Normalizer", norm=norm), x)["y"], x / by[:, None], rtol=1e-5)
    filled = run(ml("Imputer", imputed_value_floats=[9.0, 8.0], replaced_value_float=float("nan")), X)["y"]
    np.testing.assert_array_equal(filled, np.where(np.isnan(X), [9, 8], X))


def test_keys_become_values() -> None:
    numbers = np.array([[3], [5], [4]], np.int64)
    made = ml("LabelEncoder", keys_int64s=[3, 4], values_strings=["three", "four"], default_string="?")
    assert run(made, numbers)["y"].reshape(-1).tolist() == [b"three", b"?", b"four"]
    made = ml("LabelEncoder", keys_int64s=[3, 4], values_floats=[0.5, 1.5], default_float=-1.0)
    np.testing.assert_array_equal(run(made, numbers)["y"], [[0.5], [-1], [1.5]])
    hot = run(ml("OneHotEncoder", cats_int64s=[5, 3]), numbers)["y"]
    np.testing.assert_array_equal(hot, [[[0, 1]], [[1, 0]], [[0, 0]]])


def test_maps_say_how_to_do_without_them() -> None:
    with pytest.raises(UnsupportedError, match="zipmap=False"):
        run(ml("ZipMap", classlabels_int64s=[0, 1]), X)


KERNELS = {
    "LINEAR": lambda dots, far: dots,
    "POLY": lambda dots, far: (0.5 * dots + 1) ** 3,
    "RBF": lambda dots, far: np.exp(-0.5 * far),
    "SIGMOID": lambda dots, far: np.tanh(0.5 * dots + 1),
}


@pytest.mark.parametrize("kind", KERNELS)
def test_support_vector_machines(kind: str) -> None:
    """Of one number, and of three classes: each pair's vectors by the row of the other class."""
    x = RANDOM.uniform(-1, 1, (6, 3)).astype(np.float32)
    vectors = RANDOM.uniform(-1, 1, (5, 3)).astype(np.float32)
    k = KERNELS[kind](x @ vectors.T, ((x[:, None] - vectors) ** 2).sum(2))
    held = {
        "kernel_type": kind,
        "kernel_params": [0.5, 1.0, 3.0],
        "support_vectors": [float(n) for n in vectors.reshape(-1)],
    }
    weights = RANDOM.uniform(-1, 1, 5)
    regressor = {**held, "coefficients": [float(n) for n in weights], "rho": [0.25], "n_supports": 5}
    y = k @ weights + 0.25
    np.testing.assert_allclose(run(ml("SVMRegressor", **regressor), x)["y"][:, 0], y, rtol=1e-4, atol=1e-5)
    found = run(ml("SVMRegressor", one_class=1, **regressor), x)["y"]
    np.testing.assert_array_equal(found[:, 0], np.where(y > 0, 1, -1))
    rows, rho = RANDOM.uniform(-1, 1, (2, 5)), [0.1, -0.2, 0.3]
    made = ml(
        "SVMClassifier",
        ["l", "y"],
        **held,
        coefficients=[float(n) for n in rows.reshape(-1)],
        rho=rho,
        vectors_per_class=[2, 1, 2],
        classlabels_ints=[7, 8, 9],
    )
    of = np.repeat([0, 1, 2], [2, 1, 2])
    scores, votes = [], np.zeros((6, 3))
    for i, j in ((0, 1), (0, 2), (1, 2)):
        score = k[:, of == i] @ rows[j - 1, of == i] + k[:, of == j] @ rows[i, of == j] + rho[len(scores)]
        scores.append(score)
        votes[:, i] += score > 0
        votes[:, j] += score <= 0
    both = run(made, x, "l", "y")
    np.testing.assert_allclose(both["y"], np.stack(scores, 1), rtol=1e-4, atol=1e-5)
    np.testing.assert_array_equal(both["l"], 7 + votes.argmax(1))


def test_probabilities_of_a_machine_of_two_classes() -> None:
    x = RANDOM.uniform(-1, 1, (4, 2)).astype(np.float32)
    held = {"support_vectors": [1.0, 0.0, 0.0, 1.0], "coefficients": [0.5, -2.0], "rho": [0.25]}
    held |= {"vectors_per_class": [1, 1], "classlabels_ints": [3, 5]}
    score = x @ [0.5, -2.0] + 0.25
    both = run(ml("SVMClassifier", ["l", "y"], **held), x, "l", "y")
    np.testing.assert_allclose(both["y"], np.stack([-score, score], 1), rtol=1e-5, atol=1e-6)
    np.testing.assert_array_equal(both["l"], np.where(score > 0, 3, 5))
    both = run(ml("SVMClassifier", ["l", "y"], prob_a=[-1.5], prob_b=[0.5], **held), x, "l", "y")
    first = 1 / (1 + np.exp(-1.5 * score + 0.5))
    np.testing.assert_allclose(both["y"], np.stack([first, 1 - first], 1), rtol=1e-5, atol=1e-6)
    np.testing.assert_array_equal(both["l"], np.where(first >= 0.5, 3, 5))
    three = {"vectors_per_class": [1, 1, 1], "classlabels_ints": [3, 5, 6]}
    with pytest.raises(UnsupportedError, match="probabilities of more than two classes"):
        zeros = {"support_vectors": [0.0] * 6, "coefficients": [0.0] * 6, "rho": [0.0] * 3}
        run(
            ml("SVMClassifier", ["l", "y"], prob_a=[0.0] * 3, prob_b=[0.0] * 3, **three, **zeros), x, "l", "y"
        )
