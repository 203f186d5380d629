/* SPDX-License-Identifier: ISC
 *
 * See counted.h. Of a ring that a process records into, what precedes the packets is copied once,
 * and checked in the copy: the process may be hostile.
 */
#include "runs/attach/counted.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "abi/table_abi.h"
#include "format/weft/buffer.h"
#include "format/weft/tables.h"
#include "runs/attach/region.h"
#include "runs/directory/find.h"

/* Before the packets there are at most so many bytes: the parts of the largest ring. */
#define FRONT_MAX ((uint64_t)16 << 20)

/* ---- Rows ---- */

static char *put_name(char **texts, struct weft_slice name, const char *instead)
{
	char *text = *texts;
	if (!name.bytes || !name.size)
		name = (struct weft_slice){instead, strlen(instead)};
	memcpy(text, name.bytes, name.size);
	*texts += name.size + 1;
	return text;
}

static size_t measure(weft__runs_name_of *name_of, const void *context, unsigned id)
{
	return name_of(context, id).size + sizeof("others");
}

static struct weft_abi_counted_row row_at(const void *rows, uint32_t row)
{
	struct weft_abi_counted_row it;
	memcpy(&it, (const char *)rows + row * sizeof(it), sizeof(it));
	return it;
}

int weft__runs_counted_list(const void *rows, uint32_t count, weft__runs_name_of *name_of,
	const void *context, struct weft__runs_counters *ret_counters)
{
	size_t bytes = 2 * (size_t)count * sizeof(struct weft__runs_label);
	for (uint32_t i = 0; i < count; i++)
		bytes += measure(name_of, context, row_at(rows, i).category) +
				 measure(name_of, context, row_at(rows, i).event);
	struct weft__runs_label *labels = calloc(1, bytes + 1);
	char *texts = labels ? (char *)(labels + 2 * (size_t)count) : NULL;
	struct weft__runs_counters counters = {
		.list = calloc(count + (size_t)1, sizeof(*counters.list)), .owned = {labels}};
	if (!counters.list || !labels) {
		weft__runs_counters_finish(&counters);
		return ENOMEM;
	}
	for (uint32_t i = 0; i < count; i++) {
		const struct weft_abi_counted_row it = row_at(rows, i);
		if (!it.count)
			continue;
		struct weft__runs_label *label = &labels[2 * counters.count];
		label[0] = (struct weft__runs_label){
			"category", put_name(&texts, name_of(context, it.category), "others")};
		label[1] = (struct weft__runs_label){
			"kind", put_name(&texts, name_of(context, it.event), "others")};
		counters.list[counters.count++] = (struct weft__runs_counter){.name = "weft_events",
			.help = "Calls of categories at the level count",
			.unit = "",
			.type = WEFT__RUNS_COUNTER,
			.labels = label,
			.label_count = 2,
			.integer = (int64_t)it.count,
			.real = (double)it.count};
	}
	*ret_counters = counters;
	return 0;
}

/* ---- A live ring ---- */

static struct weft_slice name_in(const void *buffer, unsigned id)
{
	return weft__format_buffer_name(buffer, id);
}

static int list_in(const uint8_t *front, size_t size, struct weft__runs_counters *ret_counters)
{
	struct weft_diagnostics diagnostics = {0};
	struct weft_trace_description description = {.format = "weft"};
	const struct weft__input input = {
		.bytes = front, .size = size, .diagnostics = &diagnostics, .description = &description};
	struct weft__live_table tables[WEFT_ABI_TABLES_MAX];
	struct weft__buffer buffer;
	if (weft__format_buffer_find_parts(&buffer, &input) || weft__format_buffer_keep_names(&buffer))
		return ENOENT;
	int error = ENOENT;
	const uint32_t count = weft__format_tables_find(&buffer, tables);
	for (uint32_t i = 0; error == ENOENT && i < count; i++)
		if (tables[i].entry.number == WEFT_ABI_TABLE_counted &&
			tables[i].entry.row_bytes == sizeof(struct weft_abi_counted_row))
			error = weft__runs_counted_list(tables[i].rows, weft__format_table_count(&tables[i]),
				name_in, &buffer, ret_counters);
	weft__format_buffer_drop_names(&buffer);
	return error;
}

int weft__runs_counted_read(pid_t pid, struct weft__runs_counters *ret_counters)
{
	struct weft__runs_found found;
	struct weft_abi_buffer header;
	if (!weft__runs_find_mapped(pid, &found))
		return ENOENT;
	struct weft_ring_check check;
	int fd = weft_source_open_ring(found.path, pid, WEFT_RING_READ, &check);
	if (fd < 0)
		return ENOENT;
	int error = weft__runs_region_read(fd, 0, &header, sizeof(header));
	const uint64_t size = error ? 0 : header.packets_offset;
	uint8_t *front = size >= sizeof(header) && size <= FRONT_MAX ? malloc(size) : NULL;
	if (!error && !(error = front ? weft__runs_region_read(fd, 0, front, size) : ENOENT))
		error = list_in(front, size, ret_counters);
	free(front);
	close(fd);
	return error;
}
