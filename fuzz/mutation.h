/* SPDX-License-Identifier: ISC
 *
 * Tools for the mutators of single formats. A mutator knows where records begin and end, changes
 * one, and mends the sizes around it: libFuzzer's own changes rarely pass the checks of sizes.
 */
#ifndef WEFT_FUZZ_MUTATION_H
#define WEFT_FUZZ_MUTATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct mutation {
	uint8_t *bytes;
	size_t size, size_max;
	uint32_t dice;
};

size_t LLVMFuzzerMutate(uint8_t *bytes, size_t size, size_t size_max);
size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t size, size_t size_max, unsigned seed);

/* A number below `limit`, or 0. */
static inline uint32_t roll(struct mutation *m, uint32_t limit)
{
	m->dice = m->dice * 1664525 + 1013904223;
	return limit ? (m->dice >> 8) % limit : 0;
}

static inline uint32_t get_u32(const struct mutation *m, size_t at)
{
	uint32_t value;
	memcpy(&value, m->bytes + at, sizeof(value));
	return value;
}

static inline uint64_t get_u64(const struct mutation *m, size_t at)
{
	uint64_t value;
	memcpy(&value, m->bytes + at, sizeof(value));
	return value;
}

static inline void set_u32(struct mutation *m, size_t at, uint32_t value)
{
	memcpy(m->bytes + at, &value, sizeof(value));
}

static inline void set_u64(struct mutation *m, size_t at, uint64_t value)
{
	memcpy(m->bytes + at, &value, sizeof(value));
}

/* Makes room before `at`, filled with the bytes that follow it; false: the input is too large. */
static inline bool insert(struct mutation *m, size_t at, size_t count)
{
	if (count > m->size_max - m->size)
		return false;
	memmove(m->bytes + at + count, m->bytes + at, m->size - at);
	if (at == m->size)
		memset(m->bytes + at, 0, count);
	m->size += count;
	return true;
}

static inline void cut_out(struct mutation *m, size_t at, size_t count)
{
	memmove(m->bytes + at, m->bytes + at + count, m->size - at - count);
	m->size -= count;
}

/* A value that is often special. */
static inline uint64_t special(struct mutation *m)
{
	static const uint64_t values[] = {0, 1, 2, 7, 8, 127, 128, 255, 256, 65535, 65536, INT32_MAX,
		UINT32_MAX, UINT64_C(1) << 32, INT64_MAX, UINT64_C(1) << 63, UINT64_MAX};
	uint64_t value = values[roll(m, sizeof(values) / sizeof(*values))];
	return value + roll(m, 3) - 1;
}

#endif
