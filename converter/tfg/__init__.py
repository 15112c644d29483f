"""TensorFlow graphs as text (MLIR's tfg), and what only its tool does to them: no conversion needs these."""
