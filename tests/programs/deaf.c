#include <signal.h>
#include <stdio.h>
#include <unistd.h>

volatile long turns;
volatile int goes_on = 1;

long busy(long n) {
    for (long i = 0; i < n; i++)
        turns++;
    return n;
}

int twice(int n) { return n * 2; }

int main(void) {
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, 0);
    printf("deaf\n");
    fflush(stdout);
    while (goes_on) {
        turns++;
        usleep(1000);
    }
    return 0;
}
