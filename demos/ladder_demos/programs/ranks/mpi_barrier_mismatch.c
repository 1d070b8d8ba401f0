// One rank takes another way through an if and waits in MPI_Barrier, all others in MPI_Allreduce: nobody is wrong by
// itself, and all of them spin.
#include <mpi.h>
#include <stdio.h>

static double residual(int rank, int iteration) {
    return 1.0 / (1 + rank + iteration);
}

static void check_convergence(double local) {
    double sum = 0;
    MPI_Allreduce(&local, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

static void write_checkpoint(void) {
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv) {
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int iteration = 0; iteration < 100; iteration++) {
        double local = residual(rank, iteration);
        if (iteration == 3 && rank == size - 1)
            write_checkpoint();  // the others come here at iteration 10
        else
            check_convergence(local);
        if (rank == 0) {
            printf("iteration %d\n", iteration);
            fflush(stdout);
        }
    }
    MPI_Finalize();
    return 0;
}
