/* What is the same in every library that `lancehead build` makes. The file that includes this one has the tables:
 * LH_NAME, LH_IDENTITY, LH_LEVELS, LH_EXPORTS, lh_levels, lh_exports. With LH_PYTHON it is an extension module.
 *
 * Compiled code calls exported functions by lh_export and lh_library: crates/lh-runtime/src/foreign.rs has the same structs. What
 * changes in them changes the name of the capsule. */

#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* ---- The run-time library: crates/lh-aot. */

typedef struct {
    int32_t kind;
    uint64_t integer;
    double real, imaginary;
    const char *text;
    int64_t length;
} lh_argument;

extern const char *lh_aot_take(void);
extern const char *lh_aot_message(void);
extern int32_t lh_aot_argument(int64_t index, lh_argument *out);
extern void *lh_aot_owner(void *data, void *object, void (*release)(void *));
extern void *lh_aot_object(void *owner, void (*release)(void *));
extern void lh_aot_release(void *owner);

/* ---- Tables. */

/* A type: what values look like to Python. Values are sequences of 8-byte slots. */
typedef struct lh_type {
    char kind;    /* b bool, i int, u unsigned, f float, c complex, n None, s str, a array, t tuple, o optional */
    char layout;  /* of an array: C, F, A */
    char readonly;
    short number; /* NumPy's number of the element type */
    short size;   /* bits of a number; dimensions of an array; items of a tuple */
    short slots;
    const struct lh_type *parts;
} lh_type;

/* In the number of bytes of a text, its third slot: it is ASCII. */
#define LH_ASCII ((uint64_t)1 << 62)

typedef int32_t (*lh_entry)(const uint64_t *arguments, uint64_t *result);

/* A signature of an exported function, with its code for each level of processors. */
typedef struct {
    const struct lh_library *library;
    const char *name;
    const char *text;
    int count;
    int slots;
    char nogil;
    uint32_t writes; /* arguments whose memory it may write: a bit for each, the last one for all from there on */
    const char *const *parameters;
    const lh_type *types;
    const lh_type *result;
    const lh_entry *entries;
} lh_export;

static const lh_export lh_exports[LH_EXPORTS];
static const char *const lh_levels[LH_LEVELS];

/* The level that is used: the last one that this processor has; -1 if it has none. */
static int lh_chosen = -1;

/* What compiled code needs for calls, beside the table. */
typedef struct lh_library {
    const char *identity;
    int count;
    const lh_export *exports;
    const int *chosen;
    void *(*owner)(void *data, void *object, void (*release)(void *));
    void *(*object)(void *owner, void (*release)(void *));
    void (*release)(void *owner);
    const char *(*take)(void);
    int32_t (*argument)(int64_t index, lh_argument *out);
} lh_library;

static const lh_library lh_this = {
    LH_IDENTITY, LH_EXPORTS, lh_exports, &lh_chosen, lh_aot_owner, lh_aot_object, lh_aot_release, lh_aot_take, lh_aot_argument,
};

static int lh_has(const char *level) {
    __builtin_cpu_init();
    if (!strcmp(level, "x86-64-v4")) return __builtin_cpu_supports("x86-64-v4") != 0;
    if (!strcmp(level, "x86-64-v3")) return __builtin_cpu_supports("x86-64-v3") != 0;
    if (!strcmp(level, "x86-64-v2")) return __builtin_cpu_supports("x86-64-v2") != 0;
    return 1;
}

__attribute__((constructor)) static void lh_choose(void) {
    for (int i = 0; i < LH_LEVELS; i++)
        if (lh_has(lh_levels[i])) lh_chosen = i;
}

/* ---- Called from C. */

static _Thread_local char lh_error_text[1024];

static inline int32_t lh_call(const lh_export *e, const uint64_t *arguments, uint64_t *result) {
    if (lh_chosen < 0) {
        snprintf(lh_error_text, sizeof lh_error_text, "RuntimeError: this library needs a processor of level %s", lh_levels[0]);
        return 1;
    }
    int32_t status = e->entries[lh_chosen](arguments, result);
    if (status) {
        const char *name = lh_aot_take();
        const char *message = name ? lh_aot_message() : "";
        snprintf(lh_error_text, sizeof lh_error_text, *message ? "%s: %s" : "%s", name ? name : "SystemError", message);
    }
    return status;
}

