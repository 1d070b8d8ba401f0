static volatile int a[100];
int main(void) {
    for (long i = 0; i < 2000000000L; i++) a[i % 100] = (int)i;
    return 0;
}
