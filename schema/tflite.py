"""The .tflite format: enums, readers and objects. Generated from tflite.fbs by generate.py."""

from .classes import Schema

# enum: {name: value}
ENUMS = {
    'CustomOptionsFormat': {'FLEXBUFFERS': 0},
    'TensorType': {'FLOAT32': 0, 'FLOAT16': 1, 'INT32': 2, 'UINT8': 3, 'INT64': 4, 'STRING': 5, 'BOOL': 6, 'INT16': 7, 'COMPLEX64': 8, 'INT8': 9, 'FLOAT64': 10, 'COMPLEX128': 11, 'UINT64': 12, 'RESOURCE': 13, 'VARIANT': 14, 'UINT32': 15, 'UINT16': 16, 'INT4': 17, 'BFLOAT16': 18, 'INT2': 19, 'UINT4': 20, 'FLOAT8_E4M3FN': 21, 'FLOAT8_E5M2': 22},
    'DimensionType': {'DENSE': 0, 'SPARSE_CSR': 1},
    'BuiltinOperator': {'ADD': 0, 'AVERAGE_POOL_2D': 1, 'CONCATENATION': 2, 'CONV_2D': 3, 'DEPTHWISE_CONV_2D': 4, 'DEPTH_TO_SPACE': 5, 'DEQUANTIZE': 6, 'EMBEDDING_LOOKUP': 7, 'FLOOR': 8, 'FULLY_CONNECTED': 9, 'HASHTABLE_LOOKUP': 10, 'L2_NORMALIZATION': 11, 'L2_POOL_2D': 12, 'LOCAL_RESPONSE_NORMALIZATION': 13, 'LOGISTIC': 14, 'LSH_PROJECTION': 15, 'LSTM': 16, 'MAX_POOL_2D': 17, 'MUL': 18, 'RELU': 19, 'RELU_N1_TO_1': 20, 'RELU6': 21, 'RESHAPE': 22, 'RESIZE_BILINEAR': 23, 'RNN': 24, 'SOFTMAX': 25, 'SPACE_TO_DEPTH': 26, 'SVDF': 27, 'TANH': 28, 'CONCAT_EMBEDDINGS': 29, 'SKIP_GRAM': 30, 'CALL': 31, 'CUSTOM': 32, 'EMBEDDING_LOOKUP_SPARSE': 33, 'PAD': 34, 'UNIDIRECTIONAL_SEQUENCE_RNN': 35, 'GATHER': 36, 'BATCH_TO_SPACE_ND': 37, 'SPACE_TO_BATCH_ND': 38, 'TRANSPOSE': 39, 'MEAN': 40, 'SUB': 41, 'DIV': 42, 'SQUEEZE': 43, 'UNIDIRECTIONAL_SEQUENCE_LSTM': 44, 'STRIDED_SLICE': 45, 'BIDIRECTIONAL_SEQUENCE_RNN': 46, 'EXP': 47, 'TOPK_V2': 48, 'SPLIT': 49, 'LOG_SOFTMAX': 50, 'DELEGATE': 51, 'BIDIRECTIONAL_SEQUENCE_LSTM': 52, 'CAST': 53, 'PRELU': 54, 'MAXIMUM': 55, 'ARG_MAX': 56, 'MINIMUM': 57, 'LESS': 58, 'NEG': 59, 'PADV2': 60, 'GREATER': 61, 'GREATER_EQUAL': 62, 'LESS_EQUAL': 63, 'SELECT': 64, 'SLICE': 65, 'SIN': 66, 'TRANSPOSE_CONV': 67, 'SPARSE_TO_DENSE': 68, 'TILE': 69, 'EXPAND_DIMS': 70, 'EQUAL': 71, 'NOT_EQUAL': 72, 'LOG': 73, 'SUM': 74, 'SQRT': 75, 'RSQRT': 76, 'SHAPE': 77, 'POW': 78, 'ARG_MIN': 79, 'FAKE_QUANT': 80, 'REDUCE_PROD': 81, 'REDUCE_MAX': 82, 'PACK': 83, 'LOGICAL_OR': 84, 'ONE_HOT': 85, 'LOGICAL_AND': 86, 'LOGICAL_NOT': 87, 'UNPACK': 88, 'REDUCE_MIN': 89, 'FLOOR_DIV': 90, 'REDUCE_ANY': 91, 'SQUARE': 92, 'ZEROS_LIKE': 93, 'FILL': 94, 'FLOOR_MOD': 95, 'RANGE': 96, 'RESIZE_NEAREST_NEIGHBOR': 97, 'LEAKY_RELU': 98, 'SQUARED_DIFFERENCE': 99, 'MIRROR_PAD': 100, 'ABS': 101, 'SPLIT_V': 102, 'UNIQUE': 103, 'CEIL': 104, 'REVERSE_V2': 105, 'ADD_N': 106, 'GATHER_ND': 107, 'COS': 108, 'WHERE': 109, 'RANK': 110, 'ELU': 111, 'REVERSE_SEQUENCE': 112, 'MATRIX_DIAG': 113, 'QUANTIZE': 114, 'MATRIX_SET_DIAG': 115, 'ROUND': 116, 'HARD_SWISH': 117, 'IF': 118, 'WHILE': 119, 'NON_MAX_SUPPRESSION_V4': 120, 'NON_MAX_SUPPRESSION_V5': 121, 'SCATTER_ND': 122, 'SELECT_V2': 123, 'DENSIFY': 124, 'SEGMENT_SUM': 125, 'BATCH_MATMUL': 126, 'PLACEHOLDER_FOR_GREATER_OP_CODES': 127, 'CUMSUM': 128, 'CALL_ONCE': 129, 'BROADCAST_TO': 130, 'RFFT2D': 131, 'CONV_3D': 132, 'IMAG': 133, 'REAL': 134, 'COMPLEX_ABS': 135, 'HASHTABLE': 136, 'HASHTABLE_FIND': 137, 'HASHTABLE_IMPORT': 138, 'HASHTABLE_SIZE': 139, 'REDUCE_ALL': 140, 'CONV_3D_TRANSPOSE': 141, 'VAR_HANDLE': 142, 'READ_VARIABLE': 143, 'ASSIGN_VARIABLE': 144, 'BROADCAST_ARGS': 145, 'RANDOM_STANDARD_NORMAL': 146, 'BUCKETIZE': 147, 'RANDOM_UNIFORM': 148, 'MULTINOMIAL': 149, 'GELU': 150, 'DYNAMIC_UPDATE_SLICE': 151, 'RELU_0_TO_1': 152, 'UNSORTED_SEGMENT_PROD': 153, 'UNSORTED_SEGMENT_MAX': 154, 'UNSORTED_SEGMENT_SUM': 155, 'ATAN2': 156, 'UNSORTED_SEGMENT_MIN': 157, 'SIGN': 158, 'BITCAST': 159, 'BITWISE_XOR': 160, 'RIGHT_SHIFT': 161, 'STABLEHLO_LOGISTIC': 162, 'STABLEHLO_ADD': 163, 'STABLEHLO_DIVIDE': 164, 'STABLEHLO_MULTIPLY': 165, 'STABLEHLO_MAXIMUM': 166, 'STABLEHLO_RESHAPE': 167, 'STABLEHLO_CLAMP': 168, 'STABLEHLO_CONCATENATE': 169, 'STABLEHLO_BROADCAST_IN_DIM': 170, 'STABLEHLO_CONVOLUTION': 171, 'STABLEHLO_SLICE': 172, 'STABLEHLO_CUSTOM_CALL': 173, 'STABLEHLO_REDUCE': 174, 'STABLEHLO_ABS': 175, 'STABLEHLO_AND': 176, 'STABLEHLO_COSINE': 177, 'STABLEHLO_EXPONENTIAL': 178, 'STABLEHLO_FLOOR': 179, 'STABLEHLO_LOG': 180, 'STABLEHLO_MINIMUM': 181, 'STABLEHLO_NEGATE': 182, 'STABLEHLO_OR': 183, 'STABLEHLO_POWER': 184, 'STABLEHLO_REMAINDER': 185, 'STABLEHLO_RSQRT': 186, 'STABLEHLO_SELECT': 187, 'STABLEHLO_SUBTRACT': 188, 'STABLEHLO_TANH': 189, 'STABLEHLO_SCATTER': 190, 'STABLEHLO_COMPARE': 191, 'STABLEHLO_CONVERT': 192, 'STABLEHLO_DYNAMIC_SLICE': 193, 'STABLEHLO_DYNAMIC_UPDATE_SLICE': 194, 'STABLEHLO_PAD': 195, 'STABLEHLO_IOTA': 196, 'STABLEHLO_DOT_GENERAL': 197, 'STABLEHLO_REDUCE_WINDOW': 198, 'STABLEHLO_SORT': 199, 'STABLEHLO_WHILE': 200, 'STABLEHLO_GATHER': 201, 'STABLEHLO_TRANSPOSE': 202, 'DILATE': 203, 'STABLEHLO_RNG_BIT_GENERATOR': 204, 'REDUCE_WINDOW': 205, 'STABLEHLO_COMPOSITE': 206, 'STABLEHLO_SHIFT_LEFT': 207, 'STABLEHLO_CBRT': 208, 'STABLEHLO_CASE': 209},
    'Padding': {'SAME': 0, 'VALID': 1},
    'ActivationFunctionType': {'NONE': 0, 'RELU': 1, 'RELU_N1_TO_1': 2, 'RELU6': 3, 'TANH': 4, 'SIGN_BIT': 5},
    'LSHProjectionType': {'UNKNOWN': 0, 'SPARSE': 1, 'DENSE': 2},
    'FullyConnectedOptionsWeightsFormat': {'DEFAULT': 0, 'SHUFFLED4x16INT8': 1},
    'LSTMKernelType': {'FULL': 0, 'BASIC': 1},
    'CombinerType': {'SUM': 0, 'MEAN': 1, 'SQRTN': 2},
    'MirrorPadMode': {'REFLECT': 0, 'SYMMETRIC': 1},
    'StablehloPrecisionConfig': {'DEFAULT': 0, 'HIGH': 1, 'HIGHEST': 2},
    'StablehloComparisonDirection': {'STABLEHLO_COMPARISON_DIRECTION_EQ': 0, 'STABLEHLO_COMPARISON_DIRECTION_NE': 1, 'STABLEHLO_COMPARISON_DIRECTION_GE': 2, 'STABLEHLO_COMPARISON_DIRECTION_GT': 3, 'STABLEHLO_COMPARISON_DIRECTION_LE': 4, 'STABLEHLO_COMPARISON_DIRECTION_LT': 5},
    'StablehloComparisonType': {'STABLEHLO_COMPARISON_TYPE_NOTYPE': 0, 'STABLEHLO_COMPARISON_TYPE_FLOAT': 1, 'STABLEHLO_COMPARISON_TYPE_FLOAT_TOTAL_ORDER': 2, 'STABLEHLO_COMPARISON_TYPE_SIGNED': 3, 'STABLEHLO_COMPARISON_TYPE_UNSIGNED': 4},
    'RngAlgorithm': {'DEFAULT': 0, 'PHILOX': 1, 'THREEFRY': 2},
    'ReduceWindowFunction': {'UNSUPPORTED': 0, 'ADD': 1, 'MUL': 2, 'MINIMUM': 3, 'MAXIMUM': 4, 'ALL': 5, 'ANY': 6},
}

