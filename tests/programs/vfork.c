#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Its parent half waits inside the kernel (state D) for as long as the child half sleeps. */
int main(int argc, char **argv) {
    unsigned seconds = argc > 1 ? (unsigned)atoi(argv[1]) : 30;
    printf("waiting\n");
    fflush(stdout);
    if (vfork() == 0) {
        sleep(seconds);
        _exit(0);
    }
    for (;;)
        usleep(1000);
}
