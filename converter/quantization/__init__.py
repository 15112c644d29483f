"""Quantization after training: a float .tflite in, a smaller one out."""
