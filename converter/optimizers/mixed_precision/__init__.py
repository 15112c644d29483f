"""auto_mixed_precision: parts of a graph that compute in 16 bits. `register` has the modes and the steps."""
