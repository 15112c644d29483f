"""Rules that turn TensorFlow nodes into builtin operators, one op family a file."""
