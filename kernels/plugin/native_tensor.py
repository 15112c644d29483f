"""Machine code of the shim's own, as LLVM IR: tensors."""

from __future__ import annotations

# A tensor has a shape of its own and shares its storage, which goes with the last tensor of it.
TENSOR = """
%tensor = type { i32, i32, ptr, ptr }
%storage = type { i64, ptr, i64, ptr, ptr }

declare ptr @aligned_alloc(i64, i64)

define internal void @free_storage(ptr %data, i64 %length, ptr %argument) {
  call void @free(ptr %data)
  ret void
}
define internal ptr @numlite_tensor(i32 %type, ptr %dims, i32 %rank, ptr %storage) {
  %made = call ptr @calloc(i64 1, i64 24)
  store i32 %type, ptr %made
  %rank_at = getelementptr %tensor, ptr %made, i64 0, i32 1
  store i32 %rank, ptr %rank_at
  %storage_at = getelementptr %tensor, ptr %made, i64 0, i32 3
  store ptr %storage, ptr %storage_at
  call void @copy_dims(ptr %made, ptr %dims, i32 %rank)
  call void @count(i64 2, i64 1)
  ret ptr %made
}
define internal void @copy_dims(ptr %tensor, ptr %dims, i32 %rank) {
  %rank_at = getelementptr %tensor, ptr %tensor, i64 0, i32 1
  store i32 %rank, ptr %rank_at
  %wide = sext i32 %rank to i64
  %bytes = mul i64 %wide, 8
  %least = add i64 %bytes, 8
  %room = call ptr @malloc(i64 %least)
  %same = call ptr @memcpy(ptr %room, ptr %dims, i64 %bytes)
  %dims_at = getelementptr %tensor, ptr %tensor, i64 0, i32 2
  %before = load ptr, ptr %dims_at
  store ptr %room, ptr %dims_at
  call void @free(ptr %before)
  ret void
}
define internal ptr @numlite_storage(ptr %data, i64 %length, ptr %deallocator, ptr %argument) {
  %made = call ptr @malloc(i64 40)
  store %storage zeroinitializer, ptr %made
  store i64 1, ptr %made
  %data_at = getelementptr %storage, ptr %made, i64 0, i32 1
  store ptr %data, ptr %data_at
  %length_at = getelementptr %storage, ptr %made, i64 0, i32 2
  store i64 %length, ptr %length_at
  %free_at = getelementptr %storage, ptr %made, i64 0, i32 3
  store ptr %deallocator, ptr %free_at
  %argument_at = getelementptr %storage, ptr %made, i64 0, i32 4
  store ptr %argument, ptr %argument_at
  call void @count(i64 3, i64 1)
  ret ptr %made
}
define internal void @release(ptr %storage) {
  %before = atomicrmw sub ptr %storage, i64 1 acq_rel
  %last = icmp eq i64 %before, 1
  br i1 %last, label %drop, label %end
drop:
  %free_at = getelementptr %storage, ptr %storage, i64 0, i32 3
  %deallocator = load ptr, ptr %free_at
  %kept = icmp eq ptr %deallocator, null
  br i1 %kept, label %done, label %owned
owned:
  %data_at = getelementptr %storage, ptr %storage, i64 0, i32 1
  %data = load ptr, ptr %data_at
  %length_at = getelementptr %storage, ptr %storage, i64 0, i32 2
  %length = load i64, ptr %length_at
  %argument_at = getelementptr %storage, ptr %storage, i64 0, i32 4
  %argument = load ptr, ptr %argument_at
  call void %deallocator(ptr %data, i64 %length, ptr %argument)
  br label %done
done:
  call void @free(ptr %storage)
  call void @count(i64 3, i64 -1)
  br label %end
end:
  ret void
}
define ptr @numlite_borrow(i32 %type, ptr %dims, i32 %rank, ptr %data, i64 %length) {
  %storage = call ptr @numlite_storage(ptr %data, i64 %length, ptr null, ptr null)
  %made = call ptr @numlite_tensor(i32 %type, ptr %dims, i32 %rank, ptr %storage)
  ret ptr %made
}
define i64 @numlite_release(ptr %tensor) {
  %storage = call ptr @storage_of(ptr %tensor)
  %references = load atomic i64, ptr %storage acquire, align 8
  call void @TF_DeleteTensor(ptr %tensor)
  ret i64 %references
}
define ptr @numlite_share(ptr %tensor) {
  %whole = load %tensor, ptr %tensor
  %type = extractvalue %tensor %whole, 0
  %rank = extractvalue %tensor %whole, 1
  %dims = extractvalue %tensor %whole, 2
  %storage = extractvalue %tensor %whole, 3
  %before = atomicrmw add ptr %storage, i64 1 monotonic
  %made = call ptr @numlite_tensor(i32 %type, ptr %dims, i32 %rank, ptr %storage)
  ret ptr %made
}
define ptr @TF_NewTensor(i32 %type, ptr %dims, i32 %rank, ptr %data, i64 %length, ptr %free, ptr %argument) {
  %storage = call ptr @numlite_storage(ptr %data, i64 %length, ptr %free, ptr %argument)
  %made = call ptr @numlite_tensor(i32 %type, ptr %dims, i32 %rank, ptr %storage)
  ret ptr %made
}
define ptr @TF_AllocateTensor(i32 %type, ptr %dims, i32 %rank, i64 %length) {
  %more = add i64 %length, 64
  %whole = and i64 %more, -64
  %data = call ptr @aligned_alloc(i64 64, i64 %whole)
  %failed = icmp eq ptr %data, null
  br i1 %failed, label %none, label %some
none:
  ret ptr null
some:
  %storage = call ptr @numlite_storage(ptr %data, i64 %length, ptr @free_storage, ptr null)
  %made = call ptr @numlite_tensor(i32 %type, ptr %dims, i32 %rank, ptr %storage)
  ret ptr %made
}
define void @TF_DeleteTensor(ptr %tensor) {
  %none = icmp eq ptr %tensor, null
  br i1 %none, label %end, label %held
held:
  %whole = load %tensor, ptr %tensor
  %dims = extractvalue %tensor %whole, 2
  %storage = extractvalue %tensor %whole, 3
  call void @release(ptr %storage)
  call void @free(ptr %dims)
  call void @free(ptr %tensor)
  call void @count(i64 2, i64 -1)
  br label %end
end:
  ret void
}
define i32 @TF_TensorType(ptr %tensor) {
  %type = load i32, ptr %tensor
  ret i32 %type
}
define i32 @TF_NumDims(ptr %tensor) {
  %at = getelementptr %tensor, ptr %tensor, i64 0, i32 1
  %rank = load i32, ptr %at
  ret i32 %rank
}
define i64 @TF_Dim(ptr %tensor, i32 %axis) {
  %at = getelementptr %tensor, ptr %tensor, i64 0, i32 2
  %dims = load ptr, ptr %at
  %size_at = getelementptr i64, ptr %dims, i32 %axis
  %size = load i64, ptr %size_at
  ret i64 %size
}
define internal ptr @storage_of(ptr %tensor) {
  %at = getelementptr %tensor, ptr %tensor, i64 0, i32 3
  %storage = load ptr, ptr %at
  ret ptr %storage
}
define i64 @TF_TensorByteSize(ptr %tensor) {
  %storage = call ptr @storage_of(ptr %tensor)
  %at = getelementptr %storage, ptr %storage, i64 0, i32 2
  %length = load i64, ptr %at
  ret i64 %length
}
define ptr @TF_TensorData(ptr %tensor) {
  %storage = call ptr @storage_of(ptr %tensor)
  %at = getelementptr %storage, ptr %storage, i64 0, i32 1
  %data = load ptr, ptr %at
  ret ptr %data
}
define i64 @TF_TensorElementCount(ptr %tensor) {
  %rank = call i32 @TF_NumDims(ptr %tensor)
  br label %next
next:
  %axis = phi i32 [ 0, %0 ], [ %after, %more ]
  %product = phi i64 [ 1, %0 ], [ %times, %more ]
  %left = icmp slt i32 %axis, %rank
  br i1 %left, label %more, label %end
more:
  %size = call i64 @TF_Dim(ptr %tensor, i32 %axis)
  %times = mul i64 %product, %size
  %after = add i32 %axis, 1
  br label %next
end:
  ret i64 %product
}
define i8 @TF_TensorIsAligned(ptr %tensor) {
  %data = call ptr @TF_TensorData(ptr %tensor)
  %number = ptrtoint ptr %data to i64
  %low = and i64 %number, 63
  %aligned = icmp eq i64 %low, 0
  %answer = zext i1 %aligned to i8
  ret i8 %answer
}
define ptr @TF_TensorMaybeMove(ptr %tensor) {
  ret ptr null
}
define void @TF_SetShape(ptr %tensor, ptr %dims, i32 %rank) {
  call void @copy_dims(ptr %tensor, ptr %dims, i32 %rank)
  ret void
}
define void @TF_TensorBitcastFrom(ptr %from, i32 %type, ptr %to, ptr %dims, i32 %rank, ptr %status) {
  %storage = call ptr @storage_of(ptr %from)
  %shared = atomicrmw add ptr %storage, i64 1 monotonic
  %before = call ptr @storage_of(ptr %to)
  call void @release(ptr %before)
  store i32 %type, ptr %to
  %storage_at = getelementptr %tensor, ptr %to, i64 0, i32 3
  store ptr %storage, ptr %storage_at
  call void @copy_dims(ptr %to, ptr %dims, i32 %rank)
  call void @TF_SetStatus(ptr %status, i32 0, ptr null)
  ret void
}
"""
