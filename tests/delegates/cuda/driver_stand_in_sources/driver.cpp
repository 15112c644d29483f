// A libcuda.so.1 for tests: the calls that the delegate makes, with the documented rules of the driver,
// on host memory. Work is done when somebody waits for it, and not before. Kernels are run by Python.
#include "memory_calls.h"
#include "work_calls.h"

namespace {

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
