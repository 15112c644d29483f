"""The functions of TensorFlow's C interface that a plugin may call, and how each is called.

A signature is the letter of the result, then those of the arguments: v nothing, p a pointer, s a C string,
i int, z size_t, l int64_t, b one byte (TF_Bool, bool), t the TF_Status that reports how it went.
Source: TensorFlow 2.21's headers c/tf_status.h, tf_buffer.h, tf_tensor.h, kernels.h, ops.h and
c/experimental/grappler/grappler.h.
"""

from __future__ import annotations

# Machine code of the shim's own, on real structs (native.py and its neighbours).
NATIVE = {
    **{"TF_NewStatus": "p", "TF_DeleteStatus": "vp", "TF_SetStatus": "vpis", "TF_GetCode": "ip"},
    **{"TF_Message": "pp", "TF_NewBuffer": "p", "TF_NewBufferFromString": "ppz", "TF_DeleteBuffer": "vp"},
    **{"TF_GetBuffer": "vpp", "TF_Version": "p"},
    **{"TF_NewTensor": "pipipzpp", "TF_AllocateTensor": "pipiz", "TF_DeleteTensor": "vp"},
    **{"TF_TensorType": "ip", "TF_NumDims": "ip", "TF_Dim": "lpi", "TF_TensorByteSize": "zp"},
    **{"TF_TensorData": "pp", "TF_TensorElementCount": "lp", "TF_TensorIsAligned": "bp"},
    **{"TF_TensorMaybeMove": "pp", "TF_SetShape": "vppi", "TF_TensorBitcastFrom": "vpippit"},
    **{"TF_NumInputs": "ip", "TF_NumOutputs": "ip", "TF_GetInput": "vpipt", "TF_StepId": "lp"},
    **{"TF_InputDatatype": "ipi", "TF_ExpectedOutputDataType": "ipi", "TF_IsRefInput": "bpit"},
    **{"TF_SetOutput": "vpipt", "TF_AllocateOutput": "ppiipizt", "TF_AllocateTemp": "ppipipt"},
    **{"TF_ForwardInputOrAllocateOutput": "pppiipipt", "TF_OpKernelContext_Failure": "vpp"},
}

_LISTS = {
    f"TF_Get{what}List{end}": signature
    for what in ("NodesToPreserve", "FetchNodes")
    for end, signature in (("Size", "vpppt"), ("", "vpppipzt"))
}
_PROPERTIES = {
    f"TF_Get{side}PropertiesList{end}": signature
    for side in ("Input", "Output")
    for end, signature in (("Size", "vpspt"), ("", "vpspit"))
}
# Of graph optimizers; who holds the graph answers.
GRAPH = {
    **_LISTS,
    **{"TF_NewGraphProperties": "pp", "TF_DeleteGraphProperties": "vp", "TF_InferStatically": "vpbbbbt"},
    **_PROPERTIES,
    **{"TF_NewFunctionLibraryDefinition": "ppt", "TF_DeleteFunctionLibraryDefinition": "vp"},
    "TF_LookUpOpDef": "vpspt",
}
# Of what is registered.
REGISTERED = {
    **{"TF_GetAllOpList": "p", "TF_OpIsStateful": "bst"},
    **{"TF_GetRegisteredKernelsForOp": "pst", "TF_GetAllRegisteredKernels": "pt"},
}
OP_DEFINITIONS = {
    **{"TF_NewOpDefinitionBuilder": "ps", "TF_DeleteOpDefinitionBuilder": "vp"},
    **{f"TF_OpDefinitionBuilderAdd{what}": "vps" for what in ("Attr", "Input", "Output")},
    **{
        f"TF_OpDefinitionBuilderSet{what}": "vpb"
        for what in ("IsCommutative", "IsAggregate", "IsStateful", "AllowsUninitializedInput")
    },
    **{"TF_OpDefinitionBuilderDeprecated": "vpis", "TF_RegisterOpDefinition": "vpt"},
    "TF_OpDefinitionBuilderSetShapeInferenceFunction": "vpp",
}
KERNEL_BUILDERS = {
    **{"TF_NewKernelBuilder": "pssppp", "TF_NewAsyncKernelBuilder": "pssppp", "TF_DeleteKernelBuilder": "vp"},
    **{"TF_KernelBuilder_TypeConstraint": "vpsit", "TF_KernelBuilder_HostMemory": "vps"},
    **{"TF_KernelBuilder_Priority": "vpi", "TF_KernelBuilder_Label": "vps"},
    "TF_RegisterKernelBuilder": "vspt",
}
_ATTRIBUTES = {
    f"TF_OpKernelConstruction_GetAttr{kind}{end}": signature
    for kind in ("Type", "Int32", "Int64", "Float", "Bool")
    for end, signature in (("", "vpspt"), ("List", "vpspit"))
}
CONSTRUCTION = {
    **_ATTRIBUTES,
    "TF_OpKernelConstruction_GetAttrSize": "vpsppt",
    "TF_OpKernelConstruction_GetAttrString": "vpspzt",
    "TF_OpKernelConstruction_GetAttrStringList": "vpsppipzt",
    "TF_OpKernelConstruction_GetAttrTensor": "vpspt",
    "TF_OpKernelConstruction_GetAttrTensorShape": "vpspzt",
    "TF_OpKernelConstruction_HasAttr": "bpst",
    "TF_OpKernelConstruction_Failure": "vpp",
}
# The second one is the shim's own question.
COMPUTE = {"TF_TensorFromProto": "vppt", "numlite_allows": "bz"}
# They return a TF_StringView: two words in registers, which a callback of ctypes cannot.
VIEWS = {"TF_OpKernelConstruction_GetName": "pp"}

