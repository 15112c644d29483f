"""remap: several nodes become one of TensorFlow's fused ops. `register` has the patterns and their order."""
