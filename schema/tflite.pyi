"""Types of tflite.py. Generated from tflite.fbs by generate.py."""

from collections.abc import Sequence
from enum import IntEnum
from mmap import mmap

import numpy as np

from .classes import RawField, Schema
from .flatbuffer import Table, TableVector
from .objects import TableT

ENUMS: dict[str, dict[str, int]]
UNIONS: dict[str, tuple[str, ...]]
TABLES: dict[str, tuple[RawField, ...]]
SCHEMA: Schema
IDENTIFIER: bytes
ROOT: str

def read(buffer: bytes | bytearray | memoryview | mmap | np.ndarray) -> Model: ...
def pack(model: ModelT) -> bytes: ...
def unpack(table: Model) -> ModelT: ...

class CustomOptionsFormat(IntEnum):
    FLEXBUFFERS = 0

class TensorType(IntEnum):
    FLOAT32 = 0
    FLOAT16 = 1
    INT32 = 2
    UINT8 = 3
    INT64 = 4
    STRING = 5
    BOOL = 6
    INT16 = 7
    COMPLEX64 = 8
    INT8 = 9
    FLOAT64 = 10
    COMPLEX128 = 11
    UINT64 = 12
    RESOURCE = 13
    VARIANT = 14
    UINT32 = 15
    UINT16 = 16
    INT4 = 17
    BFLOAT16 = 18
    INT2 = 19
    UINT4 = 20
    FLOAT8_E4M3FN = 21
    FLOAT8_E5M2 = 22

class DimensionType(IntEnum):
    DENSE = 0
    SPARSE_CSR = 1

class BuiltinOperator(IntEnum):
    ADD = 0
    AVERAGE_POOL_2D = 1
    CONCATENATION = 2
    CONV_2D = 3
    DEPTHWISE_CONV_2D = 4
    DEPTH_TO_SPACE = 5
    DEQUANTIZE = 6
    EMBEDDING_LOOKUP = 7
    FLOOR = 8
    FULLY_CONNECTED = 9
    HASHTABLE_LOOKUP = 10
    L2_NORMALIZATION = 11
    L2_POOL_2D = 12
    LOCAL_RESPONSE_NORMALIZATION = 13
    LOGISTIC = 14
    LSH_PROJECTION = 15
    LSTM = 16
    MAX_POOL_2D = 17
    MUL = 18
    RELU = 19
    RELU_N1_TO_1 = 20
    RELU6 = 21
    RESHAPE = 22
    RESIZE_BILINEAR = 23
    RNN = 24
    SOFTMAX = 25
    SPACE_TO_DEPTH = 26
    SVDF = 27
    TANH = 28
    CONCAT_EMBEDDINGS = 29
    SKIP_GRAM = 30
    CALL = 31
    CUSTOM = 32
    EMBEDDING_LOOKUP_SPARSE = 33
    PAD = 34
    UNIDIRECTIONAL_SEQUENCE_RNN = 35
    GATHER = 36
    BATCH_TO_SPACE_ND = 37
    SPACE_TO_BATCH_ND = 38
    TRANSPOSE = 39
    MEAN = 40
    SUB = 41
    DIV = 42
    SQUEEZE = 43
    UNIDIRECTIONAL_SEQUENCE_LSTM = 44
    STRIDED_SLICE = 45
    BIDIRECTIONAL_SEQUENCE_RNN = 46
    EXP = 47
    TOPK_V2 = 48
    SPLIT = 49
    LOG_SOFTMAX = 50
    DELEGATE = 51
    BIDIRECTIONAL_SEQUENCE_LSTM = 52
    CAST = 53
    PRELU = 54
    MAXIMUM = 55
    ARG_MAX = 56
    MINIMUM = 57
    LESS = 58
    NEG = 59
    PADV2 = 60
    GREATER = 61
    GREATER_EQUAL = 62
    LESS_EQUAL = 63
    SELECT = 64
    SLICE = 65
    SIN = 66
    TRANSPOSE_CONV = 67
    SPARSE_TO_DENSE = 68
    TILE = 69
    EXPAND_DIMS = 70
    EQUAL = 71
    NOT_EQUAL = 72
    LOG = 73
    SUM = 74
    SQRT = 75
    RSQRT = 76
    SHAPE = 77
    POW = 78
    ARG_MIN = 79
    FAKE_QUANT = 80
    REDUCE_PROD = 81
    REDUCE_MAX = 82
    PACK = 83
    LOGICAL_OR = 84
    ONE_HOT = 85
    LOGICAL_AND = 86
    LOGICAL_NOT = 87
    UNPACK = 88
    REDUCE_MIN = 89
    FLOOR_DIV = 90
    REDUCE_ANY = 91
    SQUARE = 92
    ZEROS_LIKE = 93
    FILL = 94
    FLOOR_MOD = 95
    RANGE = 96
    RESIZE_NEAREST_NEIGHBOR = 97
    LEAKY_RELU = 98
    SQUARED_DIFFERENCE = 99
    MIRROR_PAD = 100
    ABS = 101
    SPLIT_V = 102
    UNIQUE = 103
    CEIL = 104
    REVERSE_V2 = 105
    ADD_N = 106
    GATHER_ND = 107
    COS = 108
    WHERE = 109
    RANK = 110
    ELU = 111
    REVERSE_SEQUENCE = 112
    MATRIX_DIAG = 113
    QUANTIZE = 114
    MATRIX_SET_DIAG = 115
    ROUND = 116
    HARD_SWISH = 117
    IF = 118
    WHILE = 119
    NON_MAX_SUPPRESSION_V4 = 120
    NON_MAX_SUPPRESSION_V5 = 121
    SCATTER_ND = 122
    SELECT_V2 = 123
    DENSIFY = 124
    SEGMENT_SUM = 125
    BATCH_MATMUL = 126
    PLACEHOLDER_FOR_GREATER_OP_CODES = 127
    CUMSUM = 128
    CALL_ONCE = 129
    BROADCAST_TO = 130
    RFFT2D = 131
    CONV_3D = 132
    IMAG = 133
    REAL = 134
    COMPLEX_ABS = 135
    HASHTABLE = 136
    HASHTABLE_FIND = 137
    HASHTABLE_IMPORT = 138
    HASHTABLE_SIZE = 139
    REDUCE_ALL = 140
    CONV_3D_TRANSPOSE = 141
    VAR_HANDLE = 142
    READ_VARIABLE = 143
    ASSIGN_VARIABLE = 144
    BROADCAST_ARGS = 145
    RANDOM_STANDARD_NORMAL = 146
    BUCKETIZE = 147
    RANDOM_UNIFORM = 148
    MULTINOMIAL = 149
    GELU = 150
    DYNAMIC_UPDATE_SLICE = 151
    RELU_0_TO_1 = 152
    UNSORTED_SEGMENT_PROD = 153
    UNSORTED_SEGMENT_MAX = 154
    UNSORTED_SEGMENT_SUM = 155
    ATAN2 = 156
    UNSORTED_SEGMENT_MIN = 157
    SIGN = 158
    BITCAST = 159
    BITWISE_XOR = 160
    RIGHT_SHIFT = 161
    STABLEHLO_LOGISTIC = 162
    STABLEHLO_ADD = 163
    STABLEHLO_DIVIDE = 164
    STABLEHLO_MULTIPLY = 165
    STABLEHLO_MAXIMUM = 166
    STABLEHLO_RESHAPE = 167
    STABLEHLO_CLAMP = 168
    STABLEHLO_CONCATENATE = 169
    STABLEHLO_BROADCAST_IN_DIM = 170
    STABLEHLO_CONVOLUTION = 171
    STABLEHLO_SLICE = 172
    STABLEHLO_CUSTOM_CALL = 173
    STABLEHLO_REDUCE = 174
    STABLEHLO_ABS = 175
    STABLEHLO_AND = 176
    STABLEHLO_COSINE = 177
    STABLEHLO_EXPONENTIAL = 178
    STABLEHLO_FLOOR = 179
    STABLEHLO_LOG = 180
    STABLEHLO_MINIMUM = 181
    STABLEHLO_NEGATE = 182
    STABLEHLO_OR = 183
    STABLEHLO_POWER = 184
    STABLEHLO_REMAINDER = 185
    STABLEHLO_RSQRT = 186
    STABLEHLO_SELECT = 187
    STABLEHLO_SUBTRACT = 188
    STABLEHLO_TANH = 189
    STABLEHLO_SCATTER = 190
    STABLEHLO_COMPARE = 191
    STABLEHLO_CONVERT = 192
    STABLEHLO_DYNAMIC_SLICE = 193
    STABLEHLO_DYNAMIC_UPDATE_SLICE = 194
    STABLEHLO_PAD = 195
    STABLEHLO_IOTA = 196
    STABLEHLO_DOT_GENERAL = 197
    STABLEHLO_REDUCE_WINDOW = 198
    STABLEHLO_SORT = 199
    STABLEHLO_WHILE = 200
    STABLEHLO_GATHER = 201
    STABLEHLO_TRANSPOSE = 202
    DILATE = 203
    STABLEHLO_RNG_BIT_GENERATOR = 204
    REDUCE_WINDOW = 205
    STABLEHLO_COMPOSITE = 206
    STABLEHLO_SHIFT_LEFT = 207
    STABLEHLO_CBRT = 208
    STABLEHLO_CASE = 209

class Padding(IntEnum):
    SAME = 0
    VALID = 1

class ActivationFunctionType(IntEnum):
    NONE = 0
    RELU = 1
    RELU_N1_TO_1 = 2
    RELU6 = 3
    TANH = 4
    SIGN_BIT = 5

class LSHProjectionType(IntEnum):
    UNKNOWN = 0
    SPARSE = 1
    DENSE = 2

class FullyConnectedOptionsWeightsFormat(IntEnum):
    DEFAULT = 0
    SHUFFLED4x16INT8 = 1

class LSTMKernelType(IntEnum):
    FULL = 0
    BASIC = 1

class CombinerType(IntEnum):
    SUM = 0
    MEAN = 1
    SQRTN = 2

class MirrorPadMode(IntEnum):
    REFLECT = 0
    SYMMETRIC = 1

class StablehloPrecisionConfig(IntEnum):
    DEFAULT = 0
    HIGH = 1
    HIGHEST = 2

