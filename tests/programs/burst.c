#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <sys/prctl.h>

#define COUNT 8

static pthread_barrier_t ready;

static int work(int number) {
    return number + 1;
}

static void *worker(void *number) {
    char name[16];
    snprintf(name, sizeof name, "worker-%ld", (long)number);
    prctl(PR_SET_NAME, name);
    pthread_barrier_wait(&ready);
    int result = work((int)(long)number);
    result += 1;
    return (void *)(long)result;
}

int main(void) {
    pthread_t threads[COUNT];
    pthread_barrier_init(&ready, 0, COUNT + 1);
    for (long i = 0; i < COUNT; i++)
        pthread_create(&threads[i], 0, worker, (void *)i);
    pthread_barrier_wait(&ready);
    for (int i = 0; i < COUNT; i++)
        pthread_join(threads[i], 0);
    return 0;
}
