/* SHA-256 of a stream and of its pieces, two at a time, with the instructions of x86-64 for it.
 *
 * Each SHA-256 waits for its own last round: one stream uses half of what the instructions can do.
 * So the hash of a recording and the leaf hash of the blob that goes by are computed side by side,
 * and each byte is read once. `storage/hashing/onepass.py` is the only importer; it does without
 * this module where it was not built, or where the processor lacks the instructions.
 *
 * Source: FIPS 180-4, 6.2 (SHA-256); RFC 6962, 2.1 (leaf hash: 0x00 goes before the data);
 * Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2 (SHA256RNDS2 and others).
 */

#define Py_LIMITED_API 0x030B0000
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#if !defined(__x86_64__)
#error "only x86-64 has these instructions"
#endif

#include <cpuid.h>
#include <immintrin.h>
#include <stdint.h>
#include <string.h>

#define BLOCK_BYTES 64
#define HASH_BYTES 32
#define LENGTH_BYTES 8
#define SHA_TARGET __attribute__((target("sha,sse4.1,ssse3")))

static const uint32_t ROUND_CONSTANTS[64] __attribute__((aligned(16))) = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

/* The eight words of a state, in the order that the instructions want; from high to low. */
typedef struct {
    __m128i abef;
    __m128i cdgh;
} State;

/* The same in memory of Python's, which need not be aligned. */
typedef struct {
    uint8_t abef[16];
    uint8_t cdgh[16];
} Saved;

static const uint32_t FIRST_ABEF[4] = {0x9b05688c, 0x510e527f, 0xbb67ae85, 0x6a09e667};
static const uint32_t FIRST_CDGH[4] = {0x5be0cd19, 0x1f83d9ab, 0xa54ff53a, 0x3c6ef372};

static State first_state(void)
{
    State state;
    memcpy(&state.abef, FIRST_ABEF, sizeof state.abef);
    memcpy(&state.cdgh, FIRST_CDGH, sizeof state.cdgh);
    return state;
}

/* Takes `count` blocks into each of `streams` states, which is 1 or 2 and known when inlined. */
SHA_TARGET static inline __attribute__((always_inline)) void
take_blocks(State *states, const uint8_t **data, size_t count, const int streams)
{
    const __m128i big_endian = _mm_set_epi64x(0x0c0d0e0f08090a0bULL, 0x0405060700010203ULL);
    State now[2];
    for (int s = 0; s < streams; s++)
        now[s] = states[s];
    for (; count > 0; count--) {
        __m128i words[2][4];
        State before[2];
        for (int s = 0; s < streams; s++) {
            before[s] = now[s];
            for (int w = 0; w < 4; w++) {
                const __m128i *at = (const __m128i *)(data[s] + 16 * w);
                words[s][w] = _mm_shuffle_epi8(_mm_loadu_si128(at), big_endian);
            }
            data[s] += BLOCK_BYTES;
        }
#pragma GCC unroll 16
        for (int round = 0; round < 16; round++) {
            const __m128i constants =
                _mm_load_si128((const __m128i *)(ROUND_CONSTANTS + 4 * round));
#pragma GCC unroll 2
            for (int s = 0; s < streams; s++) {
                __m128i *w = words[s];
                if (round >= 4) {
                    const __m128i older =
                        _mm_alignr_epi8(w[(round + 3) & 3], w[(round + 2) & 3], 4);
                    const __m128i mixed =
                        _mm_sha256msg1_epu32(w[round & 3], w[(round + 1) & 3]);
                    w[round & 3] =
                        _mm_sha256msg2_epu32(_mm_add_epi32(mixed, older), w[(round + 3) & 3]);
                }
                const __m128i sum = _mm_add_epi32(w[round & 3], constants);
                now[s].cdgh = _mm_sha256rnds2_epu32(now[s].cdgh, now[s].abef, sum);
                now[s].abef =
                    _mm_sha256rnds2_epu32(now[s].abef, now[s].cdgh, _mm_shuffle_epi32(sum, 0x0e));
            }
        }
        for (int s = 0; s < streams; s++) {
            now[s].abef = _mm_add_epi32(now[s].abef, before[s].abef);
            now[s].cdgh = _mm_add_epi32(now[s].cdgh, before[s].cdgh);
        }
    }
    for (int s = 0; s < streams; s++)
        states[s] = now[s];
}

SHA_TARGET static void take_one(State *state, const uint8_t *data, size_t count)
{
    take_blocks(state, &data, count, 1);
}

SHA_TARGET static void take_two(State *states, const uint8_t **data, size_t count)
{
    take_blocks(states, data, count, 2);
}

