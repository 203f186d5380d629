/* SPDX-License-Identifier: ISC
 *
 * The room for a list is made before it is read, so that no value of a guest decides how much
 * memory is used.
 */
#include "xen/references.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

const char *weft__xen_references_init(struct weft__xen_references *references, uint64_t capacity)
{
	*references = (struct weft__xen_references){0};
	if (capacity == 0)
		return "it has no pages";
	if (capacity > WEFT__XEN_PAGES_MAX)
		return "it has more than 65536 pages";
	references->list = calloc((size_t)capacity, sizeof(*references->list));
	if (!references->list)
		return "there is not enough memory";
	references->capacity = (uint32_t)capacity;
	return NULL;
}

void weft__xen_references_finish(struct weft__xen_references *references)
{
	free(references->list);
	*references = (struct weft__xen_references){0};
}

const char *weft__xen_references_add_one(struct weft__xen_references *references, uint32_t one)
{
	if (references->count == references->capacity)
		return "it lists more grant references than it has pages";
	references->list[references->count++] = one;
	return NULL;
}

/* Takes a number of 32 bits in decimal. False if there is none or it is larger. */
static bool take_number(const char *value, size_t size, size_t *at, uint32_t *ret_number)
{
	uint64_t number = 0;
	size_t from = *at;
	for (; *at < size && value[*at] >= '0' && value[*at] <= '9'; ++*at) {
		number = number * 10 + (uint64_t)(value[*at] - '0');
		if (number > UINT32_MAX)
			return false;
	}
	*ret_number = (uint32_t)number;
	return *at > from;
}

const char *weft__xen_references_add(
	struct weft__xen_references *references, const char *value, size_t size)
{
	for (size_t at = 0;; at++) {
		uint32_t number;
		if (!take_number(value, size, &at, &number))
			return "its list of grant references is not one of numbers with commas between them";
		const char *problem = weft__xen_references_add_one(references, number);
		if (problem || at == size)
			return problem;
		if (value[at] != ',')
			return "its list of grant references is not one of numbers with commas between them";
	}
}

static int by_number(const void *left, const void *right)
{
	uint32_t l = *(const uint32_t *)left, r = *(const uint32_t *)right;
	return (l > r) - (l < r);
}

const char *weft__xen_references_check(const struct weft__xen_references *references)
{
	size_t bytes = references->count * sizeof(*references->list);
	const char *problem = NULL;
	if (references->count < references->capacity)
		return "it lists fewer grant references than it has pages";
	uint32_t *sorted = malloc(bytes);
	if (!sorted)
		return "there is not enough memory";
	memcpy(sorted, references->list, bytes);
	qsort(sorted, references->count, sizeof(*sorted), by_number);
	for (uint32_t i = 1; i < references->count && !problem; i++)
		if (sorted[i] == sorted[i - 1])
			problem = "it lists a grant reference twice";
	free(sorted);
	return problem;
}
