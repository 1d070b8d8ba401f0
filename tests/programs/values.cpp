// Values of every kind that a debugger is asked to look into.
#include <cstdio>
#include <cstring>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <variant>
#include <vector>

struct Node {
    int value;
    Node *next;
    static Node root;
    static int made;
};
Node Node::root{1, nullptr};
int Node::made = 3;

struct Shape {
    int id = 7;
    virtual ~Shape() = default;
    virtual double area() const { return 0; }
};
struct Named {
    std::string name = "named";
};
struct Square : Shape, Named {
    double side = 2.5;
    double area() const override { return side * side; }
};
struct Top {
    int top = 1;
};
struct Left : virtual Top {
    int left = 2;
};
union Bits {
    float number;
    unsigned bits;
};
struct Anonymous {
    int tag;
    union {
        int whole;
        float part;
    };
};
namespace {
struct Hidden {
    int h = 5;
};
}
enum Colour { RED, GREEN };

int calls = 0;
int count_call(int x) {
    calls++;
    return x + 1;
}
int crash() { return *(volatile int *)nullptr; }

int look(std::vector<int> &numbers, const std::string &text, Shape &shape) {
    Node first{10, nullptr}, second{20, &first};
    first.next = &second;
    Bits bits;
    bits.number = 1.0f;
    Anonymous mixed{1, {2}};
    std::map<std::string, int> ages{{"ann", 30}, {"bob", 40}};
    std::unordered_map<int, std::string> names{{1, "one"}};
    std::optional<int> maybe = 5, none;
    std::variant<int, std::string> either = std::string("str");
    std::unique_ptr<Square> owned(new Square);
    std::vector<Hidden> hidden(3);
    std::vector<bool> flags{true, false};
    std::list<int> chain{1, 2, 3};
    std::set<int> ordered{4, 5};
    Shape *drawn = owned.get();
    Left diamond;
    double cells[100000];
    for (int k = 0; k < 100000; k++) cells[k] = k;
    int grid[3][4] = {{1, 2}, {3}};
    char hostile[16] = "\033[2J[bold]\xe9";
    std::string nasty("\033[2J[bold]\xe9");
    std::string novel(5000, 'x');
    novel += "END";
    const char *words = novel.c_str();
    int *heap = new int[50];
    for (int k = 0; k < 50; k++) heap[k] = k * k;
    void *nothing = nullptr;
    int (*function)(int) = count_call;
    std::vector<std::vector<int>> nested{{1, 2}, {3}};
    Colour colour = GREEN;
    int total = 0;
    for (int k = 0; k < 5; k++) {
        total += numbers[k] + (int)cells[k];
        first.value += k;
        numbers[k] += 100;  // stop here
        ages["ann"] += k;
    }
    printf("%d %f %zu %d\n", total, bits.number, text.size() + nasty.size() + flags.size(), mixed.whole);
    return total + shape.id + (int)names.size() + maybe.value_or(0) + none.has_value() + (int)either.index() +
           hidden[0].h + (int)chain.size() + (int)ordered.size() + drawn->id + diamond.left + grid[0][0] +
           hostile[0] + words[0] + heap[1] + (nothing == nullptr) + function(1) + (int)nested.size() + colour;
}

int main() {
    std::vector<int> numbers(1000000, 7);
    Square square;
    return look(numbers, "hello", square) == crash() ? 0 : 1;
}
