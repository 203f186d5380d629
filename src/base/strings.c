/* SPDX-License-Identifier: ISC
 *
 * All strings are in one block, one after the other; the index finds a string by its content.
 */
#include "base/strings.h"

#include <stdlib.h>
#include <string.h>

#include <weft/error.h>

#include "base/array.h"

static uint64_t hash_string(const struct weft__hash_key *key, const void *owner, uint32_t string)
{
	const struct weft__strings *strings = owner;
	return weft__hash_bytes(
		key, weft__strings_bytes(strings, string), weft__strings_size(strings, string));
}

int weft__strings_init(struct weft__strings *strings)
{
	int error;
	*strings = (struct weft__strings){0};
	error = weft__array_resize(&strings->start, 16, sizeof(*strings->start));
	if (error)
		return error;
	strings->start_capacity = 16;
	strings->start[0] = 0;
	error = weft__index_init(&strings->index);
	if (error)
		weft__strings_finish(strings);
	return error;
}

void weft__strings_finish(struct weft__strings *strings)
{
	if (!strings->shared_bytes)
		free(strings->bytes);
	if (!strings->shared_start)
		free(strings->start);
	weft__shared_release(strings->shared_bytes);
	weft__shared_release(strings->shared_start);
	weft__index_finish(&strings->index);
	*strings = (struct weft__strings){0};
}

int weft__strings_view(struct weft__strings *strings, struct weft__strings *ret_view)
{
	const struct weft__column bytes = {&strings->bytes, 1};
	const struct weft__column start = {&strings->start, sizeof(*strings->start)};
	struct weft__strings view = {
		.bytes = strings->bytes,
		.size = strings->size,
		.start = strings->start,
		.count = strings->count,
		.shared_bytes = weft__shared_hold(&strings->shared_bytes, &bytes, 1),
		.shared_start = weft__shared_hold(&strings->shared_start, &start, 1),
	};
	if (!view.shared_bytes || !view.shared_start) {
		weft__shared_release(view.shared_bytes);
		weft__shared_release(view.shared_start);
		return WEFT_ERROR_MEMORY;
	}
	*ret_view = view;
	return 0;
}

const char *weft__strings_bytes(const struct weft__strings *strings, uint32_t string)
{
	return strings->bytes + strings->start[string];
}

size_t weft__strings_size(const struct weft__strings *strings, uint32_t string)
{
	return strings->start[string + 1] - strings->start[string] - 1;
}

static int own_bytes(struct weft__strings *strings)
{
	const struct weft__column column = {&strings->bytes, 1};
	return weft__shared_own(&strings->shared_bytes, &column, 1, strings->capacity);
}

static int own_start(struct weft__strings *strings)
{
	const struct weft__column column = {&strings->start, sizeof(*strings->start)};
	return weft__shared_own(&strings->shared_start, &column, 1, strings->start_capacity);
}

/* Room for `size` bytes with a NUL, and for one more start. */
static int reserve(struct weft__strings *strings, size_t size)
{
	int error;
	if (size >= SIZE_MAX / 4 - strings->size || strings->count == UINT32_MAX - 1)
		return WEFT_ERROR_LIMIT;
	if (strings->size + size + 1 > strings->capacity) {
		size_t capacity = weft__array_next_capacity(strings->capacity, strings->size + size + 1);
		error = own_bytes(strings);
		if (!error)
			error = weft__array_resize(&strings->bytes, capacity, 1);
		if (error)
			return error;
		strings->capacity = capacity;
	}
	if (strings->count + (size_t)2 > strings->start_capacity) {
		size_t capacity =
			weft__array_next_capacity(strings->start_capacity, strings->count + (size_t)2);
		error = own_start(strings);
		if (!error)
			error = weft__array_resize(&strings->start, capacity, sizeof(*strings->start));
		if (error)
			return error;
		strings->start_capacity = capacity;
	}
	return 0;
}

static int append(struct weft__strings *strings, const char *bytes, size_t size)
{
	int error = reserve(strings, size);
	if (error)
		return error;
	if (size)
		memcpy(strings->bytes + strings->size, bytes, size);
	strings->bytes[strings->size + size] = 0;
	strings->start[strings->count + 1] = strings->size + size + 1;
	error = weft__index_add(&strings->index, strings->count, hash_string, strings);
	if (error)
		return error;
	strings->size += size + 1;
	strings->count++;
	return 0;
}

uint32_t weft__strings_find(const struct weft__strings *strings, const char *bytes, size_t size)
{
	if (size == 0)
		bytes = ""; /* an empty text may be a null pointer */
	uint64_t hash = weft__hash_bytes(&strings->index.key, bytes, size);
	uint32_t slot = weft__index_start(&strings->index, hash), string;
	while ((string = strings->index.slots[slot]) != WEFT__INDEX_EMPTY) {
		if (weft__strings_size(strings, string) == size &&
			memcmp(weft__strings_bytes(strings, string), bytes, size) == 0)
			break;
		slot = weft__index_next(&strings->index, slot);
	}
	return string;
}

int weft__strings_intern(
	struct weft__strings *strings, const char *bytes, size_t size, uint32_t *ret_string)
{
	int error = 0;
	uint32_t string = weft__strings_find(strings, bytes, size);
	if (string == WEFT__INDEX_EMPTY) {
		string = strings->count;
		error = append(strings, bytes, size);
	}
	if (!error)
		*ret_string = string;
	return error;
}

void weft__strings_trim(struct weft__strings *strings)
{
	/* If shrinking fails, the old block is kept. */
	if (!own_bytes(strings) && !weft__array_resize(&strings->bytes, strings->size, 1))
		strings->capacity = strings->size;
	if (!own_start(strings) &&
		!weft__array_resize(&strings->start, strings->count + (size_t)1, sizeof(size_t)))
		strings->start_capacity = strings->count + (size_t)1;
}