class StablehloComparisonDirection(IntEnum):
    STABLEHLO_COMPARISON_DIRECTION_EQ = 0
    STABLEHLO_COMPARISON_DIRECTION_NE = 1
    STABLEHLO_COMPARISON_DIRECTION_GE = 2
    STABLEHLO_COMPARISON_DIRECTION_GT = 3
    STABLEHLO_COMPARISON_DIRECTION_LE = 4
    STABLEHLO_COMPARISON_DIRECTION_LT = 5

class StablehloComparisonType(IntEnum):
    STABLEHLO_COMPARISON_TYPE_NOTYPE = 0
    STABLEHLO_COMPARISON_TYPE_FLOAT = 1
    STABLEHLO_COMPARISON_TYPE_FLOAT_TOTAL_ORDER = 2
    STABLEHLO_COMPARISON_TYPE_SIGNED = 3
    STABLEHLO_COMPARISON_TYPE_UNSIGNED = 4

class RngAlgorithm(IntEnum):
    DEFAULT = 0
    PHILOX = 1
    THREEFRY = 2

class ReduceWindowFunction(IntEnum):
    UNSUPPORTED = 0
    ADD = 1
    MUL = 2
    MINIMUM = 3
    MAXIMUM = 4
    ALL = 5
    ANY = 6

class QuantizationDetails(IntEnum):
    NONE = 0
    CustomQuantization = 1
    BlockwiseQuantization = 2
    MultiAxisQuantization = 3

class SparseIndexVector(IntEnum):
    NONE = 0
    Int32Vector = 1
    Uint16Vector = 2
    Uint8Vector = 3

class BuiltinOptions(IntEnum):
    NONE = 0
    Conv2DOptions = 1
    DepthwiseConv2DOptions = 2
    ConcatEmbeddingsOptions = 3
    LSHProjectionOptions = 4
    Pool2DOptions = 5
    SVDFOptions = 6
    RNNOptions = 7
    FullyConnectedOptions = 8
    SoftmaxOptions = 9
    ConcatenationOptions = 10
    AddOptions = 11
    L2NormOptions = 12
    LocalResponseNormalizationOptions = 13
    LSTMOptions = 14
    ResizeBilinearOptions = 15
    CallOptions = 16
    ReshapeOptions = 17
    SkipGramOptions = 18
    SpaceToDepthOptions = 19
    EmbeddingLookupSparseOptions = 20
    MulOptions = 21
    PadOptions = 22
    GatherOptions = 23
    BatchToSpaceNDOptions = 24
    SpaceToBatchNDOptions = 25
    TransposeOptions = 26
    ReducerOptions = 27
    SubOptions = 28
    DivOptions = 29
    SqueezeOptions = 30
    SequenceRNNOptions = 31
    StridedSliceOptions = 32
    ExpOptions = 33
    TopKV2Options = 34
    SplitOptions = 35
    LogSoftmaxOptions = 36
    CastOptions = 37
    DequantizeOptions = 38
    MaximumMinimumOptions = 39
    ArgMaxOptions = 40
    LessOptions = 41
    NegOptions = 42
    PadV2Options = 43
    GreaterOptions = 44
    GreaterEqualOptions = 45
    LessEqualOptions = 46
    SelectOptions = 47
    SliceOptions = 48
    TransposeConvOptions = 49
    SparseToDenseOptions = 50
    TileOptions = 51
    ExpandDimsOptions = 52
    EqualOptions = 53
    NotEqualOptions = 54
    ShapeOptions = 55
    PowOptions = 56
    ArgMinOptions = 57
    FakeQuantOptions = 58
    PackOptions = 59
    LogicalOrOptions = 60
    OneHotOptions = 61
    LogicalAndOptions = 62
    LogicalNotOptions = 63
    UnpackOptions = 64
    FloorDivOptions = 65
    SquareOptions = 66
    ZerosLikeOptions = 67
    FillOptions = 68
    BidirectionalSequenceLSTMOptions = 69
    BidirectionalSequenceRNNOptions = 70
    UnidirectionalSequenceLSTMOptions = 71
    FloorModOptions = 72
    RangeOptions = 73
    ResizeNearestNeighborOptions = 74
    LeakyReluOptions = 75
    SquaredDifferenceOptions = 76
    MirrorPadOptions = 77
    AbsOptions = 78
    SplitVOptions = 79
    UniqueOptions = 80
    ReverseV2Options = 81
    AddNOptions = 82
    GatherNdOptions = 83
    CosOptions = 84
    WhereOptions = 85
    RankOptions = 86
    ReverseSequenceOptions = 87
    MatrixDiagOptions = 88
    QuantizeOptions = 89
    MatrixSetDiagOptions = 90
    HardSwishOptions = 91
    IfOptions = 92
    WhileOptions = 93
    DepthToSpaceOptions = 94
    NonMaxSuppressionV4Options = 95
    NonMaxSuppressionV5Options = 96
    ScatterNdOptions = 97
    SelectV2Options = 98
    DensifyOptions = 99
    SegmentSumOptions = 100
    BatchMatMulOptions = 101
    CumsumOptions = 102
    CallOnceOptions = 103
    BroadcastToOptions = 104
    Rfft2dOptions = 105
    Conv3DOptions = 106
    HashtableOptions = 107
    HashtableFindOptions = 108
    HashtableImportOptions = 109
    HashtableSizeOptions = 110
    VarHandleOptions = 111
    ReadVariableOptions = 112
    AssignVariableOptions = 113
    RandomOptions = 114
    BucketizeOptions = 115
    GeluOptions = 116
    DynamicUpdateSliceOptions = 117
    UnsortedSegmentProdOptions = 118
    UnsortedSegmentMaxOptions = 119
    UnsortedSegmentMinOptions = 120
    UnsortedSegmentSumOptions = 121
    ATan2Options = 122
    SignOptions = 123
    BitcastOptions = 124
    BitwiseXorOptions = 125
    RightShiftOptions = 126

class BuiltinOptions2(IntEnum):
    NONE = 0
    StablehloConcatenateOptions = 1
    StablehloBroadcastInDimOptions = 2
    StablehloSliceOptions = 3
    StablehloConvolutionOptions = 4
    StablehloCustomCallOptions = 5
    StablehloReduceOptions = 6
    StablehloScatterOptions = 7
    StablehloCompareOptions = 8
    StablehloDynamicSliceOptions = 9
    StablehloPadOptions = 10
    StablehloIotaOptions = 11
    StablehloDotGeneralOptions = 12
    StablehloReduceWindowOptions = 13
    StablehloSortOptions = 14
    StablehloWhileOptions = 15
    StablehloGatherOptions = 16
    StablehloTransposeOptions = 17
    DilateOptions = 18
    StablehloRngBitGeneratorOptions = 19
    ReduceWindowOptions = 20
    StableHLOCompositeOptions = 21
    StablehloShiftLeftOptions = 22
    StablehloCaseOptions = 23

class Model(Table):
    @property
    def version(self) -> int: ...
    @property
    def operator_codes(self) -> TableVector[OperatorCode]: ...
    @property
    def subgraphs(self) -> TableVector[SubGraph]: ...
    @property
    def description(self) -> str | None: ...
    @property
    def buffers(self) -> TableVector[Buffer]: ...
    @property
    def metadata_buffer(self) -> np.ndarray: ...
    @property
    def metadata(self) -> TableVector[Metadata]: ...
    @property
    def signature_defs(self) -> TableVector[SignatureDef]: ...
    @property
    def external_buffer_groups(self) -> TableVector[ExternalBufferGroup]: ...
    @property
    def external_buffers(self) -> TableVector[ExternalBuffer]: ...

class ModelT(TableT):
    version: int
    operator_codes: list[OperatorCodeT] | None
    subgraphs: list[SubGraphT] | None
    description: str | None
    buffers: list[BufferT] | None
    metadata_buffer: Sequence[int] | np.ndarray | None
    metadata: list[MetadataT] | None
    signature_defs: list[SignatureDefT] | None
    external_buffer_groups: list[ExternalBufferGroupT] | None
    external_buffers: list[ExternalBufferT] | None
    def __init__(
        self,
        *,
        version: int = ...,
        operator_codes: list[OperatorCodeT] | None = ...,
        subgraphs: list[SubGraphT] | None = ...,
        description: str | None = ...,
        buffers: list[BufferT] | None = ...,
        metadata_buffer: Sequence[int] | np.ndarray | None = ...,
        metadata: list[MetadataT] | None = ...,
        signature_defs: list[SignatureDefT] | None = ...,
        external_buffer_groups: list[ExternalBufferGroupT] | None = ...,
        external_buffers: list[ExternalBufferT] | None = ...,
    ) -> None: ...

class SubGraph(Table):
    @property
    def tensors(self) -> TableVector[Tensor]: ...
    @property
    def inputs(self) -> np.ndarray: ...
    @property
    def outputs(self) -> np.ndarray: ...
    @property
    def operators(self) -> TableVector[Operator]: ...
    @property
    def name(self) -> str | None: ...
    @property
    def debug_metadata_index(self) -> int: ...

class SubGraphT(TableT):
    tensors: list[TensorT] | None
    inputs: Sequence[int] | np.ndarray | None
    outputs: Sequence[int] | np.ndarray | None
    operators: list[OperatorT] | None
    name: str | None
    debug_metadata_index: int
    def __init__(
        self,
        *,
        tensors: list[TensorT] | None = ...,
        inputs: Sequence[int] | np.ndarray | None = ...,
        outputs: Sequence[int] | np.ndarray | None = ...,
        operators: list[OperatorT] | None = ...,
        name: str | None = ...,
        debug_metadata_index: int = ...,
    ) -> None: ...

class OperatorCode(Table):
    @property
    def deprecated_builtin_code(self) -> int: ...
    @property
    def custom_code(self) -> str | None: ...
    @property
    def version(self) -> int: ...
    @property
    def builtin_code(self) -> int: ...

class OperatorCodeT(TableT):
    deprecated_builtin_code: int
    custom_code: str | None
    version: int
    builtin_code: int
    def __init__(
        self,
        *,
        deprecated_builtin_code: int = ...,
        custom_code: str | None = ...,
        version: int = ...,
        builtin_code: int = ...,
    ) -> None: ...

