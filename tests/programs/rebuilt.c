#include <stdio.h>

static int twice(int x) { return 2 * x; }

int main(void) {
    int total = 0;
    for (int i = 0; i < 3; i++)
        total += twice(i);
    printf("total %d\n", total);
    return 0;
}