#define LH_PUT(slots, at, value) memcpy(&(slots)[at], &(value), sizeof(value))
#define LH_GET(target, slots, at) memcpy(&(target), &(slots)[at], sizeof(target))

/* ---- Called from Python. */

#define LH_CAPSULE "lancehead.export.3"

#ifdef LH_PYTHON

/* What keeps the memory of arguments alive during a call. */
#define LH_OWNERS 256
typedef struct {
    void *list[LH_OWNERS];
    int count;
} lh_owners;

static void lh_drop_object(void *object) {
    PyGILState_STATE state = PyGILState_Ensure();
    Py_DECREF((PyObject *)object);
    PyGILState_Release(state);
}

/* An owner for memory of an object; 0 without memory for it. */
static int lh_own(PyObject *object, void *data, lh_owners *owners, uint64_t *slot) {
    if (owners->count == LH_OWNERS) {
        PyErr_SetString(PyExc_TypeError, "too many arrays and strings in the arguments");
        return -1;
    }
    void *owner = lh_aot_owner(data, object, lh_drop_object);
    if (!owner) {
        PyErr_NoMemory();
        return -1;
    }
    Py_INCREF(object);
    owners->list[owners->count++] = owner;
    *slot = (uint64_t)(uintptr_t)owner;
    return 1;
}

static int lh_take(const lh_type *t, PyObject *o, int convert, uint64_t *slots, lh_owners *owners);

static int lh_take_int(const lh_type *t, PyObject *o, int convert, uint64_t *slot) {
    if (PyBool_Check(o) && !convert) return 0;
    if (!PyLong_CheckExact(o) && PyArray_IsScalar(o, Generic)) {
        PyArray_Descr *d = PyArray_DescrFromScalar(o);
        int same = d && PyArray_EquivTypenums(d->type_num, t->number);
        Py_XDECREF(d);
        if (!same && !convert) return 0;
    } else if (!PyLong_CheckExact(o) && !convert) {
        return 0;
    } else if (!convert && t->size != 64) {
        return 0;
    }
    PyObject *n = PyNumber_Index(o);
    if (!n) {
        if (!PyErr_ExceptionMatches(PyExc_TypeError)) return -1;
        PyErr_Clear();
        return 0;
    }
    int over = 0;
    if (t->kind == 'i') {
        long long v = PyLong_AsLongLongAndOverflow(n, &over);
        long long limit = t->size == 64 ? 0 : 1LL << (t->size - 1);
        over = over || (limit && (v < -limit || v >= limit));
        memcpy(slot, &v, sizeof v);
    } else {
        unsigned long long v = PyLong_AsUnsignedLongLong(n);
        if (PyErr_Occurred()) {
            PyErr_Clear();
            over = 1;
        }
        over = over || (t->size < 64 && v >> t->size);
        memcpy(slot, &v, sizeof v);
    }
    Py_DECREF(n);
    if (over && convert) {
        PyErr_Format(PyExc_OverflowError, "int out of the range of %sint%d", t->kind == 'u' ? "u" : "", t->size);
        return -1;
    }
    return !over;
}

static int lh_take_real(const lh_type *t, PyObject *o, int convert, uint64_t *slot) {
    int exact = t->size == 64 ? PyFloat_Check(o) : PyArray_IsScalar(o, Float);
    if (!exact && (!convert || PyComplex_Check(o) || PyUnicode_Check(o))) return 0;
    double v = PyFloat_AsDouble(o);
    if (v == -1.0 && PyErr_Occurred()) {
        if (!PyErr_ExceptionMatches(PyExc_TypeError)) return -1;
        PyErr_Clear();
        return 0;
    }
    float single = (float)v;
    if (t->size == 64) memcpy(slot, &v, sizeof v);
    else memcpy(slot, &single, sizeof single);
    return 1;
}

