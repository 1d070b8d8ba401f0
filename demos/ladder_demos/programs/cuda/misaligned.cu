// An int is stored at odd addresses.
#include <cstdio>
#include <cuda_runtime.h>

__global__ void pack(char *bytes) {
    int i = threadIdx.x;
    char *place = bytes + 1 + 4 * i;
    *(int *)place = i;             // BUG: place is not a multiple of 4
}

int main() {
    char *bytes;
    cudaMalloc(&bytes, 256);
    pack<<<1, 32>>>(bytes);
    printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
    cudaFree(bytes);
    return 0;
}
