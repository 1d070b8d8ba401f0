#include <signal.h>

static void handler(int number) {
    volatile int seen = number;
    (void)seen;
}

static inline __attribute__((always_inline)) int ask(int n) {
    raise(SIGUSR1);
    return n + 1;
}

static int nest(int depth) { return depth ? nest(depth - 1) + 1 : ask(depth); }

int main(void) {
    signal(SIGUSR1, handler);
    return nest(3) - 4;
}
