// Something for every kind of breakpoint. Line numbers count: tests name them.
#include <csignal>
#include <cstdio>
#include <dlfcn.h>
#include <stdexcept>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

int counter;
struct {
    char bytes[256];
} wide;

template <class T> T twice(T value) {
    T sum = value + value;
    return sum;
}

int compute(int n, const char *name, const int *nothing) {
    int total = 0;
    for (int i = 0; i < n; i++) {
        total += i;
        counter++;
    }
    return total;
}

void thrower() { throw std::runtime_error("boom"); }

void system_things() {
    std::signal(SIGALRM, SIG_IGN);
    std::raise(SIGALRM);
    pid_t child = fork();
    if (child == 0)
        _exit(0);
    waitpid(child, nullptr, 0);
    void *library = dlopen("libresolv.so.2", RTLD_NOW);
    if (library)
        dlclose(library);
    if (getppid() == 1)
        write(1, "x", 1);
}

int main() {
    std::string text = "hello \"you\"";
    int a = twice(3);
    double b = twice(2.5);
    long c = twice(7L);
    int sum = compute(4, text.c_str(), nullptr);
    sum += compute(3, "again", nullptr);
    try {
        thrower();
    } catch (const std::exception &error) {
        std::puts(error.what());
    }
    system_things();
    std::printf("%d %g %ld %d\n", a, b, c, sum);
    return 0;
}
