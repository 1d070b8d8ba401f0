"""CUDA C of the tests' kernels; the words are those of `words`. Compiled by NVRTC at run time."""

from __future__ import annotations

from ladder_backends.gpu_calls.words import ODD, ODD_INVERSE, SEED

COUNTERS = 12
"""Words that `check` counts into: those of a `Tally` behind the first, in its order, and one that is not used."""

SOURCE = (
    f"""
typedef unsigned long long u64;
typedef unsigned int u32;

#define ODD {ODD:#x}ULL
#define INVERSE {ODD_INVERSE:#x}ULL
#define SEED {SEED:#x}ULL
"""
    + r"""
__device__ __forceinline__ u64 word(u64 base, int mode, u64 i) {
    switch (mode) {
        case 1: return 0ULL;
        case 2: return ~0ULL;
        case 3: return 1ULL << (i & 63);
        case 4: return (i & 1) ? 0xAAAAAAAAAAAAAAAAULL : 0x5555555555555555ULL;
    }
    return ((base + (i & 0xFFFFFFFFULL)) * ODD) ^ SEED;
}

/* The word at index i of a stretch whose bytes come from `shift` bytes further on in their own memory. */
__device__ __forceinline__ u64 shifted(u64 base, int mode, u64 i, long long shift) {
    long long at = (long long)(i * 8) + shift;
    long long first = at >> 3;
    int bits = (int)(at & 7) * 8;
    u64 low = word(base, mode, (u64)first);
    if (bits == 0) return low;
    return (low >> bits) | (word(base, mode, (u64)(first + 1)) << (64 - bits));
}

extern "C" {

__global__ void fill(u64* out, u64 from, u64 to, u64 base, int mode) {
    for (u64 i = from + blockIdx.x * (u64)blockDim.x + threadIdx.x; i < to; i += (u64)gridDim.x * blockDim.x)
        out[i] = word(base, mode, i);
    __threadfence_system();
}

__global__ void check(const volatile u64* in, u64 words, u64 start, u64 stop, u64 data, int data_mode,
                      u64 around, int around_mode, long long shift, u64* counts) {
    for (u64 i = blockIdx.x * (u64)blockDim.x + threadIdx.x; i < words; i += (u64)gridDim.x * blockDim.x) {
        u64 begin = i * 8, end = begin + 8;
        u64 mask = 0;
        if (begin >= start && end <= stop) mask = ~0ULL;
        else if (end > start && begin < stop)
            for (int b = 0; b < 8; b++)
                if (begin + b >= start && begin + b < stop) mask |= 0xFFULL << (8 * b);
        u64 old = word(around, around_mode, i);
        u64 fresh = mask ? shifted(data, data_mode, i, shift) : 0;
        u64 expected = (fresh & mask) | (old & ~mask);
        u64 found = in[i];
        if (found == expected) continue;
        atomicMin(&counts[8], begin);
        atomicMax(&counts[9], begin);
        if (!mask) {
            atomicAdd(&counts[7], 1ULL);
            atomicCAS(&counts[10], 0ULL, found);
            continue;
        }
        atomicAdd(&counts[0], 1ULL);
        if (found == old) { atomicAdd(&counts[1], 1ULL); continue; }
        if (found == 0) { atomicAdd(&counts[2], 1ULL); continue; }
        if (found == ~0ULL) { atomicAdd(&counts[3], 1ULL); continue; }
        u64 tag = (found ^ SEED) * INVERSE;
        u64 purpose = tag >> 56;
        bool ours = (purpose == 0xA5 || purpose == 0x5A || purpose == 0xC3) && ((tag >> 48) & 0xFF) < 64;
        if (ours && (tag >> 40) == (data >> 40) && (tag & 0xFFFFFFFFULL) == (i & 0xFFFFFFFFULL) &&
            ((tag >> 32) & 0xFF) != ((data >> 32) & 0xFF)) {
            atomicAdd(&counts[4], 1ULL);
            continue;
        }
        atomicCAS(&counts[10], 0ULL, found);
        atomicAdd(ours && mask == ~0ULL ? &counts[5] : &counts[6], 1ULL);
    }
}

__global__ void load4(u32* out, const volatile u32* in, u64 count) {
    for (u64 i = blockIdx.x * (u64)blockDim.x + threadIdx.x; i < count; i += (u64)gridDim.x * blockDim.x)
        out[i] = in[i];
}

__global__ void load8(u64* out, const volatile u64* in, u64 count) {
    for (u64 i = blockIdx.x * (u64)blockDim.x + threadIdx.x; i < count; i += (u64)gridDim.x * blockDim.x)
        out[i] = in[i];
}

__global__ void load16(uint4* out, const uint4* in, u64 count) {
    for (u64 i = blockIdx.x * (u64)blockDim.x + threadIdx.x; i < count; i += (u64)gridDim.x * blockDim.x) {
        uint4 v;
        asm volatile("ld.volatile.global.v4.u32 {%0,%1,%2,%3}, [%4];"
                     : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "l"(in + i));
        out[i] = v;
    }
}

/* One thread: write a payload and a flag into the partner's memory, wait for its flag in one's own. Bounded by the
   clock of this GPU: `mine[0]` is the flag that the partner sets, `mine[1..8]` its payload. */
__global__ void handshake(volatile u64* mine, volatile u64* theirs, u64 id, u64 rounds, u64 limit, u64* out) {
    u64 wrong = 0, done = 0;
    for (u64 round = 1; round <= rounds; round++) {
        for (int k = 0; k < 8; k++) theirs[1 + k + (round & 1) * 8] = (id << 56) + round * 8 + k;
        __threadfence_system();
        theirs[0] = round;
        __threadfence_system();
        u64 began = clock64();
        while (mine[0] < round) {
            if (clock64() - began > limit) { out[0] = done; out[1] = wrong; __threadfence_system(); return; }
        }
        __threadfence_system();
        for (int k = 0; k < 8; k++)
            if (mine[1 + k + (round & 1) * 8] != ((1 - id) << 56) + round * 8 + k) wrong++;
        done = round;
    }
    out[0] = done;
    out[1] = wrong;
    __threadfence_system();
}

__global__ void adds(u64* counter, u64 count) {
    for (u64 i = blockIdx.x * (u64)blockDim.x + threadIdx.x; i < count; i += (u64)gridDim.x * blockDim.x)
        asm volatile("red.sys.global.add.u64 [%0], 1;" :: "l"(counter) : "memory");
}

__global__ void fill32(u32* out, u64 count, u32 salt) {
    for (u64 i = blockIdx.x * (u64)blockDim.x + threadIdx.x; i < count; i += (u64)gridDim.x * blockDim.x)
        out[i] = (u32)i * 2654435761u + salt;
}

__global__ void sums32(const u32* in, u64 count, u32 salts, u32 ranks, u64* wrong) {
    for (u64 i = blockIdx.x * (u64)blockDim.x + threadIdx.x; i < count; i += (u64)gridDim.x * blockDim.x)
        if (in[i] != ranks * ((u32)i * 2654435761u) + salts) atomicAdd(wrong, 1ULL);
}

}
"""
)
