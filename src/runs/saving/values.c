/* SPDX-License-Identifier: ISC
 *
 * See values.h. Processes that are hostile may have written anything into the metrics: what they
 * say is checked when the trace is read. The file has to be of the user whose ring it is, because
 * in root's run directories every user can make files.
 */
#include "runs/saving/values.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <weft/buffer.h>
#include <weft/source.h>

#include "abi/buffer_abi.h"
#include "abi/run_abi.h"
#include "abi/table_abi.h"
#include "runs/attach/metrics.h"
#include "runs/attach/region.h"
#include "runs/saving/wall_clock.h"

/* ---- Files ---- */

static int open_beside(const char *path, const char *suffix)
{
	struct stat status;
	return stat(path, &status) == 0 ? weft__runs_region_open_of(path, suffix, status.st_uid) : -1;
}

void weft__runs_values_find(struct weft__runs_values *values, pid_t pid)
{
	if (values->metrics < 0)
		values->metrics = weft__runs_metrics_open(pid);
	if (values->counters < 0)
		values->counters = weft__runs_counters_open_own(pid, &values->counters_at);
}

/* True if these metrics are of the program that made the ring: its process had them before. */
static bool are_older(int metrics, const char *directory, const struct weft__runs_ring *ring)
{
	struct weft_abi_metrics header;
	const uint64_t begun = weft__runs_ring_begun_ns(directory, ring);
	return begun != UINT64_MAX &&
		   weft__runs_region_read(metrics, 0, &header, sizeof(header)) == 0 &&
		   header.born_monotonic_ns && header.born_monotonic_ns < begun;
}

/* A process that has become another program records elsewhere. One that has ended since then may
 * have done that, too. */
void weft__runs_values_follow(
	struct weft__runs_values *values, const char *directory, const struct weft__runs_ring *ring)
{
	const struct weft__runs_values before = *values;
	weft__runs_values_find(values, ring->pid);
	const bool is_same = before.metrics == values->metrics && before.counters == values->counters;
	if (is_same || weft__runs_ring_is_running(directory, ring))
		return;
	if (before.metrics < 0 && values->metrics >= 0 &&
		!are_older(values->metrics, directory, ring)) {
		close(values->metrics);
		values->metrics = -1;
	}
	if (before.counters < 0 && values->counters >= 0)
		close(values->counters);
	values->counters = before.counters;
	values->counters_at = before.counters_at;
}

struct weft__runs_values weft__runs_values_open(
	const char *path, const struct weft__runs_ring *ring)
{
	struct weft__runs_values values = {
		open_beside(path, WEFT_ABI_RUN_METRICS), open_beside(path, WEFT_ABI_RUN_COUNTERS), 0};
	if (values.metrics >= 0)
		values.metrics = weft__runs_region_open_kept(values.metrics);
	if (values.counters >= 0)
		values.counters = weft__runs_counters_open_at(values.counters, &values.counters_at);
	if (ring->is_running)
		weft__runs_values_find(&values, ring->pid);
	return values;
}

void weft__runs_values_close(struct weft__runs_values *values)
{
	if (values->metrics >= 0)
		close(values->metrics);
	if (values->counters >= 0)
		close(values->counters);
	*values = WEFT__RUNS_NO_VALUES;
}

/* ---- Tables ---- */

bool weft__runs_values_pack(int metrics, struct weft_text *ret_table)
{
	struct weft_abi_table table = {.number = WEFT_ABI_TABLE_METRICS,
		.growth = WEFT_ABI_TABLE_GROWS,
		.cut = WEFT_ABI_TABLE_OF_WHOLE,
		.row_bytes = 8};
	weft_text_add(ret_table, (const char *)&table, sizeof(table));
	if (metrics < 0 || weft__runs_metrics_pack(metrics, ret_table) || ret_table->error)
		return false;
	table.room = table.count = (uint32_t)((ret_table->size - sizeof(table)) / 8);
	memcpy(ret_table->bytes, &table, sizeof(table));
	return true;
}

/* Makes the table of a ring's counters from their list. */
static void add_last_values(
	int ring, const struct weft__runs_counters *counters, struct weft_text *tables)
{
	struct weft_buffer_value *list = calloc(counters->count + 1, sizeof(*list));
	struct weft_source *source = NULL;
	void *table = NULL;
	size_t size = 0;
	for (size_t i = 0; list && i < counters->count; i++) {
		const struct weft__runs_counter *it = &counters->list[i];
		list[i] = (struct weft_buffer_value){
			it->name, it->integer, it->real, it->is_real, it->begins_at_0};
	}
	if (list && weft_source_open_descriptor(ring, 0, &source) == 0) {
		size_t bytes;
		const void *at = weft_source_bytes(source, &bytes);
		if (weft_buffer_make_last_values(at, bytes, list, counters->count, &table, &size) == 0)
			weft_text_add(tables, table, size);
		weft_source_close(source);
	}
	free(table);
	free(list);
}

