/* SPDX-License-Identifier: ISC
 *
 * Merges the events of several decoders by time: a heap has the next event of each part. A part
 * that has no event yet (WEFT_AGAIN) holds up all others, because its next event may be the
 * earliest.
 *
 * Numbers of buffers and threads follow the parts: those of the first part come first. Threads that
 * a part finds later get the next free numbers.
 */
#include "format/merge.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <weft/model.h>

#include "base/array.h"
#include "base/index.h"
#include "format/decoder.h"

struct part {
	struct weft_decoder *decoder;
	const char *name;
	struct weft_event event;                 /* the next one, if the part is in the heap */
	const struct weft_trace_thread *threads; /* the part's table when it was copied */
	uint32_t *thread_of;                     /* numbers of its threads in the merged trace */
	size_t thread_capacity;
	uint32_t thread_count, buffer_count, first_buffer;
};

struct table {
	void *rows;
	uint32_t count;
	size_t capacity;
};

#define WEFT__DOMAIN_BYTES 64

struct merge {
	struct weft__reader base;
	struct part *parts;
	uint32_t count;
	uint32_t *heap; /* parts, the earliest event first */
	uint32_t *waiting;
	uint32_t heap_count, waiting_count; /* other parts have ended */
	bool has_given;                     /* the caller borrows the first event of the heap */
	struct table buffers, threads, categories, changes, losses;
	char (*domains)[WEFT__DOMAIN_BYTES]; /* names of those of Xen's own trace, by buffer; or NULL */
	uint32_t domain_count;
	struct weft__index by_number; /* threads of buffers that several parts may have */
};

/* ---- Tables ---- */

/* Makes room for `more` rows and returns the first of them; NULL if memory is short. */
static void *append(struct table *table, uint32_t more, size_t row_bytes)
{
	const struct weft__column column = {&table->rows, row_bytes};
	if (weft__columns_reserve(&column, 1, &table->capacity, table->count + (size_t)more + 1))
		return NULL;
	void *first = (char *)table->rows + table->count * row_bytes;
	table->count += more;
	return first;
}

static uint32_t thread_of(const struct part *part, uint32_t thread)
{
	return thread < part->thread_count ? part->thread_of[thread] : 0;
}

static uint64_t hash_number(const struct weft__hash_key *key, uint32_t buffer, uint32_t number)
{
	return weft__hash_u64(key, (uint64_t)buffer << 32 | number);
}

static uint64_t hash_thread(const struct weft__hash_key *key, const void *rows, uint32_t thread)
{
	const struct weft_trace_thread *threads = rows;
	return hash_number(key, threads[thread].buffer, threads[thread].number);
}

/* The thread of that number in a buffer of which another part is a file, too; or WEFT_NONE. */
static uint32_t find_thread(const struct merge *m, uint32_t buffer, uint32_t number)
{
	const struct weft_trace_thread *threads = m->threads.rows;
	const struct weft__index *index = &m->by_number;
	uint32_t slot = weft__index_start(index, hash_number(&index->key, buffer, number)), thread;
	while ((thread = index->slots[slot]) != WEFT__INDEX_EMPTY) {
		if (threads[thread].buffer == buffer && threads[thread].number == number)
			return thread;
		slot = weft__index_next(index, slot);
	}
	return WEFT_NONE;
}

/* Finds the number in the merged trace of the part's thread, which may get a new one. */
static int number_thread(
	struct merge *m, const struct part *part, struct weft_trace_thread thread, uint32_t *ret_number)
{
	thread.buffer += part->first_buffer;
	const struct weft_trace_buffer *buffers = m->buffers.rows;
	bool is_shared =
		thread.number && thread.buffer < m->buffers.count && buffers[thread.buffer].series;
	*ret_number = is_shared ? find_thread(m, thread.buffer, thread.number) : WEFT_NONE;
	if (*ret_number != WEFT_NONE)
		return 0;
	struct weft_trace_thread *added = append(&m->threads, 1, sizeof(*added));
	if (!added)
		return WEFT_ERROR_MEMORY;
	*added = thread;
	*ret_number = m->threads.count - 1;
	return is_shared ? weft__index_add(&m->by_number, *ret_number, hash_thread, m->threads.rows)
					 : 0;
}

static int number_threads(
	struct merge *m, struct part *part, const struct weft_trace_thread *threads, uint32_t count)
{
	const struct weft__column column = {&part->thread_of, sizeof(*part->thread_of)};
	if (count <= part->thread_count)
		return 0;
	int error = weft__columns_reserve(&column, 1, &part->thread_capacity, count);
	for (uint32_t i = part->thread_count; i < count && !error; i++) {
		error = number_thread(m, part, threads[i], &part->thread_of[i]);
		part->thread_count += !error;
	}
	return error;
}

