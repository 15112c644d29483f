"""Machine code of the shim's own, as LLVM IR: what a kernel that computes asks of its context."""

from __future__ import annotations

# Why a call of the plugin's was refused: the codes of TF_Status.
_INVALID, _EXHAUSTED = 3, 8
_TEXTS = {
    "no_input": "input: index must be that of an input",
    "no_output": "output: index must be that of an output",
    "other_type": "output: must be of the op's own type",
    "no_shape": "shape: must have sizes, and a rank of 0 to 254",
    "negative": "shape: sizes must not be negative",
    "too_large": "a tensor of this shape does not fit in memory",
    "no_numbers": "tensor: must hold numbers",
    "no_tensor": "tensor: must be a TF_Tensor of as many bytes as its shape has, got another or null",
    "no_candidates": "candidates: must be a list of inputs",
}
# An output as the record has it: its kind, a number that depends on it, its rank, and this many sizes.
NOT_SET, IN_ROOM, OF_INPUT, ELSEWHERE = range(4)
MOST_SIZES = 8
RECORD_WORDS = 3 + MOST_SIZES
# Places of %context's fields in 64-bit words, for compute.py.
COUNTS, INPUTS, TYPES, STEP, OUTPUTS, ROOMS, FORWARDABLE, CODE, MESSAGE, INPUT_TYPES, RECORD = range(11)
CONTEXT_WORDS = 11
# Elements of these types and less are looked up by their number.
TYPE_COUNT = 64
# Memory up to here is taken without asking.
_SMALL_BYTES = 1 << 26


def context_ir(item_sizes: list[int]) -> str:
    """The code, for types whose elements have these sizes by the types' numbers (0 for no numbers)."""
    sizes = ", ".join(f"i64 {size}" for size in item_sizes)
    texts = "".join(
        f'@{name} = internal constant [{len(text) + 1} x i8] c"{text}\\00"\n' for name, text in _TEXTS.items()
    )
    table = f"@item_sizes = internal constant [{TYPE_COUNT} x i64] [{sizes}]\n"
    return texts + table + _CONTEXT + _SHAPES


def refusal(name: str, code: int = _INVALID) -> str:
    """The line that gives the status a text of _TEXTS."""
    return f"call void @TF_SetStatus(ptr %status, i32 {code}, ptr @{name})"


_CONTEXT = f"""
%context = type {{ i32, i32, ptr, ptr, i64, ptr, ptr, i64, i64, ptr, ptr, ptr }}
%room = type {{ ptr, i64 }}

define i32 @TF_NumInputs(ptr %context) {{
  %count = load i32, ptr %context
  ret i32 %count
}}
define i32 @TF_NumOutputs(ptr %context) {{
  %at = getelementptr %context, ptr %context, i64 0, i32 1
  %count = load i32, ptr %at
  ret i32 %count
}}
define i64 @TF_StepId(ptr %context) {{
  %at = getelementptr %context, ptr %context, i64 0, i32 4
  %step = load i64, ptr %at
  ret i64 %step
}}
define i8 @TF_IsRefInput(ptr %context, i32 %index, ptr %status) {{
  call void @TF_SetStatus(ptr %status, i32 0, ptr null)
  ret i8 0
}}
define internal ptr @field(ptr %context, i64 %number) {{
  %at = getelementptr i64, ptr %context, i64 %number
  %value = load ptr, ptr %at
  ret ptr %value
}}
define internal ptr @input(ptr %context, i32 %index) {{
  %count = call i32 @TF_NumInputs(ptr %context)
  %there = icmp ult i32 %index, %count
  br i1 %there, label %some, label %none
some:
  %inputs = call ptr @field(ptr %context, i64 {INPUTS})
  %place = getelementptr ptr, ptr %inputs, i32 %index
  %tensor = load ptr, ptr %place
  ret ptr %tensor
none:
  ret ptr null
}}
define void @TF_GetInput(ptr %context, i32 %index, ptr %out, ptr %status) {{
  %tensor = call ptr @input(ptr %context, i32 %index)
  %none = icmp eq ptr %tensor, null
  br i1 %none, label %failed, label %some
some:
  %shared = call ptr @numlite_share(ptr %tensor)
  store ptr %shared, ptr %out
  call void @TF_SetStatus(ptr %status, i32 0, ptr null)
  ret void
failed:
  call void @TF_SetStatus(ptr %status, i32 11, ptr @no_input)
  ret void
}}
define i32 @TF_InputDatatype(ptr %context, i32 %index) {{
  %tensor = call ptr @input(ptr %context, i32 %index)
  %none = icmp eq ptr %tensor, null
  br i1 %none, label %failed, label %some
some:
  %type = load i32, ptr %tensor
  ret i32 %type
failed:
  ret i32 0
}}
define i32 @TF_ExpectedOutputDataType(ptr %context, i32 %index) {{
  %count = call i32 @TF_NumOutputs(ptr %context)
  %there = icmp ult i32 %index, %count
  br i1 %there, label %some, label %none
some:
  %types = call ptr @field(ptr %context, i64 {TYPES})
  %place = getelementptr i32, ptr %types, i32 %index
  %type = load i32, ptr %place
  ret i32 %type
none:
  ret i32 0
}}
define void @TF_OpKernelContext_Failure(ptr %context, ptr %status) {{
  %silent = icmp eq ptr %status, null
  br i1 %silent, label %unknown, label %read
read:
  %given = call i32 @TF_GetCode(ptr %status)
  %message = call ptr @TF_Message(ptr %status)
  %copy = call ptr @strdup(ptr %message)
  br label %unknown
unknown:
  %code = phi i32 [ 2, %0 ], [ %given, %read ]
  %text = phi ptr [ null, %0 ], [ %copy, %read ]
  %wide = sext i32 %code to i64
  %code_at = getelementptr i64, ptr %context, i64 {CODE}
  store i64 %wide, ptr %code_at
  %text_at = getelementptr i64, ptr %context, i64 {MESSAGE}
  %before = load ptr, ptr %text_at
  call void @free(ptr %before)
  store ptr %text, ptr %text_at
  ret void
}}
"""

