// Calls about devices, contexts and memory.
#pragma once
#include "rules.h"

namespace {

CUresult init(unsigned) {
    Lock lock;
    State &s = state();
    s.calls["cuInit"]++;
    const char *visible = getenv("CUDA_VISIBLE_DEVICES");
    bool is_hidden = visible && (!*visible || !strcmp(visible, "-1"));
    if (s.is_gone) return CUDA_ERROR_DEINITIALIZED;
    if (s.devices == 0 || is_hidden) return CUDA_ERROR_NO_DEVICE;
    if (s.process && s.process != getpid()) return CUDA_ERROR_NOT_INITIALIZED;
    s.is_initialized = true;
    s.process = getpid();
    for (int n = 0; n < 8; n++) s.contexts[n].device = n;
    return CUDA_SUCCESS;
}

CUresult driver_version(int *version) {
    *version = state().version;
    return CUDA_SUCCESS;
}

CUresult device_get(CUdevice *device, int ordinal) {
    ENTER("cuDeviceGet");
    if (ordinal < 0 || ordinal >= state().devices) return CUDA_ERROR_INVALID_DEVICE;
    *device = ordinal;
    return CUDA_SUCCESS;
}

CUresult device_count(int *count) {
    ENTER("cuDeviceGetCount");
    *count = state().devices;
    return CUDA_SUCCESS;
}

CUresult device_name(char *name, int length, CUdevice) {
    ENTER("cuDeviceGetName");
    snprintf(name, length, "stand-in sm_%d", state().arch);
    return CUDA_SUCCESS;
}

CUresult device_attribute(int *value, CUdevice_attribute attribute, CUdevice) {
    ENTER("cuDeviceGetAttribute");
    int arch = state().arch;
    if (attribute == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR) *value = arch / 10;
    else if (attribute == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR) *value = arch % 10;
    else return CUDA_ERROR_INVALID_VALUE;
    return CUDA_SUCCESS;
}

CUresult primary_retain(CUcontext *context, CUdevice device) {
    ENTER("cuDevicePrimaryCtxRetain");
    Context &primary = state().contexts[device];
    primary.holders++;
    primary.alive = true;
    *context = (CUcontext)&primary;
    return CUDA_SUCCESS;
}

CUresult primary_release(CUdevice device) {
    ENTER("cuDevicePrimaryCtxRelease");
    Context &primary = state().contexts[device];
    if (primary.holders == 0) return CUDA_ERROR_INVALID_CONTEXT;
    if (--primary.holders == 0) destroy_context(primary);
    return CUDA_SUCCESS;
}

CUresult set_current(CUcontext context) {
    ENTER("cuCtxSetCurrent");
    if (context && !((Context *)context)->alive) return CUDA_ERROR_CONTEXT_IS_DESTROYED;
    if (!current.empty()) current.pop_back();
    if (context) current.push_back((Context *)context);
    return CUDA_SUCCESS;
}

CUresult get_current(CUcontext *context) {
    ENTER("cuCtxGetCurrent");
    *context = current.empty() ? nullptr : (CUcontext)current.back();
    return CUDA_SUCCESS;
}

CUresult push_current(CUcontext context) {
    ENTER("cuCtxPushCurrent");
    if (!context) return CUDA_ERROR_INVALID_CONTEXT;
    if (!((Context *)context)->alive) return CUDA_ERROR_CONTEXT_IS_DESTROYED;
    current.push_back((Context *)context);
    return CUDA_SUCCESS;
}

CUresult pop_current(CUcontext *context) {
    ENTER("cuCtxPopCurrent");
    if (current.empty()) return CUDA_ERROR_INVALID_CONTEXT;
    if (context) *context = (CUcontext)current.back();
    current.pop_back();
    return CUDA_SUCCESS;
}

CUresult context_synchronize() {
    ENTER_CONTEXT("cuCtxSynchronize");
    for (Stream *stream : current.back()->streams)
        if (stream->capture) return refuse_capture(stream);
    return drain_all(current.back());
}

CUresult allocate(CUdeviceptr *address, size_t bytes) {
    ENTER_CONTEXT("cuMemAlloc");
    SAFE;
    if (bytes == 0) return CUDA_ERROR_INVALID_VALUE;
    if (bytes > state().memory_bytes - state().used_bytes) return CUDA_ERROR_OUT_OF_MEMORY;
    *address = new_block(current.back(), bytes, false);
    if (!*address) return CUDA_ERROR_OUT_OF_MEMORY;
    state().used_bytes += bytes;
    return CUDA_SUCCESS;
}

CUresult drop(uintptr_t address, bool is_host) {
    auto found = state().blocks.find(address);
    if (found == state().blocks.end() || found->second.is_host != is_host) return CUDA_ERROR_INVALID_VALUE;
    drop_block(address);
    return CUDA_SUCCESS;
}

CUresult release(CUdeviceptr address) {
    ENTER_CONTEXT("cuMemFree");
    SAFE;
    return drop(address, false);
}

CUresult allocate_host(void **address, size_t bytes, unsigned) {
    ENTER_CONTEXT("cuMemHostAlloc");
    SAFE;
    if (bytes == 0) return CUDA_ERROR_INVALID_VALUE;
    *address = (void *)new_block(current.back(), bytes, true);
    return *address ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult release_host(void *address) {
    ENTER_CONTEXT("cuMemFreeHost");
    SAFE;
    return drop((uintptr_t)address, true);
}

bool is_device_memory(uintptr_t address, size_t bytes) {
    Block *block = block_of(address, bytes);
    return block && !block->is_host;
}

CUresult copy_later(Stream *stream, void *to, const void *from, size_t bytes, uintptr_t on_device) {
    if (!state().streams.count(stream)) return CUDA_ERROR_INVALID_HANDLE;
    if (stream->context != current.back()) return CUDA_ERROR_INVALID_CONTEXT;
    if (bytes == 0) return CUDA_SUCCESS;
    if (!is_device_memory(on_device, bytes)) return CUDA_ERROR_INVALID_VALUE;
    auto host = on_device == (uintptr_t)to ? (uintptr_t)from : (uintptr_t)to;
    bool is_pinned = block_of(host, bytes) != nullptr;
    return enqueue(stream, [=] {
        bool is_there = is_device_memory(on_device, bytes) && (!is_pinned || block_of(host, bytes));
        if (!is_there) return CUDA_ERROR_ILLEGAL_ADDRESS;
        memcpy(to, from, bytes);
        return CUDA_SUCCESS;
    });
}

CUresult copy_in(CUdeviceptr to, const void *from, size_t bytes, CUstream stream) {
    ENTER_CONTEXT("cuMemcpyHtoDAsync");
    return copy_later((Stream *)stream, (void *)to, from, bytes, to);
}

CUresult copy_out(void *to, CUdeviceptr from, size_t bytes, CUstream stream) {
    ENTER_CONTEXT("cuMemcpyDtoHAsync");
    return copy_later((Stream *)stream, to, (const void *)from, bytes, from);
}

}  // namespace
