/* SPDX-License-Identifier: ISC
 *
 * The values of counters: 0 before the first change; sums saturate at the limits of int64_t.
 */
#include "base/array.h"
#include "model/state.h"

static int grow_names(struct weft__state_counters *c, uint32_t name)
{
	if (name < c->by_name_count)
		return 0;
	size_t count = weft__array_next_capacity(c->by_name_count, name + (size_t)1);
	int error = weft__array_resize(&c->by_name, count, sizeof(*c->by_name));
	while (!error && c->by_name_count < count)
		c->by_name[c->by_name_count++] = WEFT_NONE;
	return error;
}

static int add_counter(struct weft__state_counters *c, uint32_t name)
{
	const struct weft__column columns[] = {
		{&c->name, sizeof(*c->name)},
		{&c->value, sizeof(*c->value)},
	};
	int error = weft__columns_reserve(columns, 2, &c->capacity, c->count + (size_t)1);
	if (error)
		return error;
	c->name[c->count] = name;
	c->value[c->count] = 0;
	c->by_name[name] = c->count++;
	return 0;
}

int weft__state_counter(struct weft__state *s, uint32_t name, uint32_t *ret_counter)
{
	struct weft__state_counters *c = &s->counters;
	int error = grow_names(c, name);
	if (!error && c->by_name[name] == WEFT_NONE)
		error = add_counter(c, name);
	if (!error)
		*ret_counter = c->by_name[name];
	return error;
}

static int64_t add_saturating(int64_t a, int64_t b)
{
	int64_t sum;
	if (!__builtin_add_overflow(a, b, &sum))
		return sum;
	return b > 0 ? INT64_MAX : INT64_MIN;
}

void weft__state_count(struct weft__state *s, uint32_t counter, const struct weft__fact *fact)
{
	int64_t *value = &s->counters.value[counter];
	*value = fact->is_set ? fact->value : add_saturating(*value, fact->value);
}
