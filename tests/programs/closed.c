static __attribute__((noinline)) void inner(void (*back)(int), int n) {
    back(n);
    __asm__ volatile("" ::: "memory");
}

void outer(void (*back)(int), int n) {
    inner(back, n + 1);
    __asm__ volatile("" ::: "memory");
}
