// What front-ends are known to fail at: stacks that cannot be unwound, effects of what the console calls.
int bumped = 0;

int bump(int by) {
    bumped += by;
    return bumped;
}

int inner(int n) {
    int doubled = n * 2;
    return doubled;  // stop here
}

int outer(int n) { return inner(n + 1); }

int main(void) {
    int seen = outer(3);
    return bump(seen) > 0;
}