class Operator(Table):
    @property
    def opcode_index(self) -> int: ...
    @property
    def inputs(self) -> np.ndarray: ...
    @property
    def outputs(self) -> np.ndarray: ...
    @property
    def builtin_options_type(self) -> int: ...
    @property
    def builtin_options(self) -> Table | None: ...
    @property
    def custom_options(self) -> np.ndarray: ...
    @property
    def custom_options_format(self) -> int: ...
    @property
    def mutating_variable_inputs(self) -> np.ndarray: ...
    @property
    def intermediates(self) -> np.ndarray: ...
    @property
    def large_custom_options_offset(self) -> int: ...
    @property
    def large_custom_options_size(self) -> int: ...
    @property
    def builtin_options_2_type(self) -> int: ...
    @property
    def builtin_options_2(self) -> Table | None: ...
    @property
    def debug_metadata_index(self) -> int: ...

class OperatorT(TableT):
    opcode_index: int
    inputs: Sequence[int] | np.ndarray | None
    outputs: Sequence[int] | np.ndarray | None
    builtin_options_type: int
    builtin_options: TableT | None
    custom_options: bytes | bytearray | memoryview | Sequence[int] | np.ndarray | None
    custom_options_format: int
    mutating_variable_inputs: Sequence[bool] | np.ndarray | None
    intermediates: Sequence[int] | np.ndarray | None
    large_custom_options_offset: int
    large_custom_options_size: int
    builtin_options_2_type: int
    builtin_options_2: TableT | None
    debug_metadata_index: int
    def __init__(
        self,
        *,
        opcode_index: int = ...,
        inputs: Sequence[int] | np.ndarray | None = ...,
        outputs: Sequence[int] | np.ndarray | None = ...,
        builtin_options_type: int = ...,
        builtin_options: TableT | None = ...,
        custom_options: bytes | bytearray | memoryview | Sequence[int] | np.ndarray | None = ...,
        custom_options_format: int = ...,
        mutating_variable_inputs: Sequence[bool] | np.ndarray | None = ...,
        intermediates: Sequence[int] | np.ndarray | None = ...,
        large_custom_options_offset: int = ...,
        large_custom_options_size: int = ...,
        builtin_options_2_type: int = ...,
        builtin_options_2: TableT | None = ...,
        debug_metadata_index: int = ...,
    ) -> None: ...

class Tensor(Table):
    @property
    def shape(self) -> np.ndarray: ...
    @property
    def type(self) -> int: ...
    @property
    def buffer(self) -> int: ...
    @property
    def name(self) -> str | None: ...
    @property
    def quantization(self) -> QuantizationParameters | None: ...
    @property
    def is_variable(self) -> bool: ...
    @property
    def sparsity(self) -> SparsityParameters | None: ...
    @property
    def shape_signature(self) -> np.ndarray: ...
    @property
    def has_rank(self) -> bool: ...
    @property
    def variant_tensors(self) -> TableVector[VariantSubType]: ...
    @property
    def external_buffer(self) -> int: ...

class TensorT(TableT):
    shape: Sequence[int] | np.ndarray | None
    type: int
    buffer: int
    name: str | None
    quantization: QuantizationParametersT | None
    is_variable: bool
    sparsity: SparsityParametersT | None
    shape_signature: Sequence[int] | np.ndarray | None
    has_rank: bool
    variant_tensors: list[VariantSubTypeT] | None
    external_buffer: int
    def __init__(
        self,
        *,
        shape: Sequence[int] | np.ndarray | None = ...,
        type: int = ...,
        buffer: int = ...,
        name: str | None = ...,
        quantization: QuantizationParametersT | None = ...,
        is_variable: bool = ...,
        sparsity: SparsityParametersT | None = ...,
        shape_signature: Sequence[int] | np.ndarray | None = ...,
        has_rank: bool = ...,
        variant_tensors: list[VariantSubTypeT] | None = ...,
        external_buffer: int = ...,
    ) -> None: ...

class VariantSubType(Table):
    @property
    def shape(self) -> np.ndarray: ...
    @property
    def type(self) -> int: ...
    @property
    def has_rank(self) -> bool: ...

class VariantSubTypeT(TableT):
    shape: Sequence[int] | np.ndarray | None
    type: int
    has_rank: bool
    def __init__(
        self,
        *,
        shape: Sequence[int] | np.ndarray | None = ...,
        type: int = ...,
        has_rank: bool = ...,
    ) -> None: ...

class Buffer(Table):
    @property
    def data(self) -> np.ndarray: ...
    @property
    def offset(self) -> int: ...
    @property
    def size(self) -> int: ...

class BufferT(TableT):
    data: bytes | bytearray | memoryview | Sequence[int] | np.ndarray | None
    offset: int
    size: int
    def __init__(
        self,
        *,
        data: bytes | bytearray | memoryview | Sequence[int] | np.ndarray | None = ...,
        offset: int = ...,
        size: int = ...,
    ) -> None: ...

class ExternalBufferGroup(Table):
    @property
    def name(self) -> str | None: ...

class ExternalBufferGroupT(TableT):
    name: str | None
    def __init__(
        self,
        *,
        name: str | None = ...,
    ) -> None: ...

class ExternalBuffer(Table):
    @property
    def id(self) -> int: ...
    @property
    def group(self) -> int: ...
    @property
    def offset(self) -> int: ...
    @property
    def length(self) -> int: ...
    @property
    def packing(self) -> str | None: ...

class ExternalBufferT(TableT):
    id: int
    group: int
    offset: int
    length: int
    packing: str | None
    def __init__(
        self,
        *,
        id: int = ...,
        group: int = ...,
        offset: int = ...,
        length: int = ...,
        packing: str | None = ...,
    ) -> None: ...

class Metadata(Table):
    @property
    def name(self) -> str | None: ...
    @property
    def buffer(self) -> int: ...

class MetadataT(TableT):
    name: str | None
    buffer: int
    def __init__(
        self,
        *,
        name: str | None = ...,
        buffer: int = ...,
    ) -> None: ...

class SignatureDef(Table):
    @property
    def inputs(self) -> TableVector[TensorMap]: ...
    @property
    def outputs(self) -> TableVector[TensorMap]: ...
    @property
    def signature_key(self) -> str | None: ...
    @property
    def subgraph_index(self) -> int: ...

class SignatureDefT(TableT):
    inputs: list[TensorMapT] | None
    outputs: list[TensorMapT] | None
    signature_key: str | None
    subgraph_index: int
    def __init__(
        self,
        *,
        inputs: list[TensorMapT] | None = ...,
        outputs: list[TensorMapT] | None = ...,
        signature_key: str | None = ...,
        subgraph_index: int = ...,
    ) -> None: ...

class TensorMap(Table):
    @property
    def name(self) -> str | None: ...
    @property
    def tensor_index(self) -> int: ...

class TensorMapT(TableT):
    name: str | None
    tensor_index: int
    def __init__(
        self,
        *,
        name: str | None = ...,
        tensor_index: int = ...,
    ) -> None: ...

class QuantizationParameters(Table):
    @property
    def min(self) -> np.ndarray: ...
    @property
    def max(self) -> np.ndarray: ...
    @property
    def scale(self) -> np.ndarray: ...
    @property
    def zero_point(self) -> np.ndarray: ...
    @property
    def details_type(self) -> int: ...
    @property
    def details(self) -> Table | None: ...
    @property
    def quantized_dimension(self) -> int: ...

class QuantizationParametersT(TableT):
    min: Sequence[float] | np.ndarray | None
    max: Sequence[float] | np.ndarray | None
    scale: Sequence[float] | np.ndarray | None
    zero_point: Sequence[int] | np.ndarray | None
    details_type: int
    details: TableT | None
    quantized_dimension: int
    def __init__(
        self,
        *,
        min: Sequence[float] | np.ndarray | None = ...,
        max: Sequence[float] | np.ndarray | None = ...,
        scale: Sequence[float] | np.ndarray | None = ...,
        zero_point: Sequence[int] | np.ndarray | None = ...,
        details_type: int = ...,
        details: TableT | None = ...,
        quantized_dimension: int = ...,
    ) -> None: ...

class CustomQuantization(Table):
    @property
    def custom(self) -> np.ndarray: ...

class CustomQuantizationT(TableT):
    custom: bytes | bytearray | memoryview | Sequence[int] | np.ndarray | None
    def __init__(
        self,
        *,
        custom: bytes | bytearray | memoryview | Sequence[int] | np.ndarray | None = ...,
    ) -> None: ...

class BlockwiseQuantization(Table):
    @property
    def scales(self) -> int: ...
    @property
    def zero_points(self) -> int: ...
    @property
    def block_size(self) -> int: ...
    @property
    def block_shape(self) -> np.ndarray: ...

class BlockwiseQuantizationT(TableT):
    scales: int
    zero_points: int
    block_size: int
    block_shape: Sequence[int] | np.ndarray | None
    def __init__(
        self,
        *,
        scales: int = ...,
        zero_points: int = ...,
        block_size: int = ...,
        block_shape: Sequence[int] | np.ndarray | None = ...,
    ) -> None: ...

class MultiAxisQuantization(Table):
    @property
    def scales(self) -> int: ...
    @property
    def zero_points(self) -> int: ...
    @property
    def block_size(self) -> int: ...
    @property
    def quantized_dimensions(self) -> np.ndarray: ...

class MultiAxisQuantizationT(TableT):
    scales: int
    zero_points: int
    block_size: int
    quantized_dimensions: Sequence[int] | np.ndarray | None
    def __init__(
        self,
        *,
        scales: int = ...,
        zero_points: int = ...,
        block_size: int = ...,
        quantized_dimensions: Sequence[int] | np.ndarray | None = ...,
    ) -> None: ...

class SparsityParameters(Table):
    @property
    def traversal_order(self) -> np.ndarray: ...
    @property
    def block_map(self) -> np.ndarray: ...
    @property
    def dim_metadata(self) -> TableVector[DimensionMetadata]: ...

class SparsityParametersT(TableT):
    traversal_order: Sequence[int] | np.ndarray | None
    block_map: Sequence[int] | np.ndarray | None
    dim_metadata: list[DimensionMetadataT] | None
    def __init__(
        self,
        *,
        traversal_order: Sequence[int] | np.ndarray | None = ...,
        block_map: Sequence[int] | np.ndarray | None = ...,
        dim_metadata: list[DimensionMetadataT] | None = ...,
    ) -> None: ...

