"""Machine code of the shim's own, as LLVM IR: statuses and buffers."""

from __future__ import annotations

# Places of the counters of what is alive, in @live.
LIVE = ("statuses", "buffers", "tensors", "storages")

STATUS_AND_BUFFER = """
%status = type { i32, ptr }
%buffer = type { ptr, i64, ptr }

@live = internal global [4 x i64] zeroinitializer
@empty = internal constant [1 x i8] zeroinitializer
@version = internal constant [7 x i8] c"2.21.0\\00"

declare ptr @calloc(i64, i64)
declare ptr @malloc(i64)
declare void @free(ptr)
declare ptr @strdup(ptr)
declare ptr @memcpy(ptr, ptr, i64)

define internal void @count(i64 %what, i64 %by) {
  %place = getelementptr [4 x i64], ptr @live, i64 0, i64 %what
  %before = atomicrmw add ptr %place, i64 %by monotonic
  ret void
}
define ptr @numlite_live() {
  ret ptr @live
}
define ptr @TF_Version() {
  ret ptr @version
}
define ptr @TF_NewStatus() {
  %made = call ptr @calloc(i64 1, i64 16)
  call void @count(i64 0, i64 1)
  ret ptr %made
}
define void @TF_DeleteStatus(ptr %status) {
  %none = icmp eq ptr %status, null
  br i1 %none, label %end, label %held
held:
  %at = getelementptr %status, ptr %status, i64 0, i32 1
  %message = load ptr, ptr %at
  call void @free(ptr %message)
  call void @free(ptr %status)
  call void @count(i64 0, i64 -1)
  br label %end
end:
  ret void
}
define void @TF_SetStatus(ptr %status, i32 %code, ptr %message) {
  %none = icmp eq ptr %status, null
  br i1 %none, label %end, label %held
held:
  store i32 %code, ptr %status
  %at = getelementptr %status, ptr %status, i64 0, i32 1
  %before = load ptr, ptr %at
  %fine = icmp eq i32 %code, 0
  %silent = icmp eq ptr %message, null
  %without = or i1 %fine, %silent
  br i1 %without, label %plain, label %worded
worded:
  %copy = call ptr @strdup(ptr %message)
  br label %store
plain:
  br label %store
store:
  %text = phi ptr [ %copy, %worded ], [ null, %plain ]
  store ptr %text, ptr %at
  call void @free(ptr %before)
  br label %end
end:
  ret void
}
define i32 @TF_GetCode(ptr %status) {
  %code = load i32, ptr %status
  ret i32 %code
}
define ptr @TF_Message(ptr %status) {
  %at = getelementptr %status, ptr %status, i64 0, i32 1
  %message = load ptr, ptr %at
  %none = icmp eq ptr %message, null
  %text = select i1 %none, ptr @empty, ptr %message
  ret ptr %text
}

define void @numlite_free(ptr %data, i64 %length) {
  call void @free(ptr %data)
  ret void
}
define ptr @TF_NewBuffer() {
  %made = call ptr @calloc(i64 1, i64 24)
  call void @count(i64 1, i64 1)
  ret ptr %made
}
define void @numlite_fill(ptr %buffer, ptr %data, i64 %length) {
  %room = call ptr @malloc(i64 %length)
  %same = call ptr @memcpy(ptr %room, ptr %data, i64 %length)
  call void @empty_buffer(ptr %buffer)
  store ptr %room, ptr %buffer
  %length_at = getelementptr %buffer, ptr %buffer, i64 0, i32 1
  store i64 %length, ptr %length_at
  %free_at = getelementptr %buffer, ptr %buffer, i64 0, i32 2
  store ptr @numlite_free, ptr %free_at
  ret void
}
define ptr @TF_NewBufferFromString(ptr %data, i64 %length) {
  %made = call ptr @TF_NewBuffer()
  call void @numlite_fill(ptr %made, ptr %data, i64 %length)
  ret ptr %made
}
define internal void @empty_buffer(ptr %buffer) {
  %free_at = getelementptr %buffer, ptr %buffer, i64 0, i32 2
  %deallocator = load ptr, ptr %free_at
  %kept = icmp eq ptr %deallocator, null
  br i1 %kept, label %end, label %owned
owned:
  %data = load ptr, ptr %buffer
  %length_at = getelementptr %buffer, ptr %buffer, i64 0, i32 1
  %length = load i64, ptr %length_at
  call void %deallocator(ptr %data, i64 %length)
  br label %end
end:
  ret void
}
define void @TF_DeleteBuffer(ptr %buffer) {
  %none = icmp eq ptr %buffer, null
  br i1 %none, label %end, label %held
held:
  call void @empty_buffer(ptr %buffer)
  call void @free(ptr %buffer)
  call void @count(i64 1, i64 -1)
  br label %end
end:
  ret void
}
define void @TF_GetBuffer(ptr sret(%buffer) %out, ptr %buffer) {
  %held = load %buffer, ptr %buffer
  store %buffer %held, ptr %out
  ret void
}
"""
