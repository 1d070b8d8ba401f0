#include <stdio.h>

struct pair {
    int left;
    double right;
};

int add(int a, int b) {
    int sum = a + b;
    return sum;
}

int main(void) {
    struct pair both = {1, 2.5};
    int numbers[4] = {1, 2, 3, 4};
    int total = 0;

    for (int i = 0; i < 4; i++) {
        total = add(total, numbers[i]);
    }
    both.left = total;
    printf("total %d\n", both.left);
    return 3;
}
