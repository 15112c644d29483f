"""A small model that uses most kinds of fields, for the tests of reader, writer and verifier."""

import numpy as np
from numlite.schema import tflite
from numlite.schema.operator_code import operator_code


def convolution(constant_bytes: int = 4 * 2 * 3 * 3 * 1) -> tflite.ModelT:
    """A quantized convolution with a signature and metadata."""
    weights = np.arange(constant_bytes, dtype=np.uint8)
    options = tflite.Conv2DOptionsT(padding=tflite.Padding.VALID, stride_w=2, stride_h=1)
    scales = tflite.QuantizationParametersT(scale=[0.5, 0.25], zero_point=[0, 0])
    subgraph = tflite.SubGraphT(
        tensors=[
            tflite.TensorT(shape=[1, 4, 4, 1], name="x", shape_signature=[-1, 4, 4, 1]),
            tflite.TensorT(shape=[2, 3, 3, 1], name="w", buffer=1, quantization=scales),
            tflite.TensorT(shape=[1, 2, 1, 2], name="größe"),
        ],
        inputs=[0],
        outputs=[2],
        operators=[tflite.OperatorT(inputs=[0, 1, -1], outputs=[2], builtin_options=options)],
        name="main",
    )
    signature = tflite.SignatureDefT(
        signature_key="serve",
        inputs=[tflite.TensorMapT(name="image", tensor_index=0)],
        outputs=[tflite.TensorMapT(name="scores", tensor_index=2)],
    )
    return tflite.ModelT(
        version=3,
        operator_codes=[operator_code(tflite.BuiltinOperator.CONV_2D, version=2)],
        subgraphs=[subgraph],
        buffers=[tflite.BufferT(), tflite.BufferT(data=weights), tflite.BufferT(data=b"notes")],
        metadata=[tflite.MetadataT(name="notes", buffer=2)],
        signature_defs=[signature],
    )
