/* SPDX-License-Identifier: ISC
 *
 * Files of checkpoints may be damaged, old, or hostile: each number is compared with the bytes that
 * there are, and each part with its hash before it is used.
 */
#include <weft/checkpoint.h>

#include <stddef.h>
#include <string.h>

#include "base/export.h"
#include "export/checkpoint_file.h"

#define SAMPLE_BYTES 4096

WEFT__EXPORT uint64_t weft_checkpoint_hash(const void *bytes, size_t size)
{
	const size_t sample = size < SAMPLE_BYTES ? size : SAMPLE_BYTES;
	const uint64_t hashes[] = {weft__checkpoint_hash(bytes, sample),
		weft__checkpoint_hash((const uint8_t *)bytes + (size - sample), sample)};
	return weft__checkpoint_hash(hashes, sizeof(hashes));
}

static bool has_table(uint64_t offset, uint64_t count, size_t row_bytes, uint64_t size)
{
	return offset <= size && count <= (size - offset) / row_bytes;
}

/* Reads the tail, behind `*size` bytes of which it is true. */
static int read_tail(const uint8_t *bytes, size_t *size, struct weft__checkpoint_tail *ret_tail)
{
	if (*size < sizeof(*ret_tail) || *size % WEFT__CHECKPOINT_ALIGNMENT)
		return WEFT_ERROR_FORMAT;
	*size -= sizeof(*ret_tail);
	memcpy(ret_tail, bytes + *size, sizeof(*ret_tail));
	if (ret_tail->magic != WEFT__CHECKPOINT_MAGIC)
		return WEFT_ERROR_FORMAT;
	if (ret_tail->version != WEFT__CHECKPOINT_VERSION)
		return WEFT_ERROR_STATE;
	if (ret_tail->hash !=
		weft__checkpoint_hash(ret_tail, offsetof(struct weft__checkpoint_tail, hash)))
		return WEFT_ERROR_DAMAGED;
	return 0;
}

/* True if periods and rows fill the bytes before the tail. */
static bool has_tables(const uint8_t *bytes, size_t size, const struct weft__checkpoint_tail *tail)
{
	const size_t period = sizeof(struct weft_loss_period);
	return tail->periods_offset % WEFT__CHECKPOINT_ALIGNMENT == 0 &&
		   has_table(tail->periods_offset, tail->period_count, period, size) &&
		   tail->period_count <= UINT32_MAX &&
		   tail->rows_offset == tail->periods_offset + tail->period_count * period &&
		   has_table(
			   tail->rows_offset, tail->row_count, sizeof(struct weft__checkpoint_row), size) &&
		   tail->rows_hash ==
			   weft__checkpoint_hash(bytes + tail->periods_offset, size - tail->periods_offset);
}

static struct weft__checkpoint_row row_at(
	const uint8_t *bytes, const struct weft__checkpoint_tail *tail, uint64_t i)
{
	struct weft__checkpoint_row row;
	memcpy(&row, bytes + tail->rows_offset + i * sizeof(row), sizeof(row));
	return row;
}

/* The number of checkpoints up to a time. */
static uint64_t count_until(
	const uint8_t *bytes, const struct weft__checkpoint_tail *tail, uint64_t time_ns)
{
	uint64_t low = 0, high = tail->row_count;
	while (low < high) {
		const uint64_t middle = low + (high - low) / 2;
		if (row_at(bytes, tail, middle).time_ns <= time_ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

WEFT__EXPORT int weft_checkpoint_find(const void *bytes, size_t size,
	const struct weft_checkpoint_key *key, uint64_t time_ns, struct weft_checkpoint *ret_checkpoint)
{
	struct weft__checkpoint_tail tail;
	const uint8_t *first = bytes;
	int error = read_tail(first, &size, &tail);
	if (error)
		return error;
	if (memcmp(&tail.key, key, sizeof(*key)) != 0)
		return WEFT_ERROR_STATE;
	if (!has_tables(first, size, &tail))
		return WEFT_ERROR_DAMAGED;
	const uint64_t count = count_until(first, &tail, time_ns);
	if (!count)
		return WEFT_END;
	const struct weft__checkpoint_row row = row_at(first, &tail, count - 1);
	if (!has_table(row.offset, row.size, 1, tail.periods_offset) ||
		weft__checkpoint_hash(first + row.offset, row.size) != row.hash)
		return WEFT_ERROR_DAMAGED;
	*ret_checkpoint = (struct weft_checkpoint){.time_ns = row.time_ns,
		.bytes = first + row.offset,
		.size = row.size,
		.loss_periods = (const void *)(first + tail.periods_offset),
		.loss_period_count = (uint32_t)tail.period_count};
	memcpy(ret_checkpoint->losses, tail.losses, sizeof(tail.losses));
	return WEFT_OK;
}