_SHAPES = f"""
declare {{ i64, i1 }} @llvm.umul.with.overflow.i64(i64, i64)

; The bytes of a tensor; -1, and the status says why, for one that cannot be.
define internal i64 @bytes_of(i32 %type, ptr %dims, i32 %rank, ptr %status) {{
  %known = icmp ult i32 %type, {TYPE_COUNT}
  br i1 %known, label %typed, label %typeless
typed:
  %size_at = getelementptr i64, ptr @item_sizes, i32 %type
  %item = load i64, ptr %size_at
  %numbers = icmp ne i64 %item, 0
  br i1 %numbers, label %shaped, label %typeless
shaped:
  %fits = icmp ult i32 %rank, 255
  %scalar = icmp eq i32 %rank, 0
  %given = icmp ne ptr %dims, null
  %sized = or i1 %scalar, %given
  %shape = and i1 %fits, %sized
  br i1 %shape, label %next, label %shapeless
next:
  %axis = phi i32 [ 0, %shaped ], [ %after, %more ]
  %product = phi i64 [ %item, %shaped ], [ %times, %more ]
  %left = icmp slt i32 %axis, %rank
  br i1 %left, label %size, label %end
size:
  %place = getelementptr i64, ptr %dims, i32 %axis
  %dim = load i64, ptr %place
  %below = icmp slt i64 %dim, 0
  br i1 %below, label %minus, label %whole
whole:
  %both = call {{ i64, i1 }} @llvm.umul.with.overflow.i64(i64 %product, i64 %dim)
  %over = extractvalue {{ i64, i1 }} %both, 1
  br i1 %over, label %large, label %more
more:
  %times = extractvalue {{ i64, i1 }} %both, 0
  %after = add i32 %axis, 1
  br label %next
end:
  %signed = icmp sge i64 %product, 0
  br i1 %signed, label %done, label %large
done:
  ret i64 %product
typeless:
  {refusal("no_numbers")}
  ret i64 -1
shapeless:
  {refusal("no_shape")}
  ret i64 -1
minus:
  {refusal("negative")}
  ret i64 -1
large:
  {refusal("too_large", _EXHAUSTED)}
  ret i64 -1
}}
define internal ptr @allocated(i32 %type, ptr %dims, i32 %rank, i64 %bytes, ptr %status) {{
  %small = icmp ule i64 %bytes, {_SMALL_BYTES}
  br i1 %small, label %take, label %ask
ask:
  %answer = call i8 @numlite_allows(i64 %bytes)
  %allowed = icmp ne i8 %answer, 0
  br i1 %allowed, label %take, label %none
take:
  %made = call ptr @TF_AllocateTensor(i32 %type, ptr %dims, i32 %rank, i64 %bytes)
  %failed = icmp eq ptr %made, null
  br i1 %failed, label %none, label %some
some:
  call void @TF_SetStatus(ptr %status, i32 0, ptr null)
  ret ptr %made
none:
  {refusal("too_large", _EXHAUSTED)}
  ret ptr null
}}
define ptr @TF_AllocateTemp(ptr %context, i32 %type, ptr %dims, i32 %rank, ptr %attributes, ptr %status) {{
  %bytes = call i64 @bytes_of(i32 %type, ptr %dims, i32 %rank, ptr %status)
  %failed = icmp slt i64 %bytes, 0
  br i1 %failed, label %none, label %some
some:
  %made = call ptr @allocated(i32 %type, ptr %dims, i32 %rank, i64 %bytes, ptr %status)
  ret ptr %made
none:
  ret ptr null
}}
"""