/* Copies the part's threads again if its table has changed: the names may have moved. */
static int take_threads(struct merge *m, struct part *part)
{
	const struct weft_trace_description *d = weft_decoder_describe(part->decoder);
	if (d->threads == part->threads && d->thread_count == part->thread_count)
		return 0;
	int error = number_threads(m, part, d->threads, d->thread_count);
	if (error)
		return error;
	struct weft_trace_thread *threads = m->threads.rows;
	for (uint32_t i = 0; i < d->thread_count; i++) {
		threads[part->thread_of[i]] = d->threads[i];
		threads[part->thread_of[i]].buffer += part->first_buffer;
	}
	part->threads = d->threads;
	m->base.input.description->threads = threads;
	m->base.input.description->thread_count = m->threads.count;
	return 0;
}

/* ---- Xen's own trace ---- */

/* A program's buffer: of that domain, or of any if it is 0; or NULL. */
static const struct weft_trace_buffer *find_program(const struct merge *m, uint32_t guest)
{
	const struct weft_trace_buffer *buffers = m->buffers.rows;
	for (uint32_t i = 0; i < m->buffers.count; i++)
		if (buffers[i].host[0] && (!guest || buffers[i].guest == guest))
			return &buffers[i];
	return NULL;
}

/* Xen's own trace numbers domains, and does not name the host: the traces of programs do. A guest's
 * is called DOMAIN or DOMAIN/PROGRAM. */
static void name_domains(struct merge *m)
{
	struct weft_trace_buffer *buffers = m->buffers.rows;
	const struct weft_trace_buffer *any = find_program(m, 0);
	for (uint32_t i = 0; any && i < m->buffers.count; i++) {
		if (buffers[i].host[0] || !buffers[i].is_hypervisor)
			continue;
		const struct weft_trace_buffer *guest =
			buffers[i].guest ? find_program(m, buffers[i].guest) : NULL;
		buffers[i].host = any->host;
		memcpy(buffers[i].boot_id, any->boot_id, sizeof(any->boot_id));
		if (guest && i < m->domain_count) {
			snprintf(m->domains[i], WEFT__DOMAIN_BYTES, "%.*s", (int)strcspn(guest->process, "/"),
				guest->process);
			buffers[i].process = m->domains[i];
		}
	}
}

/* Copies the part's buffers. At the part's end, that includes when their records ended: of the
 * files of one stream, the latest end counts. */
static void copy_buffers(struct merge *m, const struct part *part)
{
	const struct weft_trace_description *d = weft_decoder_describe(part->decoder);
	struct weft_trace_buffer *buffers = m->buffers.rows;
	for (uint32_t i = 0; i < part->buffer_count; i++) {
		struct weft_trace_buffer *to = &buffers[part->first_buffer + i];
		const struct weft_trace_buffer *from = weft_trace_buffer_at(d->buffers, d->buffer_count, i);
		const char *file = to->file ? to->file : part->name;
		if (!to->file || from->end_ns >= to->end_ns)
			*to = *from;
		to->file = file;
	}
	if (m->domains)
		name_domains(m);
}

/* The number of the buffer that an earlier part has as well, because both are files of one stream;
 * or WEFT_NONE. */
static uint32_t find_series(const struct merge *m, const struct weft_trace_buffer *buffer)
{
	const struct weft_trace_buffer *buffers = m->buffers.rows;
	for (uint32_t i = 0; buffer->series && i < m->buffers.count; i++)
		if (buffers[i].series == buffer->series &&
			memcmp(buffers[i].uuid, buffer->uuid, sizeof(buffer->uuid)) == 0)
			return i;
	return WEFT_NONE;
}

/* A format that does not describe its buffer has one. */
static int take_buffers(struct merge *m, struct part *part)
{
	const struct weft_trace_description *d = weft_decoder_describe(part->decoder);
	uint32_t count = d->buffer_count ? d->buffer_count : 1;
	if (part->buffer_count)
		return 0;
	uint32_t same = d->buffer_count == 1 ? find_series(m, &d->buffers[0]) : WEFT_NONE;
	if (same == WEFT_NONE) {
		struct weft_trace_buffer *added = append(&m->buffers, count, sizeof(*added));
		if (!added)
			return WEFT_ERROR_MEMORY;
		memset(added, 0, count * sizeof(*added));
		same = m->buffers.count - count;
	}
	part->buffer_count = count;
	part->first_buffer = same;
	copy_buffers(m, part);
	m->base.input.description->buffers = m->buffers.rows;
	m->base.input.description->buffer_count = m->buffers.count;
	return 0;
}

static int by_end(const void *left, const void *right)
{
	const struct weft_loss_period *l = left, *r = right;
	return l->end < r->end ? -1 : l->end > r->end;
}

