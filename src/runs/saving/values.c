/* SPDX-License-Identifier: ISC
 *
 * See values.h. Processes that are hostile may have written anything into the metrics: what they
 * say is checked when the trace is read. The file has to be of the user whose ring it is, because
 * in root's run directories every user can make files.
 */
#include "runs/saving/values.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "abi/buffer_abi.h"
#include "abi/run_abi.h"
#include "abi/table_abi.h"
#include "runs/attach/metrics.h"
#include "runs/attach/region.h"

int weft__runs_values_open(const char *path, const struct weft__runs_ring *ring)
{
	struct stat status;
	int fd = stat(path, &status) == 0
				 ? weft__runs_region_open_of(path, WEFT_ABI_RUN_METRICS, status.st_uid)
				 : -1;
	if (fd >= 0)
		return weft__runs_region_open_kept(fd);
	return ring->is_running ? weft__runs_metrics_open(ring->pid) : -1;
}

bool weft__runs_values_pack(int values, struct weft_text *ret_table)
{
	struct weft_abi_table table = {.number = WEFT_ABI_TABLE_METRICS,
		.growth = WEFT_ABI_TABLE_GROWS,
		.cut = WEFT_ABI_TABLE_OF_WHOLE,
		.row_bytes = 8};
	weft_text_add(ret_table, (const char *)&table, sizeof(table));
	if (values < 0 || weft__runs_metrics_pack(values, ret_table) || ret_table->error)
		return false;
	table.room = table.count = (uint32_t)((ret_table->size - sizeof(table)) / 8);
	memcpy(ret_table->bytes, &table, sizeof(table));
	return true;
}

/* Behind the packets and whatever else is there. */
static uint64_t offset_of(uint64_t size)
{
	return (size + 63) / 64 * 64;
}

/* Adds so many bytes behind `size` bytes, at whose end there may be tables of samples already.
 * False if there are other ones. */
static bool note(struct weft_abi_buffer *header, uint64_t size, uint64_t bytes)
{
	if (!header->added_bytes)
		header->added_offset = offset_of(size);
	else if (size % 64 || header->added_offset > size ||
			 header->added_bytes != size - header->added_offset)
		return false;
	header->added_bytes += bytes;
	return true;
}

bool weft__runs_values_note(void *bytes, size_t size, const struct weft_text *table)
{
	return note(bytes, size, table->size);
}

static bool write_at(int fd, const void *bytes, size_t size, uint64_t at)
{
	return pwrite(fd, bytes, size, (off_t)at) == (ssize_t)size;
}

/* True if metrics are among the tables that were added already. */
static bool has_metrics(int fd, const struct weft_abi_buffer *header)
{
	struct weft_abi_table table;
	uint64_t at = header->added_offset, end = at + header->added_bytes;
	for (unsigned i = 0; i < WEFT_ABI_TABLES_MAX && at < end; i++) {
		if (pread(fd, &table, sizeof(table), (off_t)at) != (ssize_t)sizeof(table) ||
			table.number == WEFT_ABI_TABLE_METRICS)
			return true;
		at += sizeof(table) + (uint64_t)table.room * table.row_bytes;
	}
	return false;
}

/* The bytes of the header are stored last: a table that is not complete is not there. */
static void append(int fd, const struct weft_text *table)
{
	struct stat status;
	struct weft_abi_buffer header;
	if (fstat(fd, &status) != 0 ||
		pread(fd, &header, sizeof(header), 0) != (ssize_t)sizeof(header) ||
		memcmp(header.magic, WEFT_ABI_MAGIC, sizeof(header.magic)) != 0 ||
		has_metrics(fd, &header) || !note(&header, (uint64_t)status.st_size, table->size))
		return;
	const uint64_t offset = header.added_offset, bytes = header.added_bytes;
	if (write_at(fd, table->bytes, table->size, offset + bytes - table->size) &&
		write_at(fd, &offset, sizeof(offset), offsetof(struct weft_abi_buffer, added_offset)))
		write_at(fd, &bytes, sizeof(bytes), offsetof(struct weft_abi_buffer, added_bytes));
}

void weft__runs_values_add(const char *path, const struct weft__runs_ring *ring, int values)
{
	struct weft_text table = {0};
	struct weft_ring_check check;
	int fd = -1;
	if (weft__runs_values_pack(values, &table))
		fd = weft_source_open_ring(path, ring->pid, WEFT_RING_WRITE, &check);
	if (fd >= 0) {
		append(fd, &table);
		close(fd);
	}
	weft_text_finish(&table);
}
