// One work-item of the last work-group writes far behind its array; the others of its wave do not.
//
//     HIP_PLATFORM=amd hipcc -g -O0 --offload-arch=gfx90a oob.cpp -o oob
#include <hip/hip_runtime.h>

#include <cstdio>

constexpr unsigned GROUPS = 3, ITEMS = 100, ALL = GROUPS * ITEMS;

__global__ void scale(float factor, const float *in, float *out) {
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i % 2 == 0) {
        const size_t far = i == ALL - 30 ? size_t(1) << 40 : i;
        out[far] = factor * in[i];
    }
}

int main() {
    float *in = nullptr, *out = nullptr;
    if (hipMalloc(&in, ALL * sizeof(float)) != hipSuccess || hipMalloc(&out, ALL * sizeof(float)) != hipSuccess) {
        std::puts("no AMD GPU");
        return 1;
    }
    scale<<<GROUPS, ITEMS>>>(2.0f, in, out);
    const hipError_t ended = hipDeviceSynchronize();
    std::puts(hipGetErrorString(ended));
    return ended == hipSuccess ? 0 : 2;
}
