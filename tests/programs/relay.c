#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <sys/prctl.h>
#include <unistd.h>

static atomic_int baton;

static int take(int value) {
    return value + 1;
}

static void *runner(void *unused) {
    prctl(PR_SET_NAME, "runner");
    while (!atomic_load(&baton))
        usleep(1000);
    take(1);
    return unused;
}

static void hand_over(void) {
    atomic_store(&baton, 1);
    for (int i = 0; i < 300; i++)
        usleep(1000);
}

int main(void) {
    pthread_t other;
    pthread_create(&other, 0, runner, 0);
    hand_over();
    pthread_join(other, 0);
    return 0;
}
