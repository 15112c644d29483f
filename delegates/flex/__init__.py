"""The flex delegate: runs TensorFlow ops of a model with the fallback kernels."""

from .delegate import FlexDelegate

__all__ = ["FlexDelegate"]


def create_delegate() -> FlexDelegate:
    """The delegate, for who loads it by the name of this module."""
    return FlexDelegate()
