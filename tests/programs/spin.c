#include <stdio.h>
#include <unistd.h>

volatile long turns;

static void turn(void) {
    turns++;
    usleep(1000);
}

int main(void) {
    printf("spinning\n");
    fflush(stdout);
    for (;;)
        turn();
}