class DimensionMetadata(Table):
    @property
    def format(self) -> int: ...
    @property
    def dense_size(self) -> int: ...
    @property
    def array_segments_type(self) -> int: ...
    @property
    def array_segments(self) -> Table | None: ...
    @property
    def array_indices_type(self) -> int: ...
    @property
    def array_indices(self) -> Table | None: ...

class DimensionMetadataT(TableT):
    format: int
    dense_size: int
    array_segments_type: int
    array_segments: TableT | None
    array_indices_type: int
    array_indices: TableT | None
    def __init__(
        self,
        *,
        format: int = ...,
        dense_size: int = ...,
        array_segments_type: int = ...,
        array_segments: TableT | None = ...,
        array_indices_type: int = ...,
        array_indices: TableT | None = ...,
    ) -> None: ...

class Int32Vector(Table):
    @property
    def values(self) -> np.ndarray: ...

class Int32VectorT(TableT):
    values: Sequence[int] | np.ndarray | None
    def __init__(
        self,
        *,
        values: Sequence[int] | np.ndarray | None = ...,
    ) -> None: ...

class Uint16Vector(Table):
    @property
    def values(self) -> np.ndarray: ...

class Uint16VectorT(TableT):
    values: Sequence[int] | np.ndarray | None
    def __init__(
        self,
        *,
        values: Sequence[int] | np.ndarray | None = ...,
    ) -> None: ...

class Uint8Vector(Table):
    @property
    def values(self) -> np.ndarray: ...

class Uint8VectorT(TableT):
    values: bytes | bytearray | memoryview | Sequence[int] | np.ndarray | None
    def __init__(
        self,
        *,
        values: bytes | bytearray | memoryview | Sequence[int] | np.ndarray | None = ...,
    ) -> None: ...

class Conv2DOptions(Table):
    @property
    def padding(self) -> int: ...
    @property
    def stride_w(self) -> int: ...
    @property
    def stride_h(self) -> int: ...
    @property
    def fused_activation_function(self) -> int: ...
    @property
    def dilation_w_factor(self) -> int: ...
    @property
    def dilation_h_factor(self) -> int: ...
    @property
    def quantized_bias_type(self) -> int: ...

class Conv2DOptionsT(TableT):
    padding: int
    stride_w: int
    stride_h: int
    fused_activation_function: int
    dilation_w_factor: int
    dilation_h_factor: int
    quantized_bias_type: int
    def __init__(
        self,
        *,
        padding: int = ...,
        stride_w: int = ...,
        stride_h: int = ...,
        fused_activation_function: int = ...,
        dilation_w_factor: int = ...,
        dilation_h_factor: int = ...,
        quantized_bias_type: int = ...,
    ) -> None: ...

class DepthwiseConv2DOptions(Table):
    @property
    def padding(self) -> int: ...
    @property
    def stride_w(self) -> int: ...
    @property
    def stride_h(self) -> int: ...
    @property
    def depth_multiplier(self) -> int: ...
    @property
    def fused_activation_function(self) -> int: ...
    @property
    def dilation_w_factor(self) -> int: ...
    @property
    def dilation_h_factor(self) -> int: ...

class DepthwiseConv2DOptionsT(TableT):
    padding: int
    stride_w: int
    stride_h: int
    depth_multiplier: int
    fused_activation_function: int
    dilation_w_factor: int
    dilation_h_factor: int
    def __init__(
        self,
        *,
        padding: int = ...,
        stride_w: int = ...,
        stride_h: int = ...,
        depth_multiplier: int = ...,
        fused_activation_function: int = ...,
        dilation_w_factor: int = ...,
        dilation_h_factor: int = ...,
    ) -> None: ...

class ConcatEmbeddingsOptions(Table):
    @property
    def num_channels(self) -> int: ...
    @property
    def num_columns_per_channel(self) -> np.ndarray: ...
    @property
    def embedding_dim_per_channel(self) -> np.ndarray: ...

class ConcatEmbeddingsOptionsT(TableT):
    num_channels: int
    num_columns_per_channel: Sequence[int] | np.ndarray | None
    embedding_dim_per_channel: Sequence[int] | np.ndarray | None
    def __init__(
        self,
        *,
        num_channels: int = ...,
        num_columns_per_channel: Sequence[int] | np.ndarray | None = ...,
        embedding_dim_per_channel: Sequence[int] | np.ndarray | None = ...,
    ) -> None: ...

class LSHProjectionOptions(Table):
    @property
    def type(self) -> int: ...

class LSHProjectionOptionsT(TableT):
    type: int
    def __init__(
        self,
        *,
        type: int = ...,
    ) -> None: ...

class Pool2DOptions(Table):
    @property
    def padding(self) -> int: ...
    @property
    def stride_w(self) -> int: ...
    @property
    def stride_h(self) -> int: ...
    @property
    def filter_width(self) -> int: ...
    @property
    def filter_height(self) -> int: ...
    @property
    def fused_activation_function(self) -> int: ...

class Pool2DOptionsT(TableT):
    padding: int
    stride_w: int
    stride_h: int
    filter_width: int
    filter_height: int
    fused_activation_function: int
    def __init__(
        self,
        *,
        padding: int = ...,
        stride_w: int = ...,
        stride_h: int = ...,
        filter_width: int = ...,
        filter_height: int = ...,
        fused_activation_function: int = ...,
    ) -> None: ...

class SVDFOptions(Table):
    @property
    def rank(self) -> int: ...
    @property
    def fused_activation_function(self) -> int: ...
    @property
    def asymmetric_quantize_inputs(self) -> bool: ...

class SVDFOptionsT(TableT):
    rank: int
    fused_activation_function: int
    asymmetric_quantize_inputs: bool
    def __init__(
        self,
        *,
        rank: int = ...,
        fused_activation_function: int = ...,
        asymmetric_quantize_inputs: bool = ...,
    ) -> None: ...

class RNNOptions(Table):
    @property
    def fused_activation_function(self) -> int: ...
    @property
    def asymmetric_quantize_inputs(self) -> bool: ...

class RNNOptionsT(TableT):
    fused_activation_function: int
    asymmetric_quantize_inputs: bool
    def __init__(
        self,
        *,
        fused_activation_function: int = ...,
        asymmetric_quantize_inputs: bool = ...,
    ) -> None: ...

class FullyConnectedOptions(Table):
    @property
    def fused_activation_function(self) -> int: ...
    @property
    def weights_format(self) -> int: ...
    @property
    def keep_num_dims(self) -> bool: ...
    @property
    def asymmetric_quantize_inputs(self) -> bool: ...
    @property
    def quantized_bias_type(self) -> int: ...
    @property
    def quant_spec(self) -> np.ndarray: ...

class FullyConnectedOptionsT(TableT):
    fused_activation_function: int
    weights_format: int
    keep_num_dims: bool
    asymmetric_quantize_inputs: bool
    quantized_bias_type: int
    quant_spec: bytes | bytearray | memoryview | Sequence[int] | np.ndarray | None
    def __init__(
        self,
        *,
        fused_activation_function: int = ...,
        weights_format: int = ...,
        keep_num_dims: bool = ...,
        asymmetric_quantize_inputs: bool = ...,
        quantized_bias_type: int = ...,
        quant_spec: bytes | bytearray | memoryview | Sequence[int] | np.ndarray | None = ...,
    ) -> None: ...

class SoftmaxOptions(Table):
    @property
    def beta(self) -> float: ...

class SoftmaxOptionsT(TableT):
    beta: float
    def __init__(
        self,
        *,
        beta: float = ...,
    ) -> None: ...

class ConcatenationOptions(Table):
    @property
    def axis(self) -> int: ...
    @property
    def fused_activation_function(self) -> int: ...

class ConcatenationOptionsT(TableT):
    axis: int
    fused_activation_function: int
    def __init__(
        self,
        *,
        axis: int = ...,
        fused_activation_function: int = ...,
    ) -> None: ...

class AddOptions(Table):
    @property
    def fused_activation_function(self) -> int: ...
    @property
    def pot_scale_int16(self) -> bool: ...

class AddOptionsT(TableT):
    fused_activation_function: int
    pot_scale_int16: bool
    def __init__(
        self,
        *,
        fused_activation_function: int = ...,
        pot_scale_int16: bool = ...,
    ) -> None: ...

class L2NormOptions(Table):
    @property
    def fused_activation_function(self) -> int: ...

class L2NormOptionsT(TableT):
    fused_activation_function: int
    def __init__(
        self,
        *,
        fused_activation_function: int = ...,
    ) -> None: ...

class LocalResponseNormalizationOptions(Table):
    @property
    def radius(self) -> int: ...
    @property
    def bias(self) -> float: ...
    @property
    def alpha(self) -> float: ...
    @property
    def beta(self) -> float: ...

class LocalResponseNormalizationOptionsT(TableT):
    radius: int
    bias: float
    alpha: float
    beta: float
    def __init__(
        self,
        *,
        radius: int = ...,
        bias: float = ...,
        alpha: float = ...,
        beta: float = ...,
    ) -> None: ...

class LSTMOptions(Table):
    @property
    def fused_activation_function(self) -> int: ...
    @property
    def cell_clip(self) -> float: ...
    @property
    def proj_clip(self) -> float: ...
    @property
    def kernel_type(self) -> int: ...
    @property
    def asymmetric_quantize_inputs(self) -> bool: ...

class LSTMOptionsT(TableT):
    fused_activation_function: int
    cell_clip: float
    proj_clip: float
    kernel_type: int
    asymmetric_quantize_inputs: bool
    def __init__(
        self,
        *,
        fused_activation_function: int = ...,
        cell_clip: float = ...,
        proj_clip: float = ...,
        kernel_type: int = ...,
        asymmetric_quantize_inputs: bool = ...,
    ) -> None: ...

class ResizeBilinearOptions(Table):
    @property
    def align_corners(self) -> bool: ...
    @property
    def half_pixel_centers(self) -> bool: ...

class ResizeBilinearOptionsT(TableT):
    align_corners: bool
    half_pixel_centers: bool
    def __init__(
        self,
        *,
        align_corners: bool = ...,
        half_pixel_centers: bool = ...,
    ) -> None: ...

class CallOptions(Table):
    @property
    def subgraph(self) -> int: ...

class CallOptionsT(TableT):
    subgraph: int
    def __init__(
        self,
        *,
        subgraph: int = ...,
    ) -> None: ...

class ReshapeOptions(Table):
    @property
    def new_shape(self) -> np.ndarray: ...

