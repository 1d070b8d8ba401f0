// A big two-dimensional grid: neighbours take different ways and meet again.
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

__constant__ int rounds[2] = {4, 64};

__device__ int work(int x, int times) {
    int v = x;
    for (int k = 0; k < times; k++)
        v = v * 1664525 + 1013904223;
    return v;
}

__global__ void tile(int *out, int w, int h) {
    __shared__ int row[32];
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (threadIdx.y == 0)
        row[threadIdx.x] = x * x;
    __syncthreads();
    if (x >= w || y >= h)
        return;
    int v;
    if ((x ^ y) & 1)
        v = work(x + y, rounds[1]);
    else
        v = work(x - y, rounds[0]);
    out[y * w + x] = v + row[threadIdx.x];
}

int main(int argc, char **argv) {
    int w = argc > 1 ? atoi(argv[1]) : 8000, h = argc > 2 ? atoi(argv[2]) : 8000;
    int *out;
    cudaMalloc(&out, (size_t)w * h * sizeof(int));
    dim3 block(32, 8), grid((w + 31) / 32, (h + 7) / 8);
    tile<<<grid, block>>>(out, w, h);
    cudaError_t error = cudaDeviceSynchronize();
    printf("%dx%d blocks: %s\n", grid.x, grid.y, cudaGetErrorString(error));
    cudaFree(out);
    return error != cudaSuccess;
}
