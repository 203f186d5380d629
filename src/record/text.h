/* SPDX-License-Identifier: ISC
 *
 * Events and requests whose texts have a size: what weft.h's and weft_ffi.h's functions share. A
 * text ends after `size` bytes, or before its first NUL if that comes earlier.
 */
#ifndef WEFT_RECORD_TEXT_H
#define WEFT_RECORD_TEXT_H

#include <stdbool.h>
#include <stdint.h>

#include "record/recorder.h"

/* A label, note or tag; a tag with a value, or a band; a counter, of which `value` may be the bits
 * of a double. */
void weft__record_text(
	unsigned kind, uint64_t task, uint64_t *cache, const char *text, uint32_t size);
void weft__record_text_with(unsigned kind, uint64_t task, uint64_t *cache, const char *text,
	uint32_t size, uint64_t operand);
/* Changes a counter's value, and records that only if `is_on`. */
void weft__record_count(bool is_on, unsigned kind, uint64_t task, uint64_t *cache, const char *name,
	uint32_t size, int64_t value);
/* The same for a call at the level "count". Called last, so that other calls save no registers. */
void weft__record_count_tallied(struct weft_category *category, unsigned kind, uint64_t *cache,
	const char *name, uint32_t size, int64_t value);
void weft__record_failure(uint64_t task, uint64_t target, const char *message, uint32_t size);

/* The kind of that name in the present buffer. In these functions NULL is the category "program".
 */
uint16_t weft__record_kind(
	const struct weft_category *category, uint64_t *cache, const char *name, uint32_t size);

uint64_t weft__record_create(const struct weft_category *category, uint64_t task, uint16_t kind);
void weft__record_create_id(
	const struct weft_category *category, uint64_t task, uint64_t id, uint16_t kind);

/* batch.c. `is_filtered`: the level allows only what runs. */
struct weft_batch_event;
void weft__record_batch(const struct weft_category *category, bool is_filtered, unsigned clock,
	uint64_t begin, const struct weft_batch_event *events, size_t count);

/* Begins an operation of a task; ends one with an error. */
uint64_t weft__record_operation(const struct weft_category *category, uint64_t task,
	uint64_t *cache, const char *label, uint32_t size);
void weft__record_failed_operation(
	uint64_t operation, uint64_t waiter, const char *message, uint32_t size);

/* The operand of a band. */
static inline uint64_t weft__record_band_operand(unsigned kind, bool begin)
{
	return (kind & 0xff) | (uint64_t)begin << 8;
}

/* A labelf or notef. */
void weft__record_formatted(unsigned kind, uint64_t task, uint64_t *cache, const char *format,
	uint32_t size, unsigned count, const struct weft_value *values);
/* `shape`: the mark's name and the names of its values, with NULs in between. */
void weft__record_mark(uint64_t task, uint64_t *cache, const char *shape, uint32_t size,
	unsigned count, const struct weft_value *values);

/* NULL: the operating system's name. */
void weft__record_name_thread(const char *name, uint32_t size);

/* A task in a rundown. */
struct weft__living {
	uint64_t task, age_ns, waits_for;
	uint16_t kind;
};

void weft__record_request_snapshot(const char *reason, uint32_t size);
void weft__record_add_trigger(const char *rule, uint32_t size);
/* `label`: at most `size` bytes of it. */
void weft__record_alive(const struct weft_category *category, const struct weft__living *living,
	const char *label, uint32_t size);

#endif