static int by_time(const void *left, const void *right)
{
	const struct weft_trace_change *l = left, *r = right;
	return l->time_ns < r->time_ns ? -1 : l->time_ns > r->time_ns;
}

static int take_losses(struct merge *m, const struct part *part)
{
	const struct weft_trace_description *d = weft_decoder_describe(part->decoder);
	uint64_t *losses = m->base.input.description->losses;
	for (unsigned cause = 0; cause < WEFT_LOSS_CAUSES; cause++)
		losses[cause] += d->losses[cause];
	struct weft_loss_period *periods = append(&m->losses, d->loss_period_count, sizeof(*periods));
	for (uint32_t i = 0; periods && i < d->loss_period_count; i++) {
		periods[i] = d->loss_periods[i];
		periods[i].thread = thread_of(part, periods[i].thread);
	}
	return periods ? 0 : WEFT_ERROR_MEMORY;
}

static int take_levels(struct merge *m, const struct part *part)
{
	const struct weft_trace_description *d = weft_decoder_describe(part->decoder);
	struct weft_trace_category *categories =
		append(&m->categories, d->category_count, sizeof(*categories));
	struct weft_trace_change *changes = append(&m->changes, d->change_count, sizeof(*changes));
	if (!categories || !changes)
		return WEFT_ERROR_MEMORY;
	for (uint32_t i = 0; i < d->category_count; i++) {
		categories[i] = d->categories[i];
		categories[i].buffer += part->first_buffer;
	}
	for (uint32_t i = 0; i < d->change_count; i++) {
		changes[i] = d->changes[i];
		changes[i].buffer += part->first_buffer;
	}
	return 0;
}

/* Makes the parts of the description that may change with each event. */
static int describe(struct merge *m)
{
	struct weft_trace_description *d = m->base.input.description;
	int error = 0;
	m->losses.count = m->categories.count = m->changes.count = 0;
	memset(d->losses, 0, sizeof(d->losses));
	for (uint32_t i = 0; i < m->count && !error; i++) {
		error = take_losses(m, &m->parts[i]);
		if (!error)
			error = take_levels(m, &m->parts[i]);
	}
	if (error)
		return error;
	qsort(m->losses.rows, m->losses.count, sizeof(struct weft_loss_period), by_end);
	qsort(m->changes.rows, m->changes.count, sizeof(struct weft_trace_change), by_time);
	d->loss_periods = m->losses.rows;
	d->loss_period_count = m->losses.count;
	d->categories = m->categories.rows;
	d->category_count = m->categories.count;
	d->changes = m->changes.rows;
	d->change_count = m->changes.count;
	return 0;
}

/* ---- The heap ---- */

/* Equal times are in the order of parts. */
static bool is_before(const struct merge *m, uint32_t a, uint32_t b)
{
	uint64_t time_a = m->parts[a].event.time_ns, time_b = m->parts[b].event.time_ns;
	return time_a != time_b ? time_a < time_b : a < b;
}

static void sink(struct merge *m, uint32_t at)
{
	uint32_t part = m->heap[at];
	for (uint32_t child; (child = 2 * at + 1) < m->heap_count; at = child) {
		if (child + 1 < m->heap_count && is_before(m, m->heap[child + 1], m->heap[child]))
			child++;
		if (is_before(m, part, m->heap[child]))
			break;
		m->heap[at] = m->heap[child];
	}
	m->heap[at] = part;
}

static void push(struct merge *m, uint32_t part)
{
	uint32_t at = m->heap_count++;
	for (; at && is_before(m, part, m->heap[(at - 1) / 2]); at = (at - 1) / 2)
		m->heap[at] = m->heap[(at - 1) / 2];
	m->heap[at] = part;
}

static void remove_first(struct merge *m)
{
	m->heap[0] = m->heap[--m->heap_count];
	if (m->heap_count)
		sink(m, 0);
}

/* ---- Events ---- */

/* Gets the part's next event. A part that cannot be read any further ends like others; its own
 * diagnostics say why. */
static int fetch(struct merge *m, uint32_t number)
{
	struct part *part = &m->parts[number];
	int status = weft_decoder_next(part->decoder, &part->event);
	if (status != WEFT_OK)
		copy_buffers(m, part);
	if (status == WEFT_AGAIN || status == WEFT_END || status == WEFT_ERROR_MEMORY)
		return status;
	if (status != WEFT_OK) {
		weft_diagnostics_add(m->base.input.diagnostics, WEFT_PART_OFFSET(number, 0),
			"this file cannot be read any further");
		return WEFT_END;
	}
	int error = take_buffers(m, part);
	return error ? error : take_threads(m, part);
}

