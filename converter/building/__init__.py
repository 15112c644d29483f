"""TensorFlow graphs from what is no TensorFlow graph: the ground on which front ends stand."""
