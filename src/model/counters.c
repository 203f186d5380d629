/* SPDX-License-Identifier: ISC
 *
 * The values of counters: 0 before the first change; sums saturate at the limits of int64_t. From
 * its first floating-point number on a counter is real: its value is a double.
 *
 * The program says now and then what a counter's value is (an event `total`). It is more than the
 * trace's changes give if some were made before the trace begins, or are missing. The value follows
 * what the program says; what was observed does not, so that both can be compared (totals.c).
 */
#include <math.h>

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

static int add_counter(struct weft__state_counters *c, uint32_t buffer, uint32_t name)
{
	const struct weft__column columns[] = {
		{&c->name, sizeof(*c->name)},
		{&c->buffer, sizeof(*c->buffer)},
		{&c->value, sizeof(*c->value)},
		{&c->observed, sizeof(*c->observed)},
		{&c->is_real, sizeof(*c->is_real)},
		{&c->known_ns, sizeof(*c->known_ns)},
		{&c->seen_ns, sizeof(*c->seen_ns)},
	};
	int error = weft__columns_reserve(columns, 7, &c->capacity, c->count + (size_t)1);
	if (error)
		return error;
	c->name[c->count] = name;
	c->buffer[c->count] = buffer;
	c->value[c->count] = c->observed[c->count] = 0;
	c->is_real[c->count] = false;
	c->known_ns[c->count] = c->seen_ns[c->count] = 0;
	return 0;
}

/* Buffer 0, the only one of most traces, needs no hashes. */
static int find_in_first(struct weft__state_counters *c, uint32_t name, uint32_t *ret_counter)
{
	int error = grow_names(c, name);
	if (!error && c->by_name[name] == WEFT_NONE) {
		error = add_counter(c, 0, name);
		if (!error)
			c->by_name[name] = c->count++;
	}
	if (!error)
		*ret_counter = c->by_name[name];
	return error;
}

static uint64_t hash_counter(const struct weft__hash_key *key, const void *owner, uint32_t counter)
{
	const struct weft__state_counters *c = owner;
	return weft__hash_u64(key, (uint64_t)c->buffer[counter] << 32 | c->name[counter]);
}

/* The counter of another buffer, or WEFT_NONE; the index must have been made. */
static uint32_t known_in_other(const struct weft__state_counters *c, uint32_t buffer, uint32_t name)
{
	const struct weft__index *index = &c->others;
	const uint64_t hash = weft__hash_u64(&index->key, (uint64_t)buffer << 32 | name);
	uint32_t slot = weft__index_start(index, hash), counter;
	for (; (counter = index->slots[slot]) != WEFT__INDEX_EMPTY;
		 slot = weft__index_next(index, slot))
		if (c->name[counter] == name && c->buffer[counter] == buffer)
			return counter;
	return WEFT_NONE;
}

static int find_in_other(
	struct weft__state_counters *c, uint32_t buffer, uint32_t name, uint32_t *ret_counter)
{
	int error = c->others.slots ? 0 : weft__index_init(&c->others);
	uint32_t counter = error ? WEFT_NONE : known_in_other(c, buffer, name);
	if (!error && counter == WEFT_NONE) {
		counter = c->count;
		error = add_counter(c, buffer, name);
		if (!error)
			error = weft__index_add(&c->others, counter, hash_counter, c);
		c->count += !error;
	}
	*ret_counter = counter;
	return error;
}

int weft__model_state_counter(
	struct weft__state *s, uint32_t buffer, uint32_t name, uint32_t *ret_counter)
{
	struct weft__state_counters *c = &s->counters;
	return buffer ? find_in_other(c, buffer, name, ret_counter)
				  : find_in_first(c, name, ret_counter);
}

uint32_t weft__model_state_known_counter(
	const struct weft__state *s, uint32_t buffer, uint32_t name)
{
	const struct weft__state_counters *c = &s->counters;
	if (buffer)
		return c->others.slots ? known_in_other(c, buffer, name) : WEFT_NONE;
	return name < c->by_name_count ? c->by_name[name] : WEFT_NONE;
}

static int64_t add_saturating(int64_t a, int64_t b)
{
	int64_t sum;
	if (!__builtin_add_overflow(a, b, &sum))
		return sum;
	return b > 0 ? INT64_MAX : INT64_MIN;
}

/* The limit of real values. Sums of fewer than 2^32 of them, for a mean, stay finite. */
#define REAL_MAX 1e290

static double limited(double value)
{
	if (value == 0)
		return 0; /* also for -0.0 */
	return value > REAL_MAX ? REAL_MAX : value < -REAL_MAX ? -REAL_MAX : value;
}

static void count_real(int64_t *value, const struct weft__fact *fact)
{
	double change = fact->is_real ? weft__model_real_of(fact->value) : (double)fact->value;
	*value =
		weft__model_bits_of(limited(fact->is_set ? change : weft__model_real_of(*value) + change));
}

/* From its first floating-point number on. */
static void make_real(struct weft__state_counters *c, uint32_t counter)
{
	if (c->is_real[counter])
		return;
	c->is_real[counter] = true;
	c->value[counter] = weft__model_bits_of((double)c->value[counter]);
	c->observed[counter] = weft__model_bits_of((double)c->observed[counter]);
}

static void count(int64_t *value, bool is_real, const struct weft__fact *fact)
{
	if (is_real)
		count_real(value, fact);
	else
		*value = fact->is_set ? fact->value : add_saturating(*value, fact->value);
}

/* A rundown sets a counter to its value. It adds to a counter of which changes may be missing: all
 * that the others add up to, or nothing to the value that was the last one known. */
static void note_times(struct weft__state_counters *c, uint32_t counter, uint64_t now)
{
	const bool is_unsure = c->is_rundown && !c->is_set;
	c->seen_ns[counter] = is_unsure && c->known_ns[counter] ? 0 : now;
	if (c->is_set || is_unsure)
		c->known_ns[counter] = c->is_set ? now : UINT64_MAX;
}

void weft__model_state_count(struct weft__state *s, uint32_t counter, const struct weft__fact *fact)
{
	struct weft__state_counters *c = &s->counters;
	c->is_set = fact->is_set;
	c->is_rundown = fact->is_rundown;
	note_times(c, counter, s->now);
	if (fact->is_real)
		make_real(c, counter);
	count(&c->value[counter], c->is_real[counter], fact);
	count(&c->observed[counter], c->is_real[counter], fact);
}

bool weft__model_state_is_at_limit(const struct weft__state *s, uint32_t counter)
{
	int64_t value = s->counters.observed[counter];
	if (s->counters.is_real[counter])
		return fabs(weft__model_real_of(value)) >= REAL_MAX;
	return value == INT64_MAX || value == INT64_MIN;
}

void weft__model_state_correct(
	struct weft__state *s, uint32_t counter, const struct weft__fact *fact)
{
	struct weft__state_counters *c = &s->counters;
	if (fact->is_real)
		make_real(c, counter);
	c->known_ns[counter] = c->seen_ns[counter] = s->now;
	count(&c->value[counter], c->is_real[counter], fact);
}

static struct weft_number number_of(int64_t value, bool is_real)
{
	return (struct weft_number){
		is_real ? weft__model_real_of(value) : (double)value, value, is_real};
}

struct weft_number weft__model_state_number(const struct weft__state *s, uint32_t counter)
{
	return number_of(s->counters.value[counter], s->counters.is_real[counter]);
}

struct weft_number weft__model_state_observed(const struct weft__state *s, uint32_t counter)
{
	return number_of(s->counters.observed[counter], s->counters.is_real[counter]);
}
