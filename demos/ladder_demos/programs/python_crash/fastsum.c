#include <stdlib.h>
/* Python's stable ABI, declared here so that its headers need not be installed. */
typedef struct { ssize_t references; void *type; } PyObject;
typedef struct { const char *name; PyObject *(*call)(PyObject *, PyObject *); int flags; const char *doc; } PyMethodDef;
typedef struct {
    PyObject base; void *init; ssize_t index; void *copy;
    const char *name, *doc; ssize_t size; PyMethodDef *methods; void *unused[4];
} PyModuleDef;
PyObject *PyModule_Create2(PyModuleDef *, int), *PyFloat_FromDouble(double), *PySequence_GetItem(PyObject *, ssize_t);
ssize_t PySequence_Size(PyObject *);
double PyFloat_AsDouble(PyObject *);
void Py_DecRef(PyObject *);

static double *copy_values(PyObject *batch, ssize_t n) {
    double *values = NULL;
    for (ssize_t i = 0; i < n; i++) {
        PyObject *item = PySequence_GetItem(batch, i);
        values = values ? values : malloc(n * sizeof *values);
        values[i] = PyFloat_AsDouble(item);
        Py_DecRef(item);
    }
    return values;                    /* BUG: NULL for an empty batch */
}
static double find_largest(const double *values, ssize_t n) {
    double best = values[0];          /* SIGSEGV here when values == NULL */
    for (ssize_t i = 1; i < n; i++)
        best = values[i] > best ? values[i] : best;
    return best;
}
static PyObject *largest(PyObject *module, PyObject *batch) {
    ssize_t n = PySequence_Size(batch);
    double *values = copy_values(batch, n);
    double best = find_largest(values, n);
    free(values);
    return PyFloat_FromDouble(best);
}
static PyMethodDef methods[] = {{"largest", largest, 8 /* METH_O */, "The largest value."}, {0}};
static PyModuleDef module = {{1, 0}, 0, 0, 0, "fastsum", 0, -1, methods, {0}};
__attribute__((visibility("default"))) PyObject *PyInit_fastsum(void) { return PyModule_Create2(&module, 3); }
