// A buffer for each round, freed in none.
#include <cstdio>
#include <cuda_runtime.h>

static void one_round(int round) {
    int *scratch;
    cudaMalloc(&scratch, (round + 1) * 1000);
    cudaMemset(scratch, 0, (round + 1) * 1000);   // BUG: no cudaFree
}

int main() {
    for (int round = 0; round < 3; round++)
        one_round(round);
    printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
    cudaDeviceReset();             // leaks are told when the context ends
    return 0;
}