class ReshapeOptionsT(TableT):
    new_shape: Sequence[int] | np.ndarray | None
    def __init__(
        self,
        *,
        new_shape: Sequence[int] | np.ndarray | None = ...,
    ) -> None: ...

class SkipGramOptions(Table):
    @property
    def ngram_size(self) -> int: ...
    @property
    def max_skip_size(self) -> int: ...
    @property
    def include_all_ngrams(self) -> bool: ...

class SkipGramOptionsT(TableT):
    ngram_size: int
    max_skip_size: int
    include_all_ngrams: bool
    def __init__(
        self,
        *,
        ngram_size: int = ...,
        max_skip_size: int = ...,
        include_all_ngrams: bool = ...,
    ) -> None: ...

class SpaceToDepthOptions(Table):
    @property
    def block_size(self) -> int: ...

class SpaceToDepthOptionsT(TableT):
    block_size: int
    def __init__(
        self,
        *,
        block_size: int = ...,
    ) -> None: ...

class EmbeddingLookupSparseOptions(Table):
    @property
    def combiner(self) -> int: ...

class EmbeddingLookupSparseOptionsT(TableT):
    combiner: int
    def __init__(
        self,
        *,
        combiner: int = ...,
    ) -> None: ...

class MulOptions(Table):
    @property
    def fused_activation_function(self) -> int: ...

class MulOptionsT(TableT):
    fused_activation_function: int
    def __init__(
        self,
        *,
        fused_activation_function: int = ...,
    ) -> None: ...

class PadOptions(Table):
    pass

class PadOptionsT(TableT):
    def __init__(self) -> None: ...

class GatherOptions(Table):
    @property
    def axis(self) -> int: ...
    @property
    def batch_dims(self) -> int: ...

class GatherOptionsT(TableT):
    axis: int
    batch_dims: int
    def __init__(
        self,
        *,
        axis: int = ...,
        batch_dims: int = ...,
    ) -> None: ...

class BatchToSpaceNDOptions(Table):
    pass

class BatchToSpaceNDOptionsT(TableT):
    def __init__(self) -> None: ...

class SpaceToBatchNDOptions(Table):
    pass

class SpaceToBatchNDOptionsT(TableT):
    def __init__(self) -> None: ...

class TransposeOptions(Table):
    pass

class TransposeOptionsT(TableT):
    def __init__(self) -> None: ...

class ReducerOptions(Table):
    @property
    def keep_dims(self) -> bool: ...

class ReducerOptionsT(TableT):
    keep_dims: bool
    def __init__(
        self,
        *,
        keep_dims: bool = ...,
    ) -> None: ...

class SubOptions(Table):
    @property
    def fused_activation_function(self) -> int: ...
    @property
    def pot_scale_int16(self) -> bool: ...

class SubOptionsT(TableT):
    fused_activation_function: int
    pot_scale_int16: bool
    def __init__(
        self,
        *,
        fused_activation_function: int = ...,
        pot_scale_int16: bool = ...,
    ) -> None: ...

class DivOptions(Table):
    @property
    def fused_activation_function(self) -> int: ...

class DivOptionsT(TableT):
    fused_activation_function: int
    def __init__(
        self,
        *,
        fused_activation_function: int = ...,
    ) -> None: ...

class SqueezeOptions(Table):
    @property
    def squeeze_dims(self) -> np.ndarray: ...

class SqueezeOptionsT(TableT):
    squeeze_dims: Sequence[int] | np.ndarray | None
    def __init__(
        self,
        *,
        squeeze_dims: Sequence[int] | np.ndarray | None = ...,
    ) -> None: ...

class SequenceRNNOptions(Table):
    @property
    def time_major(self) -> bool: ...
    @property
    def fused_activation_function(self) -> int: ...
    @property
    def asymmetric_quantize_inputs(self) -> bool: ...

class SequenceRNNOptionsT(TableT):
    time_major: bool
    fused_activation_function: int
    asymmetric_quantize_inputs: bool
    def __init__(
        self,
        *,
        time_major: bool = ...,
        fused_activation_function: int = ...,
        asymmetric_quantize_inputs: bool = ...,
    ) -> None: ...

class StridedSliceOptions(Table):
    @property
    def begin_mask(self) -> int: ...
    @property
    def end_mask(self) -> int: ...
    @property
    def ellipsis_mask(self) -> int: ...
    @property
    def new_axis_mask(self) -> int: ...
    @property
    def shrink_axis_mask(self) -> int: ...
    @property
    def offset(self) -> bool: ...

class StridedSliceOptionsT(TableT):
    begin_mask: int
    end_mask: int
    ellipsis_mask: int
    new_axis_mask: int
    shrink_axis_mask: int
    offset: bool
    def __init__(
        self,
        *,
        begin_mask: int = ...,
        end_mask: int = ...,
        ellipsis_mask: int = ...,
        new_axis_mask: int = ...,
        shrink_axis_mask: int = ...,
        offset: bool = ...,
    ) -> None: ...

class ExpOptions(Table):
    pass

class ExpOptionsT(TableT):
    def __init__(self) -> None: ...

class TopKV2Options(Table):
    pass

class TopKV2OptionsT(TableT):
    def __init__(self) -> None: ...

class SplitOptions(Table):
    @property
    def num_splits(self) -> int: ...

class SplitOptionsT(TableT):
    num_splits: int
    def __init__(
        self,
        *,
        num_splits: int = ...,
    ) -> None: ...

class LogSoftmaxOptions(Table):
    pass

class LogSoftmaxOptionsT(TableT):
    def __init__(self) -> None: ...

class CastOptions(Table):
    @property
    def in_data_type(self) -> int: ...
    @property
    def out_data_type(self) -> int: ...

class CastOptionsT(TableT):
    in_data_type: int
    out_data_type: int
    def __init__(
        self,
        *,
        in_data_type: int = ...,
        out_data_type: int = ...,
    ) -> None: ...

class DequantizeOptions(Table):
    pass

class DequantizeOptionsT(TableT):
    def __init__(self) -> None: ...

class MaximumMinimumOptions(Table):
    pass

class MaximumMinimumOptionsT(TableT):
    def __init__(self) -> None: ...

class ArgMaxOptions(Table):
    @property
    def output_type(self) -> int: ...

class ArgMaxOptionsT(TableT):
    output_type: int
    def __init__(
        self,
        *,
        output_type: int = ...,
    ) -> None: ...

class LessOptions(Table):
    pass

class LessOptionsT(TableT):
    def __init__(self) -> None: ...

class NegOptions(Table):
    pass

class NegOptionsT(TableT):
    def __init__(self) -> None: ...

class PadV2Options(Table):
    pass

class PadV2OptionsT(TableT):
    def __init__(self) -> None: ...

class GreaterOptions(Table):
    pass

class GreaterOptionsT(TableT):
    def __init__(self) -> None: ...

class GreaterEqualOptions(Table):
    pass

class GreaterEqualOptionsT(TableT):
    def __init__(self) -> None: ...

class LessEqualOptions(Table):
    pass

class LessEqualOptionsT(TableT):
    def __init__(self) -> None: ...

class SelectOptions(Table):
    pass

class SelectOptionsT(TableT):
    def __init__(self) -> None: ...

class SliceOptions(Table):
    pass

class SliceOptionsT(TableT):
    def __init__(self) -> None: ...

class TransposeConvOptions(Table):
    @property
    def padding(self) -> int: ...
    @property
    def stride_w(self) -> int: ...
    @property
    def stride_h(self) -> int: ...
    @property
    def fused_activation_function(self) -> int: ...
    @property
    def quantized_bias_type(self) -> int: ...

class TransposeConvOptionsT(TableT):
    padding: int
    stride_w: int
    stride_h: int
    fused_activation_function: int
    quantized_bias_type: int
    def __init__(
        self,
        *,
        padding: int = ...,
        stride_w: int = ...,
        stride_h: int = ...,
        fused_activation_function: int = ...,
        quantized_bias_type: int = ...,
    ) -> None: ...

class SparseToDenseOptions(Table):
    @property
    def validate_indices(self) -> bool: ...

class SparseToDenseOptionsT(TableT):
    validate_indices: bool
    def __init__(
        self,
        *,
        validate_indices: bool = ...,
    ) -> None: ...

class TileOptions(Table):
    pass

class TileOptionsT(TableT):
    def __init__(self) -> None: ...

class ExpandDimsOptions(Table):
    pass

class ExpandDimsOptionsT(TableT):
    def __init__(self) -> None: ...

class EqualOptions(Table):
    pass

class EqualOptionsT(TableT):
    def __init__(self) -> None: ...

class NotEqualOptions(Table):
    pass

class NotEqualOptionsT(TableT):
    def __init__(self) -> None: ...

class ShapeOptions(Table):
    @property
    def out_type(self) -> int: ...

class ShapeOptionsT(TableT):
    out_type: int
    def __init__(
        self,
        *,
        out_type: int = ...,
    ) -> None: ...

class PowOptions(Table):
    pass

class PowOptionsT(TableT):
    def __init__(self) -> None: ...

class ArgMinOptions(Table):
    @property
    def output_type(self) -> int: ...

class ArgMinOptionsT(TableT):
    output_type: int
    def __init__(
        self,
        *,
        output_type: int = ...,
    ) -> None: ...

class FakeQuantOptions(Table):
    @property
    def min(self) -> float: ...
    @property
    def max(self) -> float: ...
    @property
    def num_bits(self) -> int: ...
    @property
    def narrow_range(self) -> bool: ...

class FakeQuantOptionsT(TableT):
    min: float
    max: float
    num_bits: int
    narrow_range: bool
    def __init__(
        self,
        *,
        min: float = ...,
        max: float = ...,
        num_bits: int = ...,
        narrow_range: bool = ...,
    ) -> None: ...

class PackOptions(Table):
    @property
    def values_count(self) -> int: ...
    @property
    def axis(self) -> int: ...

class PackOptionsT(TableT):
    values_count: int
    axis: int
    def __init__(
        self,
        *,
        values_count: int = ...,
        axis: int = ...,
    ) -> None: ...

class LogicalOrOptions(Table):
    pass

class LogicalOrOptionsT(TableT):
    def __init__(self) -> None: ...

class OneHotOptions(Table):
    @property
    def axis(self) -> int: ...

class OneHotOptionsT(TableT):
    axis: int
    def __init__(
        self,
        *,
        axis: int = ...,
    ) -> None: ...

