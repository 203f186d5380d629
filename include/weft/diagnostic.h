/* SPDX-License-Identifier: ISC
 *
 * Damage that was found in an input: one entry for each message, with its count and the offset
 * where it first occurred.
 *
 * A list belongs to the decoder that made it; reading it is safe while no call on that decoder
 * runs.
 */
#ifndef WEFT_DIAGNOSTIC_H
#define WEFT_DIAGNOSTIC_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct weft_diagnostic {
	const char *message; /* static text */
	uint64_t offset;     /* bytes from the input's start, of the first occurrence */
	uint64_t count;
	uint64_t amount_ns; /* by how much a time is wrong, in all; 0: the message is not about that */
};

/* The decoders' messages are a fixed set of literals, so the list is bounded. */
#define WEFT_DIAGNOSTICS_MAX 64

struct weft_diagnostics {
	size_t count;
	struct weft_diagnostic list[WEFT_DIAGNOSTICS_MAX];
};

/* Counts one occurrence. `message` is a literal: entries with equal text are one. */
void weft_diagnostics_add(struct weft_diagnostics *list, uint64_t offset, const char *message);
/* The same about a time that is wrong by so much. */
void weft_diagnostics_add_ns(
	struct weft_diagnostics *list, uint64_t offset, const char *message, uint64_t amount_ns);

/* Writes "MESSAGE: 3.6 s (×2)". At most `size` bytes with the NUL; returns the full length
 * without it. */
size_t weft_diagnostic_format(const struct weft_diagnostic *diagnostic, char *text, size_t size);

#ifdef __cplusplus
}
#endif
#endif
