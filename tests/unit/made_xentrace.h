/* SPDX-License-Identifier: ISC
 *
 * Traces of Xen for tests, as its tool xentrace writes them.
 */
#ifndef WEFT_TESTS_MADE_XENTRACE_H
#define WEFT_TESTS_MADE_XENTRACE_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <weft/decoder.h>

#define NO_CYCLES UINT64_MAX

#define MADE_XENTRACE_BYTES (1u << 19)

struct made_xentrace {
	size_t size;
	size_t window; /* the offset of the last window's header */
	uint8_t bytes[MADE_XENTRACE_BYTES];
};

static inline struct made_xentrace *xentrace_begin(void)
{
	struct made_xentrace *trace = malloc(sizeof(*trace));
	if (!trace)
		abort();
	trace->size = 0;
	return trace;
}

static inline void xentrace_put(struct made_xentrace *trace, size_t at, uint32_t word)
{
	for (int i = 0; i < 4; i++)
		trace->bytes[at + i] = (uint8_t)(word >> 8 * i);
}

static inline void xentrace_word(struct made_xentrace *trace, uint32_t word)
{
	if (trace->size + 4 > sizeof(trace->bytes))
		abort();
	xentrace_put(trace, trace->size, word);
	trace->size += 4;
}

/* Records that follow are in a window of this pCPU. */
static inline void xentrace_window(struct made_xentrace *trace, uint32_t cpu)
{
	trace->window = trace->size;
	xentrace_word(trace, 0x2001f003);
	xentrace_word(trace, cpu);
	xentrace_word(trace, 0);
}

/* The window's size becomes that of its records so far. */
static inline void xentrace_fit(struct made_xentrace *trace)
{
	xentrace_put(trace, trace->window + 8, (uint32_t)(trace->size - trace->window - 12));
}

static inline void xentrace_record(
	struct made_xentrace *trace, uint32_t id, uint64_t cycles, const uint32_t *words, size_t count)
{
	bool has_cycles = cycles != NO_CYCLES;
	xentrace_word(trace, id | (uint32_t)count << 28 | (uint32_t)has_cycles << 31);
	if (has_cycles) {
		xentrace_word(trace, (uint32_t)cycles);
		xentrace_word(trace, (uint32_t)(cycles >> 32));
	}
	for (size_t i = 0; i < count; i++)
		xentrace_word(trace, words[i]);
	xentrace_fit(trace);
}

/* RECORD(trace, id, cycles), or with words behind. */
#define RECORD(trace, id, ...)                                  \
	xentrace_values(trace, id, (const uint64_t[]){__VA_ARGS__}, \
		sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t))

static inline void xentrace_values(
	struct made_xentrace *trace, uint32_t id, const uint64_t *values, size_t count)
{
	uint32_t words[7];
	for (size_t i = 1; i < count; i++)
		words[i - 1] = (uint32_t)values[i];
	xentrace_record(trace, id, values[0], words, count - 1);
}

enum {
	RUNNING,
	RUNNABLE,
	BLOCKED,
	OFFLINE
};

static inline void xentrace_runstate(struct made_xentrace *trace, uint64_t cycles, uint32_t domain,
	uint32_t vcpu, uint32_t old, uint32_t now)
{
	RECORD(trace, 0x21001 | old << 8 | now << 4, cycles, vcpu | domain << 16);
}

static inline void xentrace_lost(struct made_xentrace *trace, uint64_t cycles, uint32_t count,
	uint32_t domain, uint32_t vcpu, uint64_t first)
{
	RECORD(trace, 0x1f001, cycles, count, domain | vcpu << 16, first & UINT32_MAX, first >> 32);
}

/* A decoder of a copy of the bytes that has no byte behind it, so that sanitizers see a read there.
 * A cycle is 1 ns unless another rate is given; 0: the rate is estimated. */
struct opened_xentrace {
	struct weft_decoder *decoder;
	uint8_t *bytes;
	int finished;
};

static inline struct opened_xentrace xentrace_open_part(
	const uint8_t *bytes, size_t size, uint64_t hz)
{
	struct opened_xentrace opened = {.bytes = malloc(size + !size)};
	if (!opened.bytes || weft_decoder_create(&opened.decoder))
		abort();
	memcpy(opened.bytes, bytes, size);
	if (hz)
		weft_decoder_set_hz(opened.decoder, hz);
	if (weft_decoder_feed_borrowed(opened.decoder, opened.bytes, size))
		abort();
	opened.finished = weft_decoder_finish(opened.decoder);
	return opened;
}

static inline struct opened_xentrace xentrace_open(const struct made_xentrace *trace)
{
	return xentrace_open_part(trace->bytes, trace->size, 1000000000);
}

static inline void xentrace_finish(struct opened_xentrace *opened)
{
	weft_decoder_destroy(opened->decoder);
	free(opened->bytes);
}

#endif
