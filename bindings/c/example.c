/* The mean of some numbers, and an array that is updated in place. In this folder, after `cargo build --profile library -p arrc-c`:
 *
 *     cc -Iinclude example.c -L../../target/library -larrc_c -Wl,-rpath,../../target/library -o example && ./example
 */
#include "arrc.h"
#include <stdio.h>
#include <stdlib.h>

static const char *PROGRAM =
    "entry mean [n] (xs: [n]f64) : f64 = f64.sum xs / f64.i64 n\n"
    "entry scale [n] (xs: *[n]f64) (by: f64) : *[n]f64 = loop xs for i < n do xs with [i] = by * xs[i]\n";

static void fail(void) {
    fprintf(stderr, "%s\n", arrc_error());
    exit(1);
}

int main(void) {
    arrc_session *session = arrc_session_new(NULL);
    if (!session) fail();
    arrc_program *program = arrc_compile(session, "example.fut", PROGRAM);
    if (!program) fail();

    double numbers[] = {1, 2, 3, 6};
    int64_t shape[] = {4};
    DLTensor tensor = {.data = numbers, .device = {kDLCPU, 0}, .ndim = 1, .dtype = {kDLFloat, 64, 1}, .shape = shape};
    arrc_value *xs = arrc_put(session, &tensor);
    if (!xs) fail();

    /* Arguments are freed by the call: `xs` is needed once more. */
    arrc_value *arguments[2] = {arrc_share(xs)}, *result;
    if (arrc_call(program, "mean", arguments, 1, &result, 1)) fail();
    DLManagedTensor *mean = arrc_tensor(result);
    if (!mean) fail();
    printf("mean %g\n", *(double *)mean->dl_tensor.data);

    DLTensor factor = {.data = mean->dl_tensor.data, .device = {kDLCPU, 0}, .dtype = {kDLFloat, 64, 1}};
    arguments[0] = xs;
    arguments[1] = arrc_put(session, &factor);
    arrc_value_free(result);
    if (arrc_call(program, "scale", arguments, 2, &result, 1)) fail();
    DLManagedTensor *scaled = arrc_tensor(result);
    if (!scaled) fail();
    for (int64_t i = 0; i < scaled->dl_tensor.shape[0]; i++) printf("%g\n", ((double *)scaled->dl_tensor.data)[i]);

    scaled->deleter(scaled);
    mean->deleter(mean);
    arrc_value_free(result);
    arrc_program_free(program);
    arrc_session_free(session);
    return 0;
}
