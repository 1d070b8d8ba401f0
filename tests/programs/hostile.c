#include <stdio.h>

struct named {
    const char *text;
    char raw[8];
};

static void look(struct named *value) { (void)value; }

/* The name in the symbol table; the debug information holds the other one. */
void plain(struct named *value) __asm__("\"evil[/bold]\033[2Jname\"");

void plain(struct named *value) { look(value); }

int main(void) {
    struct named value = {"\033[2J[bold]\351 \342\200\256 [/]", {'\377', '\376', 0, '\220', 0}};
    fwrite("\377\376\0\220\n", 1, 5, stdout);
    fflush(stdout);
    plain(&value);
    return 0;
}
