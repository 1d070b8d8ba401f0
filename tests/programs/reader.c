#include <stdio.h>

static void heard(const char *line) { printf("heard %s", line); }

int main(void) {
    char line[100];
    while (fgets(line, sizeof line, stdin)) {
        heard(line);
        fflush(stdout);
    }
    return 0;
}
