"""The classes of layers that are read, and the family module that each comes from."""

from __future__ import annotations

from functools import lru_cache

from ...lite.families import Families
from .kind import Kind

_CLASSES: dict[str, tuple[str, ...]] = {
    "activation_layers": ("Activation", "ELU", "LeakyReLU", "PReLU", "ReLU", "Softmax", "ThresholdedReLU"),
    "conv": (
        *("Conv1D", "Conv2D", "Conv3D", "DepthwiseConv1D", "DepthwiseConv2D", "SeparableConv1D"),
        *("SeparableConv2D",),
    ),
    "conv_transpose": ("Conv1DTranspose", "Conv2DTranspose", "Conv3DTranspose"),
    "core": (
        *("ActivityRegularization", "AlphaDropout", "Dense", "Dropout", "EinsumDense", "Embedding"),
        *("GaussianDropout", "GaussianNoise", "Identity", "InputLayer", "Masking", "ReversibleEmbedding"),
        *("SpatialDropout1D", "SpatialDropout2D", "SpatialDropout3D", "SpectralNormalization"),
    ),
    "merge": ("Add", "Average", "Concatenate", "Dot", "Maximum", "Minimum", "Multiply", "Subtract"),
    "normalization": (
        *("BatchNormalization", "GroupNormalization", "LayerNormalization", "RMSNormalization"),
        *("SyncBatchNormalization", "UnitNormalization"),
    ),
    "pool": (
        *("AdaptiveAveragePooling1D", "AdaptiveAveragePooling2D", "AdaptiveAveragePooling3D"),
        *("AdaptiveMaxPooling1D", "AdaptiveMaxPooling2D", "AdaptiveMaxPooling3D", "AveragePooling1D"),
        *("AveragePooling2D", "AveragePooling3D", "GlobalAveragePooling1D", "GlobalAveragePooling2D"),
        *("GlobalAveragePooling3D", "GlobalMaxPooling1D", "GlobalMaxPooling2D", "GlobalMaxPooling3D"),
        *("MaxPooling1D", "MaxPooling2D", "MaxPooling3D"),
    ),
    "reshape": (
        *("Cropping1D", "Cropping2D", "Cropping3D", "Flatten", "Permute", "RepeatVector", "Reshape"),
        *("UpSampling1D", "UpSampling2D", "UpSampling3D", "ZeroPadding1D", "ZeroPadding2D"),
        *("ZeroPadding3D",),
    ),
}

FAMILIES: Families[dict[str, Kind]] = Families(__package__, _CLASSES)


@lru_cache(None)
def kind_of(name: str) -> Kind | None:
    """What is known of a class, None of one that is not."""
    family = next(iter(FAMILIES.modules_of(name)), None)
    return None if family is None else FAMILIES.registrations(family)[name]
