/* SPDX-License-Identifier: ISC
 *
 * The values of a program's metrics and counters at the end of its stream. The program records
 * those of counters itself if it ends in an orderly way; all others are in memory that outlives it,
 * or that we opened while it ran.
 */
#include <stdio.h>
#include <string.h>

#include "abi/stream_abi.h"
#include "abi/table_abi.h"
#include "runs/stream/streaming.h"

/* Between two searches for the memory of a process. */
static const uint64_t SEARCH_NS = 1000000000;

/* The directory of the ring, which is the path without its name. */
static void directory_of(const struct weft__ring_stream *r, char ret_directory[PATH_MAX])
{
	const size_t path = strlen(r->path), name = strlen(r->ring.name);
	snprintf(ret_directory, PATH_MAX, "%.*s", (int)(path > name ? path - name : 0), r->path);
}

void weft__runs_stream_values_look(struct weft__ring_stream *r, bool is_last)
{
	const uint64_t now = weft__runs_stream_now_ns();
	char directory[PATH_MAX];
	const bool has_all = r->values.metrics >= 0 && r->values.counters >= 0;
	if (r->guest || has_all || !r->ring.is_running || (now < r->values_due_ns && !is_last))
		return;
	directory_of(r, directory);
	weft__runs_values_follow(&r->values, directory, &r->ring);
	r->values_due_ns = now + SEARCH_NS;
}

/* A program whose process has ended leaves its values beside its ring, unless its recorder began
 * later. */
static void find_at_end(struct weft__ring_stream *r)
{
	struct weft__runs_ring ring = r->ring;
	ring.is_running = false;
	struct weft__runs_values left = weft__runs_values_open(r->path, &ring);
	if (r->values.metrics < 0) {
		r->values.metrics = left.metrics;
		left.metrics = -1;
	}
	if (r->values.counters < 0) {
		r->values.counters = left.counters;
		r->values.counters_at = left.counters_at;
		left.counters = -1;
	}
	weft__runs_values_close(&left);
}

/* A chunk for each table. */
static void add_chunks(struct weft_text *chunks, const struct weft_text *tables)
{
	struct weft_abi_table table;
	for (size_t at = 0, size; at + sizeof(table) <= tables->size; at += size) {
		memcpy(&table, tables->bytes + at, sizeof(table));
		size = sizeof(table) + (size_t)table.room * table.row_bytes;
		const struct weft_abi_chunk chunk = {
			.magic = WEFT_ABI_CHUNK_MAGIC, .kind = WEFT_ABI_CHUNK_TABLE, .bytes = (uint32_t)size};
		weft_text_add(chunks, (const char *)&chunk, sizeof(chunk));
		weft_text_add(chunks, tables->bytes + at, size);
	}
}

/* A program that goes on has its metrics alone: it records the values of its counters itself. */
static bool make_tables(struct weft__ring_stream *r, struct weft_text *tables)
{
	char directory[PATH_MAX];
	directory_of(r, directory);
	if (weft__runs_ring_is_running(directory, &r->ring))
		return weft__runs_values_pack(r->values.metrics, tables);
	find_at_end(r);
	return weft__runs_values_make(r->path, &r->ring, &r->values, tables);
}

bool weft__runs_stream_values_take(struct weft__ring_stream *r)
{
	struct weft_text tables = {0};
	if (r->has_values || r->guest || r->result.is_cut)
		return false;
	r->has_values = true;
	if (make_tables(r, &tables))
		add_chunks(&r->value_chunks, &tables);
	weft_text_finish(&tables);
	return r->value_chunks.size && !r->value_chunks.error;
}

void weft__runs_stream_values_finish(struct weft__ring_stream *r)
{
	weft__runs_values_close(&r->values);
	weft_text_finish(&r->value_chunks);
}
