"""The flex delegate: runs TensorFlow ops of a model with the fallback kernels."""
