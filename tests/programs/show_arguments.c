#include <stdio.h>
#include <unistd.h>

extern char **environ;

int main(int argc, char **argv) {
    char folder[4096];
    for (int i = 1; i < argc; i++)
        printf("argument %d <%s>\n", i, argv[i]);
    for (char **one = environ; *one; one++)
        printf("variable <%s>\n", *one);
    printf("folder <%s>\n", getcwd(folder, sizeof folder));
    printf("terminal %d%d%d\n", isatty(0), isatty(1), isatty(2));
    return 0;
}
