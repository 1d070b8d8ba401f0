static volatile long cells[100];

int main(void) {
    int done = 0;
    for (long i = 0; i < 2000000000; i++) cells[i % 100] = i;
    done = 1;
    return done - 1;
}