static int lh_take_complex(const lh_type *t, PyObject *o, int convert, uint64_t *slots) {
    int exact = t->size == 128 ? PyComplex_Check(o) : PyArray_IsScalar(o, CFloat);
    if (!exact && (!convert || PyUnicode_Check(o))) return 0;
    Py_complex v = PyComplex_AsCComplex(o);
    if (PyErr_Occurred()) {
        if (!PyErr_ExceptionMatches(PyExc_TypeError)) return -1;
        PyErr_Clear();
        return 0;
    }
    float re = (float)v.real, im = (float)v.imag;
    if (t->size == 128) {
        memcpy(&slots[0], &v.real, 8);
        memcpy(&slots[1], &v.imag, 8);
    } else {
        memcpy(&slots[0], &re, 4);
        memcpy(&slots[1], &im, 4);
    }
    return 1;
}

static int lh_take_array(const lh_type *t, PyObject *o, uint64_t *slots, lh_owners *owners) {
    if (!PyArray_Check(o)) return 0;
    PyArrayObject *a = (PyArrayObject *)o;
    if (PyArray_NDIM(a) != t->size || !PyArray_EquivTypenums(PyArray_TYPE(a), t->number) || !PyArray_ISNOTSWAPPED(a)) return 0;
    if (!PyArray_ISALIGNED(a) || (!t->readonly && !PyArray_ISWRITEABLE(a))) return 0;
    if (t->layout == 'C' && !PyArray_IS_C_CONTIGUOUS(a)) return 0;
    if (t->layout == 'F' && !PyArray_IS_F_CONTIGUOUS(a)) return 0;
    slots[1] = (uint64_t)(uintptr_t)PyArray_DATA(a);
    for (int i = 0; i < t->size; i++) {
        slots[2 + i] = (uint64_t)PyArray_DIM(a, i);
        slots[2 + t->size + i] = (uint64_t)PyArray_STRIDE(a, i);
    }
    return lh_own(o, PyArray_DATA(a), owners, &slots[0]);
}

/* Puts an object into slots: 1 if it is of the type, 0 if not, -1 with an exception. `convert`: numbers of other types, too. */
static int lh_take(const lh_type *t, PyObject *o, int convert, uint64_t *slots, lh_owners *owners) {
    switch (t->kind) {
    case 'b':
        if (!PyBool_Check(o) && !PyArray_IsScalar(o, Bool)) return 0;
        slots[0] = (uint64_t)PyObject_IsTrue(o);
        return 1;
    case 'i':
    case 'u':
        return lh_take_int(t, o, convert, slots);
    case 'f':
        return lh_take_real(t, o, convert, slots);
    case 'c':
        return lh_take_complex(t, o, convert, slots);
    case 'n':
        return o == Py_None;
    case 's': {
        if (!PyUnicode_Check(o)) return 0;
        Py_ssize_t length;
        const char *text = PyUnicode_AsUTF8AndSize(o, &length);
        if (!text) return -1;
        slots[1] = (uint64_t)(uintptr_t)text;
        slots[2] = (uint64_t)length | (length == PyUnicode_GET_LENGTH(o) ? LH_ASCII : 0);
        return lh_own(o, (void *)text, owners, &slots[0]);
    }
    case 'a':
        return lh_take_array(t, o, slots, owners);
    case 'o':
        slots[0] = o != Py_None;
        return o == Py_None ? 1 : lh_take(t->parts, o, convert, slots + 1, owners);
    default:
        if (!PyTuple_Check(o) || PyTuple_GET_SIZE(o) != t->size) return 0;
        for (int i = 0; i < t->size; i++) {
            int taken = lh_take(&t->parts[i], PyTuple_GET_ITEM(o, i), convert, slots, owners);
            if (taken != 1) return taken;
            slots += t->parts[i].slots;
        }
        return 1;
    }
}

static void lh_free_capsule(PyObject *capsule) { lh_aot_release(PyCapsule_GetPointer(capsule, "lancehead.memory")); }

