// A libcuda.so.1 for tests: the calls that the delegate makes, with the documented rules of the driver,
// on host memory. Work is done when somebody waits for it, and not before. Kernels are run by Python.
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

// --- devices and contexts

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

// --- memory

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

// --- code

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

// --- streams and events

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

// --- capture and graphs

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

CUresult error_text(CUresult code, const char **text) {
    static const std::map<int, const char *> texts = {
        {0, "no error"},
        {CUDA_ERROR_OUT_OF_MEMORY, "out of memory"},
        {CUDA_ERROR_NOT_INITIALIZED, "initialization error"},
        {CUDA_ERROR_NO_DEVICE, "no CUDA-capable device is detected"},
        {CUDA_ERROR_ILLEGAL_ADDRESS, "an illegal memory access was encountered"},
    };
    auto found = texts.find(code);
    *text = found == texts.end() ? "as the driver's description says" : found->second;
    return CUDA_SUCCESS;
}

const std::map<std::string, void *> FUNCTIONS = {
    {"cuInit", (void *)init},
    {"cuDriverGetVersion", (void *)driver_version},
    {"cuDeviceGet", (void *)device_get},
    {"cuDeviceGetCount", (void *)device_count},
    {"cuDeviceGetName", (void *)device_name},
    {"cuDeviceGetAttribute", (void *)device_attribute},
    {"cuDevicePrimaryCtxRetain", (void *)primary_retain},
    {"cuDevicePrimaryCtxRelease", (void *)primary_release},
    {"cuCtxSetCurrent", (void *)set_current},
    {"cuCtxGetCurrent", (void *)get_current},
    {"cuCtxPushCurrent", (void *)push_current},
    {"cuCtxPopCurrent", (void *)pop_current},
    {"cuCtxSynchronize", (void *)context_synchronize},
    {"cuMemAlloc", (void *)allocate},
    {"cuMemFree", (void *)release},
    {"cuMemHostAlloc", (void *)allocate_host},
    {"cuMemFreeHost", (void *)release_host},
    {"cuMemcpyHtoDAsync", (void *)copy_in},
    {"cuMemcpyDtoHAsync", (void *)copy_out},
    {"cuModuleLoadData", (void *)module_load},
    {"cuModuleGetFunction", (void *)module_function},
    {"cuModuleUnload", (void *)module_unload},
    {"cuFuncSetAttribute", (void *)function_attribute},
    {"cuLaunchKernel", (void *)launch},
    {"cuStreamCreate", (void *)stream_create},
    {"cuStreamSynchronize", (void *)stream_synchronize},
    {"cuStreamDestroy", (void *)stream_destroy},
    {"cuStreamWaitEvent", (void *)stream_wait},
    {"cuEventCreate", (void *)event_create},
    {"cuEventRecord", (void *)event_record},
    {"cuEventRecordWithFlags", (void *)event_record_flags},
    {"cuEventSynchronize", (void *)event_synchronize},
    {"cuEventElapsedTime", (void *)event_elapsed},
    {"cuEventDestroy", (void *)event_destroy},
    {"cuStreamBeginCapture", (void *)begin_capture},
    {"cuStreamEndCapture", (void *)end_capture},
    {"cuThreadExchangeStreamCaptureMode", (void *)exchange_mode},
    {"cuGraphInstantiateWithFlags", (void *)instantiate},
    {"cuGraphDestroy", (void *)graph_destroy},
    {"cuGraphExecDestroy", (void *)executable_destroy},
    {"cuGraphLaunch", (void *)graph_launch},
    {"cuGetErrorString", (void *)error_text},
};

struct AtExit {
    ~AtExit() { state().is_gone = true; }
} at_exit;

}  // namespace

extern "C" {

CUresult cuGetProcAddress_v2(const char *symbol, void **function, int, cuuint64_t,
                             CUdriverProcAddressQueryResult *status) {
    const char *hidden = getenv("NUMLITE_STAND_IN_HIDES");
    auto found = FUNCTIONS.find(symbol);
    bool is_there = found != FUNCTIONS.end() && !(hidden && !strcmp(hidden, symbol));
    *function = is_there ? found->second : nullptr;
    if (status) *status = is_there ? CU_GET_PROC_ADDRESS_SUCCESS : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    return is_there ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

// As a process that has just started, whose machine has this.
void stand_in_configure(int devices, int arch, size_t memory_bytes, int version, Executor executor) {
    Lock lock;
    State &s = state();
    for (Context &context : s.contexts) {
        context.error = CUDA_SUCCESS;
        context.holders = 0;
        if (context.alive) destroy_context(context);
    }
    s.is_initialized = false;
    s.process = 0;
    s.devices = devices, s.arch = arch, s.memory_bytes = memory_bytes, s.version = version;
    s.executor = executor;
    s.faults.clear();
    s.calls.clear();
    s.complaint.clear();
    s.graphs.clear();
    s.executables.clear();
    current.clear();
}

// The call after so many of that name answers with code; the name "kernel" is of kernels as they run.
void stand_in_fail(const char *name, int code, int calls_before) {
    Lock lock;
    state().faults[name] = {code, calls_before};
}

long stand_in_calls(const char *name) {
    Lock lock;
    return state().calls[name];
}

// Pinned memory, too: the device maps all of it at its own address.
int stand_in_has_memory(uintptr_t address) {
    Lock lock;
    return block_of(address, 1) != nullptr;
}

// How many blocks, streams, events, modules, graphs and contexts there are.
void stand_in_count(long *counts) {
    Lock lock;
    State &s = state();
    long contexts = 0;
    for (const Context &context : s.contexts) contexts += context.holders;
    long found[] = {long(s.blocks.size()),  long(s.streams.size()), long(s.events.size()),
                    long(s.modules.size()), long(s.graphs.size() + s.executables.size()), contexts};
    memcpy(counts, found, sizeof found);
}

const char *stand_in_complaint() { return state().complaint.c_str(); }
}
