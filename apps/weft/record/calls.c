/* SPDX-License-Identifier: ISC
 *
 * See calls.h, and src/abi/name_abi.h for the names.
 */
#include "calls.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <weft/parse.h>

#include "function_name.h"

enum {
	CALLS_MAX = 1 << 15,
	KEY_BYTES = 32,
	FUNCTION_BYTES = 256,
};

#define ARROW " \xe2\x86\x90 "

/* ---- Names ---- */

/* The rest of a name with that prefix, as a string; false if the name has another one. */
static bool take_name(const struct name_table *names, uint32_t at, const char *prefix,
	size_t prefix_bytes, uint32_t *ret_next, char ret_rest[WEFT_ABI_NAME_MAX_BYTES + 1])
{
	const char *text;
	const uint32_t size = name_table_text(names, at, &text);
	*ret_next = at + name_table_bytes(size);
	if (size <= prefix_bytes || memcmp(text, prefix, prefix_bytes) != 0)
		return false;
	memcpy(ret_rest, text + prefix_bytes, size - prefix_bytes);
	ret_rest[size - prefix_bytes] = '\0';
	return true;
}

static bool take_stack(const struct name_table *names, uint32_t at, uint32_t *ret_next,
	char ret_calls[WEFT_ABI_NAME_MAX_BYTES + 1])
{
	return take_name(
		names, at, WEFT_ABI_STACK_PREFIX, WEFT_ABI_STACK_PREFIX_BYTES, ret_next, ret_calls);
}

/* `*ret_build_id` is in `file`, which it ends. */
static bool take_module(const struct name_table *names, uint32_t at, uint32_t *ret_next,
	char file[WEFT_ABI_NAME_MAX_BYTES + 1], const char **ret_build_id)
{
	if (!take_name(names, at, WEFT_ABI_MODULE_PREFIX, WEFT_ABI_MODULE_PREFIX_BYTES, ret_next, file))
		return false;
	char *tab = strchr(file, '\t');
	if (!tab || file[0] != '/')
		return false;
	*tab = '\0';
	*ret_build_id = tab + 1;
	return true;
}

bool calls_exist(const struct name_table *names)
{
	char calls[WEFT_ABI_NAME_MAX_BYTES + 1];
	for (uint32_t at = 0; at < names->used;)
		if (take_stack(names, at, &at, calls))
			return true;
	return false;
}

void calls_add_files(const struct name_table *names, struct debug_info *info)
{
	char file[WEFT_ABI_NAME_MAX_BYTES + 1];
	const char *build_id;
	for (uint32_t at = 0; at < names->used;)
		if (take_module(names, at, &at, file, &build_id))
			debug_info_add(info, file);
}

/* ---- Calls ---- */

struct call {
	char key[KEY_BYTES]; /* "MODULE:ADDRESS" */
};

static int by_key(const void *left, const void *right)
{
	return strcmp(((const struct call *)left)->key, ((const struct call *)right)->key);
}

static size_t list_calls(const struct name_table *names, struct call *list)
{
	char calls[WEFT_ABI_NAME_MAX_BYTES + 1], *rest;
	size_t count = 0;
	for (uint32_t at = 0; at < names->used;) {
		if (!take_stack(names, at, &at, calls))
			continue;
		for (char *word = strtok_r(calls, " ", &rest); word && count < CALLS_MAX;
			 word = strtok_r(NULL, " ", &rest))
			if (strlen(word) < KEY_BYTES)
				strcpy(list[count++].key, word);
	}
	if (count)
		qsort(list, count, sizeof(*list), by_key);
	return count;
}

/* Appends "check (hello.c:7) ← say_hello (hello.c:12)" as far as it fits. */
static size_t append_functions(
	char *line, size_t used, size_t room, const struct debug_call *calls, size_t count)
{
	char function[FUNCTION_BYTES], location[FUNCTION_BYTES];
	for (size_t i = 0; i < count; i++) {
		function_name(function, sizeof(function), calls[i].symbol);
		snprintf(location, sizeof(location), " (%s:%d)", calls[i].file, calls[i].line);
		const int size = snprintf(line + used, room - used, "%s%s%s", i ? ARROW : "", function,
			calls[i].file ? location : "");
		if (size <= 0 || (size_t)size >= room - used)
			break;
		used += (size_t)size;
	}
	return used;
}

static void add_call(struct name_table *names, struct debug_info *info, const char *key)
{
	char file[WEFT_ABI_NAME_MAX_BYTES + 1], line[WEFT_ABI_NAME_MAX_BYTES];
	struct debug_call calls[DEBUG_CALLS_MAX];
	const char *colon = strchr(key, ':'), *build_id;
	uint64_t module, address;
	uint32_t next;
	if (!colon || weft_parse_hexadecimal(key, (size_t)(colon - key), &module) != WEFT_PARSE_OK ||
		weft_parse_hexadecimal(colon + 1, strlen(colon + 1), &address) != WEFT_PARSE_OK ||
		module == 0 || module > UINT16_MAX || (module - 1) * WEFT_ABI_NAME_UNIT >= names->used ||
		!take_module(names, (uint32_t)(module - 1) * WEFT_ABI_NAME_UNIT, &next, file, &build_id) ||
		!debug_info_is(info, file, build_id))
		return;
	const size_t count = debug_info_calls(info, file, address, calls);
	if (!count)
		return;
	const size_t begin =
		(size_t)snprintf(line, sizeof(line), "%s%c%s%c", WEFT_ABI_FRAME_PREFIX, '\0', key, '\0');
	const size_t size = append_functions(line, begin, sizeof(line), calls, count);
	if (size > begin)
		name_table_append(names, line, (uint32_t)size);
}

void calls_add(struct name_table *names, struct debug_info *info)
{
	struct call *list = malloc(CALLS_MAX * sizeof(*list));
	const size_t count = list ? list_calls(names, list) : 0;
	for (size_t i = 0; i < count; i++)
		if (i == 0 || strcmp(list[i].key, list[i - 1].key) != 0)
			add_call(names, info, list[i].key);
	free(list);
}
