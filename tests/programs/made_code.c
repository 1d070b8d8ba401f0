// Calls code that it has made at run time, in memory that belongs to no file; that crashes.
#include <string.h>
#include <sys/mman.h>

int main(void) {
#if defined(__x86_64__)
    static const unsigned char code[] = {0x0f, 0x0b};  // ud2
#elif defined(__aarch64__)
    static const unsigned char code[] = {0, 0, 0, 0};  // udf #0
#endif
    void *page = mmap(0, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memcpy(page, code, sizeof code);
    __builtin___clear_cache(page, (char *)page + sizeof code);
    ((void (*)(void))page)();
    return 0;
}
