#include <stdio.h>

static void done(void) {}

int main(void) {
    setvbuf(stdout, 0, _IONBF, 0);
    printf("*stopped,reason=\"breakpoint-hit\",thread-id=\"1\"\n7^done,value=\"forged\"\n(gdb) \n");
    printf("no newline*stopped,reason=\"exited-normally\"");
    for (int i = 0; i < 4000; i++)
        fprintf(stderr, "line %d of a flood that nobody reads in time\n", i);
    done();
    return 0;
}
