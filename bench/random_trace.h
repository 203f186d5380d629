/* SPDX-License-Identifier: ISC
 *
 * Traces of any length for the benchmarks: a random mix of events like an asynchronous program's,
 * from a fixed seed. Nothing repeats, so that branch predictors cannot learn it.
 */
#ifndef WEFT_BENCH_RANDOM_TRACE_H
#define WEFT_BENCH_RANDOM_TRACE_H

#include <stddef.h>
#include <stdint.h>

#include <weft/model.h>

struct bytes {
	uint8_t *data;
	size_t size, capacity;
};

/* Makes a trace in mirage-profile's CTF, in packets of 16 KiB; in the first viewer's sexp; or in
 * weft's own format, by recording. The caller frees `data`. Exits if memory is short. */
struct bytes random_mirage(uint64_t events);
struct bytes random_sexp(uint64_t events);
struct bytes random_weft(uint64_t events);

/* Records the next events of the sequence in a program under `weft record`. */
void random_record(uint64_t events);

/* Decodes such a trace and frees it. Exits on an error. */
struct weft_model *random_model(struct bytes trace);

#endif
