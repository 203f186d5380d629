/* SPDX-License-Identifier: ISC
 *
 * See name_table.h.
 */
#include "name_table.h"

#include <string.h>

/* The file is closed to other users, but the program may have written its header. */
bool name_table_find(void *bytes, size_t size, struct name_table *ret)
{
	struct weft_abi_buffer *header = bytes;
	uint64_t index = (uint64_t)header->names_index * 4, at = header->names_offset;
	if (memcmp(header->magic, WEFT_ABI_MAGIC, sizeof(header->magic)) != 0 ||
		header->version != WEFT_ABI_VERSION || header->stream || index > header->names_bytes ||
		at > size || header->names_bytes > size - at || (at + index) % 8 != 0)
		return false;
	ret->header = header;
	ret->entries = (unsigned char *)bytes + at + index;
	ret->room = (uint32_t)(header->names_bytes - index);
	ret->used = header->names_used;
	return ret->used <= ret->room && ret->used % WEFT_ABI_NAME_UNIT == 0 &&
		   ret->room <= WEFT_ABI_NAMES_MAX_BYTES;
}

uint32_t name_table_bytes(uint32_t size)
{
	return ((uint32_t)sizeof(struct weft_abi_name) + size + WEFT_ABI_NAME_UNIT - 1) &
		   ~(WEFT_ABI_NAME_UNIT - 1);
}

uint32_t name_table_text(const struct name_table *table, uint32_t at, const char **ret_text)
{
	struct weft_abi_name head;
	memcpy(&head, table->entries + at, sizeof(head));
	*ret_text = (const char *)table->entries + at + sizeof(head);
	bool fits =
		head.size <= WEFT_ABI_NAME_MAX_BYTES && name_table_bytes(head.size) <= table->used - at;
	return fits ? head.size : 0;
}

/* The file's index of names is not extended: nobody records into it any more. */
void name_table_append(struct name_table *table, const char *text, uint32_t size)
{
	struct weft_abi_name head = {.size = size};
	uint32_t bytes = name_table_bytes(size);
	if (size > WEFT_ABI_NAME_MAX_BYTES || bytes > table->room - table->used)
		return;
	memset(table->entries + table->used, 0, bytes);
	memcpy(table->entries + table->used, &head, sizeof(head));
	memcpy(table->entries + table->used + sizeof(head), text, size);
	table->used += bytes;
}

void name_table_publish(const struct name_table *table)
{
	__atomic_store_n(&table->header->names_used, table->used, __ATOMIC_RELEASE);
}
