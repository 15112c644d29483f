"""Shapes of the results of TensorFlow's ops, from what is known of their inputs."""