static void put_big_endian(uint8_t *to, uint64_t value, int bytes)
{
    for (int at = 0; at < bytes; at++)
        to[at] = (uint8_t)(value >> (8 * (bytes - 1 - at)));
}

/* Pads the last `left` bytes, fewer than a block, of a message of `total` bytes; FIPS 180-4, 5.1.1. */
static void close_state(State state, const uint8_t *last, size_t left, uint64_t total, uint8_t *hash)
{
    uint8_t end[2 * BLOCK_BYTES] = {0};
    const size_t blocks = left + 1 + LENGTH_BYTES > BLOCK_BYTES ? 2 : 1;
    memcpy(end, last, left);
    end[left] = 0x80;
    put_big_endian(end + blocks * BLOCK_BYTES - LENGTH_BYTES, total * 8, LENGTH_BYTES);
    take_one(&state, end, blocks);
    uint32_t abef[4], cdgh[4];
    memcpy(abef, &state.abef, sizeof abef);
    memcpy(cdgh, &state.cdgh, sizeof cdgh);
    const uint32_t words[8] = {abef[3], abef[2], cdgh[3], cdgh[2], abef[1], abef[0], cdgh[1], cdgh[0]};
    for (int word = 0; word < 8; word++)
        put_big_endian(hash + 4 * word, words[word], 4);
}

typedef struct {
    PyObject_HEAD
    Saved saved;
    uint64_t total;
    uint8_t last[BLOCK_BYTES]; /* the bytes behind the last whole block: total % BLOCK_BYTES */
    int busy;                  /* a thread without the GIL is changing it */
} Sha256;

static State load(const Sha256 *self)
{
    State state;
    memcpy(&state.abef, self->saved.abef, sizeof state.abef);
    memcpy(&state.cdgh, self->saved.cdgh, sizeof state.cdgh);
    return state;
}

static void save(Sha256 *self, State state)
{
    memcpy(self->saved.abef, &state.abef, sizeof state.abef);
    memcpy(self->saved.cdgh, &state.cdgh, sizeof state.cdgh);
}

static void take_bytes(Sha256 *self, const uint8_t *data, size_t size)
{
    State state = load(self);
    const size_t left = self->total % BLOCK_BYTES;
    self->total += size;
    if (left > 0) {
        const size_t missing = BLOCK_BYTES - left;
        const size_t taken = size < missing ? size : missing;
        memcpy(self->last + left, data, taken);
        data += taken;
        size -= taken;
        if (taken < missing)
            return;
        take_one(&state, self->last, 1);
    }
    take_one(&state, data, size / BLOCK_BYTES);
    memcpy(self->last, data + size / BLOCK_BYTES * BLOCK_BYTES, size % BLOCK_BYTES);
    save(self, state);
}

/* Takes a blob into the stream and writes its leaf hash. */
static void take_blob(Sha256 *self, const uint8_t *data, size_t size, uint8_t *leaf)
{
    State states[2] = {load(self), first_state()};
    uint8_t first[BLOCK_BYTES] = {0}; /* the leaf's first block begins with 0x00 */
    if (self->total % BLOCK_BYTES != 0 || size < BLOCK_BYTES) {
        const size_t head = size < BLOCK_BYTES - 1 ? size : BLOCK_BYTES - 1;
        memcpy(first + 1, data, head);
        if (head < BLOCK_BYTES - 1) {
            close_state(states[1], first, head + 1, size + 1, leaf);
        } else {
            const size_t blocks = (size - head) / BLOCK_BYTES;
            const uint8_t *rest = data + head + blocks * BLOCK_BYTES;
            take_one(&states[1], first, 1);
            take_one(&states[1], data + head, blocks);
            close_state(states[1], rest, (size_t)(data + size - rest), size + 1, leaf);
        }
        take_bytes(self, data, size);
        return;
    }
    /* Block n of the stream lies at 64 n, block n of the leaf at 64 n - 1. */
    const size_t blocks = size / BLOCK_BYTES;
    const uint8_t *at[2] = {data, first};
    memcpy(first + 1, data, BLOCK_BYTES - 1);
    take_two(states, at, 1);
    at[1] = data + BLOCK_BYTES - 1;
    take_two(states, at, blocks - 1);
    const size_t left = (size_t)(data + size - at[1]);
    if (left >= BLOCK_BYTES) {
        take_one(&states[1], at[1], 1);
        at[1] += BLOCK_BYTES;
    }
    close_state(states[1], at[1], (size_t)(data + size - at[1]), size + 1, leaf);
    self->total += size;
    memcpy(self->last, data + blocks * BLOCK_BYTES, size % BLOCK_BYTES);
    save(self, states[0]);
}

