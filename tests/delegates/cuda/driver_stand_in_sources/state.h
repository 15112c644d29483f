// What the stand-in knows: devices, contexts, memory, streams of work, and what is to fail.
#pragma once
#include <cuda.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "cubin.h"

constexpr size_t ALIGNMENT = 256;
constexpr unsigned char POISON = 0xAB, FENCE = 0xCD;

// A sticky error leaves the context of no use; see the driver's description of each.
inline bool is_sticky(CUresult code) {
    return code == CUDA_ERROR_ILLEGAL_ADDRESS || code == CUDA_ERROR_LAUNCH_FAILED ||
           code == CUDA_ERROR_MISALIGNED_ADDRESS || code == CUDA_ERROR_ECC_UNCORRECTABLE;
}

using Work = std::function<CUresult()>;
struct Stream;

struct Context {
    int device;
    int holders = 0;
    bool alive = false;
    CUresult error = CUDA_SUCCESS;
    std::set<Stream *> streams;
};

struct Block {
    size_t bytes;
    Context *context;
    char *memory;
    bool is_host;
};

struct Graph {
    Context *context;
    std::vector<Work> nodes;
};

struct Capture {
    std::thread::id thread;
    CUstreamCaptureMode mode;
    std::shared_ptr<Graph> graph;
    bool is_valid = true;
};

struct Stream {
    Context *context;
    bool blocking;
    std::deque<Work> queue;
    bool is_running = false;
    std::unique_ptr<Capture> capture;
};

struct Mark {  // one recording of an event
    Stream *stream;
    bool done = false;
    double milliseconds = 0;
};

struct Event {
    Context *context;
    bool has_time;
    std::shared_ptr<Mark> mark;
};

struct Module;
struct Function {
    Module *module;
    std::string name;
    Entry entry;
    size_t most_dynamic_shared;
};

struct Module {
    Context *context;
    Cubin cubin;
    std::map<std::string, std::unique_ptr<Function>> functions;
};

using Executor = int (*)(const void *image, size_t image_bytes, const char *name, const unsigned *grid,
                         unsigned threads, const void *parameters, size_t parameter_bytes);

struct Fault {
    int code, calls_before;
};

struct State {
    std::recursive_mutex mutex;
    bool is_initialized = false, is_gone = false;
    pid_t process = 0;
    int devices = 0, arch = 90, version = 13000;
    size_t memory_bytes = size_t(8) << 30, used_bytes = 0;
    Executor executor = nullptr;
    std::map<std::string, Fault> faults;
    std::map<std::string, long> calls;
    Context contexts[8];
    std::map<uintptr_t, Block> blocks;
    std::set<Stream *> streams;
    std::set<Event *> events;
    std::set<Module *> modules;
    std::set<Function *> functions;
    std::map<CUgraph, std::shared_ptr<Graph>> graphs;
    std::map<CUgraphExec, std::shared_ptr<Graph>> executables;
    std::string complaint;  // what no driver would notice: memory written outside its bounds
};

inline State &state() {
    static State *only = new State;  // never destroyed: threads may outlive the exit
    return *only;
}

inline thread_local std::vector<Context *> current;
inline thread_local CUstreamCaptureMode thread_mode = CU_STREAM_CAPTURE_MODE_GLOBAL;

inline double now_ms() {
    using namespace std::chrono;
    return duration<double, std::milli>(steady_clock::now().time_since_epoch()).count();
}

inline Block *block_of(uintptr_t address, size_t bytes) {
    auto &blocks = state().blocks;
    auto after = blocks.upper_bound(address);
    if (after == blocks.begin()) return nullptr;
    auto &[start, block] = *std::prev(after);
    return address + bytes <= start + block.bytes ? &block : nullptr;
}

