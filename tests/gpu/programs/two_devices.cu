// A kernel on every GPU at once, each waiting for the host; with an argument, GPU 1 reads past its array.
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

#define CHECK(call) do { cudaError_t e = (call); if (e != cudaSuccess) { \
    fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorString(e)); return 1; } } while (0)

__global__ void each(int device, volatile int *go, const int *in, int *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    while (*go == 0) {
    }
    out[i] = in[i < n ? i : i + (1 << 26)] + device;  // line 13
}

int main(int argc, char **argv) {
    const bool faulty = argc > 1;
    int count = 0;
    CHECK(cudaGetDeviceCount(&count));
    int *go = nullptr;
    CHECK(cudaHostAlloc(&go, sizeof(int), cudaHostAllocPortable | cudaHostAllocMapped));
    *go = 0;
    for (int device = 0; device < count; ++device) {
        CHECK(cudaSetDevice(device));
        int *in, *out;
        CHECK(cudaMalloc(&in, 256 * sizeof(int)));
        CHECK(cudaMalloc(&out, 256 * sizeof(int)));
        CHECK(cudaMemset(in, 0, 256 * sizeof(int)));
        each<<<4, 64>>>(device, go, in, out, faulty && device == 1 ? 200 : 256);
        CHECK(cudaGetLastError());
    }
    *go = 1;
    for (int device = 0; device < count; ++device) {
        CHECK(cudaSetDevice(device));
        CHECK(cudaDeviceSynchronize());
    }
    printf("all %d devices are done\n", count);
    return 0;
}
