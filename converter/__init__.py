"""From TensorFlow graphs to .tflite models, without TensorFlow."""
