#include <stdio.h>
#include <unistd.h>
int leaf(int x) {
    int y = x * 2;
    return y;
}
int middle(int x) {
    int a = leaf(x);
    int b = a + 1;
    return b;
}
int top(int x) {
    int c = middle(x);
    c += 100;
    return c;
}
int main(void) {
    int total = 0;
    for (int i = 0; i < 5; i++) {
        total += top(i);
    }
    printf("total %d\n", total);
    return 0;
}
