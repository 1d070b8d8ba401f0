#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

int work(int n) { return n * 2; }

int main(int argc, char **argv) {
    int before = work(1);
    pid_t child = fork();
    if (child == 0) {
        int inner = work(20);
        if (argc > 1)
            execl(argv[1], argv[1], (char *)0);
        _exit(inner);
    }
    int status = 0;
    waitpid(child, &status, 0);
    int after = work(before);
    printf("%d %d\n", after, WEXITSTATUS(status));
    return 0;
}
