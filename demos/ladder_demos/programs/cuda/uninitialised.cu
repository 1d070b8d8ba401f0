// Half of a buffer is written; the kernel reads all of it.
#include <cstdio>
#include <cuda_runtime.h>

__global__ void scale(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = in[i] * 2.0f;     // BUG: in[32..63] was never written
}

int main() {
    const int n = 64;
    float *in, *out;
    cudaMalloc(&in, n * sizeof(float));
    cudaMalloc(&out, n * sizeof(float));
    cudaMemset(in, 0, n / 2 * sizeof(float));
    scale<<<1, 64>>>(in, out, n);
    printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
    cudaFree(in);
    cudaFree(out);
    return 0;
}
