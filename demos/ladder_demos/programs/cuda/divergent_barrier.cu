// Half a warp waits at a barrier that the other half never reaches. synccheck sees it in optimised code only: no -G.
#include <cstdio>
#include <cuda_runtime.h>

__global__ void badsync(int *out) {
    __shared__ int seen[64];
    int t = threadIdx.x;
    seen[t] = t;
    if (t < 16)
        __syncthreads();           // BUG: threads 16..63 pass it by
    out[t] = seen[63 - t];
}

int main() {
    int *out;
    cudaMalloc(&out, 64 * sizeof(int));
    badsync<<<1, 64>>>(out);
    printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
    cudaFree(out);
    return 0;
}
