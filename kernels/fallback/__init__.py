"""TensorFlow's kernels in NumPy: what runs a TensorFlow op without TensorFlow."""
