#include <vector>

static void look(std::vector<int> &numbers) { (void)numbers; }

int main() {
    std::vector<int> numbers(1000000, 7);
    look(numbers);
    return 0;
}