# union: tables, numbered from 1
UNIONS = {
    'QuantizationDetails': ('CustomQuantization', 'BlockwiseQuantization', 'MultiAxisQuantization'),
    'SparseIndexVector': ('Int32Vector', 'Uint16Vector', 'Uint8Vector'),
    'BuiltinOptions': ('Conv2DOptions', 'DepthwiseConv2DOptions', 'ConcatEmbeddingsOptions', 'LSHProjectionOptions', 'Pool2DOptions', 'SVDFOptions', 'RNNOptions', 'FullyConnectedOptions', 'SoftmaxOptions', 'ConcatenationOptions', 'AddOptions', 'L2NormOptions', 'LocalResponseNormalizationOptions', 'LSTMOptions', 'ResizeBilinearOptions', 'CallOptions', 'ReshapeOptions', 'SkipGramOptions', 'SpaceToDepthOptions', 'EmbeddingLookupSparseOptions', 'MulOptions', 'PadOptions', 'GatherOptions', 'BatchToSpaceNDOptions', 'SpaceToBatchNDOptions', 'TransposeOptions', 'ReducerOptions', 'SubOptions', 'DivOptions', 'SqueezeOptions', 'SequenceRNNOptions', 'StridedSliceOptions', 'ExpOptions', 'TopKV2Options', 'SplitOptions', 'LogSoftmaxOptions', 'CastOptions', 'DequantizeOptions', 'MaximumMinimumOptions', 'ArgMaxOptions', 'LessOptions', 'NegOptions', 'PadV2Options', 'GreaterOptions', 'GreaterEqualOptions', 'LessEqualOptions', 'SelectOptions', 'SliceOptions', 'TransposeConvOptions', 'SparseToDenseOptions', 'TileOptions', 'ExpandDimsOptions', 'EqualOptions', 'NotEqualOptions', 'ShapeOptions', 'PowOptions', 'ArgMinOptions', 'FakeQuantOptions', 'PackOptions', 'LogicalOrOptions', 'OneHotOptions', 'LogicalAndOptions', 'LogicalNotOptions', 'UnpackOptions', 'FloorDivOptions', 'SquareOptions', 'ZerosLikeOptions', 'FillOptions', 'BidirectionalSequenceLSTMOptions', 'BidirectionalSequenceRNNOptions', 'UnidirectionalSequenceLSTMOptions', 'FloorModOptions', 'RangeOptions', 'ResizeNearestNeighborOptions', 'LeakyReluOptions', 'SquaredDifferenceOptions', 'MirrorPadOptions', 'AbsOptions', 'SplitVOptions', 'UniqueOptions', 'ReverseV2Options', 'AddNOptions', 'GatherNdOptions', 'CosOptions', 'WhereOptions', 'RankOptions', 'ReverseSequenceOptions', 'MatrixDiagOptions', 'QuantizeOptions', 'MatrixSetDiagOptions', 'HardSwishOptions', 'IfOptions', 'WhileOptions', 'DepthToSpaceOptions', 'NonMaxSuppressionV4Options', 'NonMaxSuppressionV5Options', 'ScatterNdOptions', 'SelectV2Options', 'DensifyOptions', 'SegmentSumOptions', 'BatchMatMulOptions', 'CumsumOptions', 'CallOnceOptions', 'BroadcastToOptions', 'Rfft2dOptions', 'Conv3DOptions', 'HashtableOptions', 'HashtableFindOptions', 'HashtableImportOptions', 'HashtableSizeOptions', 'VarHandleOptions', 'ReadVariableOptions', 'AssignVariableOptions', 'RandomOptions', 'BucketizeOptions', 'GeluOptions', 'DynamicUpdateSliceOptions', 'UnsortedSegmentProdOptions', 'UnsortedSegmentMaxOptions', 'UnsortedSegmentMinOptions', 'UnsortedSegmentSumOptions', 'ATan2Options', 'SignOptions', 'BitcastOptions', 'BitwiseXorOptions', 'RightShiftOptions'),
    'BuiltinOptions2': ('StablehloConcatenateOptions', 'StablehloBroadcastInDimOptions', 'StablehloSliceOptions', 'StablehloConvolutionOptions', 'StablehloCustomCallOptions', 'StablehloReduceOptions', 'StablehloScatterOptions', 'StablehloCompareOptions', 'StablehloDynamicSliceOptions', 'StablehloPadOptions', 'StablehloIotaOptions', 'StablehloDotGeneralOptions', 'StablehloReduceWindowOptions', 'StablehloSortOptions', 'StablehloWhileOptions', 'StablehloGatherOptions', 'StablehloTransposeOptions', 'DilateOptions', 'StablehloRngBitGeneratorOptions', 'ReduceWindowOptions', 'StableHLOCompositeOptions', 'StablehloShiftLeftOptions', 'StablehloCaseOptions'),
}

