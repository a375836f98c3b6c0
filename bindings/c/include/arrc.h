/* arrc: data-parallel array programs, compiled at run time, from C.
 *
 * Arrays cross as tensors of DLPack (dlpack.h, whose structures are declared here if it was not included before). A function that
 * fails gives NULL or a status other than ARRC_OK; arrc_error() says why. All functions may be called from several threads. Pointers that are given are not NULL, and
 * texts end with a zero. */
#ifndef ARRC_H
#define ARRC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifndef DLPACK_DLPACK_H_
/* The structures of dlpack.h. */
typedef struct { int32_t device_type; int32_t device_id; } DLDevice;
typedef struct { uint8_t code; uint8_t bits; uint16_t lanes; } DLDataType;
typedef struct {
    void *data;
    DLDevice device;
    int32_t ndim;
    DLDataType dtype;
    int64_t *shape;
    int64_t *strides;     /* in elements; NULL if they are side by side in row-major order */
    uint64_t byte_offset;
} DLTensor;
typedef struct DLManagedTensor {
    DLTensor dl_tensor;
    void *manager_ctx;
    void (*deleter)(struct DLManagedTensor *self);
} DLManagedTensor;
enum { kDLCPU = 1 };
enum { kDLInt = 0, kDLUInt = 1, kDLFloat = 2, kDLBool = 6 };
#endif

/* What programs are compiled for. */
typedef struct arrc_session arrc_session;
/* A compiled program. It may outlive its session. */
typedef struct arrc_program arrc_program;
/* An array or a scalar where programs run: in memory of the GPU, say. */
typedef struct arrc_value arrc_value;

/* Zeros stand for the defaults. */
typedef struct {
    const char *target;   /* "auto", "cpu", "ptx", "ptx-emu" or "interp" */
    uint64_t device;      /* the number of the GPU */
    uint64_t threads;     /* for parallel work; one per core */
    uint64_t mem_limit;   /* bytes that arrays may occupy at once */
} arrc_options;

typedef enum {
    ARRC_OK = 0,
    ARRC_COMPILE,         /* the program is wrong */
    ARRC_RUN,             /* the program failed */
    ARRC_MEMORY,          /* arrays need more memory than there is, or than is allowed */
    ARRC_ARGUMENT,        /* an argument does not fit */
    ARRC_INTERRUPTED,     /* arrc_session_stop was called */
    ARRC_DEVICE,          /* a device cannot be had, or failed */
    ARRC_INTERNAL         /* a mistake in arrc */
} arrc_status;

/* The version of the library. */
const char *arrc_version(void);

/* Why the last function of this thread that failed did so, and the kind of that: valid until the next one fails. */
const char *arrc_error(void);
arrc_status arrc_error_status(void);

arrc_session *arrc_session_new(const arrc_options *options);
void arrc_session_free(arrc_session *session);
/* Stops the calls of the session that are under way: they give ARRC_INTERRUPTED. It may be called by a handler of signals. */
void arrc_session_stop(const arrc_session *session);

/* Compiles a text, which messages call `name`, or a file. */
arrc_program *arrc_compile(const arrc_session *session, const char *name, const char *text);
arrc_program *arrc_compile_file(const arrc_session *session, const char *path);
void arrc_program_free(arrc_program *program);

/* How many values an entry point takes and gives: tuples and records are the values that they are made of. -1 if there is none of that name. */
int64_t arrc_parameters(const arrc_program *program, const char *entry);
int64_t arrc_results(const arrc_program *program, const char *entry);

/* A copy of a tensor in memory of the host; a scalar if it has no dimensions. */
arrc_value *arrc_put(const arrc_session *session, const DLTensor *tensor);
/* The tensor itself, without a copy if its elements are side by side. Its deleter is called once it is not used any more, also if the function
 * fails. It is not changed unless `may_change`, by which entry points may update it in place. */
arrc_value *arrc_adopt(const arrc_session *session, DLManagedTensor *tensor, bool may_change);
/* Another reference to the same value. */
arrc_value *arrc_share(const arrc_value *value);
void arrc_value_free(arrc_value *value);

/* The elements in memory of the host, without a copy unless they are on a GPU. They must not be changed; call the deleter. */
DLManagedTensor *arrc_tensor(const arrc_value *value);

/* Calls an entry point. The arguments are freed, whatever happens, so that those that the entry point consumes can be updated in place: keep one
 * with arrc_share. The results are the caller's to free; there are none if the call fails. */
arrc_status arrc_call(const arrc_program *program, const char *entry, arrc_value *const *arguments, size_t argument_count,
                      arrc_value **results, size_t result_count);

#ifdef __cplusplus
}
#endif
#endif
