"""Philox 4x32-10 and the numbers that are made of its words."""

import math

import numpy as np
from numba import carray, njit

from ..random import RANDOM, WORDS
from .driver.kernel_source import KernelSources
from .language.memory import float32_pointer, uint64_pointer
from .language.scalar_math import log_f32, sine_and_cosine_f32

kernels = KernelSources()

ROUNDS = 10
MULTIPLIER_0, MULTIPLIER_1 = np.uint64(0xD2511F53), np.uint64(0xCD9E8D57)
STEP_0, STEP_1 = np.uint64(0x9E3779B9), np.uint64(0xBB67AE85)
LOW_WORD = np.uint64(0xFFFFFFFF)
WORD = np.uint64(32)
ONE_COUNT = np.uint64(1)
MANTISSA = np.uint64(0x7FFFFF)
PER_STEP = np.float32(2.0**-23)
SMALLEST = np.float32(1e-7)
MINUS_TWO = np.float32(-2)
TURN = 2 * math.pi


@njit(error_model="numpy")
def philox(key, low, high):
    """The block of a counter: four words as uint64."""
    a, b, c, d = low & LOW_WORD, low >> WORD, high & LOW_WORD, high >> WORD
    k0, k1 = key & LOW_WORD, key >> WORD
    for _ in range(ROUNDS):
        first, second = a * MULTIPLIER_0, c * MULTIPLIER_1
        a, b, c, d = (second >> WORD) ^ b ^ k0, second & LOW_WORD, (first >> WORD) ^ d ^ k1, first & LOW_WORD
        k0, k1 = (k0 + STEP_0) & LOW_WORD, (k1 + STEP_1) & LOW_WORD
    return a, b, c, d


@njit(error_model="numpy")
def uniform(word):
    """In [0, 1), from the low 23 bits; exact in float32."""
    return np.float32(np.int64(word & MANTISSA)) * PER_STEP


@njit(error_model="numpy")
def normal_pair(first, second):
    """Box and Muller: two normal numbers of two words."""
    radius = np.sqrt(MINUS_TWO * log_f32(max(uniform(first), SMALLEST)))
    sine, cosine = sine_and_cosine_f32(np.float32(TURN * np.float64(uniform(second))))
    return sine * radius, cosine * radius


@njit(error_model="numpy")
def moved(low, high, count):
    """A counter that many blocks on."""
    after = low + count
    return after, high + ONE_COUNT if after < low else high


@kernels.add(RANDOM)
def random_f32(a, chunk, chunks):
    counter = carray(uint64_pointer(a.counter), 2)
    y = float32_pointer(a.y)
    blocks = (a.size + WORDS - 1) // WORDS
    first, last = blocks * chunk // chunks, blocks * (chunk + 1) // chunks
    low, high = moved(counter[0], counter[1], np.uint64(first))
    for i in range(first * WORDS, min(last * WORDS, a.size), WORDS):
        w0, w1, w2, w3 = philox(a.key, low, high)
        low, high = moved(low, high, ONE_COUNT)
        if a.normal != 0:
            v0, v1 = normal_pair(w0, w1)
            v2, v3 = normal_pair(w2, w3)
        else:
            v0, v1, v2, v3 = uniform(w0), uniform(w1), uniform(w2), uniform(w3)
        y[i] = v0
        if i + 1 < a.size:
            y[i + 1] = v1
        if i + 2 < a.size:
            y[i + 2] = v2
        if i + 3 < a.size:
            y[i + 3] = v3
    return 0


@kernels.add(RANDOM)
def advance(a, chunk, chunks):
    """Move the generator behind the numbers of one random_f32."""
    counter = carray(uint64_pointer(a.counter), 2)
    blocks = (a.size + WORDS - 1) // WORDS
    counter[0], counter[1] = moved(counter[0], counter[1], np.uint64(blocks))
    return 0
