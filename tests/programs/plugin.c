int plugin_calls = 0;

int plugin_work(int n) {
    int total = 0;
    for (int i = 0; i < n; i++) {
        total += i;
    }
    plugin_calls++;
    return total;
}
