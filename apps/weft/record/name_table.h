/* SPDX-License-Identifier: ISC
 *
 * The table of names of a saved trace that no program records into any more: reading it, and adding
 * to it. The program under trace may have written anything into it.
 */
#ifndef WEFT_RECORD_NAME_TABLE_H
#define WEFT_RECORD_NAME_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/buffer_abi.h"
#include "abi/name_abi.h"

struct name_table {
	struct weft_abi_buffer *header;
	unsigned char *entries;
	uint32_t used, room; /* bytes of entries */
};

/* Finds the table in a trace's bytes. False if there is none, or it is damaged. */
bool name_table_find(void *bytes, size_t size, struct name_table *ret_table);

/* The size of the text of the entry at `at`, or 0 if that is damaged. The next entry is
 * name_table_bytes(size) further. */
uint32_t name_table_text(const struct name_table *table, uint32_t at, const char **ret_text);
uint32_t name_table_bytes(uint32_t size);

/* Appends a text, if there is room. It exists when name_table_publish has published it. */
void name_table_append(struct name_table *table, const char *text, uint32_t size);
void name_table_publish(const struct name_table *table);

#endif