static int begin(Sha256 *self, PyObject *data, Py_buffer *view)
{
    if (self->busy) {
        PyErr_SetString(PyExc_RuntimeError, "another thread is using this Sha256");
        return -1;
    }
    if (PyObject_GetBuffer(data, view, PyBUF_SIMPLE) < 0)
        return -1;
    self->busy = 1;
    return 0;
}

static void end(Sha256 *self, Py_buffer *view)
{
    self->busy = 0;
    PyBuffer_Release(view);
}

static PyObject *sha256_update(PyObject *object, PyObject *data)
{
    Sha256 *self = (Sha256 *)object;
    Py_buffer view;
    if (begin(self, data, &view) < 0)
        return NULL;
    Py_BEGIN_ALLOW_THREADS
    take_bytes(self, view.buf, (size_t)view.len);
    Py_END_ALLOW_THREADS
    end(self, &view);
    Py_RETURN_NONE;
}

static PyObject *sha256_update_blob(PyObject *object, PyObject *data)
{
    Sha256 *self = (Sha256 *)object;
    Py_buffer view;
    uint8_t leaf[HASH_BYTES];
    if (begin(self, data, &view) < 0)
        return NULL;
    Py_BEGIN_ALLOW_THREADS
    take_blob(self, view.buf, (size_t)view.len, leaf);
    Py_END_ALLOW_THREADS
    end(self, &view);
    return PyBytes_FromStringAndSize((const char *)leaf, HASH_BYTES);
}

static PyObject *sha256_digest(PyObject *object, PyObject *Py_UNUSED(ignored))
{
    Sha256 *self = (Sha256 *)object;
    uint8_t hash[HASH_BYTES];
    if (self->busy) {
        PyErr_SetString(PyExc_RuntimeError, "another thread is using this Sha256");
        return NULL;
    }
    close_state(load(self), self->last, self->total % BLOCK_BYTES, self->total, hash);
    return PyBytes_FromStringAndSize((const char *)hash, HASH_BYTES);
}

static int sha256_init(PyObject *object, PyObject *args, PyObject *names)
{
    Sha256 *self = (Sha256 *)object;
    static char *none[] = {NULL};
    if (!PyArg_ParseTupleAndKeywords(args, names, ":Sha256", none))
        return -1;
    if (self->busy) {
        PyErr_SetString(PyExc_RuntimeError, "another thread is using this Sha256");
        return -1;
    }
    self->total = 0;
    save(self, first_state());
    return 0;
}

static void sha256_dealloc(PyObject *object)
{
    PyTypeObject *type = Py_TYPE(object);
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
    release(object);
    Py_DECREF(type);
}

static PyMethodDef METHODS[] = {
    {"update", sha256_update, METH_O, "Take the next bytes."},
    {"update_blob", sha256_update_blob, METH_O, "Take the next bytes; return their leaf hash."},
    {"digest", sha256_digest, METH_NOARGS, "Return the 32 bytes of all so far."},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot SLOTS[] = {
    {Py_tp_init, sha256_init},
    {Py_tp_dealloc, sha256_dealloc},
    {Py_tp_methods, METHODS},
    {Py_tp_doc, "SHA-256 of a stream, and RFC 6962 leaf hashes of its blobs; for one thread at a time."},
    {0, NULL},
};

static PyType_Spec SPEC = {
    .name = "storage.hashing._native.Sha256",
    .basicsize = sizeof(Sha256),
    .flags = Py_TPFLAGS_DEFAULT,
    .slots = SLOTS,
};

static int has_instructions(void)
{
    unsigned a, b, c, d;
    if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & bit_SSE4_1) || !(c & bit_SSSE3))
        return 0;
    return __get_cpuid_count(7, 0, &a, &b, &c, &d) && (b & bit_SHA) != 0;
}

static int fill_module(PyObject *module)
{
    if (!has_instructions()) {
        PyErr_SetString(PyExc_ImportError, "this processor has no instructions for SHA-256");
        return -1;
    }
    PyObject *type = PyType_FromSpec(&SPEC);
    if (type == NULL)
        return -1;
    const int added = PyModule_AddObjectRef(module, "Sha256", type);
    Py_DECREF(type);
    return added;
}

static PyModuleDef_Slot MODULE_SLOTS[] = {{Py_mod_exec, fill_module}, {0, NULL}};

static struct PyModuleDef MODULE = {
    PyModuleDef_HEAD_INIT,
    .m_name = "storage.hashing._native",
    .m_doc = "SHA-256 of a stream and of its pieces, side by side.",
    .m_slots = MODULE_SLOTS,
};

PyMODINIT_FUNC PyInit__native(void)
{
    return PyModuleDef_Init(&MODULE);
}
