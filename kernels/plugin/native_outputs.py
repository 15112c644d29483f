"""Machine code of the shim's own, as LLVM IR: how a kernel's outputs come to be."""

from __future__ import annotations

from .native_context import FORWARDABLE, OUTPUTS, ROOMS, refusal

OUTPUT_FUNCTIONS = f"""
; The output becomes the tensor, which it holds from now on.
define internal void @become(ptr %context, i32 %index, ptr %tensor) {{
  %outputs = call ptr @field(ptr %context, i64 {OUTPUTS})
  %place = getelementptr ptr, ptr %outputs, i32 %index
  %before = load ptr, ptr %place
  store ptr %tensor, ptr %place
  call void @TF_DeleteTensor(ptr %before)
  ret void
}}
; Whether the index is that of an output of the type; else the status says what is wrong.
define internal i1 @is_output(ptr %context, i32 %index, i32 %type, ptr %status) {{
  %count = call i32 @TF_NumOutputs(ptr %context)
  %there = icmp ult i32 %index, %count
  br i1 %there, label %some, label %none
some:
  %wanted = call i32 @TF_ExpectedOutputDataType(ptr %context, i32 %index)
  %same = icmp eq i32 %wanted, %type
  br i1 %same, label %yes, label %other
yes:
  ret i1 1
none:
  {refusal("no_output")}
  ret i1 0
other:
  {refusal("other_type")}
  ret i1 0
}}
define void @TF_SetOutput(ptr %context, i32 %index, ptr %tensor, ptr %status) {{
  %none = icmp eq ptr %tensor, null
  br i1 %none, label %failed, label %given
given:
  %whole = load %tensor, ptr %tensor
  %type = extractvalue %tensor %whole, 0
  %rank = extractvalue %tensor %whole, 1
  %dims = extractvalue %tensor %whole, 2
  %fits = call i1 @is_output(ptr %context, i32 %index, i32 %type, ptr %status)
  br i1 %fits, label %sized, label %end
sized:
  %bytes = call i64 @bytes_of(i32 %type, ptr %dims, i32 %rank, ptr %status)
  %wrong = icmp slt i64 %bytes, 0
  br i1 %wrong, label %end, label %held
held:
  %length = call i64 @TF_TensorByteSize(ptr %tensor)
  %short = icmp ult i64 %length, %bytes
  br i1 %short, label %failed, label %set
set:
  %shared = call ptr @numlite_share(ptr %tensor)
  call void @become(ptr %context, i32 %index, ptr %shared)
  call void @TF_SetStatus(ptr %status, i32 0, ptr null)
  ret void
failed:
  {refusal("no_tensor")}
  ret void
end:
  ret void
}}
define ptr @TF_AllocateOutput(ptr %context, i32 %index, i32 %type, ptr %dims, i32 %rank, i64 %length_given,
    ptr %status) {{
  %fits = call i1 @is_output(ptr %context, i32 %index, i32 %type, ptr %status)
  br i1 %fits, label %sized, label %none
sized:
  %bytes = call i64 @bytes_of(i32 %type, ptr %dims, i32 %rank, ptr %status)
  %wrong = icmp slt i64 %bytes, 0
  br i1 %wrong, label %none, label %look
look:
  %rooms = call ptr @field(ptr %context, i64 {ROOMS})
  %room = getelementptr %room, ptr %rooms, i32 %index
  %data = load ptr, ptr %room
  %length_at = getelementptr %room, ptr %room, i64 0, i32 1
  %length = load i64, ptr %length_at
  %same = icmp eq i64 %length, %bytes
  %free = icmp ne ptr %data, null
  %ready = and i1 %same, %free
  br i1 %ready, label %lent, label %new
lent:
  store ptr null, ptr %room
  %there = call ptr @numlite_borrow(i32 %type, ptr %dims, i32 %rank, ptr %data, i64 %bytes)
  call void @TF_SetStatus(ptr %status, i32 0, ptr null)
  br label %made
new:
  %taken = call ptr @allocated(i32 %type, ptr %dims, i32 %rank, i64 %bytes, ptr %status)
  %failed = icmp eq ptr %taken, null
  br i1 %failed, label %none, label %made
made:
  %tensor = phi ptr [ %there, %lent ], [ %taken, %new ]
  call void @become(ptr %context, i32 %index, ptr %tensor)
  %shared = call ptr @numlite_share(ptr %tensor)
  ret ptr %shared
none:
  ret ptr null
}}
; Whether the tensor has the type and the sizes.
define internal i1 @is_like(ptr %tensor, i32 %type, ptr %dims, i32 %rank) {{
  %its = load i32, ptr %tensor
  %same = icmp eq i32 %its, %type
  %its_rank = call i32 @TF_NumDims(ptr %tensor)
  %even = icmp eq i32 %its_rank, %rank
  %first = and i1 %same, %even
  br i1 %first, label %next, label %no
next:
  %axis = phi i32 [ 0, %0 ], [ %after, %more ]
  %left = icmp slt i32 %axis, %rank
  br i1 %left, label %more, label %yes
more:
  %size = call i64 @TF_Dim(ptr %tensor, i32 %axis)
  %place = getelementptr i64, ptr %dims, i32 %axis
  %wanted = load i64, ptr %place
  %after = add i32 %axis, 1
  %equal = icmp eq i64 %size, %wanted
  br i1 %equal, label %next, label %no
yes:
  ret i1 1
no:
  ret i1 0
}}
define ptr @TF_ForwardInputOrAllocateOutput(ptr %context, ptr %candidates, i32 %count, i32 %index, ptr %dims,
    i32 %rank, ptr %forwarded, ptr %status) {{
  %type = call i32 @TF_ExpectedOutputDataType(ptr %context, i32 %index)
  %fits = call i1 @is_output(ptr %context, i32 %index, i32 %type, ptr %status)
  br i1 %fits, label %sized, label %none
sized:
  %bytes = call i64 @bytes_of(i32 %type, ptr %dims, i32 %rank, ptr %status)
  %wrong = icmp slt i64 %bytes, 0
  br i1 %wrong, label %none, label %listed
listed:
  %few = icmp ult i32 %count, 65537
  %empty = icmp eq i32 %count, 0
  %there = icmp ne ptr %candidates, null
  %held = or i1 %empty, %there
  %list = and i1 %few, %held
  br i1 %list, label %next, label %refused
next:
  %number = phi i32 [ 0, %listed ], [ %after, %other ]
  %left = icmp slt i32 %number, %count
  br i1 %left, label %look, label %allocate
look:
  %place = getelementptr i32, ptr %candidates, i32 %number
  %candidate = load i32, ptr %place
  %after = add i32 %number, 1
  %tensor = call ptr @input(ptr %context, i32 %candidate)
  %is = icmp ne ptr %tensor, null
  %short = icmp ult i32 %candidate, 64
  %may = and i1 %is, %short
  br i1 %may, label %ask, label %other
ask:
  %mask_at = getelementptr i64, ptr %context, i64 {FORWARDABLE}
  %mask = load i64, ptr %mask_at
  %wide = zext i32 %candidate to i64
  %bit = shl i64 1, %wide
  %both = and i64 %mask, %bit
  %allowed = icmp ne i64 %both, 0
  br i1 %allowed, label %compare, label %other
compare:
  %like = call i1 @is_like(ptr %tensor, i32 %type, ptr %dims, i32 %rank)
  br i1 %like, label %take, label %other
other:
  br label %next
take:
  %rest = xor i64 %mask, %bit
  store i64 %rest, ptr %mask_at
  %shared = call ptr @numlite_share(ptr %tensor)
  call void @become(ptr %context, i32 %index, ptr %shared)
  call void @TF_SetStatus(ptr %status, i32 0, ptr null)
  call void @tell(ptr %forwarded, i32 %candidate)
  %given = call ptr @numlite_share(ptr %tensor)
  ret ptr %given
allocate:
  call void @tell(ptr %forwarded, i32 -1)
  %made = call ptr @TF_AllocateOutput(ptr %context, i32 %index, i32 %type, ptr %dims, i32 %rank, i64 0,
    ptr %status)
  ret ptr %made
refused:
  {refusal("no_candidates")}
  ret ptr null
none:
  ret ptr null
}}
define internal void @tell(ptr %place, i32 %value) {{
  %none = icmp eq ptr %place, null
  br i1 %none, label %end, label %store
store:
  store i32 %value, ptr %place
  br label %end
end:
  ret void
}}
"""