inline uintptr_t new_block(Context *context, size_t bytes, bool is_host) {
    size_t room = (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    auto *memory = (char *)aligned_alloc(ALIGNMENT, room + 2 * ALIGNMENT);
    if (memory == nullptr) return 0;
    memset(memory, FENCE, room + 2 * ALIGNMENT);
    memset(memory + ALIGNMENT, POISON, bytes);
    auto start = (uintptr_t)memory + ALIGNMENT;
    state().blocks[start] = {bytes, context, memory, is_host};
    return start;
}

inline void drop_block(uintptr_t start) {
    auto found = state().blocks.find(start);
    Block block = found->second;
    auto is_whole = [&](size_t from, size_t to) {
        for (size_t n = from; n < to; n++)
            if ((unsigned char)block.memory[n] != FENCE) return false;
        return true;
    };
    if (!is_whole(0, ALIGNMENT) || !is_whole(ALIGNMENT + block.bytes, 2 * ALIGNMENT + block.bytes))
        state().complaint = "memory beside a block of " + std::to_string(block.bytes) + " bytes was written";
    if (!block.is_host) state().used_bytes -= block.bytes;
    free(block.memory);
    state().blocks.erase(found);
}

inline CUresult drain(Stream *stream) {
    if (stream->is_running) return CUDA_SUCCESS;  // asked for by the work itself
    stream->is_running = true;
    while (!stream->queue.empty() && stream->context->error == CUDA_SUCCESS) {
        Work work = std::move(stream->queue.front());
        stream->queue.pop_front();
        CUresult result = work();
        if (result != CUDA_SUCCESS) stream->context->error = result;
    }
    if (stream->context->error != CUDA_SUCCESS) stream->queue.clear();
    stream->is_running = false;
    return stream->context->error;
}

inline CUresult drain_all(Context *context) {
    for (Stream *stream : context->streams) drain(stream);
    return context->error;
}

// Has the stream do the work, or its capture note it.
inline CUresult enqueue(Stream *stream, Work work) {
    if (!stream->capture) {
        stream->queue.push_back(std::move(work));
        return CUDA_SUCCESS;
    }
    if (!stream->capture->is_valid) return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    stream->capture->graph->nodes.push_back(std::move(work));
    return CUDA_SUCCESS;
}

inline CUresult refuse_capture(Stream *stream) {
    stream->capture->is_valid = false;
    return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
}

// A call that is "potentially unsafe" while work is captured: cuThreadExchangeStreamCaptureMode.
inline CUresult unsafe_while_capturing() {
    CUresult result = CUDA_SUCCESS;
    if (thread_mode == CU_STREAM_CAPTURE_MODE_RELAXED) return result;
    for (Stream *stream : state().streams) {
        if (!stream->capture || stream->capture->mode == CU_STREAM_CAPTURE_MODE_RELAXED) continue;
        bool is_mine = stream->capture->thread == std::this_thread::get_id();
        bool is_global = stream->capture->mode == CU_STREAM_CAPTURE_MODE_GLOBAL &&
                         thread_mode == CU_STREAM_CAPTURE_MODE_GLOBAL;
        if (is_mine || is_global) result = refuse_capture(stream);
    }
    return result;
}

inline void destroy_stream(Stream *stream) {
    stream->context->streams.erase(stream);
    state().streams.erase(stream);
    delete stream;
}

inline void unload(Module *module) {
    for (auto &[name, function] : module->functions) state().functions.erase(function.get());
    state().modules.erase(module);
    delete module;
}

inline void forget_graphs(std::map<CUgraphExec, std::shared_ptr<Graph>> &graphs, Context *context) {
    for (auto each = graphs.begin(); each != graphs.end();)
        each = each->second->context == context ? graphs.erase(each) : std::next(each);
}

// The last holder has gone, and all that is the context's goes with it.
inline void destroy_context(Context &context) {
    drain_all(&context);
    std::vector<uintptr_t> addresses;
    for (auto &[start, block] : state().blocks)
        if (block.context == &context) addresses.push_back(start);
    for (uintptr_t start : addresses) drop_block(start);
    while (!context.streams.empty()) destroy_stream(*context.streams.begin());
    auto modules = state().modules;
    for (Module *module : modules)
        if (module->context == &context) unload(module);
    forget_graphs(state().executables, &context);
    context.alive = false;  // its error stays: only a new process is rid of that
}
