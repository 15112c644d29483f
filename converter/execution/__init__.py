"""Execution of TensorFlow graphs by the fallback kernels, without TensorFlow."""
