"""Keras models as TensorFlow graphs of the IR, read without Keras."""
