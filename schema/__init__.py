"""Wire formats: the .tflite flatbuffer, read in place and written."""
