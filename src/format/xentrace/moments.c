/* SPDX-License-Identifier: ISC
 *
 * The notes of each vCPU come in the order of time, but those of several vCPUs are one block after
 * the other. A pid may be used again, and a name may be as long as two notes.
 */
#include "format/xentrace/moments.h"

#include <stdlib.h>
#include <string.h>

#include <weft/error.h>

#include "base/array.h"
#include "base/index.h"

#define NAME_PART 8 /* bytes in a note */

static int append(struct weft__xentrace_moments *m, struct weft__xentrace_moment moment)
{
	const struct weft__column column = {&m->list, sizeof(*m->list)};
	int error = weft__columns_reserve(&column, 1, &m->capacity, m->count + 1);
	if (!error)
		m->list[m->count++] = moment;
	return error;
}

static bool is_waiting(const struct weft__xentrace_moment *moment)
{
	return moment->cycles == UINT64_MAX;
}

/* The names that wait are the last moments. */
static void place_names(struct weft__xentrace_moments *m, uint64_t cycles)
{
	for (size_t i = m->count; i > m->next && is_waiting(&m->list[i - 1]); i--)
		m->list[i - 1].cycles = cycles;
}

static void put_part(char name[WEFT_XENTRACE_PROCESS_NAME_BYTES], uint64_t part, uint64_t bytes)
{
	for (unsigned i = 0; i < NAME_PART; i++)
		name[part * NAME_PART + i] = (char)(bytes >> 8 * i);
	name[WEFT_XENTRACE_PROCESS_NAME_BYTES - 1] = '\0';
}

/* The second part of a name completes the first. */
static int add_name(struct weft__xentrace_moments *m, const struct weft_xentrace_note *note)
{
	const uint32_t pid = (uint32_t)note->values[0];
	const uint64_t part = note->values[0] >> 32;
	struct weft__xentrace_moment *last = m->count > m->next ? &m->list[m->count - 1] : NULL;
	if (part == 1 && last && is_waiting(last) && last->pid == pid) {
		put_part(last->name, part, note->values[1]);
		return 0;
	}
	struct weft__xentrace_moment moment = {
		.cycles = UINT64_MAX, .order = m->notes, .kind = note->kind, .pid = pid};
	put_part(moment.name, 0, note->values[1]);
	return part == 0 && pid <= WEFT_XENTRACE_PROCESS_MAX ? append(m, moment) : 0;
}

static int add_moment(struct weft__xentrace_moments *m, const struct weft_xentrace_note *note)
{
	const uint64_t cycles = note->values[0], words = note->values[1];
	if (cycles == UINT64_MAX)
		return 0;
	place_names(m, cycles);
	return append(m, (struct weft__xentrace_moment){.cycles = cycles,
						 .order = m->notes,
						 .kind = note->kind,
						 .pid = words & 0xffffff,
						 .other = words >> 24 & 0xffffff,
						 .vcpu = words >> 48 & 0x7fff,
						 .has_ended = words >> 63});
}

static int compare(const void *a, const void *b)
{
	const struct weft__xentrace_moment *first = a, *second = b;
	if (first->cycles != second->cycles)
		return first->cycles < second->cycles ? -1 : 1;
	return first->order < second->order ? -1 : 1;
}

static void drop_taken(struct weft__xentrace_moments *m)
{
	if (m->next)
		memmove(m->list, m->list + m->next, (m->count - m->next) * sizeof(*m->list));
	m->count -= m->next;
	m->next = 0;
}

int weft__format_xentrace_moments_add(
	struct weft__xentrace_moments *m, const struct weft_xentrace_note *notes, size_t count)
{
	int error = 0;
	drop_taken(m);
	for (size_t i = 0; i < count && !error; i++) {
		m->notes++;
		if (notes[i].kind == WEFT_XENTRACE_NOTE_NAME)
			error = add_name(m, &notes[i]);
		else if (notes[i].kind == WEFT_XENTRACE_NOTE_SWITCH ||
				 notes[i].kind == WEFT_XENTRACE_NOTE_FORK)
			error = add_moment(m, &notes[i]);
	}
	if (m->count)
		qsort(m->list, m->count, sizeof(*m->list), compare);
	return error;
}

/* ---- Names ---- */

struct naming {
	struct weft__xentrace_moments *moments;
	struct weft__index index; /* by pid: the first name of a process */
};

static uint64_t hash_pid(const struct weft__hash_key *key, uint32_t pid)
{
	struct weft__hash hash = weft__hash_begin(key);
	weft__hash_word(&hash, pid);
	return weft__hash_end(&hash);
}

static uint64_t hash_name(const struct weft__hash_key *key, const void *owner, uint32_t number)
{
	return hash_pid(key, ((const struct weft__xentrace_moments *)owner)->list[number].pid);
}

/* The slot with the first name of the process that has the pid, or an empty one. */
static uint32_t *find_first(struct naming *n, uint32_t pid)
{
	uint32_t slot = weft__index_start(&n->index, hash_pid(&n->index.key, pid));
	while (n->index.slots[slot] != WEFT__INDEX_EMPTY &&
		   n->moments->list[n->index.slots[slot]].pid != pid)
		slot = weft__index_next(&n->index, slot);
	return &n->index.slots[slot];
}

/* The pid is that of another process from now on. */
static void forget(struct naming *n, uint32_t pid)
{
	uint32_t first = *find_first(n, pid);
	if (first != WEFT__INDEX_EMPTY)
		n->moments->list[first].has_ended = true;
}

static int take_name(struct naming *n, uint32_t number)
{
	struct weft__xentrace_moment *list = n->moments->list;
	uint32_t *first = find_first(n, list[number].pid);
	if (*first == WEFT__INDEX_EMPTY)
		return weft__index_add(&n->index, number, hash_name, n->moments);
	if (list[*first].has_ended)
		*first = number;
	memcpy(list[*first].name, list[number].name, sizeof(list[number].name));
	return 0;
}

int weft__format_xentrace_moments_name(struct weft__xentrace_moments *m)
{
	struct naming n = {.moments = m};
	int error = weft__index_init(&n.index);
	for (size_t i = 0; i < m->count && i < UINT32_MAX && !error; i++) {
		const struct weft__xentrace_moment *moment = &m->list[i];
		if (moment->kind == WEFT_XENTRACE_NOTE_NAME)
			error = take_name(&n, (uint32_t)i);
		else if (moment->kind == WEFT_XENTRACE_NOTE_FORK)
			forget(&n, moment->pid);
		else if (moment->has_ended)
			forget(&n, moment->other);
	}
	weft__index_finish(&n.index);
	return error;
}

void weft__format_xentrace_moments_finish(struct weft__xentrace_moments *m)
{
	free(m->list);
	*m = (struct weft__xentrace_moments){0};
}
