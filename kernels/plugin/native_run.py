"""Machine code of the shim's own, as LLVM IR: one run of a kernel, from NumPy's arrays to what it gave.

Python is asked for nothing meanwhile but whether much memory may be taken.
"""

from __future__ import annotations

from .native_context import (
    ELSEWHERE,
    IN_ROOM,
    INPUT_TYPES,
    INPUTS,
    MOST_SIZES,
    NOT_SET,
    OF_INPUT,
    OUTPUTS,
    RECORD,
    RECORD_WORDS,
    ROOMS,
)

# Lists and arrays are read where CPython and NumPy have their fields (shim.py looks whether it is so).
RUN = f"""
@array_type = internal global ptr null
declare ptr @PyEval_SaveThread()
declare void @PyEval_RestoreThread(ptr)

define void @numlite_arrays(ptr %type) {{
  store ptr %type, ptr @array_type
  ret void
}}
define internal ptr @listed(ptr %list, i32 %index) {{
  %items_at = getelementptr i8, ptr %list, i64 24
  %items = load ptr, ptr %items_at
  %place = getelementptr ptr, ptr %items, i32 %index
  %item = load ptr, ptr %place
  ret ptr %item
}}
define internal ptr @data_of(ptr %array) {{
  %at = getelementptr i8, ptr %array, i64 16
  %data = load ptr, ptr %at
  ret ptr %data
}}
define internal i32 @rank_of(ptr %array) {{
  %at = getelementptr i8, ptr %array, i64 24
  %rank = load i32, ptr %at
  ret i32 %rank
}}
define internal ptr @sizes_of(ptr %array) {{
  %at = getelementptr i8, ptr %array, i64 32
  %dims = load ptr, ptr %at
  ret ptr %dims
}}
define internal i64 @array_bytes(ptr %array, i32 %type) {{
  %rank = call i32 @rank_of(ptr %array)
  %dims = call ptr @sizes_of(ptr %array)
  %bytes = call i64 @bytes_of(i32 %type, ptr %dims, i32 %rank, ptr null)
  ret i64 %bytes
}}
; Whether an array can be lent as it is: one of NumPy's own type, aligned and in one piece, or of nothing.
define internal i1 @is_fit(ptr %array, i32 %type) {{
  %class_at = getelementptr i8, ptr %array, i64 8
  %class = load ptr, ptr %class_at
  %wanted = load ptr, ptr @array_type
  %own = icmp eq ptr %class, %wanted
  br i1 %own, label %look, label %no
look:
  %flags_at = getelementptr i8, ptr %array, i64 64
  %flags = load i32, ptr %flags_at
  %piece = and i32 %flags, 1
  %whole = icmp ne i32 %piece, 0
  %data = call ptr @data_of(ptr %array)
  %number = ptrtoint ptr %data to i64
  %low = and i64 %number, 63
  %aligned = icmp eq i64 %low, 0
  %both = and i1 %whole, %aligned
  %bytes = call i64 @array_bytes(ptr %array, i32 %type)
  %empty = icmp eq i64 %bytes, 0
  %fit = or i1 %both, %empty
  ret i1 %fit
no:
  ret i1 0
}}
define internal i32 @input_type(ptr %context, i32 %index) {{
  %types = call ptr @field(ptr %context, i64 {INPUT_TYPES})
  %at = getelementptr i32, ptr %types, i32 %index
  %type = load i32, ptr %at
  ret i32 %type
}}
define internal ptr @lent(ptr %array, i32 %type) {{
  %rank = call i32 @rank_of(ptr %array)
  %dims = call ptr @sizes_of(ptr %array)
  %bytes = call i64 @array_bytes(ptr %array, i32 %type)
  %empty = icmp eq i64 %bytes, 0
  %held = call ptr @data_of(ptr %array)
  %even = inttoptr i64 64 to ptr
  %data = select i1 %empty, ptr %even, ptr %held
  %made = call ptr @numlite_borrow(i32 %type, ptr %dims, i32 %rank, ptr %data, i64 %bytes)
  ret ptr %made
}}
; The kernel computes. The place of the first array that cannot be lent, before anything is done; else -1, and
; less by one for each tensor of ours that the plugin has kept.
define i64 @numlite_compute(ptr %context, ptr %arrays, ptr %rooms, ptr %compute, ptr %state) {{
  %in = call i32 @TF_NumInputs(ptr %context)
  %out = call i32 @TF_NumOutputs(ptr %context)
  br label %check
check:
  %c = phi i32 [ 0, %0 ], [ %c1, %fine ]
  %unchecked = icmp slt i32 %c, %in
  br i1 %unchecked, label %checked, label %lend
checked:
  %candidate = call ptr @listed(ptr %arrays, i32 %c)
  %candidate_type = call i32 @input_type(ptr %context, i32 %c)
  %fit = call i1 @is_fit(ptr %candidate, i32 %candidate_type)
  br i1 %fit, label %fine, label %unfit
fine:
  %c1 = add i32 %c, 1
  br label %check
unfit:
  %place = zext i32 %c to i64
  ret i64 %place
lend:
  %i = phi i32 [ 0, %check ], [ %i1, %lent ]
  %unlent = icmp slt i32 %i, %in
  br i1 %unlent, label %lent, label %prepare
lent:
  %array = call ptr @listed(ptr %arrays, i32 %i)
  %type = call i32 @input_type(ptr %context, i32 %i)
  %tensor = call ptr @lent(ptr %array, i32 %type)
  %inputs = call ptr @field(ptr %context, i64 {INPUTS})
  %input_at = getelementptr ptr, ptr %inputs, i32 %i
  store ptr %tensor, ptr %input_at
  %i1 = add i32 %i, 1
  br label %lend
prepare:
  %o = phi i32 [ 0, %lend ], [ %o1, %prepared ]
  %unprepared = icmp slt i32 %o, %out
  br i1 %unprepared, label %prepared, label %run
prepared:
  %memory = call ptr @listed(ptr %rooms, i32 %o)
  %start = call ptr @data_of(ptr %memory)
  %number = ptrtoint ptr %start to i64
  %over = add i64 %number, 63
  %even = and i64 %over, -64
  %from = inttoptr i64 %even to ptr
  %sizes = call ptr @sizes_of(ptr %memory)
  %size = load i64, ptr %sizes
  %usable = add i64 %size, -64
  %kept_rooms = call ptr @field(ptr %context, i64 {ROOMS})
  %room = getelementptr %room, ptr %kept_rooms, i32 %o
  store ptr %from, ptr %room
  %usable_at = getelementptr %room, ptr %room, i64 0, i32 1
  store i64 %usable, ptr %usable_at
  %outputs = call ptr @field(ptr %context, i64 {OUTPUTS})
  %output_at = getelementptr ptr, ptr %outputs, i32 %o
  store ptr null, ptr %output_at
  %o1 = add i32 %o, 1
  br label %prepare
run:
  %thread = call ptr @PyEval_SaveThread()
  call void %compute(ptr %state, ptr %context)
  call void @PyEval_RestoreThread(ptr %thread)
  br label %read
read:
  %r = phi i32 [ 0, %run ], [ %r1, %reading ]
  %left_over = phi i64 [ 0, %run ], [ %left_over1, %reading ]
  %unread = icmp slt i32 %r, %out
  br i1 %unread, label %reading, label %release
reading:
  %kept_output = call i64 @recorded(ptr %context, i32 %r, ptr %rooms)
  %left_over1 = add i64 %left_over, %kept_output
  %r1 = add i32 %r, 1
  br label %read
release:
  %n = phi i32 [ 0, %read ], [ %n1, %released ]
  %kept = phi i64 [ %left_over, %read ], [ %kept1, %released ]
  %unreleased = icmp slt i32 %n, %in
  br i1 %unreleased, label %released, label %end
released:
  %lent_tensor = call ptr @input(ptr %context, i32 %n)
  %references = call i64 @numlite_release(ptr %lent_tensor)
  %more = add i64 %references, -1
  %kept1 = add i64 %kept, %more
  %n1 = add i32 %n, 1
  br label %release
end:
  %answer = sub i64 -1, %kept
  ret i64 %answer
}}
; Writes down what an output has become; one whose memory is nobody's array stays, for Python to copy. How
; many tensors of its memory the plugin has kept.
define internal i64 @recorded(ptr %context, i32 %index, ptr %rooms) {{
  %outputs = call ptr @field(ptr %context, i64 {OUTPUTS})
  %place = getelementptr ptr, ptr %outputs, i32 %index
  %tensor = load ptr, ptr %place
  %records = call ptr @field(ptr %context, i64 {RECORD})
  %wide = zext i32 %index to i64
  %words = mul i64 %wide, {RECORD_WORDS}
  %record = getelementptr i64, ptr %records, i64 %words
  %number_at = getelementptr i64, ptr %record, i64 1
  %missing = icmp eq ptr %tensor, null
  br i1 %missing, label %none, label %some
none:
  store i64 {NOT_SET}, ptr %record
  ret i64 0
some:
  %rank = call i32 @TF_NumDims(ptr %tensor)
  %long = icmp sgt i32 %rank, {MOST_SIZES}
  br i1 %long, label %elsewhere, label %sized
sized:
  %rank_at = getelementptr i64, ptr %record, i64 2
  %wide_rank = sext i32 %rank to i64
  store i64 %wide_rank, ptr %rank_at
  %sizes_at = getelementptr i64, ptr %record, i64 3
  %dims_at = getelementptr %tensor, ptr %tensor, i64 0, i32 2
  %dims = load ptr, ptr %dims_at
  %length = mul i64 %wide_rank, 8
  %same = call ptr @memcpy(ptr %sizes_at, ptr %dims, i64 %length)
  %storage = call ptr @storage_of(ptr %tensor)
  %in = call i32 @TF_NumInputs(ptr %context)
  br label %next
next:
  %i = phi i32 [ 0, %sized ], [ %i1, %more ]
  %left = icmp slt i32 %i, %in
  br i1 %left, label %more, label %room
more:
  %input = call ptr @input(ptr %context, i32 %i)
  %its = call ptr @storage_of(ptr %input)
  %i1 = add i32 %i, 1
  %found = icmp eq ptr %its, %storage
  br i1 %found, label %of_input, label %next
of_input:
  store i64 {OF_INPUT}, ptr %record
  %wide_i = zext i32 %i to i64
  store i64 %wide_i, ptr %number_at
  call void @TF_DeleteTensor(ptr %tensor)
  ret i64 0
room:
  %memory = call ptr @listed(ptr %rooms, i32 %index)
  %start = call ptr @data_of(ptr %memory)
  %start_number = ptrtoint ptr %start to i64
  %data = call ptr @TF_TensorData(ptr %tensor)
  %data_number = ptrtoint ptr %data to i64
  %over = add i64 %start_number, 63
  %even = and i64 %over, -64
  %there = icmp eq i64 %even, %data_number
  %kept_rooms = call ptr @field(ptr %context, i64 {ROOMS})
  %room_at = getelementptr %room, ptr %kept_rooms, i32 %index
  %untaken = load ptr, ptr %room_at
  %taken = icmp eq ptr %untaken, null
  %lies = and i1 %there, %taken
  %offset = sub i64 %even, %start_number
  br i1 %lies, label %in_room, label %measure
in_room:
  store i64 {IN_ROOM}, ptr %record
  store i64 %offset, ptr %number_at
  %references = call i64 @numlite_release(ptr %tensor)
  %kept = add i64 %references, -1
  ret i64 %kept
measure:
  %type = load i32, ptr %tensor
  %bytes = call i64 @bytes_of(i32 %type, ptr %dims, i32 %rank, ptr null)
  %usable_at = getelementptr %room, ptr %room_at, i64 0, i32 1
  %usable = load i64, ptr %usable_at
  %as_large = icmp eq i64 %bytes, %usable
  %unused = xor i1 %taken, 1
  %copied = and i1 %as_large, %unused
  br i1 %copied, label %copy, label %elsewhere
copy:
  %room_start = inttoptr i64 %even to ptr
  %copied_to = call ptr @memcpy(ptr %room_start, ptr %data, i64 %bytes)
  store i64 {IN_ROOM}, ptr %record
  store i64 %offset, ptr %number_at
  call void @TF_DeleteTensor(ptr %tensor)
  ret i64 0
elsewhere:
  store i64 {ELSEWHERE}, ptr %record
  %address = ptrtoint ptr %tensor to i64
  store i64 %address, ptr %number_at
  ret i64 0
}}
"""
