// Two kernels at the same time in two streams; then a call that fails.
#include <cstdio>
#include <cuda_runtime.h>

__global__ void first(long long *out, long long ticks) {
    long long start = clock64();
    while (clock64() - start < ticks)
        ;
    out[blockIdx.x] = clock64() - start;
}

__global__ void second(long long *out, long long ticks) {
    long long start = clock64();
    while (clock64() - start < ticks)
        ;
    out[blockIdx.x] = clock64() - start;
}

int main() {
    cudaStream_t a, b;
    cudaStreamCreate(&a);
    cudaStreamCreate(&b);
    long long *out;
    cudaMalloc(&out, 64 * sizeof(long long));
    cudaFuncAttributes loaded;     // a kernel that is loaded at its launch would wait for the other one
    cudaFuncGetAttributes(&loaded, first);
    cudaFuncGetAttributes(&loaded, second);
    first<<<2, 32, 0, a>>>(out, 2000000000LL);
    second<<<3, 64, 0, b>>>(out + 32, 2000000000LL);
    printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
    cudaError_t error = cudaMemcpy(out, nullptr, 64, cudaMemcpyHostToDevice);   // BUG: no source
    printf("%s\n", cudaGetErrorString(error));
    cudaFree(out);
    return 0;
}
