// Loads a library, works with it, unloads it, and goes on.
#include <dlfcn.h>
#include <stdio.h>

int rounds = 0;

int main(int argc, char **argv) {
    void *library = dlopen(argv[argc - 1], RTLD_NOW);
    if (!library) return 2;
    int (*work)(int) = (int (*)(int))dlsym(library, "plugin_work");
    rounds += work(3);
    rounds += work(5);
    dlclose(library);
    rounds++;  // unloaded
    printf("%d\n", rounds);
    return 0;
}
