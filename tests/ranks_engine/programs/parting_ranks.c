/* Ranks that sum up the same numbers; one of them may go wrong by a little at one iteration. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int rank;
double x[1024];
int iteration;

static void look(void) { iteration += 0; }

int main(int argc, char **argv) {
  int wrong_rank = argc > 1 ? atoi(argv[1]) : -1;
  int wrong_at = argc > 2 ? atoi(argv[2]) : 0;
  double by = argc > 3 ? atof(argv[3]) : 0;
  int turns = argc > 4 ? atoi(argv[4]) : 40;
  int crash_at = argc > 5 ? atoi(argv[5]) : 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 0; i < 1024; i++) x[i] = i + rank;
  for (iteration = 1; iteration <= turns; iteration++) {
    for (int i = 0; i < 1024; i++) x[i] += 0.5;
    if (rank == wrong_rank && iteration == wrong_at) x[7] += by;
    if (rank == wrong_rank && iteration == crash_at) raise(SIGSEGV);
    look();
  }
  printf("rank %d done\n", rank);
  MPI_Finalize();
  return 0;
}
