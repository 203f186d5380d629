/* SPDX-License-Identifier: ISC
 *
 * Categories: parts of a program, each with a level byte in the buffer.
 */
#include "record/category.h"

#include <string.h>

#include "abi/name_abi.h"
#include "record/compose.h"
#include "record/name.h"

static uint16_t name_id(struct weft_abi_buffer *header, const char *text)
{
	uint32_t size = weft__measure(text, WEFT_ABI_NAME_MAX_BYTES);
	return weft__name_find_or_add(header, text, size);
}

void weft__categories_prepare(struct weft_abi_buffer *header)
{
	memset(header->levels, WEFT_LEVEL_INFO, sizeof(header->levels));
	uint16_t name = name_id(header, "program");
	uint16_t description = name_id(header, "what names no category");
	header->categories[WEFT_ABI_CATEGORY_PROGRAM] = WEFT_ABI_CATEGORY(name, description);
}
