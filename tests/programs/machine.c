#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

struct node {
    int value;
    struct node *next;
    char name[8];
};

int32_t numbers[4] = {1, -2, 3, 2147483647};
float singles[2] = {1.5f, -0.25f};
double doubles[2] = {1.0 / 3.0, 6.02e23};
int16_t shorts[2] = {-1, 515};
struct node last = {2, 0, "last"};
struct node first = {1, &last, "first"};
const char *greeting = "hello, machine";
int handled;

int twice(int value) {
    return 2 * value;
}

void on_signal(int number) {
    handled = number;
}

int main(int argc, char **argv) {
    int total = 0;
    const char *text = greeting;
    signal(SIGUSR1, on_signal);
    total = twice(numbers[0]);
    total += twice(numbers[2]);
    numbers[1] = total;
    kill(getpid(), SIGUSR1);
    if (argc > 1) {
        *(volatile int *)0x10 = (int)strlen(text);
    }
    return handled == SIGUSR1 ? total : 1;
}