static PyObject *lh_give_array(const lh_type *t, const uint64_t *slots) {
    void *owner = (void *)(uintptr_t)slots[0], *data = (void *)(uintptr_t)slots[1];
    npy_intp shape[64], strides[64];
    for (int i = 0; i < t->size; i++) {
        shape[i] = (npy_intp)slots[2 + i];
        strides[i] = (npy_intp)slots[2 + t->size + i];
    }
    PyObject *object = lh_aot_object(owner, lh_drop_object), *base;
    if (object && PyArray_Check(object)) {
        /* The argument itself, if it comes back unchanged. */
        PyArrayObject *a = (PyArrayObject *)object;
        int same = PyArray_DATA(a) == data && PyArray_NDIM(a) == t->size && PyArray_TYPE(a) == t->number;
        for (int i = 0; same && i < t->size; i++) same = PyArray_DIM(a, i) == shape[i] && PyArray_STRIDE(a, i) == strides[i];
        if (same) {
            Py_INCREF(object);
            lh_aot_release(owner);
            return object;
        }
    }
    base = owner ? PyCapsule_New(owner, "lancehead.memory", lh_free_capsule) : NULL;
    if (owner && !base) return NULL;
    int flags = t->readonly ? 0 : NPY_ARRAY_WRITEABLE;
    PyArray_Descr *d = PyArray_DescrFromType(t->number);
    PyObject *array = PyArray_NewFromDescr(&PyArray_Type, d, t->size, shape, strides, data, flags, NULL);
    if (!array || (base && PyArray_SetBaseObject((PyArrayObject *)array, base) < 0)) {
        Py_XDECREF(array);
        return NULL;
    }
    PyArray_UpdateFlags((PyArrayObject *)array, NPY_ARRAY_UPDATE_ALL);
    return array;
}

/* The object of a result, whose references it takes over. */
static PyObject *lh_give(const lh_type *t, const uint64_t *slots) {
    double re, im;
    float single_re, single_im;
    switch (t->kind) {
    case 'b':
        return PyBool_FromLong((long)(slots[0] & 1));
    case 'i':
        return PyLong_FromLongLong((long long)(slots[0] << (64 - t->size)) >> (64 - t->size));
    case 'u':
        return PyLong_FromUnsignedLongLong(slots[0] << (64 - t->size) >> (64 - t->size));
    case 'f':
        LH_GET(re, slots, 0);
        LH_GET(single_re, slots, 0);
        return PyFloat_FromDouble(t->size == 64 ? re : (double)single_re);
    case 'c':
        LH_GET(re, slots, 0);
        LH_GET(im, slots, 1);
        LH_GET(single_re, slots, 0);
        LH_GET(single_im, slots, 1);
        return t->size == 128 ? PyComplex_FromDoubles(re, im) : PyComplex_FromDoubles(single_re, single_im);
    case 'n':
        Py_RETURN_NONE;
    case 's': {
        PyObject *text = PyUnicode_FromStringAndSize((const char *)(uintptr_t)slots[1], (Py_ssize_t)(slots[2] & ~LH_ASCII));
        lh_aot_release((void *)(uintptr_t)slots[0]);
        return text;
    }
    case 'a':
        return lh_give_array(t, slots);
    case 'o':
        if (slots[0] & 1) return lh_give(t->parts, slots + 1);
        Py_RETURN_NONE;
    default: {
        PyObject *tuple = PyTuple_New(t->size);
        for (int i = 0; tuple && i < t->size; i++) {
            PyObject *item = lh_give(&t->parts[i], slots);
            if (!item) Py_CLEAR(tuple);
            else PyTuple_SET_ITEM(tuple, i, item);
            slots += t->parts[i].slots;
        }
        return tuple;
    }
    }
}

static PyObject *lh_exception_argument(const lh_argument *a) {
    switch (a->kind) {
    case 1:
        return PyBool_FromLong((long)a->integer);
    case 2:
        return PyLong_FromLongLong((long long)a->integer);
    case 3:
        return PyLong_FromUnsignedLongLong(a->integer);
    case 4:
        return PyFloat_FromDouble(a->real);
    case 5:
        return PyComplex_FromDoubles(a->real, a->imaginary);
    case 6:
        return PyUnicode_DecodeUTF8(a->text, (Py_ssize_t)a->length, "replace");
    default:
        Py_RETURN_NONE;
    }
}

