#include <stdlib.h>
/* Python's stable ABI, declared here so that its headers need not be installed. */
typedef struct { ssize_t references; void *type; } PyObject;
typedef struct { const char *name; PyObject *(*call)(PyObject *, PyObject *); int flags; const char *doc; } PyMethodDef;
typedef struct {
    PyObject base; void *init; ssize_t index; void *copy;
    const char *name, *doc; ssize_t size; PyMethodDef *methods; void *unused[4];
} PyModuleDef;
PyObject *PyModule_Create2(PyModuleDef *, int), *PyObject_CallFunctionObjArgs(PyObject *, ...);
PyObject *PyLong_FromLong(long);
void *PyEval_SaveThread(void);
void PyEval_RestoreThread(void *);

volatile long turns;
volatile int go_on = 1;
static long spin_here(void) {
    while (go_on)
        turns++;
    return turns;
}
static long follow(volatile long *link) {
    return *link;
}
static PyObject *spin(PyObject *module, PyObject *nothing) { return PyLong_FromLong(spin_here()); }
static PyObject *crash(PyObject *module, PyObject *nothing) { return PyLong_FromLong(follow(NULL)); }
static PyObject *apply(PyObject *module, PyObject *callable) {
    return PyObject_CallFunctionObjArgs(callable, NULL);
}
static PyObject *release(PyObject *module, PyObject *nothing) {
    void *thread = PyEval_SaveThread();
    long count = spin_here();
    PyEval_RestoreThread(thread);
    return PyLong_FromLong(count);
}
static PyMethodDef methods[] = {
    {"spin", spin, 4, "Spins with the lock."}, {"crash", crash, 4, "Follows a null pointer."},
    {"apply", apply, 8, "Calls back."}, {"release", release, 4, "Spins without the lock."}, {0},
};
static PyModuleDef module = {{1, 0}, 0, 0, 0, "spin_extension", 0, -1, methods, {0}};
PyObject *PyInit_spin_extension(void) { return PyModule_Create2(&module, 3); }
