"""StableHLO modules (JAX's exports, XlaCallModule) as TensorFlow's graphs."""