/* Raises what the code has raised. */
static PyObject *lh_raise(void) {
    const char *name = lh_aot_take();
    PyObject *builtins = PyImport_ImportModule("builtins"), *args = PyList_New(0);
    PyObject *class = builtins && name ? PyObject_GetAttrString(builtins, name) : NULL;
    if (!class) {
        PyErr_Clear();
        class = Py_NewRef(PyExc_RuntimeError);
    }
    lh_argument a;
    for (int64_t i = 0; args && lh_aot_argument(i, &a); i++) {
        PyObject *value = lh_exception_argument(&a);
        if (!value || PyList_Append(args, value) < 0) Py_CLEAR(args);
        Py_XDECREF(value);
    }
    PyObject *tuple = args ? PyList_AsTuple(args) : NULL;
    PyObject *exception = tuple ? PyObject_Call(class, tuple, NULL) : NULL;
    if (exception) PyErr_SetObject(class, exception);
    Py_XDECREF(exception);
    Py_XDECREF(tuple);
    Py_XDECREF(args);
    Py_DECREF(class);
    Py_XDECREF(builtins);
    return NULL;
}

static PyObject *lh_run(const lh_export *e, const uint64_t *slots, lh_owners *owners) {
    uint64_t result[e->result->slots + 1];
    int32_t status;
    memset(result, 0, sizeof result);
    if (e->nogil) {
        Py_BEGIN_ALLOW_THREADS
        status = e->entries[lh_chosen](slots, result);
        Py_END_ALLOW_THREADS
    } else {
        status = e->entries[lh_chosen](slots, result);
    }
    PyObject *made = status ? lh_raise() : lh_give(e->result, result);
    while (owners->count) lh_aot_release(owners->list[--owners->count]);
    return made;
}

/* Positional arguments of a call, keywords put in their places; 0 if there are others than the signature has. */
static int lh_bind(const lh_export *e, PyObject *const *args, Py_ssize_t n, PyObject *names, PyObject **bound) {
    Py_ssize_t keywords = names ? PyTuple_GET_SIZE(names) : 0;
    if (n + keywords != e->count) return 0;
    for (Py_ssize_t i = 0; i < e->count; i++) bound[i] = i < n ? args[i] : NULL;
    for (Py_ssize_t k = 0; k < keywords; k++) {
        Py_ssize_t i = n;
        while (i < e->count && PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(names, k), e->parameters[i])) i++;
        if (i == e->count || bound[i]) return 0;
        bound[i] = args[n + k];
    }
    return 1;
}

/* The docstring of a function, and all that it is compiled for. */
typedef struct {
    const char *doc;
    const char *choices;
} lh_told;

static const lh_told lh_tells[LH_EXPORTS];

/* The type of an argument as a user knows it. */
static PyObject *lh_described(PyObject *o) {
    if (PyArray_Check(o)) {
        PyArrayObject *a = (PyArrayObject *)o;
        const char *layout = PyArray_IS_C_CONTIGUOUS(a) ? "C" : PyArray_IS_F_CONTIGUOUS(a) ? "F" : "A";
        const char *aligned = PyArray_ISALIGNED(a) ? "" : "unaligned ", *writable = PyArray_ISWRITEABLE(a) ? "" : "readonly ";
        return PyUnicode_FromFormat("%s%sarray(%S, %dd, %s)", aligned, writable, PyArray_DESCR(a), PyArray_NDIM(a), layout);
    }
    if (o == Py_None) return PyUnicode_FromString("None");
    const char *name = Py_TYPE(o)->tp_name, *dot = strrchr(name, '.');
    return PyUnicode_FromString(dot ? dot + 1 : name);
}

