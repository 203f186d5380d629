/* SPDX-License-Identifier: ISC
 *
 * The input is a file of checkpoints, whose hashes are made right: each checkpoint in it can be
 * read.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <weft/decoder.h>

#include "export/checkpoint_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

/* Makes the hashes of the first checkpoints right, before `end`. */
static void repair_rows(uint8_t *file, size_t end, const struct weft__checkpoint_tail *tail)
{
	struct weft__checkpoint_row row;
	for (size_t i = 0; i < 16 && i < tail->row_count; i++) {
		if (tail->rows_offset > end || end - tail->rows_offset < (i + 1) * sizeof(row))
			return;
		uint8_t *at = file + tail->rows_offset + i * sizeof(row);
		memcpy(&row, at, sizeof(row));
		if (row.offset <= end && row.size <= end - row.offset)
			row.hash = weft__checkpoint_hash(file + row.offset, row.size);
		memcpy(at, &row, sizeof(row));
	}
}

static void repair(uint8_t *file, size_t size)
{
	struct weft__checkpoint_tail tail;
	uint8_t *at = file + (size - sizeof(tail));
	memcpy(&tail, at, sizeof(tail));
	tail.version = WEFT__CHECKPOINT_VERSION;
	tail.magic = WEFT__CHECKPOINT_MAGIC;
	repair_rows(file, size - sizeof(tail), &tail);
	if (tail.periods_offset <= size - sizeof(tail))
		tail.rows_hash = weft__checkpoint_hash(
			file + tail.periods_offset, size - sizeof(tail) - tail.periods_offset);
	tail.hash = weft__checkpoint_hash(&tail, offsetof(struct weft__checkpoint_tail, hash));
	memcpy(at, &tail, sizeof(tail));
}

static void read_events(const struct weft_checkpoint *from)
{
	struct weft_decoder *decoder;
	struct weft_event event;
	if (weft_decoder_create(&decoder))
		abort();
	if (weft_decoder_feed_borrowed(decoder, from->bytes, from->size) == 0 &&
		weft_decoder_finish(decoder) == 0)
		while (weft_decoder_next(decoder, &event) == WEFT_OK)
			continue;
	weft_decoder_destroy(decoder);
}

/* Reads what was found to its end, so that sanitizers see all of it. */
static void use(const struct weft_checkpoint *from)
{
	volatile uint64_t sum = 0;
	for (uint32_t i = 0; i < from->loss_period_count; i++)
		sum += from->loss_periods[i].end;
	(void)sum;
	read_events(from);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct weft_checkpoint_key key;
	struct weft_checkpoint from;
	if (size < sizeof(struct weft__checkpoint_tail))
		return 0;
	uint8_t *file = malloc(size);
	if (!file)
		return 0;
	memcpy(file, bytes, size);
	repair(file, size);
	memcpy(&key, file + (size - sizeof(struct weft__checkpoint_tail)), sizeof(key));
	for (unsigned i = 0; i < 4; i++)
		if (weft_checkpoint_find(file, size, &key, UINT64_MAX >> 16 * i, &from) == WEFT_OK)
			use(&from);
	free(file);
	return 0;
}
