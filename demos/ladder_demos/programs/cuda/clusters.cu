// Blocks in clusters of four read each other's shared memory; the device prints.
#include <cooperative_groups.h>
#include <cstdio>
#include <cuda_runtime.h>
namespace cg = cooperative_groups;

__global__ void __cluster_dims__(4, 1, 1) ring(int *out) {
    __shared__ int mine[32];
    cg::cluster_group cluster = cg::this_cluster();
    int rank = cluster.block_rank(), t = threadIdx.x;
    mine[t] = 100 * rank + t;
    cluster.sync();
    int *next = cluster.map_shared_rank(mine, (rank + 1) % 4);
    int got = next[t];
    cluster.sync();
    if (t == 0)
        printf("block %d of its cluster got %d\n", rank, got);
    out[blockIdx.x * blockDim.x + t] = got;
}

int main() {
    int *out;
    cudaMalloc(&out, 8 * 32 * sizeof(int));
    ring<<<8, 32>>>(out);
    cudaError_t error = cudaDeviceSynchronize();
    printf("%s\n", cudaGetErrorString(error));
    cudaFree(out);
    return error != cudaSuccess;
}
