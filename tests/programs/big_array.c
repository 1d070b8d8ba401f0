int main(void) {
    static double cells[8000000];
    double *first = cells;

    first[1] = 1;
    first[2] = 2;
    return (int)cells[0];
}