/* Types of the arguments of a call, those of keywords after their names. */
static PyObject *lh_given(PyObject *const *args, Py_ssize_t n, PyObject *names) {
    Py_ssize_t count = n + (names ? PyTuple_GET_SIZE(names) : 0);
    PyObject *comma = PyUnicode_FromString(", "), *texts = PyList_New(0);
    for (Py_ssize_t i = 0; texts && i < count; i++) {
        PyObject *text = lh_described(args[i]);
        if (text && i >= n) {
            PyObject *type = text;
            text = PyUnicode_FromFormat("%U=%U", PyTuple_GET_ITEM(names, i - n), type);
            Py_DECREF(type);
        }
        if (!text || PyList_Append(texts, text) < 0) Py_CLEAR(texts);
        Py_XDECREF(text);
    }
    PyObject *given = comma && texts ? PyUnicode_Join(comma, texts) : NULL;
    Py_XDECREF(texts);
    Py_XDECREF(comma);
    return given;
}

static PyObject *lh_refuse(const lh_export *first, PyObject *const *args, Py_ssize_t n, PyObject *names) {
    PyObject *given = lh_given(args, n, names);
    if (!given) return NULL;
    const char *choices = lh_tells[first - lh_exports].choices;
    if (PyUnicode_GET_LENGTH(given)) {
        PyErr_Format(PyExc_TypeError, "No matching definition: %s is compiled for %s; got %U", first->name, choices, given);
    } else {
        PyErr_Format(PyExc_TypeError, "No matching definition: %s is compiled for %s; got no arguments", first->name, choices);
    }
    Py_DECREF(given);
    return NULL;
}

/* Calls the first signature that takes the arguments as they are, else the first that they can be converted to. */
static PyObject *lh_function(PyObject *self, PyObject *const *args, Py_ssize_t n, PyObject *names) {
    const lh_export *first = PyCapsule_GetPointer(self, LH_CAPSULE);
    for (int convert = 0; convert < 2; convert++) {
        for (const lh_export *e = first; e < lh_exports + LH_EXPORTS && !strcmp(e->name, first->name); e++) {
            uint64_t slots[e->slots + 1];
            PyObject *bound[e->count + 1];
            lh_owners owners;
            owners.count = 0;
            int taken = lh_bind(e, args, n, names, bound);
            uint64_t *at = slots;
            memset(slots, 0, sizeof slots);
            for (int i = 0; taken == 1 && i < e->count; i++) {
                taken = lh_take(&e->types[i], bound[i], convert, at, &owners);
                at += e->types[i].slots;
            }
            if (taken == 1) return lh_run(e, slots, &owners);
            while (owners.count) lh_aot_release(owners.list[--owners.count]);
            if (taken < 0) return NULL;
        }
    }
    return lh_refuse(first, args, n, names);
}

static PyMethodDef lh_methods[LH_EXPORTS];

static int lh_exec(PyObject *module) {
    if (lh_chosen < 0) {
        PyErr_Format(PyExc_ImportError, "%s needs a processor of level %s", LH_NAME, lh_levels[0]);
        return -1;
    }
    import_array1(-1);
    for (int i = 0; i < LH_EXPORTS; i++) {
        const lh_export *e = &lh_exports[i];
        if (i && !strcmp(e->name, lh_exports[i - 1].name)) continue;
        lh_methods[i] = (PyMethodDef){e->name, (PyCFunction)(void (*)(void))lh_function, METH_FASTCALL | METH_KEYWORDS, lh_tells[i].doc};
        PyObject *capsule = PyCapsule_New((void *)e, LH_CAPSULE, NULL);
        PyObject *name = PyModule_GetNameObject(module);
        PyObject *function = capsule && name ? PyCFunction_NewEx(&lh_methods[i], capsule, name) : NULL;
        Py_XDECREF(capsule);
        Py_XDECREF(name);
        if (PyModule_AddObjectRef(module, e->name, function) < 0) {
            Py_XDECREF(function);
            return -1;
        }
        Py_DECREF(function);
    }
    return 0;
}

static PyModuleDef_Slot lh_slots[] = {
    {Py_mod_exec, lh_exec},
#ifdef Py_mod_gil
    {Py_mod_gil, Py_MOD_GIL_NOT_USED},
#endif
    {0, NULL},
};
static struct PyModuleDef lh_module = {PyModuleDef_HEAD_INIT, LH_NAME, "Functions compiled by lancehead.", 0, NULL, lh_slots, NULL, NULL, NULL};

#endif
