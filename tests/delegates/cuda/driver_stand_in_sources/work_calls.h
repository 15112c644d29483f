// Calls about code, streams, events and graphs.
#pragma once
#include "memory_calls.h"

namespace {

CUresult module_load(CUmodule *module, const void *image) {
    ENTER_CONTEXT("cuModuleLoadData");
    SAFE;
    auto made = std::make_unique<Module>();
    made->context = current.back();
    if (!cubin::read(image, made->cubin)) return CUDA_ERROR_INVALID_IMAGE;
    int arch = made->cubin.arch, device = state().arch;
    if (arch / 10 != device / 10 || arch > device) return CUDA_ERROR_NO_BINARY_FOR_GPU;
    for (auto &[name, entry] : made->cubin.entries) {
        size_t most = (48 << 10) - entry.static_shared;
        made->functions[name].reset(new Function{made.get(), name, entry, most});
        state().functions.insert(made->functions[name].get());
    }
    state().modules.insert(made.get());
    *module = (CUmodule)made.release();
    return CUDA_SUCCESS;
}

CUresult module_function(CUfunction *function, CUmodule module, const char *name) {
    ENTER_CONTEXT("cuModuleGetFunction");
    if (!state().modules.count((Module *)module)) return CUDA_ERROR_INVALID_HANDLE;
    auto &functions = ((Module *)module)->functions;
    auto found = functions.find(name);
    if (found == functions.end()) return CUDA_ERROR_NOT_FOUND;
    *function = (CUfunction)found->second.get();
    return CUDA_SUCCESS;
}

CUresult module_unload(CUmodule module) {
    ENTER_CONTEXT("cuModuleUnload");
    SAFE;
    if (!state().modules.count((Module *)module)) return CUDA_ERROR_INVALID_HANDLE;
    unload((Module *)module);
    return CUDA_SUCCESS;
}

CUresult function_attribute(CUfunction handle, CUfunction_attribute attribute, int value) {
    ENTER_CONTEXT("cuFuncSetAttribute");
    auto *function = (Function *)handle;
    if (!state().functions.count(function)) return CUDA_ERROR_INVALID_HANDLE;
    if (attribute != CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES) return CUDA_ERROR_INVALID_VALUE;
    if (value < 0 || value + function->entry.static_shared > (227u << 10)) return CUDA_ERROR_INVALID_VALUE;
    function->most_dynamic_shared = value;
    return CUDA_SUCCESS;
}

bool has_room(const Entry &entry, unsigned threads) {
    unsigned per_warp = (entry.registers * 32 + 255) / 256 * 256;
    return per_warp * ((threads + 31) / 32) <= 65536;
}

CUresult launch(CUfunction handle, unsigned x, unsigned y, unsigned z, unsigned bx, unsigned by, unsigned bz,
                unsigned shared, CUstream stream_handle, void **parameters, void **extra) {
    ENTER_CONTEXT("cuLaunchKernel");
    auto *function = (Function *)handle;
    auto *stream = (Stream *)stream_handle;
    State &s = state();
    if (!s.functions.count(function) || !s.streams.count(stream)) return CUDA_ERROR_INVALID_HANDLE;
    if (stream->context != current.back() || function->module->context != current.back())
        return CUDA_ERROR_INVALID_CONTEXT;
    unsigned threads = bx * by * bz;
    if (!x || !y || !z || !threads || x > 2147483647u || y > 65535 || z > 65535) return CUDA_ERROR_INVALID_VALUE;
    if (threads > 1024 || bz > 64 || shared > function->most_dynamic_shared) return CUDA_ERROR_INVALID_VALUE;
    const Entry &entry = function->entry;
    if (!has_room(entry, threads)) return CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
    if (extra || (!parameters && !entry.parameters.empty())) return CUDA_ERROR_INVALID_VALUE;
    std::vector<char> values(entry.parameter_bytes);
    for (auto &[number, parameter] : entry.parameters)
        memcpy(&values[parameter.offset], parameters[number], parameter.size);
    return enqueue(stream, [=, &s] {
        if (!s.functions.count(function)) return CUDA_ERROR_ILLEGAL_ADDRESS;
        unsigned grid[] = {x, y, z};
        const auto &image = function->module->cubin.image;
        auto fault = s.faults.find("kernel");
        if (fault != s.faults.end() && fault->second.calls_before-- == 0) return CUresult(fault->second.code);
        return CUresult(s.executor(image.data(), image.size(), function->name.c_str(), grid, threads,
                                   values.data(), values.size()));
    });
}

CUresult stream_create(CUstream *stream, unsigned flags) {
    ENTER_CONTEXT("cuStreamCreate");
    auto *made = new Stream{current.back(), !(flags & CU_STREAM_NON_BLOCKING), {}, false, nullptr};
    made->context->streams.insert(made);
    state().streams.insert(made);
    *stream = (CUstream)made;
    return CUDA_SUCCESS;
}

Stream *known(CUstream stream) {
    return state().streams.count((Stream *)stream) ? (Stream *)stream : nullptr;
}

CUresult stream_synchronize(CUstream handle) {
    ENTER_CONTEXT("cuStreamSynchronize");
    Stream *stream = known(handle);
    if (!stream) return CUDA_ERROR_INVALID_HANDLE;
    return stream->capture ? refuse_capture(stream) : drain(stream);
}

CUresult stream_destroy(CUstream handle) {
    ENTER_CONTEXT("cuStreamDestroy");
    Stream *stream = known(handle);
    if (!stream) return CUDA_ERROR_INVALID_HANDLE;
    drain(stream);
    destroy_stream(stream);
    return CUDA_SUCCESS;
}

CUresult wait_for(const std::shared_ptr<Mark> &mark) {
    if (mark && !mark->done && state().streams.count(mark->stream)) return drain(mark->stream);
    return CUDA_SUCCESS;
}

CUresult stream_wait(CUstream handle, CUevent event, unsigned) {
    ENTER_CONTEXT("cuStreamWaitEvent");
    Stream *stream = known(handle);
    if (!stream || !state().events.count((Event *)event)) return CUDA_ERROR_INVALID_HANDLE;
    auto mark = ((Event *)event)->mark;
    return enqueue(stream, [mark] { return wait_for(mark); });
}

CUresult event_create(CUevent *event, unsigned flags) {
    ENTER_CONTEXT("cuEventCreate");
    auto *made = new Event{current.back(), !(flags & CU_EVENT_DISABLE_TIMING), nullptr};
    state().events.insert(made);
    *event = (CUevent)made;
    return CUDA_SUCCESS;
}

CUresult event_record(CUevent handle, CUstream stream_handle) {
    ENTER_CONTEXT("cuEventRecord");
    Stream *stream = known(stream_handle);
    auto *event = (Event *)handle;
    if (!stream_handle) {  // the legacy stream, which never holds work here
        event->mark = std::make_shared<Mark>(Mark{nullptr, true, now_ms()});
        return CUDA_SUCCESS;
    }
    if (!stream || !state().events.count(event)) return CUDA_ERROR_INVALID_HANDLE;
    if (stream->capture) return refuse_capture(stream);
    auto mark = std::make_shared<Mark>(Mark{stream});
    event->mark = mark;
    return enqueue(stream, [mark] {
        mark->done = true;
        mark->milliseconds = now_ms();
        return CUDA_SUCCESS;
    });
}

CUresult event_record_flags(CUevent event, CUstream handle, unsigned flags) {
    ENTER_CONTEXT("cuEventRecordWithFlags");
    Stream *stream = known(handle);
    if (!stream || !state().events.count((Event *)event)) return CUDA_ERROR_INVALID_HANDLE;
    // The external kind makes a node, and is for captures alone.
    if (flags != CU_EVENT_RECORD_EXTERNAL || !stream->capture) return CUDA_ERROR_INVALID_VALUE;
    return enqueue(stream, [event, stream] {
        if (!state().events.count((Event *)event)) return CUDA_ERROR_ILLEGAL_ADDRESS;
        ((Event *)event)->mark = std::make_shared<Mark>(Mark{stream, true, now_ms()});
        return CUDA_SUCCESS;
    });
}

CUresult event_synchronize(CUevent event) {
    ENTER_CONTEXT("cuEventSynchronize");
    if (!state().events.count((Event *)event)) return CUDA_ERROR_INVALID_HANDLE;
    return wait_for(((Event *)event)->mark);
}

CUresult event_elapsed(float *milliseconds, CUevent start, CUevent end) {
    ENTER_CONTEXT("cuEventElapsedTime");
    auto *a = (Event *)start, *b = (Event *)end;
    if (!state().events.count(a) || !state().events.count(b)) return CUDA_ERROR_INVALID_HANDLE;
    if (!a->mark || !b->mark || !a->has_time || !b->has_time) return CUDA_ERROR_INVALID_HANDLE;
    if (!a->mark->done || !b->mark->done) return CUDA_ERROR_NOT_READY;
    *milliseconds = float(b->mark->milliseconds - a->mark->milliseconds);
    return CUDA_SUCCESS;
}

CUresult event_destroy(CUevent event) {
    ENTER_CONTEXT("cuEventDestroy");
    if (!state().events.erase((Event *)event)) return CUDA_ERROR_INVALID_HANDLE;
    delete (Event *)event;
    return CUDA_SUCCESS;
}

CUresult begin_capture(CUstream handle, CUstreamCaptureMode mode) {
    ENTER_CONTEXT("cuStreamBeginCapture");
    Stream *stream = known(handle);
    if (!stream) return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;  // the legacy stream, too
    if (stream->capture) return CUDA_ERROR_ILLEGAL_STATE;
    stream->capture.reset(new Capture{std::this_thread::get_id(), mode, std::make_shared<Graph>(Graph{current.back(), {}})});
    return CUDA_SUCCESS;
}

CUresult end_capture(CUstream handle, CUgraph *graph) {
    ENTER_CONTEXT("cuStreamEndCapture");
    Stream *stream = known(handle);
    *graph = nullptr;
    if (!stream) return CUDA_ERROR_INVALID_HANDLE;
    if (!stream->capture) return CUDA_ERROR_ILLEGAL_STATE;
    Capture &capture = *stream->capture;
    if (capture.mode != CU_STREAM_CAPTURE_MODE_RELAXED && capture.thread != std::this_thread::get_id())
        return CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD;
    std::unique_ptr<Capture> ended = std::move(stream->capture);
    if (!ended->is_valid) return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    *graph = (CUgraph)ended->graph.get();
    state().graphs[*graph] = ended->graph;
    return CUDA_SUCCESS;
}

CUresult exchange_mode(CUstreamCaptureMode *mode) {
    ENTER("cuThreadExchangeStreamCaptureMode");
    std::swap(*mode, thread_mode);
    return CUDA_SUCCESS;
}

CUresult instantiate(CUgraphExec *executable, CUgraph graph, unsigned long long) {
    ENTER_CONTEXT("cuGraphInstantiateWithFlags");
    auto found = state().graphs.find(graph);
    if (found == state().graphs.end()) return CUDA_ERROR_INVALID_VALUE;
    auto made = std::make_shared<Graph>(*found->second);
    *executable = (CUgraphExec)made.get();
    state().executables[*executable] = made;
    return CUDA_SUCCESS;
}

CUresult graph_destroy(CUgraph graph) {
    ENTER_CONTEXT("cuGraphDestroy");
    return state().graphs.erase(graph) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult executable_destroy(CUgraphExec executable) {
    ENTER_CONTEXT("cuGraphExecDestroy");
    return state().executables.erase(executable) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult graph_launch(CUgraphExec executable, CUstream handle) {
    ENTER_CONTEXT("cuGraphLaunch");
    Stream *stream = known(handle);
    auto found = state().executables.find(executable);
    if (!stream) return CUDA_ERROR_INVALID_HANDLE;
    if (found == state().executables.end()) return CUDA_ERROR_INVALID_VALUE;
    if (stream->capture) return refuse_capture(stream);
    auto graph = found->second;
    return enqueue(stream, [graph] {
        for (const Work &work : graph->nodes)
            if (CUresult code = work()) return code;
        return CUDA_SUCCESS;
    });
}

}  // namespace
