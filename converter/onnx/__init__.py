"""ONNX models as graphs of TensorFlow's ops, which everything else in the converter works on."""
