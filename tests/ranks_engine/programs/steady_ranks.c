/* Ranks that sleep, count in a mapped file, and do what files in a folder tell them to. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <math.h>
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

typedef struct {
  int id;
  double weight;
} Part;

int rank, size;
volatile long turns;
double share[4];
int tied = 7;
Part part;
char label[32];
static volatile long *beat;
static const char *folder;

static int told(const char *what) {
  char path[512];
  snprintf(path, sizeof path, "%s/%s-%d", folder, what, rank);
  if (access(path, F_OK)) return 0;
  unlink(path);
  return 1;
}

static void *helper(void *unused) {
  for (;;) usleep(50000);
  return unused;
}

int work(int turn) {
  int doubled = turn * 2;
  doubled += rank;
  return doubled;
}

static void act(void) {
  if (told("crash")) *(volatile int *)0 = rank;
  if (told("exit")) _exit(3);
  if (told("vfork")) {
    pid_t child = vfork();
    if (!child) {
      execl("/bin/true", "true", (char *)0);
      _exit(1);
    }
    waitpid(child, 0, 0);
  }
  if (told("wait")) {
    /* The parent of a vfork waits in state D for as long as its child sleeps. */
    if (!vfork()) {
      struct timespec pause = {6, 0};
      nanosleep(&pause, 0);
      _exit(0);
    }
    while (waitpid(-1, 0, WNOHANG) > 0) continue;
  }
}

int main(int argc, char **argv) {
  pthread_t thread;
  char path[512];
  int shown = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  folder = argv[1];
  snprintf(path, sizeof path, "%s/beat-%d", folder, rank);
  int file = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
  if (ftruncate(file, 4096)) return 2;
  beat = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  for (int i = 0; i < 4; i++) share[i] = rank * 4 + i;
  part.id = rank % 2;
  part.weight = rank == 2 ? NAN : rank * 0.5;
  snprintf(label, sizeof label, "rank %d\033[31m", rank);
  pthread_create(&thread, 0, helper, 0);
  for (;;) {
    turns++;
    shown = work((int)turns);
    act();
    *beat = shown ? turns : 0;
    usleep(20000);
  }
}