/* Replaces the event that was given last by the next one of its part. */
static int pass_given(struct merge *m)
{
	uint32_t number = m->heap[0];
	int status = fetch(m, number);
	m->has_given = false;
	if (status == WEFT_OK) {
		sink(m, 0);
		return WEFT_OK;
	}
	remove_first(m);
	if (status == WEFT_AGAIN)
		m->waiting[m->waiting_count++] = number;
	return status < 0 ? status : WEFT_OK;
}

static int fetch_waiting(struct merge *m)
{
	while (m->waiting_count) {
		uint32_t number = m->waiting[m->waiting_count - 1];
		int status = fetch(m, number);
		if (status == WEFT_AGAIN || status < 0)
			return status;
		m->waiting_count--;
		if (status == WEFT_OK)
			push(m, number);
	}
	return WEFT_OK;
}

static int next(struct weft__reader *reader, struct weft_event *ret_event)
{
	struct merge *m = (struct merge *)reader;
	int status = m->has_given ? pass_given(m) : WEFT_OK;
	if (status == WEFT_OK)
		status = fetch_waiting(m);
	if (status == WEFT_OK && m->heap_count == 0)
		status = WEFT_END;
	if (status != WEFT_OK) {
		int error = status < 0 ? 0 : describe(m);
		return error ? error : status;
	}
	const uint32_t number = m->heap[0];
	const struct part *part = &m->parts[number];
	*ret_event = part->event;
	ret_event->thread = thread_of(part, part->event.thread);
	ret_event->buffer = part->first_buffer + part->event.buffer;
	ret_event->offset = WEFT_PART_OFFSET(number, part->event.offset);
	m->has_given = true;
	return WEFT_OK;
}

static void close_merge(struct weft__reader *reader)
{
	struct merge *m = (struct merge *)reader;
	void *tables[] = {m->buffers.rows, m->threads.rows, m->categories.rows, m->changes.rows,
		m->losses.rows, m->heap, m->waiting};
	for (uint32_t i = 0; m->parts && i < m->count; i++)
		free(m->parts[i].thread_of);
	free(m->domains);
	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++)
		free(tables[i]);
	weft__index_finish(&m->by_number);
	free(m->parts);
	free(m);
}

const struct weft__format weft__format_merge = {
	.name = "several",
	.next = next,
	.close = close_merge,
};

/* ---- Opening ---- */

/* The parts have one clock; formats may differ. */
static int take_part(struct merge *m, uint32_t number)
{
	struct weft_trace_description *description = m->base.input.description;
	struct part *part = &m->parts[number];
	const struct weft_trace_description *d = weft_decoder_describe(part->decoder);
	if (number == 0)
		description->clock = d->clock;
	if (number == 0 || strcmp(description->format, d->format) == 0)
		description->format = d->format;
	else
		description->format = weft__format_merge.name;
	m->waiting[m->count - 1 - number] = number;
	int error = d->buffer_count || d->thread_count ? take_buffers(m, part) : 0;
	return error ? error : take_threads(m, part);
}

int weft__merge_create(const struct weft_decoder_part *parts, size_t count,
	const struct weft__input *input, struct weft__reader **ret_reader)
{
	struct merge *m = calloc(1, sizeof(*m));
	if (!m)
		return WEFT_ERROR_MEMORY;
	m->base.input = *input;
	m->count = m->waiting_count = (uint32_t)count;
	m->parts = calloc(count + 1, sizeof(*m->parts));
	m->heap = malloc((count + 1) * sizeof(*m->heap));
	m->waiting = malloc((count + 1) * sizeof(*m->waiting));
	int error =
		m->parts && m->heap && m->waiting ? weft__index_init(&m->by_number) : WEFT_ERROR_MEMORY;
	for (uint32_t i = 0; i < count && !error; i++) {
		m->parts[i].decoder = parts[i].decoder;
		m->parts[i].name = parts[i].name ? parts[i].name : "";
		error = take_part(m, i);
	}
	if (!error) {
		m->domain_count = m->buffers.count;
		m->domains = calloc(m->domain_count + (size_t)1, sizeof(*m->domains));
		error = m->domains ? 0 : WEFT_ERROR_MEMORY;
	}
	if (!error) {
		name_domains(m);
		error = describe(m);
	}
	if (error)
		close_merge(&m->base);
	else
		*ret_reader = &m->base;
	return error;
}

double weft__merge_part(const struct weft__reader *reader)
{
	const struct merge *m = (const struct merge *)reader;
	double read = 0, all = 0;
	for (uint32_t i = 0; i < m->count; i++) {
		double bytes = (double)weft__decoder_bytes(m->parts[i].decoder);
		read += bytes * weft_decoder_part(m->parts[i].decoder);
		all += bytes;
	}
	return all > 0 ? read / all : 0;
}