# table: (name, byte offset in the vtable, kind, type, default, alignment) of each field
TABLES = {
    'Model': (
        ('version', 4, 'scalar', 'I', 0, 0),
        ('operator_codes', 6, 'tables', 'OperatorCode', None, 0),
        ('subgraphs', 8, 'tables', 'SubGraph', None, 0),
        ('description', 10, 'string', '', None, 0),
        ('buffers', 12, 'tables', 'Buffer', None, 0),
        ('metadata_buffer', 14, 'vector', 'i', None, 0),
        ('metadata', 16, 'tables', 'Metadata', None, 0),
        ('signature_defs', 18, 'tables', 'SignatureDef', None, 0),
        ('external_buffer_groups', 20, 'tables', 'ExternalBufferGroup', None, 0),
        ('external_buffers', 22, 'tables', 'ExternalBuffer', None, 0),
    ),
    'SubGraph': (
        ('tensors', 4, 'tables', 'Tensor', None, 0),
        ('inputs', 6, 'vector', 'i', None, 0),
        ('outputs', 8, 'vector', 'i', None, 0),
        ('operators', 10, 'tables', 'Operator', None, 0),
        ('name', 12, 'string', '', None, 0),
        ('debug_metadata_index', 14, 'scalar', 'i', -1, 0),
    ),
    'OperatorCode': (
        ('deprecated_builtin_code', 4, 'scalar', 'b', 0, 0),
        ('custom_code', 6, 'string', '', None, 0),
        ('version', 8, 'scalar', 'i', 1, 0),
        ('builtin_code', 10, 'scalar', 'i', 0, 0),
    ),
    'Operator': (
        ('opcode_index', 4, 'scalar', 'I', 0, 0),
        ('inputs', 6, 'vector', 'i', None, 0),
        ('outputs', 8, 'vector', 'i', None, 0),
        ('builtin_options_type', 10, 'scalar', 'B', 0, 0),
        ('builtin_options', 12, 'union', 'BuiltinOptions', None, 0),
        ('custom_options', 14, 'vector', 'B', None, 0),
        ('custom_options_format', 16, 'scalar', 'b', 0, 0),
        ('mutating_variable_inputs', 18, 'vector', '?', None, 0),
        ('intermediates', 20, 'vector', 'i', None, 0),
        ('large_custom_options_offset', 22, 'scalar', 'Q', 0, 0),
        ('large_custom_options_size', 24, 'scalar', 'Q', 0, 0),
        ('builtin_options_2_type', 26, 'scalar', 'B', 0, 0),
        ('builtin_options_2', 28, 'union', 'BuiltinOptions2', None, 0),
        ('debug_metadata_index', 30, 'scalar', 'i', -1, 0),
    ),
    'Tensor': (
        ('shape', 4, 'vector', 'i', None, 0),
        ('type', 6, 'scalar', 'b', 0, 0),
        ('buffer', 8, 'scalar', 'I', 0, 0),
        ('name', 10, 'string', '', None, 0),
        ('quantization', 12, 'table', 'QuantizationParameters', None, 0),
        ('is_variable', 14, 'scalar', '?', False, 0),
        ('sparsity', 16, 'table', 'SparsityParameters', None, 0),
        ('shape_signature', 18, 'vector', 'i', None, 0),
        ('has_rank', 20, 'scalar', '?', False, 0),
        ('variant_tensors', 22, 'tables', 'VariantSubType', None, 0),
        ('external_buffer', 24, 'scalar', 'I', 0, 0),
    ),
    'VariantSubType': (
        ('shape', 4, 'vector', 'i', None, 0),
        ('type', 6, 'scalar', 'b', 0, 0),
        ('has_rank', 8, 'scalar', '?', False, 0),
    ),
    'Buffer': (
        ('data', 4, 'vector', 'B', None, 16),
        ('offset', 6, 'scalar', 'Q', 0, 0),
        ('size', 8, 'scalar', 'Q', 0, 0),
    ),
    'ExternalBufferGroup': (
        ('name', 4, 'string', '', None, 0),
    ),
    'ExternalBuffer': (
        ('id', 4, 'scalar', 'I', 0, 0),
        ('group', 6, 'scalar', 'I', 0, 0),
        ('offset', 8, 'scalar', 'Q', 0, 0),
        ('length', 10, 'scalar', 'Q', 0, 0),
        ('packing', 12, 'string', '', None, 0),
    ),
    'Metadata': (
        ('name', 4, 'string', '', None, 0),
        ('buffer', 6, 'scalar', 'I', 0, 0),
    ),
    'SignatureDef': (
        ('inputs', 4, 'tables', 'TensorMap', None, 0),
        ('outputs', 6, 'tables', 'TensorMap', None, 0),
        ('signature_key', 8, 'string', '', None, 0),
        ('subgraph_index', 12, 'scalar', 'I', 0, 0),
    ),
    'TensorMap': (
        ('name', 4, 'string', '', None, 0),
        ('tensor_index', 6, 'scalar', 'I', 0, 0),
    ),
    'QuantizationParameters': (
        ('min', 4, 'vector', 'f', None, 0),
        ('max', 6, 'vector', 'f', None, 0),
        ('scale', 8, 'vector', 'f', None, 0),
        ('zero_point', 10, 'vector', 'q', None, 0),
        ('details_type', 12, 'scalar', 'B', 0, 0),
        ('details', 14, 'union', 'QuantizationDetails', None, 0),
        ('quantized_dimension', 16, 'scalar', 'i', 0, 0),
    ),
    'CustomQuantization': (
        ('custom', 4, 'vector', 'B', None, 16),
    ),
    'BlockwiseQuantization': (
        ('scales', 4, 'scalar', 'i', 0, 0),
        ('zero_points', 6, 'scalar', 'i', 0, 0),
        ('block_size', 8, 'scalar', 'i', 0, 0),
        ('block_shape', 10, 'vector', 'i', None, 0),
    ),
    'MultiAxisQuantization': (
        ('scales', 4, 'scalar', 'i', 0, 0),
        ('zero_points', 6, 'scalar', 'i', 0, 0),
        ('block_size', 8, 'scalar', 'i', 0, 0),
        ('quantized_dimensions', 10, 'vector', 'i', None, 0),
    ),
    'SparsityParameters': (
        ('traversal_order', 4, 'vector', 'i', None, 0),
        ('block_map', 6, 'vector', 'i', None, 0),
        ('dim_metadata', 8, 'tables', 'DimensionMetadata', None, 0),
    ),
    'DimensionMetadata': (
        ('format', 4, 'scalar', 'b', 0, 0),
        ('dense_size', 6, 'scalar', 'i', 0, 0),
        ('array_segments_type', 8, 'scalar', 'B', 0, 0),
        ('array_segments', 10, 'union', 'SparseIndexVector', None, 0),
        ('array_indices_type', 12, 'scalar', 'B', 0, 0),
        ('array_indices', 14, 'union', 'SparseIndexVector', None, 0),
    ),
    'Int32Vector': (
        ('values', 4, 'vector', 'i', None, 0),
    ),
    'Uint16Vector': (
        ('values', 4, 'vector', 'H', None, 4),
    ),
    'Uint8Vector': (
        ('values', 4, 'vector', 'B', None, 4),
    ),
    'Conv2DOptions': (
        ('padding', 4, 'scalar', 'b', 0, 0),
        ('stride_w', 6, 'scalar', 'i', 0, 0),
        ('stride_h', 8, 'scalar', 'i', 0, 0),
        ('fused_activation_function', 10, 'scalar', 'b', 0, 0),
        ('dilation_w_factor', 12, 'scalar', 'i', 1, 0),
        ('dilation_h_factor', 14, 'scalar', 'i', 1, 0),
        ('quantized_bias_type', 16, 'scalar', 'b', 0, 0),
    ),
    'DepthwiseConv2DOptions': (
        ('padding', 4, 'scalar', 'b', 0, 0),
        ('stride_w', 6, 'scalar', 'i', 0, 0),
        ('stride_h', 8, 'scalar', 'i', 0, 0),
        ('depth_multiplier', 10, 'scalar', 'i', 0, 0),
        ('fused_activation_function', 12, 'scalar', 'b', 0, 0),
        ('dilation_w_factor', 14, 'scalar', 'i', 1, 0),
        ('dilation_h_factor', 16, 'scalar', 'i', 1, 0),
    ),
    'ConcatEmbeddingsOptions': (
        ('num_channels', 4, 'scalar', 'i', 0, 0),
        ('num_columns_per_channel', 6, 'vector', 'i', None, 0),
        ('embedding_dim_per_channel', 8, 'vector', 'i', None, 0),
    ),
    'LSHProjectionOptions': (
        ('type', 4, 'scalar', 'b', 0, 0),
    ),
    'Pool2DOptions': (
        ('padding', 4, 'scalar', 'b', 0, 0),
        ('stride_w', 6, 'scalar', 'i', 0, 0),
        ('stride_h', 8, 'scalar', 'i', 0, 0),
        ('filter_width', 10, 'scalar', 'i', 0, 0),
        ('filter_height', 12, 'scalar', 'i', 0, 0),
        ('fused_activation_function', 14, 'scalar', 'b', 0, 0),
    ),
    'SVDFOptions': (
        ('rank', 4, 'scalar', 'i', 0, 0),
        ('fused_activation_function', 6, 'scalar', 'b', 0, 0),
        ('asymmetric_quantize_inputs', 8, 'scalar', '?', False, 0),
    ),
    'RNNOptions': (
        ('fused_activation_function', 4, 'scalar', 'b', 0, 0),
        ('asymmetric_quantize_inputs', 6, 'scalar', '?', False, 0),
    ),
    'FullyConnectedOptions': (
        ('fused_activation_function', 4, 'scalar', 'b', 0, 0),
        ('weights_format', 6, 'scalar', 'b', 0, 0),
        ('keep_num_dims', 8, 'scalar', '?', False, 0),
        ('asymmetric_quantize_inputs', 10, 'scalar', '?', False, 0),
        ('quantized_bias_type', 12, 'scalar', 'b', 0, 0),
        ('quant_spec', 14, 'vector', 'B', None, 0),
    ),
    'SoftmaxOptions': (
        ('beta', 4, 'scalar', 'f', 0.0, 0),
    ),
    'ConcatenationOptions': (
        ('axis', 4, 'scalar', 'i', 0, 0),
        ('fused_activation_function', 6, 'scalar', 'b', 0, 0),
    ),
    'AddOptions': (
        ('fused_activation_function', 4, 'scalar', 'b', 0, 0),
        ('pot_scale_int16', 6, 'scalar', '?', True, 0),
    ),
    'L2NormOptions': (
        ('fused_activation_function', 4, 'scalar', 'b', 0, 0),
    ),
    'LocalResponseNormalizationOptions': (
        ('radius', 4, 'scalar', 'i', 0, 0),
        ('bias', 6, 'scalar', 'f', 0.0, 0),
        ('alpha', 8, 'scalar', 'f', 0.0, 0),
        ('beta', 10, 'scalar', 'f', 0.0, 0),
    ),
    'LSTMOptions': (
        ('fused_activation_function', 4, 'scalar', 'b', 0, 0),
        ('cell_clip', 6, 'scalar', 'f', 0.0, 0),
        ('proj_clip', 8, 'scalar', 'f', 0.0, 0),
        ('kernel_type', 10, 'scalar', 'b', 0, 0),
        ('asymmetric_quantize_inputs', 12, 'scalar', '?', False, 0),
    ),
    'ResizeBilinearOptions': (
        ('align_corners', 8, 'scalar', '?', False, 0),
        ('half_pixel_centers', 10, 'scalar', '?', False, 0),
    ),
    'CallOptions': (
        ('subgraph', 4, 'scalar', 'I', 0, 0),
    ),
    'ReshapeOptions': (
        ('new_shape', 4, 'vector', 'i', None, 0),
    ),
    'SkipGramOptions': (
        ('ngram_size', 4, 'scalar', 'i', 0, 0),
        ('max_skip_size', 6, 'scalar', 'i', 0, 0),
        ('include_all_ngrams', 8, 'scalar', '?', False, 0),
    ),
    'SpaceToDepthOptions': (
        ('block_size', 4, 'scalar', 'i', 0, 0),
    ),
    'EmbeddingLookupSparseOptions': (
        ('combiner', 4, 'scalar', 'b', 0, 0),
    ),
    'MulOptions': (
        ('fused_activation_function', 4, 'scalar', 'b', 0, 0),
    ),
    'PadOptions': (),
    'GatherOptions': (
        ('axis', 4, 'scalar', 'i', 0, 0),
        ('batch_dims', 6, 'scalar', 'i', 0, 0),
    ),
    'BatchToSpaceNDOptions': (),
    'SpaceToBatchNDOptions': (),
    'TransposeOptions': (),
    'ReducerOptions': (
        ('keep_dims', 4, 'scalar', '?', False, 0),
    ),
    'SubOptions': (
        ('fused_activation_function', 4, 'scalar', 'b', 0, 0),
        ('pot_scale_int16', 6, 'scalar', '?', True, 0),
    ),
    'DivOptions': (
        ('fused_activation_function', 4, 'scalar', 'b', 0, 0),
    ),
    'SqueezeOptions': (
        ('squeeze_dims', 4, 'vector', 'i', None, 0),
    ),
    'SequenceRNNOptions': (
        ('time_major', 4, 'scalar', '?', False, 0),
        ('fused_activation_function', 6, 'scalar', 'b', 0, 0),
        ('asymmetric_quantize_inputs', 8, 'scalar', '?', False, 0),
    ),
    'StridedSliceOptions': (
        ('begin_mask', 4, 'scalar', 'i', 0, 0),
        ('end_mask', 6, 'scalar', 'i', 0, 0),
        ('ellipsis_mask', 8, 'scalar', 'i', 0, 0),
        ('new_axis_mask', 10, 'scalar', 'i', 0, 0),
        ('shrink_axis_mask', 12, 'scalar', 'i', 0, 0),
        ('offset', 14, 'scalar', '?', False, 0),
    ),
    'ExpOptions': (),
    'TopKV2Options': (),
    'SplitOptions': (
        ('num_splits', 4, 'scalar', 'i', 0, 0),
    ),
    'LogSoftmaxOptions': (),
    'CastOptions': (
        ('in_data_type', 4, 'scalar', 'b', 0, 0),
        ('out_data_type', 6, 'scalar', 'b', 0, 0),
    ),
    'DequantizeOptions': (),
    'MaximumMinimumOptions': (),
    'ArgMaxOptions': (
        ('output_type', 4, 'scalar', 'b', 0, 0),
    ),
    'LessOptions': (),
    'NegOptions': (),
    'PadV2Options': (),
    'GreaterOptions': (),
    'GreaterEqualOptions': (),
    'LessEqualOptions': (),
    'SelectOptions': (),
    'SliceOptions': (),
    'TransposeConvOptions': (
        ('padding', 4, 'scalar', 'b', 0, 0),
        ('stride_w', 6, 'scalar', 'i', 0, 0),
        ('stride_h', 8, 'scalar', 'i', 0, 0),
        ('fused_activation_function', 10, 'scalar', 'b', 0, 0),
        ('quantized_bias_type', 12, 'scalar', 'b', 0, 0),
    ),
    'SparseToDenseOptions': (
        ('validate_indices', 4, 'scalar', '?', False, 0),
    ),
    'TileOptions': (),
    'ExpandDimsOptions': (),
    'EqualOptions': (),
    'NotEqualOptions': (),
    'ShapeOptions': (
        ('out_type', 4, 'scalar', 'b', 0, 0),
    ),
    'PowOptions': (),
    'ArgMinOptions': (
        ('output_type', 4, 'scalar', 'b', 0, 0),
    ),
    'FakeQuantOptions': (
        ('min', 4, 'scalar', 'f', 0.0, 0),
        ('max', 6, 'scalar', 'f', 0.0, 0),
        ('num_bits', 8, 'scalar', 'i', 0, 0),
        ('narrow_range', 10, 'scalar', '?', False, 0),
    ),
    'PackOptions': (
        ('values_count', 4, 'scalar', 'i', 0, 0),
        ('axis', 6, 'scalar', 'i', 0, 0),
    ),
    'LogicalOrOptions': (),
    'OneHotOptions': (
        ('axis', 4, 'scalar', 'i', 0, 0),
    ),
    'LogicalAndOptions': (),
    'LogicalNotOptions': (),
    'UnpackOptions': (
        ('num', 4, 'scalar', 'i', 0, 0),
        ('axis', 6, 'scalar', 'i', 0, 0),
    ),
    'FloorDivOptions': (),
    'SquareOptions': (),
    'ZerosLikeOptions': (),
    'FillOptions': (),
    'BidirectionalSequenceLSTMOptions': (
        ('fused_activation_function', 4, 'scalar', 'b', 0, 0),
        ('cell_clip', 6, 'scalar', 'f', 0.0, 0),
        ('proj_clip', 8, 'scalar', 'f', 0.0, 0),
        ('merge_outputs', 10, 'scalar', '?', False, 0),
        ('time_major', 12, 'scalar', '?', True, 0),
        ('asymmetric_quantize_inputs', 14, 'scalar', '?', False, 0),
    ),
    'BidirectionalSequenceRNNOptions': (
        ('time_major', 4, 'scalar', '?', False, 0),
        ('fused_activation_function', 6, 'scalar', 'b', 0, 0),
        ('merge_outputs', 8, 'scalar', '?', False, 0),
        ('asymmetric_quantize_inputs', 10, 'scalar', '?', False, 0),
    ),
    'UnidirectionalSequenceLSTMOptions': (
        ('fused_activation_function', 4, 'scalar', 'b', 0, 0),
        ('cell_clip', 6, 'scalar', 'f', 0.0, 0),
        ('proj_clip', 8, 'scalar', 'f', 0.0, 0),
        ('time_major', 10, 'scalar', '?', False, 0),
        ('asymmetric_quantize_inputs', 12, 'scalar', '?', False, 0),
        ('diagonal_recurrent_tensors', 14, 'scalar', '?', False, 0),
    ),
    'FloorModOptions': (),
    'RangeOptions': (),
    'ResizeNearestNeighborOptions': (
        ('align_corners', 4, 'scalar', '?', False, 0),
        ('half_pixel_centers', 6, 'scalar', '?', False, 0),
    ),
    'LeakyReluOptions': (
        ('alpha', 4, 'scalar', 'f', 0.0, 0),
    ),
    'SquaredDifferenceOptions': (),
    'MirrorPadOptions': (
        ('mode', 4, 'scalar', 'b', 0, 0),
    ),
    'AbsOptions': (),
    'SplitVOptions': (
        ('num_splits', 4, 'scalar', 'i', 0, 0),
    ),
    'UniqueOptions': (
        ('idx_out_type', 4, 'scalar', 'b', 2, 0),
    ),
    'ReverseV2Options': (),
    'AddNOptions': (),
    'GatherNdOptions': (),
    'CosOptions': (),
    'WhereOptions': (),
    'RankOptions': (),
    'ReverseSequenceOptions': (
        ('seq_dim', 4, 'scalar', 'i', 0, 0),
        ('batch_dim', 6, 'scalar', 'i', 0, 0),
    ),
    'MatrixDiagOptions': (),
    'QuantizeOptions': (),
    'MatrixSetDiagOptions': (),
    'HardSwishOptions': (),
    'IfOptions': (
        ('then_subgraph_index', 4, 'scalar', 'i', 0, 0),
        ('else_subgraph_index', 6, 'scalar', 'i', 0, 0),
    ),
    'WhileOptions': (
        ('cond_subgraph_index', 4, 'scalar', 'i', 0, 0),
        ('body_subgraph_index', 6, 'scalar', 'i', 0, 0),
    ),
    'DepthToSpaceOptions': (
        ('block_size', 4, 'scalar', 'i', 0, 0),
    ),
    'NonMaxSuppressionV4Options': (),
    'NonMaxSuppressionV5Options': (),
    'ScatterNdOptions': (),
    'SelectV2Options': (),
    'DensifyOptions': (),
    'SegmentSumOptions': (),
    'BatchMatMulOptions': (
        ('adj_x', 4, 'scalar', '?', False, 0),
        ('adj_y', 6, 'scalar', '?', False, 0),
        ('asymmetric_quantize_inputs', 8, 'scalar', '?', False, 0),
    ),
    'CumsumOptions': (
        ('exclusive', 4, 'scalar', '?', False, 0),
        ('reverse', 6, 'scalar', '?', False, 0),
    ),
    'CallOnceOptions': (
        ('init_subgraph_index', 4, 'scalar', 'i', 0, 0),
    ),
    'BroadcastToOptions': (),
    'Rfft2dOptions': (),
    'Conv3DOptions': (
        ('padding', 4, 'scalar', 'b', 0, 0),
        ('stride_d', 6, 'scalar', 'i', 0, 0),
        ('stride_w', 8, 'scalar', 'i', 0, 0),
        ('stride_h', 10, 'scalar', 'i', 0, 0),
        ('fused_activation_function', 12, 'scalar', 'b', 0, 0),
        ('dilation_d_factor', 14, 'scalar', 'i', 1, 0),
        ('dilation_w_factor', 16, 'scalar', 'i', 1, 0),
        ('dilation_h_factor', 18, 'scalar', 'i', 1, 0),
    ),
    'HashtableOptions': (
        ('table_id', 4, 'scalar', 'i', 0, 0),
        ('key_dtype', 6, 'scalar', 'b', 0, 0),
        ('value_dtype', 8, 'scalar', 'b', 0, 0),
    ),
    'HashtableFindOptions': (),
    'HashtableImportOptions': (),
    'HashtableSizeOptions': (),
    'VarHandleOptions': (
        ('container', 4, 'string', '', None, 0),
        ('shared_name', 6, 'string', '', None, 0),
    ),
    'ReadVariableOptions': (),
    'AssignVariableOptions': (),
    'RandomOptions': (
        ('seed', 4, 'scalar', 'q', 0, 0),
        ('seed2', 6, 'scalar', 'q', 0, 0),
    ),
    'BucketizeOptions': (
        ('boundaries', 4, 'vector', 'f', None, 0),
    ),
    'GeluOptions': (
        ('approximate', 4, 'scalar', '?', False, 0),
    ),
    'DynamicUpdateSliceOptions': (),
    'UnsortedSegmentProdOptions': (),
    'UnsortedSegmentMaxOptions': (),
    'UnsortedSegmentMinOptions': (),
    'UnsortedSegmentSumOptions': (),
    'ATan2Options': (),
    'SignOptions': (),
    'BitcastOptions': (),
    'BitwiseXorOptions': (),
    'RightShiftOptions': (),
    'StablehloConcatenateOptions': (
        ('dimension', 4, 'scalar', 'q', 0, 0),
    ),
    'StablehloBroadcastInDimOptions': (
        ('broadcast_dimensions', 4, 'vector', 'q', None, 0),
    ),
    'StablehloSliceOptions': (
        ('start_indices', 4, 'vector', 'q', None, 0),
        ('limit_indices', 6, 'vector', 'q', None, 0),
        ('strides', 8, 'vector', 'q', None, 0),
    ),
    'StablehloConvolutionOptions': (
        ('window_strides', 4, 'vector', 'q', None, 0),
        ('padding', 6, 'vector', 'q', None, 0),
        ('lhs_dilation', 8, 'vector', 'q', None, 0),
        ('rhs_dilation', 10, 'vector', 'q', None, 0),
        ('window_reversal', 12, 'vector', '?', None, 0),
        ('input_batch_dimension', 14, 'scalar', 'q', 0, 0),
        ('input_feature_dimension', 16, 'scalar', 'q', 0, 0),
        ('input_spatial_dimensions', 18, 'vector', 'q', None, 0),
        ('kernel_input_feature_dimension', 20, 'scalar', 'q', 0, 0),
        ('kernel_output_feature_dimension', 22, 'scalar', 'q', 0, 0),
        ('kernel_spatial_dimensions', 24, 'vector', 'q', None, 0),
        ('output_batch_dimension', 26, 'scalar', 'q', 0, 0),
        ('output_feature_dimension', 28, 'scalar', 'q', 0, 0),
        ('output_spatial_dimensions', 30, 'vector', 'q', None, 0),
        ('feature_group_count', 32, 'scalar', 'q', 0, 0),
        ('batch_group_count', 34, 'scalar', 'q', 0, 0),
        ('precision_config', 36, 'vector', 'I', None, 0),
    ),
    'StablehloCustomCallOptions': (
        ('call_target_name', 4, 'string', '', None, 0),
        ('has_side_effect', 6, 'scalar', '?', False, 0),
        ('backend_config', 8, 'string', '', None, 0),
        ('api_version', 10, 'scalar', 'i', 0, 0),
        ('called_computations', 12, 'vector', 'i', None, 0),
        ('custom_attributes', 14, 'vector', 'B', None, 0),
    ),
    'StablehloReduceOptions': (
        ('dimensions', 4, 'vector', 'q', None, 0),
        ('body_subgraph_index', 6, 'scalar', 'i', 0, 0),
    ),
    'StablehloScatterOptions': (
        ('indices_are_sorted', 4, 'scalar', '?', False, 0),
        ('update_window_dims', 6, 'vector', 'q', None, 0),
        ('inserted_window_dims', 8, 'vector', 'q', None, 0),
        ('scatter_dims_to_operand_dims', 10, 'vector', 'q', None, 0),
        ('index_vector_dim', 12, 'scalar', 'q', 0, 0),
        ('unique_indices', 14, 'scalar', '?', False, 0),
        ('update_computation_subgraph_index', 16, 'scalar', 'i', 0, 0),
    ),
    'StablehloCompareOptions': (
        ('comparison_direction', 4, 'scalar', 'I', 0, 0),
        ('compare_type', 6, 'scalar', 'I', 0, 0),
    ),
    'StablehloDynamicSliceOptions': (
        ('slice_sizes', 4, 'vector', 'q', None, 0),
    ),
    'StablehloPadOptions': (
        ('edge_padding_low', 4, 'vector', 'q', None, 0),
        ('edge_padding_high', 6, 'vector', 'q', None, 0),
        ('interior_padding', 8, 'vector', 'q', None, 0),
    ),
    'StablehloIotaOptions': (
        ('iota_dimension', 4, 'scalar', 'q', 0, 0),
    ),
    'StablehloDotGeneralOptions': (
        ('lhs_batching_dimensions', 4, 'vector', 'q', None, 0),
        ('rhs_batching_dimensions', 6, 'vector', 'q', None, 0),
        ('lhs_contracting_dimensions', 8, 'vector', 'q', None, 0),
        ('rhs_contracting_dimensions', 10, 'vector', 'q', None, 0),
        ('precision_config', 12, 'vector', 'I', None, 0),
    ),
    'StablehloReduceWindowOptions': (
        ('window_dimensions', 4, 'vector', 'q', None, 0),
        ('window_strides', 6, 'vector', 'q', None, 0),
        ('base_dilations', 8, 'vector', 'q', None, 0),
        ('window_dilations', 10, 'vector', 'q', None, 0),
        ('padding', 12, 'vector', 'q', None, 0),
        ('body_subgraph_index', 14, 'scalar', 'i', 0, 0),
    ),
    'StablehloSortOptions': (
        ('dimension', 4, 'scalar', 'q', 0, 0),
        ('is_stable', 6, 'scalar', '?', False, 0),
        ('comparator_subgraph_index', 8, 'scalar', 'i', 0, 0),
    ),
    'StablehloWhileOptions': (
        ('cond_subgraph_index', 4, 'scalar', 'i', 0, 0),
        ('body_subgraph_index', 6, 'scalar', 'i', 0, 0),
    ),
    'StablehloGatherOptions': (
        ('offset_dims', 4, 'vector', 'q', None, 0),
        ('collapsed_slice_dims', 6, 'vector', 'q', None, 0),
        ('start_index_map', 8, 'vector', 'q', None, 0),
        ('index_vector_dim', 10, 'scalar', 'q', 0, 0),
        ('slice_sizes', 12, 'vector', 'q', None, 0),
        ('indices_are_sorted', 14, 'scalar', '?', False, 0),
    ),
    'StablehloTransposeOptions': (
        ('permutation', 4, 'vector', 'q', None, 0),
    ),
    'DilateOptions': (),
    'StablehloRngBitGeneratorOptions': (
        ('algorithm', 4, 'scalar', 'b', 0, 0),
    ),
    'ReduceWindowOptions': (
        ('reduce_function', 4, 'scalar', 'i', 0, 0),
    ),
    'StableHLOCompositeOptions': (
        ('name', 4, 'string', '', None, 0),
        ('decomposition_subgraph_index', 6, 'scalar', 'i', 0, 0),
        ('composite_attributes', 8, 'vector', 'B', None, 0),
        ('composite_attributes_format', 10, 'scalar', 'b', 0, 0),
        ('version', 12, 'scalar', 'i', 0, 0),
    ),
    'StablehloShiftLeftOptions': (),
    'StablehloCaseOptions': (
        ('branch_subgraph_indices', 4, 'vector', 'i', None, 0),
    ),
}

SCHEMA = Schema(__name__, ENUMS, UNIONS, TABLES)
IDENTIFIER = b'TFL3'
ROOT = 'Model'


def read(buffer):
    return SCHEMA.read(ROOT, buffer)


def pack(model):
    return SCHEMA.pack(model, IDENTIFIER)


unpack = SCHEMA.unpack


def __getattr__(name):
    made = SCHEMA.named(name)
    globals()[name] = made
    return made


def __dir__():
    return sorted({*globals(), *SCHEMA.names()})
