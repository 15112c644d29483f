// 8-bit depthwise convolution, NHWC, rounded as the CPU's kernels round.
//
// Outside the image everything is 0; the input's zero point is in the bias, which differs by border
// class. Plain C++ but for a few intrinsics, so that g++ compiles it, too (host.h). Constants:
//   ROUNDING, WIDE   as in requantize.py
//   FLIP             x and y are uint8: 128 is subtracted from x
//   KH, KW, STRIDE, COLUMNS, ROWS   of depthwise_quads: a thread computes 4 channels of a tile of outputs

#if ROUNDING == 0
typedef float Scale;
#elif ROUNDING == 3
typedef double Scale;
#else
typedef int Scale;
#endif

__device__ __forceinline__ int requantize(int acc, Scale scale, int shift, int zero, int low, int high) {
#if ROUNDING == 0
    // Scales are finite. What is added leaves the integer, ties to even, in the lowest bits.
    float product = fmaxf(__fmul_rn((float)acc, scale), (float)(low - zero));
    product = __fadd_rn(fminf(product, (float)(high - zero)), 12582912.0f);
    return __float_as_int(product) + (zero - 0x4B400000);
#elif ROUNDING == 3
    double product = __dmul_rn((double)acc, scale), least = (double)(low - zero), most = (double)(high - zero);
    product = product < least ? least : product;
    product = product > most ? most : product;
    const double half = 0.49999999999999994;
    return (int)(product + (product >= 0 ? half : -half)) + zero;
#else
    int left = shift > 0 ? shift : 0, right = shift < 0 ? -shift : 0;
    int shifted = (int)((unsigned)acc << left);
    long long product = ((long long)shifted * scale + (1ll << 30)) >> 31;
#if WIDE
    long long rounded = product + ((1ll << right) >> 1);
#if ROUNDING == 1
    rounded += right > 0 ? product >> 63 : 0;
#endif
    long long result = (long long)(int)(rounded >> right) + zero;
#else
    int narrow = (int)product, rounded = narrow + (int)((1u << right) >> 1);
#if ROUNDING == 1
    rounded += right > 0 ? narrow >> 31 : 0;
#endif
    int result = (rounded >> right) + zero;
#endif
    return (int)(result < low ? low : result > high ? high : result);
#endif
}

__device__ __forceinline__ int value_of(unsigned char stored) {
    return FLIP ? (int)stored - 128 : (int)(signed char)stored;
}

#ifndef KH
// One output a thread, of any filter; output channel o reads input channel o / multiplier.
extern "C" __global__ void __launch_bounds__(128) depthwise_plain(
    const unsigned char *__restrict__ x, const short *__restrict__ w, unsigned char *__restrict__ y,
    const int *__restrict__ bias, const Scale *__restrict__ scales, const int *__restrict__ shifts,
    const int *__restrict__ row_classes, const int *__restrict__ column_classes, int class_count,
    int in_height, int in_width, int out_height, int out_width, int out_depth, int multiplier,
    int filter_height, int filter_width, int stride_h, int stride_w, int dilation_h, int dilation_w,
    int pad_top, int pad_left, int zero, int low, int high) {
    int at = blockIdx.x * blockDim.x + threadIdx.x, image = blockIdx.z;
    if (at >= out_height * out_width * out_depth) return;
    int o = at % out_depth, ox = at / out_depth % out_width, oy = at / (out_depth * out_width);
    int depth = out_depth / multiplier, c = o / multiplier;
    int acc = 0;
    for (int ky = 0; ky < filter_height; ky++) {
        int iy = oy * stride_h - pad_top + ky * dilation_h;
        if (iy < 0 || iy >= in_height) continue;
        for (int kx = 0; kx < filter_width; kx++) {
            int ix = ox * stride_w - pad_left + kx * dilation_w;
            if (ix < 0 || ix >= in_width) continue;
            int value = value_of(x[((long long)(image * in_height + iy) * in_width + ix) * depth + c]);
            acc += value * w[(ky * filter_width + kx) * out_depth + o];
        }
    }
    acc += bias[(row_classes[oy] * class_count + column_classes[ox]) * out_depth + o];
    int result = requantize(acc, scales[o], shifts[o], zero, low, high);
    y[(long long)image * out_height * out_width * out_depth + at] = (unsigned char)result;
}
#else
#define POSITIONS ((COLUMNS - 1) * STRIDE + KW)
#define QUADS ((POSITIONS + 3) / 4)

struct Channels { int v[4]; };

__device__ __forceinline__ Channels channels_at(const int *p, int c) {
    int4 four = ((const int4 *)p)[c];
    return {{four.x, four.y, four.z, four.w}};
}

