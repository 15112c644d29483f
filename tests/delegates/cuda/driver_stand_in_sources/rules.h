// What holds for each call: one at a time, faults that are asked for, and a living context.
#pragma once
#include "state.h"

namespace {

struct Lock {
    std::lock_guard<std::recursive_mutex> held{state().mutex};
};

CUresult enter(const char *name) {
    State &s = state();
    s.calls[name]++;
    auto fault = s.faults.find(name);
    if (fault != s.faults.end() && fault->second.calls_before-- == 0) {
        auto code = CUresult(fault->second.code);
        s.faults.erase(fault);
        if (is_sticky(code) && !current.empty()) current.back()->error = code;
        return code;
    }
    if (s.is_gone) return CUDA_ERROR_DEINITIALIZED;
    if (!s.is_initialized || s.process != getpid()) return CUDA_ERROR_NOT_INITIALIZED;
    return CUDA_SUCCESS;
}

CUresult enter_context(const char *name) {
    if (CUresult code = enter(name)) return code;
    if (current.empty() || current.back() == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
    if (!current.back()->alive) return CUDA_ERROR_CONTEXT_IS_DESTROYED;
    return current.back()->error;
}

#define ENTER(name) \
    Lock lock;      \
    if (CUresult code = enter(name)) return code
#define ENTER_CONTEXT(name) \
    Lock lock;              \
    if (CUresult code = enter_context(name)) return code
#define SAFE \
    if (CUresult code = unsafe_while_capturing()) return code

}  // namespace