class LogicalAndOptions(Table):
    pass

class LogicalAndOptionsT(TableT):
    def __init__(self) -> None: ...

class LogicalNotOptions(Table):
    pass

class LogicalNotOptionsT(TableT):
    def __init__(self) -> None: ...

class UnpackOptions(Table):
    @property
    def num(self) -> int: ...
    @property
    def axis(self) -> int: ...

class UnpackOptionsT(TableT):
    num: int
    axis: int
    def __init__(
        self,
        *,
        num: int = ...,
        axis: int = ...,
    ) -> None: ...

class FloorDivOptions(Table):
    pass

class FloorDivOptionsT(TableT):
    def __init__(self) -> None: ...

class SquareOptions(Table):
    pass

class SquareOptionsT(TableT):
    def __init__(self) -> None: ...

class ZerosLikeOptions(Table):
    pass

class ZerosLikeOptionsT(TableT):
    def __init__(self) -> None: ...

class FillOptions(Table):
    pass

class FillOptionsT(TableT):
    def __init__(self) -> None: ...

class BidirectionalSequenceLSTMOptions(Table):
    @property
    def fused_activation_function(self) -> int: ...
    @property
    def cell_clip(self) -> float: ...
    @property
    def proj_clip(self) -> float: ...
    @property
    def merge_outputs(self) -> bool: ...
    @property
    def time_major(self) -> bool: ...
    @property
    def asymmetric_quantize_inputs(self) -> bool: ...

class BidirectionalSequenceLSTMOptionsT(TableT):
    fused_activation_function: int
    cell_clip: float
    proj_clip: float
    merge_outputs: bool
    time_major: bool
    asymmetric_quantize_inputs: bool
    def __init__(
        self,
        *,
        fused_activation_function: int = ...,
        cell_clip: float = ...,
        proj_clip: float = ...,
        merge_outputs: bool = ...,
        time_major: bool = ...,
        asymmetric_quantize_inputs: bool = ...,
    ) -> None: ...

class BidirectionalSequenceRNNOptions(Table):
    @property
    def time_major(self) -> bool: ...
    @property
    def fused_activation_function(self) -> int: ...
    @property
    def merge_outputs(self) -> bool: ...
    @property
    def asymmetric_quantize_inputs(self) -> bool: ...

class BidirectionalSequenceRNNOptionsT(TableT):
    time_major: bool
    fused_activation_function: int
    merge_outputs: bool
    asymmetric_quantize_inputs: bool
    def __init__(
        self,
        *,
        time_major: bool = ...,
        fused_activation_function: int = ...,
        merge_outputs: bool = ...,
        asymmetric_quantize_inputs: bool = ...,
    ) -> None: ...

class UnidirectionalSequenceLSTMOptions(Table):
    @property
    def fused_activation_function(self) -> int: ...
    @property
    def cell_clip(self) -> float: ...
    @property
    def proj_clip(self) -> float: ...
    @property
    def time_major(self) -> bool: ...
    @property
    def asymmetric_quantize_inputs(self) -> bool: ...
    @property
    def diagonal_recurrent_tensors(self) -> bool: ...

class UnidirectionalSequenceLSTMOptionsT(TableT):
    fused_activation_function: int
    cell_clip: float
    proj_clip: float
    time_major: bool
    asymmetric_quantize_inputs: bool
    diagonal_recurrent_tensors: bool
    def __init__(
        self,
        *,
        fused_activation_function: int = ...,
        cell_clip: float = ...,
        proj_clip: float = ...,
        time_major: bool = ...,
        asymmetric_quantize_inputs: bool = ...,
        diagonal_recurrent_tensors: bool = ...,
    ) -> None: ...

class FloorModOptions(Table):
    pass

class FloorModOptionsT(TableT):
    def __init__(self) -> None: ...

class RangeOptions(Table):
    pass

class RangeOptionsT(TableT):
    def __init__(self) -> None: ...

class ResizeNearestNeighborOptions(Table):
    @property
    def align_corners(self) -> bool: ...
    @property
    def half_pixel_centers(self) -> bool: ...

class ResizeNearestNeighborOptionsT(TableT):
    align_corners: bool
    half_pixel_centers: bool
    def __init__(
        self,
        *,
        align_corners: bool = ...,
        half_pixel_centers: bool = ...,
    ) -> None: ...

class LeakyReluOptions(Table):
    @property
    def alpha(self) -> float: ...

class LeakyReluOptionsT(TableT):
    alpha: float
    def __init__(
        self,
        *,
        alpha: float = ...,
    ) -> None: ...

class SquaredDifferenceOptions(Table):
    pass

class SquaredDifferenceOptionsT(TableT):
    def __init__(self) -> None: ...

class MirrorPadOptions(Table):
    @property
    def mode(self) -> int: ...

class MirrorPadOptionsT(TableT):
    mode: int
    def __init__(
        self,
        *,
        mode: int = ...,
    ) -> None: ...

class AbsOptions(Table):
    pass

class AbsOptionsT(TableT):
    def __init__(self) -> None: ...

class SplitVOptions(Table):
    @property
    def num_splits(self) -> int: ...

class SplitVOptionsT(TableT):
    num_splits: int
    def __init__(
        self,
        *,
        num_splits: int = ...,
    ) -> None: ...

class UniqueOptions(Table):
    @property
    def idx_out_type(self) -> int: ...

class UniqueOptionsT(TableT):
    idx_out_type: int
    def __init__(
        self,
        *,
        idx_out_type: int = ...,
    ) -> None: ...

class ReverseV2Options(Table):
    pass

class ReverseV2OptionsT(TableT):
    def __init__(self) -> None: ...

class AddNOptions(Table):
    pass

class AddNOptionsT(TableT):
    def __init__(self) -> None: ...

class GatherNdOptions(Table):
    pass

class GatherNdOptionsT(TableT):
    def __init__(self) -> None: ...

class CosOptions(Table):
    pass

class CosOptionsT(TableT):
    def __init__(self) -> None: ...

class WhereOptions(Table):
    pass

class WhereOptionsT(TableT):
    def __init__(self) -> None: ...

class RankOptions(Table):
    pass

class RankOptionsT(TableT):
    def __init__(self) -> None: ...

class ReverseSequenceOptions(Table):
    @property
    def seq_dim(self) -> int: ...
    @property
    def batch_dim(self) -> int: ...

class ReverseSequenceOptionsT(TableT):
    seq_dim: int
    batch_dim: int
    def __init__(
        self,
        *,
        seq_dim: int = ...,
        batch_dim: int = ...,
    ) -> None: ...

class MatrixDiagOptions(Table):
    pass

class MatrixDiagOptionsT(TableT):
    def __init__(self) -> None: ...

class QuantizeOptions(Table):
    pass

class QuantizeOptionsT(TableT):
    def __init__(self) -> None: ...

class MatrixSetDiagOptions(Table):
    pass

class MatrixSetDiagOptionsT(TableT):
    def __init__(self) -> None: ...

class HardSwishOptions(Table):
    pass

class HardSwishOptionsT(TableT):
    def __init__(self) -> None: ...

class IfOptions(Table):
    @property
    def then_subgraph_index(self) -> int: ...
    @property
    def else_subgraph_index(self) -> int: ...

class IfOptionsT(TableT):
    then_subgraph_index: int
    else_subgraph_index: int
    def __init__(
        self,
        *,
        then_subgraph_index: int = ...,
        else_subgraph_index: int = ...,
    ) -> None: ...

class WhileOptions(Table):
    @property
    def cond_subgraph_index(self) -> int: ...
    @property
    def body_subgraph_index(self) -> int: ...

class WhileOptionsT(TableT):
    cond_subgraph_index: int
    body_subgraph_index: int
    def __init__(
        self,
        *,
        cond_subgraph_index: int = ...,
        body_subgraph_index: int = ...,
    ) -> None: ...

class DepthToSpaceOptions(Table):
    @property
    def block_size(self) -> int: ...

class DepthToSpaceOptionsT(TableT):
    block_size: int
    def __init__(
        self,
        *,
        block_size: int = ...,
    ) -> None: ...

class NonMaxSuppressionV4Options(Table):
    pass

class NonMaxSuppressionV4OptionsT(TableT):
    def __init__(self) -> None: ...

class NonMaxSuppressionV5Options(Table):
    pass

class NonMaxSuppressionV5OptionsT(TableT):
    def __init__(self) -> None: ...

class ScatterNdOptions(Table):
    pass

class ScatterNdOptionsT(TableT):
    def __init__(self) -> None: ...

class SelectV2Options(Table):
    pass

class SelectV2OptionsT(TableT):
    def __init__(self) -> None: ...

class DensifyOptions(Table):
    pass

class DensifyOptionsT(TableT):
    def __init__(self) -> None: ...

class SegmentSumOptions(Table):
    pass

class SegmentSumOptionsT(TableT):
    def __init__(self) -> None: ...

class BatchMatMulOptions(Table):
    @property
    def adj_x(self) -> bool: ...
    @property
    def adj_y(self) -> bool: ...
    @property
    def asymmetric_quantize_inputs(self) -> bool: ...

class BatchMatMulOptionsT(TableT):
    adj_x: bool
    adj_y: bool
    asymmetric_quantize_inputs: bool
    def __init__(
        self,
        *,
        adj_x: bool = ...,
        adj_y: bool = ...,
        asymmetric_quantize_inputs: bool = ...,
    ) -> None: ...

class CumsumOptions(Table):
    @property
    def exclusive(self) -> bool: ...
    @property
    def reverse(self) -> bool: ...

class CumsumOptionsT(TableT):
    exclusive: bool
    reverse: bool
    def __init__(
        self,
        *,
        exclusive: bool = ...,
        reverse: bool = ...,
    ) -> None: ...

class CallOnceOptions(Table):
    @property
    def init_subgraph_index(self) -> int: ...

class CallOnceOptionsT(TableT):
    init_subgraph_index: int
    def __init__(
        self,
        *,
        init_subgraph_index: int = ...,
    ) -> None: ...

class BroadcastToOptions(Table):
    pass

class BroadcastToOptionsT(TableT):
    def __init__(self) -> None: ...

class Rfft2dOptions(Table):
    pass

class Rfft2dOptionsT(TableT):
    def __init__(self) -> None: ...

