/* What arrc.h promises, on the target that the first argument names. */
#include "arrc.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CHECK(condition)                                                                                                  \
    do {                                                                                                                  \
        if (!(condition)) {                                                                                               \
            fprintf(stderr, "%s:%d: %s does not hold; the last error: %s\n", __FILE__, __LINE__, #condition, arrc_error()); \
            exit(1);                                                                                                      \
        }                                                                                                                 \
    } while (0)

static const char *PROGRAM =
    "entry twice [n] (xs: [n]i32) : [n]i32 = map (* 2) xs\n"
    "entry same (xs: []i32) = xs\n"
    "entry sum (xs: []i32) : i32 = i32.sum xs\n"
    "entry put [n] (xs: *[n]i32) (i: i64) : *[n]i32 = xs with [i] = 7\n"
    "entry add [n] (xs: *[n]i32) (ys: [n]i32) : *[n]i32 = xs with [0] = ys[n - 1]\n"
    "entry transposed [n][m] (xss: [n][m]i32) = transpose xss\n"
    "entry both (x: i64) (b: bool) = (x + 1, !b)\n"
    "entry flip (bs: []bool) = map (\\b -> !b) bs\n"
    "entry long (n: i64) = loop x = 1i64 for i < n do (x * 7 + i) % 1000003\n";

static arrc_session *session;
static arrc_program *program;
static int deleted;

static DLTensor tensor_of(void *data, int32_t rank, int64_t *shape, uint8_t code, uint8_t bits) {
    DLTensor tensor;
    memset(&tensor, 0, sizeof tensor);
    tensor.data = data;
    tensor.device.device_type = kDLCPU;
    tensor.ndim = rank;
    tensor.dtype.code = code;
    tensor.dtype.bits = bits;
    tensor.dtype.lanes = 1;
    tensor.shape = shape;
    return tensor;
}

static void deleter(DLManagedTensor *self) {
    deleted++;
    free(self->dl_tensor.data);
    free(self->dl_tensor.shape);
    free(self);
}

/* The numbers below n. */
static DLManagedTensor *numbers(int64_t n) {
    DLManagedTensor *managed = calloc(1, sizeof *managed);
    int32_t *data = malloc(sizeof *data * (size_t)n);
    int64_t *shape = malloc(sizeof *shape);
    for (int64_t i = 0; i < n; i++) data[i] = (int32_t)i;
    *shape = n;
    managed->dl_tensor = tensor_of(data, 1, shape, kDLInt, 32);
    managed->deleter = deleter;
    return managed;
}

static arrc_value *scalar(void *data, uint8_t code, uint8_t bits) {
    DLTensor tensor = tensor_of(data, 0, NULL, code, bits);
    return arrc_put(session, &tensor);
}

static arrc_value *index_of(int64_t i) { return scalar(&i, kDLInt, 64); }

static arrc_value *call(const char *entry, arrc_value *first, arrc_value *second) {
    arrc_value *arguments[2] = {first, second}, *result = NULL;
    arrc_status status = arrc_call(program, entry, arguments, second ? 2 : 1, &result, 1);
    return status == ARRC_OK ? result : NULL;
}

static int32_t element(const arrc_value *value, int64_t i) {
    DLManagedTensor *managed = arrc_tensor(value);
    CHECK(managed && managed->dl_tensor.dtype.code == kDLInt && managed->dl_tensor.dtype.bits == 32);
    int32_t found = ((int32_t *)managed->dl_tensor.data)[i];
    managed->deleter(managed);
    return found;
}

static void *stop_soon(void *nothing) {
    usleep(300000);
    arrc_session_stop(session);
    return nothing;
}

static void *calls(void *nothing) {
    for (int i = 0; i < 20; i++) {
        arrc_value *result = call("sum", arrc_adopt(session, numbers(1000), false), NULL);
        CHECK(result && element(result, 0) == 499500);
        arrc_value_free(result);
    }
    return nothing;
}

static void values(bool is_cpu) {
    /* A copy, a scalar, and arguments that are kept. */
    int32_t data[] = {1, 2, 3, 4, 5, 6};
    int64_t shape[] = {2, 3}, strides[] = {1, 2};
    DLTensor tensor = tensor_of(data, 2, shape, kDLInt, 32);
    arrc_value *matrix = arrc_put(session, &tensor);
    data[1] = 100;
    arrc_value *result = call("transposed", arrc_share(matrix), NULL);
    CHECK(result && element(result, 2) == 2 && element(matrix, 1) == 2);
    DLManagedTensor *out = arrc_tensor(result);
    CHECK(out->dl_tensor.ndim == 2 && out->dl_tensor.shape[0] == 3 && out->dl_tensor.shape[1] == 2);
    arrc_value_free(result);
    arrc_value_free(matrix);
    CHECK(((int32_t *)out->dl_tensor.data)[5] == 6);
    out->deleter(out);
    /* Strides, and elements that begin later. */
    data[1] = 2;
    tensor.strides = strides;
    result = call("transposed", arrc_put(session, &tensor), NULL);
    CHECK(result && element(result, 0) == 1 && element(result, 1) == 2 && element(result, 2) == 3);
    arrc_value_free(result);
    shape[0] = 2;
    DLTensor later = tensor_of(data, 1, shape, kDLInt, 32);
    later.byte_offset = 8;
    result = call("sum", arrc_put(session, &later), NULL);
    CHECK(result && element(result, 0) == 7);
    arrc_value_free(result);
    /* Several results, and truth values. */
    bool truth = true;
    arrc_value *arguments[2] = {index_of(41), scalar(&truth, kDLBool, 8)}, *both[2];
    CHECK(arrc_call(program, "both", arguments, 2, both, 2) == ARRC_OK);
    out = arrc_tensor(both[0]);
    CHECK(*(int64_t *)out->dl_tensor.data == 42 && out->dl_tensor.ndim == 0);
    out->deleter(out);
    out = arrc_tensor(both[1]);
    CHECK(*(bool *)out->dl_tensor.data == false && out->dl_tensor.dtype.code == kDLBool);
    out->deleter(out);
    arrc_value_free(both[0]);
    arrc_value_free(both[1]);
    uint8_t wrong[] = {0, 2};
    DLTensor flags = tensor_of(wrong, 1, shape, kDLBool, 8);
    CHECK(!arrc_put(session, &flags) && arrc_error_status() == ARRC_ARGUMENT);
    /* Memory that was lent is not changed, nor used once it was deleted; memory that was given is. */
    deleted = 0;
    DLManagedTensor *lent = numbers(1000);
    int32_t *elements = lent->dl_tensor.data;
    arrc_value *value = arrc_adopt(session, lent, false);
    result = call("put", arrc_share(value), index_of(3));
    CHECK(result && element(result, 3) == 7);
    arrc_value_free(result);
    result = call("same", value, NULL);
    CHECK(result && deleted == 1 && element(result, 999) == 999);
    arrc_value_free(result);
    lent = numbers(1000);
    elements = lent->dl_tensor.data;
    result = call("put", arrc_adopt(session, lent, true), index_of(3));
    CHECK(result && element(result, 3) == 7);
    if (is_cpu) CHECK(elements[3] == 7 && deleted == 1);
    arrc_value_free(result);
    CHECK(deleted == 2);
    if (is_cpu) {
        lent = numbers(10);
        DLTensor same = lent->dl_tensor;
        DLManagedTensor *again = calloc(1, sizeof *again);
        again->dl_tensor = same;
        CHECK(!call("add", arrc_adopt(session, lent, true), arrc_adopt(session, again, false)));
        CHECK(arrc_error_status() == ARRC_ARGUMENT);
        free(again);
    }
}

static void failures(void) {
    CHECK(!arrc_compile(session, "wrong.fut", "entry f = x") && arrc_error_status() == ARRC_COMPILE);
    CHECK(strstr(arrc_error(), "wrong.fut:1:11"));
    CHECK(!arrc_compile_file(session, "none.fut") && arrc_error_status() == ARRC_COMPILE);
    CHECK(!arrc_compile(session, "wrong.fut", NULL) && arrc_error_status() == ARRC_ARGUMENT);
    CHECK(!arrc_compile(session, "wrong.fut", "\xff") && arrc_error_status() == ARRC_ARGUMENT);
    arrc_options options = {"gpu", 0, 0, 0};
    CHECK(!arrc_session_new(&options) && arrc_error_status() == ARRC_ARGUMENT);
    CHECK(arrc_parameters(program, "put") == 2 && arrc_results(program, "both") == 2 && arrc_results(program, "none") == -1);
    CHECK(!call("none", index_of(1), NULL) && arrc_error_status() == ARRC_ARGUMENT && strstr(arrc_error(), "none"));
    CHECK(!call("sum", index_of(1), NULL) && arrc_error_status() == ARRC_ARGUMENT && strstr(arrc_error(), "`xs`"));
    CHECK(!call("sum", index_of(1), index_of(1)) && arrc_error_status() == ARRC_ARGUMENT);
    CHECK(!call("both", index_of(1), index_of(1)) && arrc_error_status() == ARRC_ARGUMENT);
    deleted = 0;
    CHECK(!call("put", arrc_adopt(session, numbers(3), true), index_of(3)) && arrc_error_status() == ARRC_RUN);
    CHECK(strstr(arrc_error(), "out of bounds") && deleted == 1);
    DLManagedTensor *strange = numbers(3);
    strange->dl_tensor.dtype.lanes = 2;
    CHECK(!arrc_adopt(session, strange, true) && deleted == 2 && arrc_error_status() == ARRC_ARGUMENT);
    strange = numbers(3);
    strange->dl_tensor.device.device_type = 2;
    CHECK(!arrc_adopt(session, strange, true) && deleted == 3);
    strange = numbers(3);
    strange->dl_tensor.shape[0] = -1;
    CHECK(!arrc_adopt(session, strange, true) && deleted == 4);
}

int main(int count, char **words) {
    const char *target = count > 1 ? words[1] : "cpu";
    arrc_options options = {target, 0, 2, 1 << 28};
    CHECK(strlen(arrc_version()) > 0);
    session = arrc_session_new(&options);
    CHECK(session);
    program = arrc_compile(session, "check.fut", PROGRAM);
    CHECK(program);
    values(strcmp(target, "cpu") == 0);
    failures();
    pthread_t threads[4];
    for (int i = 0; i < 4; i++) CHECK(pthread_create(&threads[i], NULL, calls, NULL) == 0);
    for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
    if (strcmp(target, "ptx-emu") != 0) {
        CHECK(pthread_create(&threads[0], NULL, stop_soon, NULL) == 0);
        CHECK(!call("long", index_of(1000000000000000), NULL) && arrc_error_status() == ARRC_INTERRUPTED);
        pthread_join(threads[0], NULL);
    }
    arrc_value *result = call("long", index_of(3), NULL);
    CHECK(result);
    arrc_value_free(result);
    arrc_program_free(program);
    arrc_session_free(session);
    printf("ok\n");
    return 0;
}
