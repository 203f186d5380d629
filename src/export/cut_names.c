/* SPDX-License-Identifier: ISC
 *
 * Names are identified by their bytes. A new name goes to the end of the table; the new part of the
 * table is written before each packet. When the table is full, its names stay in use.
 */
#include "export/cut_names.h"

#include <stdlib.h>
#include <string.h>

#include "abi/name_abi.h"
#include "abi/stream_abi.h"
#include "base/array.h"

int weft__export_chunks_append(struct weft__chunks *chunks, const void *bytes, size_t size)
{
	chunks->bytes += size;
	return size ? chunks->sink.append(chunks->sink.context, bytes, size) : 0;
}

int weft__export_chunks_begin(struct weft__chunks *chunks, uint32_t kind, uint64_t at, size_t size)
{
	const struct weft_abi_chunk chunk = {
		.magic = WEFT_ABI_CHUNK_MAGIC,
		.kind = kind,
		.bytes = (uint32_t)size,
		.at = at,
	};
	return weft__export_chunks_append(chunks, &chunk, sizeof(chunk));
}

int weft__export_cut_names_init(struct weft__cut_names *names, struct weft__chunks *chunks)
{
	*names = (struct weft__cut_names){.chunks = chunks};
	return weft__strings_init(&names->strings);
}

void weft__export_cut_names_finish(struct weft__cut_names *names)
{
	weft__strings_finish(&names->strings);
	free(names->ids);
	free(names->entries);
}

/* Appends an entry; id 0 if the table is full. */
static int append(struct weft__cut_names *names, struct weft_slice text, uint16_t *ret_id)
{
	uint32_t size = (uint32_t)(sizeof(struct weft_abi_name) + text.size + WEFT_ABI_NAME_UNIT - 1) &
					~(WEFT_ABI_NAME_UNIT - 1);
	const struct weft_abi_name head = {
		.size = (uint32_t)text.size}; /* a stream has no hash index */
	*ret_id = 0;
	if (names->used / WEFT_ABI_NAME_UNIT >= UINT16_MAX)
		return 0;
	if (names->used + size > names->entries_capacity) {
		size_t capacity = weft__array_next_capacity(names->entries_capacity, names->used + size);
		int error = weft__array_resize(&names->entries, capacity, 1);
		if (error)
			return error;
		names->entries_capacity = capacity;
	}
	uint8_t *entry = names->entries + names->used;
	memset(entry, 0, size);
	memcpy(entry, &head, sizeof(head));
	memcpy(entry + sizeof(head), text.bytes, text.size);
	*ret_id = (uint16_t)(names->used / WEFT_ABI_NAME_UNIT + 1);
	names->used += size;
	return 0;
}

int weft__export_cut_name(struct weft__cut_names *names, struct weft_slice text, uint16_t *ret_id)
{
	const struct weft__column column = {&names->ids, sizeof(*names->ids)};
	uint32_t known = names->strings.count, string;
	*ret_id = 0;
	if (text.size == 0 || text.size > WEFT_ABI_NAME_MAX_BYTES)
		return 0;
	int error = weft__strings_intern(&names->strings, text.bytes, text.size, &string);
	if (!error && string == known) {
		error = weft__columns_reserve(&column, 1, &names->ids_capacity, known + (size_t)1);
		if (!error)
			error = append(names, text, &names->ids[string]);
	}
	if (!error)
		*ret_id = names->ids[string];
	return error;
}

int weft__export_cut_names_flush(struct weft__cut_names *names)
{
	uint32_t size = names->used - names->written;
	if (size == 0)
		return 0;
	int error =
		weft__export_chunks_begin(names->chunks, WEFT_ABI_CHUNK_NAMES, names->written, size);
	if (!error)
		error = weft__export_chunks_append(names->chunks, names->entries + names->written, size);
	names->written = names->used;
	return error;
}

int weft__export_cut_text(
	struct weft__cut_names *names, struct weft_slice text, uint64_t *ret_number)
{
	static const uint8_t padding[8];
	uint64_t size = text.size;
	size_t pad = (8 - text.size % 8) % 8;
	if (text.size > UINT32_MAX - sizeof(size) - sizeof(padding))
		return WEFT_ERROR_LIMIT;
	int error = weft__export_chunks_begin(
		names->chunks, WEFT_ABI_CHUNK_TEXT, names->texts, sizeof(size) + text.size + pad);
	if (!error)
		error = weft__export_chunks_append(names->chunks, &size, sizeof(size));
	if (!error)
		error = weft__export_chunks_append(names->chunks, text.bytes, text.size);
	if (!error)
		error = weft__export_chunks_append(names->chunks, padding, pad);
	*ret_number = names->texts++;
	return error;
}
