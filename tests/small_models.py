"""Small models for the tests of the runtime and of the interpreter."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numlite.schema import tflite

from .model_builder import ModelBuilder

Op = tflite.BuiltinOperator


def chain(codes: Sequence[int] = (Op.ABS,), shape: Sequence[int] = (1, 4)) -> bytes:
    """float32 unary operators one after the other; tensor 0 is the input, the last the output."""
    model = ModelBuilder()
    tensors = [model.tensor(shape, name="x", shape_signature=[-1, *shape[1:]])]
    for n, code in enumerate(codes):
        tensors.append(model.tensor(shape, name=f"y{n}", shape_signature=[-1, *shape[1:]]))
        model.op(code, [tensors[-2]], [tensors[-1]])
    names = {"serve": ({"x": 0}, {"y": tensors[-1]})}
    return model.build([0], [tensors[-1]], names)


def custom(name: str = "Twice", *, between: bool = True, shape: Sequence[int] = (4,)) -> bytes:
    """A custom operator between two NEG (or alone)."""
    model = ModelBuilder()
    x = model.tensor(shape, name="x")
    if between:
        a, b, y = (model.tensor(shape, name=n) for n in "aby")
        model.op(Op.NEG, [x], [a])
        model.op(Op.CUSTOM, [a], [b], custom_code=name, custom_options=b"options")
        model.op(Op.NEG, [b], [y])
    else:
        y = model.tensor(shape, name="y")
        model.op(Op.CUSTOM, [x], [y], custom_code=name)
    return model.build([x], [y])


def add_constant(values: np.ndarray) -> bytes:
    """y = x + constant."""
    model = ModelBuilder()
    x = model.tensor(values.shape, values.dtype, name="x")
    c = model.tensor(values.shape, values.dtype, values, name="c")
    y = model.tensor(values.shape, values.dtype, name="y")
    model.op(Op.ADD, [x, c], [y], tflite.AddOptionsT())
    return model.build([x], [y])


def two_signatures() -> bytes:
    """Subgraph 0 negates, subgraph 1 takes the absolute value; each has a signature."""
    model = ModelBuilder()
    second = model.add_subgraph("second")
    for builder, code in ((model, Op.NEG), (second, Op.ABS)):
        x, y = builder.tensor([2], name="x"), builder.tensor([2], name="y")
        builder.op(code, [x], [y])
        builder.finish([x], [y])
    entries = [("negate", 0), ("absolute", 1)]
    model.model.signature_defs = [
        tflite.SignatureDefT(
            signature_key=key,
            subgraph_index=index,
            inputs=[tflite.TensorMapT(name="value", tensor_index=0)],
            outputs=[tflite.TensorMapT(name="result", tensor_index=1)],
        )
        for key, index in entries
    ]
    return tflite.pack(model.model)
