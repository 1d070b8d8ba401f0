#include <pthread.h>

#define COUNT 500

static pthread_mutex_t door = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t arrived;

static void meet(void) {}

static void *wait_at_door(void *unused) {
    pthread_barrier_wait(&arrived);
    pthread_mutex_lock(&door);
    pthread_mutex_unlock(&door);
    return unused;
}

int main(void) {
    pthread_t threads[COUNT];
    pthread_attr_t small;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 64 * 1024);
    pthread_barrier_init(&arrived, 0, COUNT + 1);
    pthread_mutex_lock(&door);
    for (int i = 0; i < COUNT; i++)
        pthread_create(&threads[i], &small, wait_at_door, 0);
    pthread_barrier_wait(&arrived);
    meet();
    int after = 1;
    pthread_mutex_unlock(&door);
    for (int i = 0; i < COUNT; i++)
        pthread_join(threads[i], 0);
    return after - 1;
}
