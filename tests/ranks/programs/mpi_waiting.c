/* Ranks that sleep until they are told otherwise by files in a folder: end, exit-N, crash-N, vfork-N. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static char *first_variable, *last_variable;

static int told(const char *folder, const char *what, int rank) {
    char path[4096];
    if (rank < 0)
        snprintf(path, sizeof path, "%s/%s", folder, what);
    else
        snprintf(path, sizeof path, "%s/%s-%d", folder, what, rank);
    return access(path, F_OK) == 0;
}

static void wait_for_orders(const char *folder, int rank) {
    while (!told(folder, "end", -1)) {
        if (told(folder, "exit", rank))
            _exit(3);
        if (told(folder, "crash", rank))
            *(volatile int *)0 = 1;
        if (told(folder, "vfork", rank)) {
            /* The parent of a vfork waits in state D until the child ends. */
            pid_t child = vfork();
            if (child == 0) {
                sleep(3);
                _exit(0);
            }
            waitpid(child, NULL, 0);
        }
        if (told(folder, "orphan", rank)) {
            if (fork() == 0) {
                sleep(20);
                _exit(0);
            }
            _exit(3);
        }
        /* As programs do that write a title over their arguments and environment. */
        if (told(folder, "hide", rank))
            memset(first_variable, 0, last_variable - first_variable);
        if (told(folder, "flood", rank))
            for (int line = 0; line < 20000; line++)
                printf("rank %d line %d of a flood that nobody reads in time\n", rank, line);
        usleep(20000);
    }
}

int main(int argc, char **argv) {
    int rank;
    char path[4096];
    first_variable = last_variable = environ[0];
    for (char **each = environ; *each != NULL; each++)
        last_variable = *each + strlen(*each);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    snprintf(path, sizeof path, "%s/up-%d", argv[1], rank);
    close(open(path, O_CREAT | O_WRONLY, 0644));
    wait_for_orders(argv[1], rank);
    MPI_Finalize();
    return 0;
}
