// An assertion on the device fails in one lane of the third block.
#include <cassert>
#include <cstdio>
#include <cuda_runtime.h>

__global__ void gather(const int *index, const float *table, float *out, int rows) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int row = index[i];
    assert(row >= 0 && row < rows);   // BUG: index[85] is 1000
    out[i] = table[row];
}

int main() {
    const int n = 128, rows = 16;
    int index[n];
    for (int i = 0; i < n; i++)
        index[i] = i % rows;
    index[85] = 1000;
    int *d_index;
    float *table, *out;
    cudaMalloc(&d_index, sizeof index);
    cudaMalloc(&table, rows * sizeof(float));
    cudaMalloc(&out, n * sizeof(float));
    cudaMemcpy(d_index, index, sizeof index, cudaMemcpyHostToDevice);
    cudaMemset(table, 0, rows * sizeof(float));
    gather<<<4, 32>>>(d_index, table, out, rows);
    cudaError_t error = cudaDeviceSynchronize();
    printf("%s\n", cudaGetErrorString(error));
    return error != cudaSuccess;
}
