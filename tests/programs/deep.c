#include <stdlib.h>

int dig(int depth) {
    if (depth == 0)
        abort();
    return dig(depth - 1) + depth;
}

int main(void) { return dig(50000); }
