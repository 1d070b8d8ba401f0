void outer(void (*back)(int), int n);

static void back(int n) {
    volatile int seen = n;
    (void)seen;
}

int main(void) {
    outer(back, 3);
    return 0;
}