# Answered by callbacks, each by its place in the shim's table.
CALLBACKS = {
    **GRAPH,
    **REGISTERED,
    **OP_DEFINITIONS,
    **KERNEL_BUILDERS,
    **CONSTRUCTION,
    **COMPUTE,
    **VIEWS,
}
ANSWERED = frozenset((*NATIVE, *CALLBACKS))

# Of the same headers, and not built: a plugin may be linked against them, and fails where it calls one.
UNBUILT = (
    *(f"TF_ShapeInferenceContext{name}" for name in ("GetInput", "SetOutput", "Scalar", "VectorFromSize")),
    *(f"TF_ShapeInferenceContext{name}" for name in ("NumInputs", "Rank", "RankKnown", "WithRank", "Dim")),
    *(f"TF_ShapeInferenceContext{name}" for name in ("WithRankAtLeast", "WithRankAtMost", "Subshape")),
    *("TF_ShapeInferenceContextSetUnknownShape", "TF_ShapeInferenceContextConcatenateShapes"),
    *("TF_ShapeInferenceContext_GetAttrType", "TF_NewShapeHandle", "TF_DeleteShapeHandle"),
    *("TF_NewDimensionHandle", "TF_DeleteDimensionHandle", "TF_DimensionHandleValue"),
    *("TF_DimensionHandleValueKnown", "TF_GetInputByName", "TF_GetInputTensorFromVariable"),
    *(
        "TF_OpKernelContext_ForwardRefInputToRefOutput",
        "TF_GetStream",
        "TF_InputRange",
        "TF_GetMutableOutput",
    ),
    *("TF_AssignVariable", "TF_AssignUpdateVariable", "TF_AssignRefVariable", "TF_TemporaryVariable"),
    *(
        "TF_DestroyTemporaryVariable",
        "TF_MaybeLockVariableInputMutexesInOrder",
        "TF_ReleaseVariableInputLockHolder",
    ),
    *("TF_AddNVariant", "TF_ZerosLikeVariant", "TF_RunAsyncOpKernelDoneCallback", "TF_ForEachPayload"),
    *(
        "TF_SetStatusFromIOError",
        "TF_SetPayload",
        "TF_GetSerializedFunctionDefLibrary",
        "TF_GetSerializedConfigProto",
    ),
    *(
        "TF_GetSerializedResourceHandleProto",
        "TF_IsHostMemoryInput",
        "TF_IsHostMemoryOutput",
        "TF_GetFrameId",
    ),
    *("TF_GetIterId", "TF_GetStepId", "TF_GetDeviceId", "TF_GetGraphDefVersion", "TF_GetOpKernelName"),
    *("TF_GetResourceMgrDefaultContainerName", "TF_GetOpKernelRequestedInput", "TF_TensorDefaultAlignment"),
    *("TF_IncNumDeferredOps", "TF_DecNumDeferredOps", "TF_RegisterKernelBuilderWithKernelDef"),
    *("TF_OpKernelConstruction_GetNodeDef", "TF_OpKernelConstruction_GetAttrTensorList"),
    "TF_OpKernelConstruction_GetAttrFunction",
)