class Conv3DOptions(Table):
    @property
    def padding(self) -> int: ...
    @property
    def stride_d(self) -> int: ...
    @property
    def stride_w(self) -> int: ...
    @property
    def stride_h(self) -> int: ...
    @property
    def fused_activation_function(self) -> int: ...
    @property
    def dilation_d_factor(self) -> int: ...
    @property
    def dilation_w_factor(self) -> int: ...
    @property
    def dilation_h_factor(self) -> int: ...

class Conv3DOptionsT(TableT):
    padding: int
    stride_d: int
    stride_w: int
    stride_h: int
    fused_activation_function: int
    dilation_d_factor: int
    dilation_w_factor: int
    dilation_h_factor: int
    def __init__(
        self,
        *,
        padding: int = ...,
        stride_d: int = ...,
        stride_w: int = ...,
        stride_h: int = ...,
        fused_activation_function: int = ...,
        dilation_d_factor: int = ...,
        dilation_w_factor: int = ...,
        dilation_h_factor: int = ...,
    ) -> None: ...

class HashtableOptions(Table):
    @property
    def table_id(self) -> int: ...
    @property
    def key_dtype(self) -> int: ...
    @property
    def value_dtype(self) -> int: ...

class HashtableOptionsT(TableT):
    table_id: int
    key_dtype: int
    value_dtype: int
    def __init__(
        self,
        *,
        table_id: int = ...,
        key_dtype: int = ...,
        value_dtype: int = ...,
    ) -> None: ...

class HashtableFindOptions(Table):
    pass

class HashtableFindOptionsT(TableT):
    def __init__(self) -> None: ...

class HashtableImportOptions(Table):
    pass

class HashtableImportOptionsT(TableT):
    def __init__(self) -> None: ...

class HashtableSizeOptions(Table):
    pass

class HashtableSizeOptionsT(TableT):
    def __init__(self) -> None: ...

class VarHandleOptions(Table):
    @property
    def container(self) -> str | None: ...
    @property
    def shared_name(self) -> str | None: ...

class VarHandleOptionsT(TableT):
    container: str | None
    shared_name: str | None
    def __init__(
        self,
        *,
        container: str | None = ...,
        shared_name: str | None = ...,
    ) -> None: ...

class ReadVariableOptions(Table):
    pass

class ReadVariableOptionsT(TableT):
    def __init__(self) -> None: ...

class AssignVariableOptions(Table):
    pass

class AssignVariableOptionsT(TableT):
    def __init__(self) -> None: ...

class RandomOptions(Table):
    @property
    def seed(self) -> int: ...
    @property
    def seed2(self) -> int: ...

class RandomOptionsT(TableT):
    seed: int
    seed2: int
    def __init__(
        self,
        *,
        seed: int = ...,
        seed2: int = ...,
    ) -> None: ...

class BucketizeOptions(Table):
    @property
    def boundaries(self) -> np.ndarray: ...

class BucketizeOptionsT(TableT):
    boundaries: Sequence[float] | np.ndarray | None
    def __init__(
        self,
        *,
        boundaries: Sequence[float] | np.ndarray | None = ...,
    ) -> None: ...

class GeluOptions(Table):
    @property
    def approximate(self) -> bool: ...

class GeluOptionsT(TableT):
    approximate: bool
    def __init__(
        self,
        *,
        approximate: bool = ...,
    ) -> None: ...

class DynamicUpdateSliceOptions(Table):
    pass

class DynamicUpdateSliceOptionsT(TableT):
    def __init__(self) -> None: ...

class UnsortedSegmentProdOptions(Table):
    pass

class UnsortedSegmentProdOptionsT(TableT):
    def __init__(self) -> None: ...

class UnsortedSegmentMaxOptions(Table):
    pass

class UnsortedSegmentMaxOptionsT(TableT):
    def __init__(self) -> None: ...

class UnsortedSegmentMinOptions(Table):
    pass

class UnsortedSegmentMinOptionsT(TableT):
    def __init__(self) -> None: ...

class UnsortedSegmentSumOptions(Table):
    pass

class UnsortedSegmentSumOptionsT(TableT):
    def __init__(self) -> None: ...

class ATan2Options(Table):
    pass

class ATan2OptionsT(TableT):
    def __init__(self) -> None: ...

class SignOptions(Table):
    pass

class SignOptionsT(TableT):
    def __init__(self) -> None: ...

class BitcastOptions(Table):
    pass

class BitcastOptionsT(TableT):
    def __init__(self) -> None: ...

class BitwiseXorOptions(Table):
    pass

class BitwiseXorOptionsT(TableT):
    def __init__(self) -> None: ...

class RightShiftOptions(Table):
    pass

class RightShiftOptionsT(TableT):
    def __init__(self) -> None: ...

class StablehloConcatenateOptions(Table):
    @property
    def dimension(self) -> int: ...

class StablehloConcatenateOptionsT(TableT):
    dimension: int
    def __init__(
        self,
        *,
        dimension: int = ...,
    ) -> None: ...

class StablehloBroadcastInDimOptions(Table):
    @property
    def broadcast_dimensions(self) -> np.ndarray: ...

class StablehloBroadcastInDimOptionsT(TableT):
    broadcast_dimensions: Sequence[int] | np.ndarray | None
    def __init__(
        self,
        *,
        broadcast_dimensions: Sequence[int] | np.ndarray | None = ...,
    ) -> None: ...

class StablehloSliceOptions(Table):
    @property
    def start_indices(self) -> np.ndarray: ...
    @property
    def limit_indices(self) -> np.ndarray: ...
    @property
    def strides(self) -> np.ndarray: ...

class StablehloSliceOptionsT(TableT):
    start_indices: Sequence[int] | np.ndarray | None
    limit_indices: Sequence[int] | np.ndarray | None
    strides: Sequence[int] | np.ndarray | None
    def __init__(
        self,
        *,
        start_indices: Sequence[int] | np.ndarray | None = ...,
        limit_indices: Sequence[int] | np.ndarray | None = ...,
        strides: Sequence[int] | np.ndarray | None = ...,
    ) -> None: ...

class StablehloConvolutionOptions(Table):
    @property
    def window_strides(self) -> np.ndarray: ...
    @property
    def padding(self) -> np.ndarray: ...
    @property
    def lhs_dilation(self) -> np.ndarray: ...
    @property
    def rhs_dilation(self) -> np.ndarray: ...
    @property
    def window_reversal(self) -> np.ndarray: ...
    @property
    def input_batch_dimension(self) -> int: ...
    @property
    def input_feature_dimension(self) -> int: ...
    @property
    def input_spatial_dimensions(self) -> np.ndarray: ...
    @property
    def kernel_input_feature_dimension(self) -> int: ...
    @property
    def kernel_output_feature_dimension(self) -> int: ...
    @property
    def kernel_spatial_dimensions(self) -> np.ndarray: ...
    @property
    def output_batch_dimension(self) -> int: ...
    @property
    def output_feature_dimension(self) -> int: ...
    @property
    def output_spatial_dimensions(self) -> np.ndarray: ...
    @property
    def feature_group_count(self) -> int: ...
    @property
    def batch_group_count(self) -> int: ...
    @property
    def precision_config(self) -> np.ndarray: ...

class StablehloConvolutionOptionsT(TableT):
    window_strides: Sequence[int] | np.ndarray | None
    padding: Sequence[int] | np.ndarray | None
    lhs_dilation: Sequence[int] | np.ndarray | None
    rhs_dilation: Sequence[int] | np.ndarray | None
    window_reversal: Sequence[bool] | np.ndarray | None
    input_batch_dimension: int
    input_feature_dimension: int
    input_spatial_dimensions: Sequence[int] | np.ndarray | None
    kernel_input_feature_dimension: int
    kernel_output_feature_dimension: int
    kernel_spatial_dimensions: Sequence[int] | np.ndarray | None
    output_batch_dimension: int
    output_feature_dimension: int
    output_spatial_dimensions: Sequence[int] | np.ndarray | None
    feature_group_count: int
    batch_group_count: int
    precision_config: Sequence[int] | np.ndarray | None
    def __init__(
        self,
        *,
        window_strides: Sequence[int] | np.ndarray | None = ...,
        padding: Sequence[int] | np.ndarray | None = ...,
        lhs_dilation: Sequence[int] | np.ndarray | None = ...,
        rhs_dilation: Sequence[int] | np.ndarray | None = ...,
        window_reversal: Sequence[bool] | np.ndarray | None = ...,
        input_batch_dimension: int = ...,
        input_feature_dimension: int = ...,
        input_spatial_dimensions: Sequence[int] | np.ndarray | None = ...,
        kernel_input_feature_dimension: int = ...,
        kernel_output_feature_dimension: int = ...,
        kernel_spatial_dimensions: Sequence[int] | np.ndarray | None = ...,
        output_batch_dimension: int = ...,
        output_feature_dimension: int = ...,
        output_spatial_dimensions: Sequence[int] | np.ndarray | None = ...,
        feature_group_count: int = ...,
        batch_group_count: int = ...,
        precision_config: Sequence[int] | np.ndarray | None = ...,
    ) -> None: ...

class StablehloCustomCallOptions(Table):
    @property
    def call_target_name(self) -> str | None: ...
    @property
    def has_side_effect(self) -> bool: ...
    @property
    def backend_config(self) -> str | None: ...
    @property
    def api_version(self) -> int: ...
    @property
    def called_computations(self) -> np.ndarray: ...
    @property
    def custom_attributes(self) -> np.ndarray: ...

class StablehloCustomCallOptionsT(TableT):
    call_target_name: str | None
    has_side_effect: bool
    backend_config: str | None
    api_version: int
    called_computations: Sequence[int] | np.ndarray | None
    custom_attributes: bytes | bytearray | memoryview | Sequence[int] | np.ndarray | None
    def __init__(
        self,
        *,
        call_target_name: str | None = ...,
        has_side_effect: bool = ...,
        backend_config: str | None = ...,
        api_version: int = ...,
        called_computations: Sequence[int] | np.ndarray | None = ...,
        custom_attributes: bytes | bytearray | memoryview | Sequence[int] | np.ndarray | None = ...,
    ) -> None: ...

class StablehloReduceOptions(Table):
    @property
    def dimensions(self) -> np.ndarray: ...
    @property
    def body_subgraph_index(self) -> int: ...

