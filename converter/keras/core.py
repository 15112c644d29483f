"""Dense layers, embeddings, and what does nothing at inference."""

from __future__ import annotations

from collections.abc import Mapping

from ...lite.errors import ModelError
from ...schema.graph_def import DT_INT32, DT_INT64
from ..building.contraction import product
from ..building.tensor import Tensor
from .activations import activation_of
from .call import Call, Result, Value
from .config import Config
from .kind import Kind, Read
from .layer import Layer


def dense(c: Call) -> Tensor:
    """The last axis by a matrix."""
    x = c.floats(c.x)
    kernel = c.weight("kernel", [x.sizes[-1], c.config.positive("units")])
    bias = c.optional_weight("bias", [kernel.sizes[1]])
    return activation_of(c)(biased(rows_by(x, kernel), bias))


def rows_by(x: Tensor, kernel: Tensor) -> Tensor:
    """x @ kernel; tensors of more than two axes as one matrix, where at most one of their sizes is open."""
    if x.rank <= 2:
        return product(x, kernel)
    sizes = x.body.sizes_of(x)
    rows = x.body.reshaped(x, [-1, kernel.sizes[0]])
    return x.body.reshaped(product(rows, kernel), [*sizes[:-1], kernel.sizes[1]])


def biased(y: Tensor, bias: Tensor | None) -> Tensor:
    return y if bias is None else y + bias


def einsum_dense(c: Call) -> Tensor:
    """Sums of products by an equation, whose letters an ellipsis may stand among."""
    y = c.make(
        "Einsum", c.floats(c.x), c.weight("kernel"), equation=c.config.text("equation").replace(" ", "")
    )
    return activation_of(c)(biased(y, c.optional_weight("bias")))


def _einsum_names(config: Config) -> str:
    return "kernel bias" if config.get("bias_axes") else "kernel"


def embedding(c: Call) -> Value:
    """Rows of a table; where mask_zero, 0 is no row but the end."""
    ids = c.x if c.x.type in (DT_INT32, DT_INT64) else c.body.cast(c.x, DT_INT32)
    table = c.weight("embeddings", [c.config.positive("input_dim"), c.config.positive("output_dim")])
    y = c.make("GatherV2", table, ids, c.body.scalar(0, DT_INT32))
    return Value(
        y, c.make("NotEqual", c.x, c.body.scalar(0, c.x.type)) if c.config.flag("mask_zero") else None
    )


def reversible_embedding(c: Call) -> Value | Tensor:
    """An embedding, or with reverse=True scores of all rows."""
    if not c.argument(1, "reverse", False):
        return embedding(c)
    x = c.floats(c.x)
    tied = c.config.flag("tie_weights", True)
    table = c.weight("embeddings") if tied else c.weight("reverse_embeddings")
    y = rows_by(x, c.body.transposed(table, (1, 0)) if tied else table)
    if not c.config.has("logit_soft_cap"):
        return y
    cap = c.config.real("logit_soft_cap")
    return (y / cap).apply("Tanh") * cap


def _reversible_names(config: Config) -> str:
    return "embeddings" if config.flag("tie_weights", True) else "embeddings reverse_embeddings"


def masking(c: Call) -> Value:
    """Steps at which all features are the value are masked, and zero."""
    x = c.x
    away = c.make("NotEqual", x, c.body.scalar(c.config.real("mask_value", 0.0), x.type))
    if x.rank < 2:
        raise ModelError(f"its input must have 2 dimensions or more, got {x.rank}")
    kept = c.make("Any", away, c.body.integers([x.rank - 1]), keep_dims=True)
    mask = c.make("Squeeze", kept, squeeze_dims=[x.rank - 1])
    return Value(x * c.body.cast(kept, x.type), mask)


def identity(c: Call) -> Result:
    """What is given."""
    given = c.arguments[0] if c.arguments else dict(c.named)
    return given if not isinstance(given, Value) else given.tensor  # type: ignore[return-value]


def layer_scale(c: Call) -> Tensor:
    """Channels by a factor each, of ConvNeXt."""
    return c.x * c.weight("gamma", [c.x.sizes[-1]])


def input_layer(c: Call) -> Tensor:
    return c.x


def inner_layer(config: Config, read: Read) -> Mapping[str, Layer]:
    """The layer within a wrapper."""
    return {"layer": read(config.get("layer"))}


def wrapped(c: Call) -> Result:
    """The layer within, as it is stored."""
    return c.part("layer", *c.arguments, **c.named)


_SAME = (
    *("ActivityRegularization", "AlphaDropout", "Dropout", "GaussianDropout", "GaussianNoise", "Identity"),
    *("SpatialDropout1D", "SpatialDropout2D", "SpatialDropout3D", "StochasticDepth"),
)
REGISTRATIONS: dict[str, Kind] = {
    **{name: Kind(identity, keeps_mask=True) for name in _SAME},
    "Dense": Kind(dense, "kernel bias?use_bias", keeps_mask=True),
    "EinsumDense": Kind(einsum_dense, names=_einsum_names),
    "Embedding": Kind(embedding, "embeddings"),
    "InputLayer": Kind(input_layer, keeps_mask=True),
    "LayerScale": Kind(layer_scale, "gamma"),
    "Masking": Kind(masking),
    "ReversibleEmbedding": Kind(reversible_embedding, names=_reversible_names),
    "SpectralNormalization": Kind(wrapped, "*vector_u", parts=inner_layer),
}