static void pack_counters(
	int ring, const struct weft__runs_values *values, struct weft_text *tables)
{
	struct weft__runs_counters counters;
	struct weft_abi_counters *memory = values->counters >= 0 ? malloc(sizeof(*memory)) : NULL;
	if (memory &&
		weft__runs_region_read(values->counters, values->counters_at, memory, sizeof(*memory)) ==
			0 &&
		weft__runs_counters_parse(memory, &counters) == 0) {
		add_last_values(ring, &counters, tables);
		weft__runs_counters_finish(&counters);
	}
	free(memory);
}

/* Behind the packets and whatever else is there. */
static uint64_t offset_of(uint64_t size)
{
	return (size + 63) / 64 * 64;
}

/* Adds so many bytes behind `size` bytes, at whose end there may be tables already. False if
 * nothing can follow them there. */
static bool note(struct weft_abi_buffer *header, uint64_t size, uint64_t bytes)
{
	if (!header->added_bytes)
		header->added_offset = offset_of(size);
	else if (header->added_offset > size || header->added_bytes != size - header->added_offset)
		return false;
	header->added_bytes += bytes;
	return true;
}

/* A copy is followed by zeros up to the next cache line. */
bool weft__runs_values_note(void *bytes, size_t size, const struct weft_text *table)
{
	struct weft_abi_buffer *header = bytes;
	return !(header->added_bytes && size % 64) && note(header, size, table->size);
}

static bool write_at(int fd, const void *bytes, size_t size, uint64_t at)
{
	return pwrite(fd, bytes, size, (off_t)at) == (ssize_t)size;
}

/* True if a table of that number was added already. */
static bool has_table(int fd, const struct weft_abi_buffer *header, uint16_t number)
{
	struct weft_abi_table table;
	uint64_t at = header->added_offset, end = at + header->added_bytes;
	for (unsigned i = 0; i < WEFT_ABI_TABLES_MAX && at < end; i++) {
		if (pread(fd, &table, sizeof(table), (off_t)at) != (ssize_t)sizeof(table) ||
			table.number == number)
			return true;
		at += sizeof(table) + (uint64_t)table.room * table.row_bytes;
	}
	return false;
}

/* The bytes of the header are stored last: a table that is not complete is not there. */
static void append(int fd, struct weft_abi_buffer *header, const struct weft_text *tables)
{
	struct stat status;
	if (fstat(fd, &status) != 0 || !note(header, (uint64_t)status.st_size, tables->size))
		return;
	const uint64_t offset = header->added_offset, bytes = header->added_bytes;
	if (write_at(fd, tables->bytes, tables->size, offset + bytes - tables->size) &&
		write_at(fd, &offset, sizeof(offset), offsetof(struct weft_abi_buffer, added_offset)))
		write_at(fd, &bytes, sizeof(bytes), offsetof(struct weft_abi_buffer, added_bytes));
}

static bool read_header(int fd, struct weft_abi_buffer *ret_header)
{
	return pread(fd, ret_header, sizeof(*ret_header), 0) == (ssize_t)sizeof(*ret_header) &&
		   memcmp(ret_header->magic, WEFT_ABI_MAGIC, sizeof(ret_header->magic)) == 0;
}

static bool has_values(int fd, const struct weft_abi_buffer *header)
{
	return has_table(fd, header, WEFT_ABI_TABLE_METRICS) ||
		   has_table(fd, header, WEFT_ABI_TABLE_last_values);
}

bool weft__runs_values_are_in(int fd)
{
	struct weft_abi_buffer header;
	return read_header(fd, &header) && has_values(fd, &header);
}

static void make_tables(int fd, const struct weft__runs_values *values, struct weft_text *tables)
{
	if (!weft__runs_values_pack(values->metrics, tables))
		weft_text_finish(tables);
	pack_counters(fd, values, tables);
}

bool weft__runs_values_make(const char *path, const struct weft__runs_ring *ring,
	const struct weft__runs_values *values, struct weft_text *ret_tables)
{
	struct weft_ring_check check;
	const int fd = weft_source_open_ring(path, ring->pid, WEFT_RING_READ, &check);
	*ret_tables = (struct weft_text){0};
	if (fd < 0)
		return false;
	make_tables(fd, values, ret_tables);
	close(fd);
	if (ret_tables->size && !ret_tables->error)
		return true;
	weft_text_finish(ret_tables);
	return false;
}

void weft__runs_values_add(
	const char *path, const struct weft__runs_ring *ring, const struct weft__runs_values *values)
{
	struct weft_ring_check check;
	struct weft_abi_buffer header;
	struct weft_text tables = {0};
	const int fd = weft_source_open_ring(path, ring->pid, WEFT_RING_WRITE, &check);
	if (fd < 0)
		return;
	if (read_header(fd, &header)) {
		if (!has_values(fd, &header))
			make_tables(fd, values, &tables);
		if (!has_table(fd, &header, WEFT_ABI_TABLE_wall_clock))
			weft__runs_wall_clock_pack(&header, &tables);
		if (tables.size && !tables.error)
			append(fd, &header, &tables);
	}
	weft_text_finish(&tables);
	close(fd);
}