// From a word of 4 channels for each of 4 positions to a word of 4 positions for each channel. Of the last
// quad's positions beyond POSITIONS anything may be left: their weights are 0.
__device__ __forceinline__ void transpose(const unsigned *v, int count, unsigned *q) {
    unsigned a = __byte_perm(v[0], v[1], 0x5140), b = __byte_perm(v[0], v[1], 0x7362);
    unsigned d = v[2], e = __byte_perm(v[2], 0, 0x4432);
    if (count > 3) {
        d = __byte_perm(v[2], v[3], 0x5140);
        e = __byte_perm(v[2], v[3], 0x7362);
    }
    q[0] = __byte_perm(a, d, 0x5410);
    q[1] = __byte_perm(a, d, count > 3 ? 0x7632 : 0x5532);
    q[2] = __byte_perm(b, e, 0x5410);
    q[3] = __byte_perm(b, e, count > 3 ? 0x7632 : 0x5532);
}

// Square filters without dilation, a multiple of 4 channels. w holds, for each row of the filter, output
// column of the tile and quad of positions, a word a channel: the weights that meet these positions.
extern "C" __global__ void __launch_bounds__(128) depthwise_quads(
    const unsigned *__restrict__ x, const int *__restrict__ w, unsigned *__restrict__ y,
    const int *__restrict__ bias, const Scale *__restrict__ scales, const int *__restrict__ shifts,
    const int *__restrict__ row_classes, const int *__restrict__ column_classes, int class_count,
    int in_height, int in_width, int out_height, int out_width, int quads, int pad_top, int pad_left,
    int zero, int low, int high) {
    unsigned t = blockIdx.x * blockDim.x + threadIdx.x, tile = t / (unsigned)quads;
    int c = t - tile * quads, ox = tile * COLUMNS, oy = blockIdx.y * ROWS, image = blockIdx.z;
    if (ox >= out_width) return;
    int acc[ROWS][COLUMNS][4] = {};
    int top = oy * STRIDE - pad_top, left = ox * STRIDE - pad_left;
    const unsigned *row = x + (((long long)image * in_height + top) * in_width + left) * quads + c;
    const int *taps = w + 4 * c;
#pragma unroll
    for (int j = 0; j < (ROWS - 1) * STRIDE + KH; j++, row += (long long)in_width * quads) {
        bool inside = (unsigned)(top + j) < (unsigned)in_height;
        unsigned q[QUADS][4];
#pragma unroll
        for (int g = 0; g < QUADS; g++) {
            unsigned v[4] = {};
#pragma unroll
            for (int k = 0; k < 4 && 4 * g + k < POSITIONS; k++)
                if (inside && (unsigned)(left + 4 * g + k) < (unsigned)in_width)
                    v[k] = FLIP ? row[(4 * g + k) * quads] ^ 0x80808080u : row[(4 * g + k) * quads];
            transpose(v, POSITIONS - 4 * g, q[g]);
        }
#pragma unroll
        for (int r = 0; r < ROWS; r++) {
            int ky = j - r * STRIDE;
            if (ky < 0 || ky >= KH) continue;
#pragma unroll
            for (int s = 0; s < COLUMNS; s++)
#pragma unroll
                for (int g = 0; g < QUADS; g++) {
                    // Quads that this column's window does not reach have no weights.
                    if (4 * g + 4 <= s * STRIDE || 4 * g >= s * STRIDE + KW) continue;
                    Channels four = channels_at(taps + ((ky * COLUMNS + s) * QUADS + g) * 4 * quads, 0);
#pragma unroll
                    for (int k = 0; k < 4; k++) acc[r][s][k] = __dp4a((int)q[g][k], four.v[k], acc[r][s][k]);
                }
        }
    }
    Channels shift = channels_at(shifts, c);
    Scale scale[4];
#pragma unroll
    for (int k = 0; k < 4; k++) scale[k] = scales[4 * c + k];
    unsigned *target = y + (((long long)image * out_height + oy) * out_width + ox) * quads + c;
#pragma unroll
    for (int r = 0; r < ROWS; r++, target += (long long)out_width * quads) {
        if (oy + r >= out_height) break;
        int row_class = row_classes[oy + r] * class_count;
#pragma unroll
        for (int s = 0; s < COLUMNS; s++) {
            if (ox + s >= out_width) break;
            Channels start = channels_at(bias, (row_class + column_classes[ox + s]) * quads + c);
            unsigned results[4];
#pragma unroll
            for (int k = 0; k < 4; k++)
                results[k] = requantize(acc[r][s][k] + start.v[k], scale[k], shift.v[k], zero, low, high);
            unsigned first = __byte_perm(results[0], results[1], 0x0040);
            target[s * quads] = __byte_perm(first, __byte_perm(results[2], results[3], 0x0040), 0x5410);
        }
    }
}
#endif
