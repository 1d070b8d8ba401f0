#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

/* Becomes another user; lets others look into it or not. */
int main(int argc, char **argv) {
    if (argc < 3 || setgid(atoi(argv[1])) != 0 || setuid(atoi(argv[1])) != 0)
        return 1;
    prctl(PR_SET_DUMPABLE, atoi(argv[2]), 0, 0, 0);
    printf("ready\n");
    fflush(stdout);
    for (;;)
        usleep(1000);
}
