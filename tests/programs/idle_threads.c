#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <unistd.h>

static void *idle(void *number) {
    char name[16];
    snprintf(name, sizeof name, "idle-%ld", (long)number);
    prctl(PR_SET_NAME, name);
    for (;;)
        pause();
    return 0;
}

int main(void) {
    pthread_t threads[3];
    for (long i = 0; i < 3; i++)
        pthread_create(&threads[i], 0, idle, (void *)i);
    puts("ready");
    fflush(stdout);
    sleep(60);
    return 0;
}
