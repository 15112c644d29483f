"""The half of TensorFlow's C interface for plugins that needs no graph."""
