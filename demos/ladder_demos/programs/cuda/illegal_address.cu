// One block follows a null pointer: the hardware faults, without any tool.
#include <cstdio>
#include <cuda_runtime.h>

struct Row {
    const float *values;
    int length;
};

__global__ void sum(const Row *rows, float *out) {
    const Row *row = &rows[blockIdx.x];
    float total = 0;
    for (int i = threadIdx.x; i < row->length; i += blockDim.x)
        total += row->values[i];   // BUG: rows[2].values is null
    out[blockIdx.x * blockDim.x + threadIdx.x] = total;
}

int main() {
    float *values, *out;
    Row *rows;
    cudaMalloc(&values, 256 * sizeof(float));
    cudaMalloc(&out, 4 * 64 * sizeof(float));
    cudaMalloc(&rows, 4 * sizeof(Row));
    cudaMemset(values, 0, 256 * sizeof(float));
    Row made[4] = {{values, 256}, {values, 256}, {nullptr, 256}, {values, 256}};
    cudaMemcpy(rows, made, sizeof made, cudaMemcpyHostToDevice);
    sum<<<4, 64>>>(rows, out);
    cudaError_t error = cudaDeviceSynchronize();
    printf("%s\n", cudaGetErrorString(error));
    return error != cudaSuccess;
}
