// What lets a CUDA kernel without barriers run on the CPU, thread after thread.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#define __global__
#define __device__
#define __forceinline__ inline
#define __launch_bounds__(...)

struct Index3 { int x, y, z; };
static thread_local Index3 blockIdx, threadIdx, blockDim;
struct int4 { int x, y, z, w; };
struct float4 { float x, y, z, w; };

static inline unsigned __byte_perm(unsigned a, unsigned b, unsigned selector) {
    unsigned long long both = (unsigned long long)b << 32 | a;
    unsigned result = 0;
    for (int i = 0; i < 4; i++)
        result |= (unsigned)(both >> (8 * (selector >> (4 * i) & 7)) & 255) << (8 * i);
    return result;
}

static inline int __dp4a(int a, int b, int c) {
    for (int i = 0; i < 4; i++)
        c += (int)(signed char)(a >> (8 * i)) * (int)(signed char)(b >> (8 * i));
    return c;
}

static inline int __float_as_int(float x) {
    int bits;
    std::memcpy(&bits, &x, sizeof bits);
    return bits;
}
static inline float __fadd_rn(float a, float b) { return a + b; }
static inline float __fmul_rn(float a, float b) { return a * b; }
static inline double __dmul_rn(double a, double b) { return a * b; }

template <class... A, std::size_t... I>
static void call(void (*kernel)(A...), void **args, std::index_sequence<I...>) {
    kernel(*(A *)args[I]...);
}

template <class... A>
static void launch(void (*kernel)(A...), int x, int y, int z, int threads, void **args) {
    blockDim = {threads, 1, 1};
    for (int k = 0; k < z; k++)
        for (int j = 0; j < y; j++)
            for (int i = 0; i < x; i++)
                for (int t = 0; t < threads; t++) {
                    blockIdx = {i, j, k};
                    threadIdx = {t, 0, 0};
                    call(kernel, args, std::index_sequence_for<A...>{});
                }
}