class StablehloReduceOptionsT(TableT):
    dimensions: Sequence[int] | np.ndarray | None
    body_subgraph_index: int
    def __init__(
        self,
        *,
        dimensions: Sequence[int] | np.ndarray | None = ...,
        body_subgraph_index: int = ...,
    ) -> None: ...

class StablehloScatterOptions(Table):
    @property
    def indices_are_sorted(self) -> bool: ...
    @property
    def update_window_dims(self) -> np.ndarray: ...
    @property
    def inserted_window_dims(self) -> np.ndarray: ...
    @property
    def scatter_dims_to_operand_dims(self) -> np.ndarray: ...
    @property
    def index_vector_dim(self) -> int: ...
    @property
    def unique_indices(self) -> bool: ...
    @property
    def update_computation_subgraph_index(self) -> int: ...

class StablehloScatterOptionsT(TableT):
    indices_are_sorted: bool
    update_window_dims: Sequence[int] | np.ndarray | None
    inserted_window_dims: Sequence[int] | np.ndarray | None
    scatter_dims_to_operand_dims: Sequence[int] | np.ndarray | None
    index_vector_dim: int
    unique_indices: bool
    update_computation_subgraph_index: int
    def __init__(
        self,
        *,
        indices_are_sorted: bool = ...,
        update_window_dims: Sequence[int] | np.ndarray | None = ...,
        inserted_window_dims: Sequence[int] | np.ndarray | None = ...,
        scatter_dims_to_operand_dims: Sequence[int] | np.ndarray | None = ...,
        index_vector_dim: int = ...,
        unique_indices: bool = ...,
        update_computation_subgraph_index: int = ...,
    ) -> None: ...

class StablehloCompareOptions(Table):
    @property
    def comparison_direction(self) -> int: ...
    @property
    def compare_type(self) -> int: ...

class StablehloCompareOptionsT(TableT):
    comparison_direction: int
    compare_type: int
    def __init__(
        self,
        *,
        comparison_direction: int = ...,
        compare_type: int = ...,
    ) -> None: ...

class StablehloDynamicSliceOptions(Table):
    @property
    def slice_sizes(self) -> np.ndarray: ...

class StablehloDynamicSliceOptionsT(TableT):
    slice_sizes: Sequence[int] | np.ndarray | None
    def __init__(
        self,
        *,
        slice_sizes: Sequence[int] | np.ndarray | None = ...,
    ) -> None: ...

class StablehloPadOptions(Table):
    @property
    def edge_padding_low(self) -> np.ndarray: ...
    @property
    def edge_padding_high(self) -> np.ndarray: ...
    @property
    def interior_padding(self) -> np.ndarray: ...

class StablehloPadOptionsT(TableT):
    edge_padding_low: Sequence[int] | np.ndarray | None
    edge_padding_high: Sequence[int] | np.ndarray | None
    interior_padding: Sequence[int] | np.ndarray | None
    def __init__(
        self,
        *,
        edge_padding_low: Sequence[int] | np.ndarray | None = ...,
        edge_padding_high: Sequence[int] | np.ndarray | None = ...,
        interior_padding: Sequence[int] | np.ndarray | None = ...,
    ) -> None: ...

class StablehloIotaOptions(Table):
    @property
    def iota_dimension(self) -> int: ...

class StablehloIotaOptionsT(TableT):
    iota_dimension: int
    def __init__(
        self,
        *,
        iota_dimension: int = ...,
    ) -> None: ...

class StablehloDotGeneralOptions(Table):
    @property
    def lhs_batching_dimensions(self) -> np.ndarray: ...
    @property
    def rhs_batching_dimensions(self) -> np.ndarray: ...
    @property
    def lhs_contracting_dimensions(self) -> np.ndarray: ...
    @property
    def rhs_contracting_dimensions(self) -> np.ndarray: ...
    @property
    def precision_config(self) -> np.ndarray: ...

class StablehloDotGeneralOptionsT(TableT):
    lhs_batching_dimensions: Sequence[int] | np.ndarray | None
    rhs_batching_dimensions: Sequence[int] | np.ndarray | None
    lhs_contracting_dimensions: Sequence[int] | np.ndarray | None
    rhs_contracting_dimensions: Sequence[int] | np.ndarray | None
    precision_config: Sequence[int] | np.ndarray | None
    def __init__(
        self,
        *,
        lhs_batching_dimensions: Sequence[int] | np.ndarray | None = ...,
        rhs_batching_dimensions: Sequence[int] | np.ndarray | None = ...,
        lhs_contracting_dimensions: Sequence[int] | np.ndarray | None = ...,
        rhs_contracting_dimensions: Sequence[int] | np.ndarray | None = ...,
        precision_config: Sequence[int] | np.ndarray | None = ...,
    ) -> None: ...

class StablehloReduceWindowOptions(Table):
    @property
    def window_dimensions(self) -> np.ndarray: ...
    @property
    def window_strides(self) -> np.ndarray: ...
    @property
    def base_dilations(self) -> np.ndarray: ...
    @property
    def window_dilations(self) -> np.ndarray: ...
    @property
    def padding(self) -> np.ndarray: ...
    @property
    def body_subgraph_index(self) -> int: ...

class StablehloReduceWindowOptionsT(TableT):
    window_dimensions: Sequence[int] | np.ndarray | None
    window_strides: Sequence[int] | np.ndarray | None
    base_dilations: Sequence[int] | np.ndarray | None
    window_dilations: Sequence[int] | np.ndarray | None
    padding: Sequence[int] | np.ndarray | None
    body_subgraph_index: int
    def __init__(
        self,
        *,
        window_dimensions: Sequence[int] | np.ndarray | None = ...,
        window_strides: Sequence[int] | np.ndarray | None = ...,
        base_dilations: Sequence[int] | np.ndarray | None = ...,
        window_dilations: Sequence[int] | np.ndarray | None = ...,
        padding: Sequence[int] | np.ndarray | None = ...,
        body_subgraph_index: int = ...,
    ) -> None: ...

class StablehloSortOptions(Table):
    @property
    def dimension(self) -> int: ...
    @property
    def is_stable(self) -> bool: ...
    @property
    def comparator_subgraph_index(self) -> int: ...

class StablehloSortOptionsT(TableT):
    dimension: int
    is_stable: bool
    comparator_subgraph_index: int
    def __init__(
        self,
        *,
        dimension: int = ...,
        is_stable: bool = ...,
        comparator_subgraph_index: int = ...,
    ) -> None: ...

class StablehloWhileOptions(Table):
    @property
    def cond_subgraph_index(self) -> int: ...
    @property
    def body_subgraph_index(self) -> int: ...

class StablehloWhileOptionsT(TableT):
    cond_subgraph_index: int
    body_subgraph_index: int
    def __init__(
        self,
        *,
        cond_subgraph_index: int = ...,
        body_subgraph_index: int = ...,
    ) -> None: ...

class StablehloGatherOptions(Table):
    @property
    def offset_dims(self) -> np.ndarray: ...
    @property
    def collapsed_slice_dims(self) -> np.ndarray: ...
    @property
    def start_index_map(self) -> np.ndarray: ...
    @property
    def index_vector_dim(self) -> int: ...
    @property
    def slice_sizes(self) -> np.ndarray: ...
    @property
    def indices_are_sorted(self) -> bool: ...

class StablehloGatherOptionsT(TableT):
    offset_dims: Sequence[int] | np.ndarray | None
    collapsed_slice_dims: Sequence[int] | np.ndarray | None
    start_index_map: Sequence[int] | np.ndarray | None
    index_vector_dim: int
    slice_sizes: Sequence[int] | np.ndarray | None
    indices_are_sorted: bool
    def __init__(
        self,
        *,
        offset_dims: Sequence[int] | np.ndarray | None = ...,
        collapsed_slice_dims: Sequence[int] | np.ndarray | None = ...,
        start_index_map: Sequence[int] | np.ndarray | None = ...,
        index_vector_dim: int = ...,
        slice_sizes: Sequence[int] | np.ndarray | None = ...,
        indices_are_sorted: bool = ...,
    ) -> None: ...

class StablehloTransposeOptions(Table):
    @property
    def permutation(self) -> np.ndarray: ...

class StablehloTransposeOptionsT(TableT):
    permutation: Sequence[int] | np.ndarray | None
    def __init__(
        self,
        *,
        permutation: Sequence[int] | np.ndarray | None = ...,
    ) -> None: ...

class DilateOptions(Table):
    pass

class DilateOptionsT(TableT):
    def __init__(self) -> None: ...

class StablehloRngBitGeneratorOptions(Table):
    @property
    def algorithm(self) -> int: ...

class StablehloRngBitGeneratorOptionsT(TableT):
    algorithm: int
    def __init__(
        self,
        *,
        algorithm: int = ...,
    ) -> None: ...

class ReduceWindowOptions(Table):
    @property
    def reduce_function(self) -> int: ...

class ReduceWindowOptionsT(TableT):
    reduce_function: int
    def __init__(
        self,
        *,
        reduce_function: int = ...,
    ) -> None: ...

class StableHLOCompositeOptions(Table):
    @property
    def name(self) -> str | None: ...
    @property
    def decomposition_subgraph_index(self) -> int: ...
    @property
    def composite_attributes(self) -> np.ndarray: ...
    @property
    def composite_attributes_format(self) -> int: ...
    @property
    def version(self) -> int: ...

class StableHLOCompositeOptionsT(TableT):
    name: str | None
    decomposition_subgraph_index: int
    composite_attributes: bytes | bytearray | memoryview | Sequence[int] | np.ndarray | None
    composite_attributes_format: int
    version: int
    def __init__(
        self,
        *,
        name: str | None = ...,
        decomposition_subgraph_index: int = ...,
        composite_attributes: bytes | bytearray | memoryview | Sequence[int] | np.ndarray | None = ...,
        composite_attributes_format: int = ...,
        version: int = ...,
    ) -> None: ...

class StablehloShiftLeftOptions(Table):
    pass

class StablehloShiftLeftOptionsT(TableT):
    def __init__(self) -> None: ...

class StablehloCaseOptions(Table):
    @property
    def branch_subgraph_indices(self) -> np.ndarray: ...

class StablehloCaseOptionsT(TableT):
    branch_subgraph_indices: Sequence[int] | np.ndarray | None
    def __init__(
        self,
        *,
        branch_subgraph_indices: Sequence[int] | np.ndarray | None = ...,
    ) -> None: ...
