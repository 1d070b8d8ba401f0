#include <stdio.h>
#include <unistd.h>

int part_turn(int n);

/* Calls into a library of its own for as long as it lives. */
int main(void) {
    printf("ready\n");
    fflush(stdout);
    for (int n = 0;; n = part_turn(n))
        usleep(1000);
}
