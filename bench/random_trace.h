/* SPDX-License-Identifier: ISC
 *
 * Traces of any length for the benchmarks: a random mix of events as an asynchronous program makes
 * them, from a fixed seed. Nothing repeats, so that no branch predictor learns it by heart.
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

/* In mirage-profile's CTF, in packets of 16 KiB; as the first viewer's sexp; or in our own format,
 * by recording. The caller frees `data`. Exits if memory is short. */
struct bytes random_mirage(uint64_t events);
struct bytes random_sexp(uint64_t events);
struct bytes random_weft(uint64_t events);

/* What a decoder makes of one of them, which is freed. Exits if it can't. */
struct weft_model *random_model(struct bytes trace);

#endif
