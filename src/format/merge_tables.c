/* SPDX-License-Identifier: ISC
 *
 * The description of a merged trace: buffers, threads, categories and losses of all parts, with
 * numbers of their own.
 */
#include "format/merged.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <weft/model.h>

#include "base/array.h"

/* ---- Tables ---- */

/* Makes room for `more` rows and returns the first of them; NULL if memory is short. */
static void *append(struct weft__merged_table *table, uint32_t more, size_t row_bytes)
{
	const struct weft__column column = {&table->rows, row_bytes};
	if (weft__columns_reserve(&column, 1, &table->capacity, table->count + (size_t)more + 1))
		return NULL;
	void *first = (char *)table->rows + table->count * row_bytes;
	table->count += more;
	return first;
}

uint32_t weft__format_merge_thread_of(const struct weft__merged_part *part, uint32_t thread)
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
static uint32_t find_thread(const struct weft__merge *m, uint32_t buffer, uint32_t number)
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
static int number_thread(struct weft__merge *m, const struct weft__merged_part *part,
	struct weft_trace_thread thread, uint32_t *ret_number)
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

static int number_threads(struct weft__merge *m, struct weft__merged_part *part,
	const struct weft_trace_thread *threads, uint32_t count)
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

/* The names of a table that has changed may have moved. */
int weft__format_merge_take_threads(struct weft__merge *m, struct weft__merged_part *part)
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
static const struct weft_trace_buffer *find_program(const struct weft__merge *m, uint32_t guest)
{
	const struct weft_trace_buffer *buffers = m->buffers.rows;
	for (uint32_t i = 0; i < m->buffers.count; i++)
		if (buffers[i].host[0] && !buffers[i].is_hypervisor &&
			(!guest || buffers[i].guest == guest))
			return &buffers[i];
	return NULL;
}

/* Xen's own trace numbers domains, and does not name the host: the traces of programs do. A guest's
 * is called DOMAIN or DOMAIN/PROGRAM. */
static void name_domains(struct weft__merge *m)
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

static void shift_buffer(const struct weft__shift *shift, struct weft_trace_buffer *buffer)
{
	if (!shift)
		return;
	buffer->alignment = shift->alignment;
	buffer->error_ns = shift->error_ns;
	if (buffer->end_ns)
		buffer->end_ns = weft__format_shift(shift, buffer->end_ns);
}

/* At the part's end, that includes when their records ended: of the
 * files of one stream, the latest end counts. */
void weft__format_merge_copy_buffers(struct weft__merge *m, const struct weft__merged_part *part)
{
	const struct weft_trace_description *d = weft_decoder_describe(part->decoder);
	struct weft_trace_buffer *buffers = m->buffers.rows;
	for (uint32_t i = 0; i < part->buffer_count; i++) {
		struct weft_trace_buffer *to = &buffers[part->first_buffer + i];
		struct weft_trace_buffer from = *weft_trace_buffer_at(d->buffers, d->buffer_count, i);
		const char *file = to->file ? to->file : part->name;
		shift_buffer(part->shift, &from);
		if (!to->file || from.end_ns >= to->end_ns)
			*to = from;
		to->file = file;
	}
	if (m->domains)
		name_domains(m);
}

int weft__format_merge_name_domains(struct weft__merge *m)
{
	m->domain_count = m->buffers.count;
	m->domains = calloc(m->domain_count + (size_t)1, sizeof(*m->domains));
	if (!m->domains)
		return WEFT_ERROR_MEMORY;
	name_domains(m);
	return 0;
}

/* The number of the buffer that an earlier part has as well, because both are files of one stream;
 * or WEFT_NONE. */
static uint32_t find_series(const struct weft__merge *m, const struct weft_trace_buffer *buffer)
{
	const struct weft_trace_buffer *buffers = m->buffers.rows;
	for (uint32_t i = 0; buffer->series && i < m->buffers.count; i++)
		if (buffers[i].series == buffer->series &&
			memcmp(buffers[i].uuid, buffer->uuid, sizeof(buffer->uuid)) == 0)
			return i;
	return WEFT_NONE;
}

/* A format that does not describe its buffer has one. */
int weft__format_merge_take_buffers(struct weft__merge *m, struct weft__merged_part *part)
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
	weft__format_merge_copy_buffers(m, part);
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

static int take_losses(struct weft__merge *m, const struct weft__merged_part *part)
{
	const struct weft_trace_description *d = weft_decoder_describe(part->decoder);
	uint64_t *losses = m->base.input.description->losses;
	for (unsigned cause = 0; cause < WEFT_LOSS_CAUSES; cause++)
		losses[cause] += d->losses[cause];
	for (unsigned waker = 0; waker < WEFT_WAKERS; waker++)
		m->base.input.description->wakes[waker] += d->wakes[waker];
	struct weft_loss_period *periods = append(&m->losses, d->loss_period_count, sizeof(*periods));
	for (uint32_t i = 0; periods && i < d->loss_period_count; i++) {
		periods[i] = d->loss_periods[i];
		periods[i].thread = weft__format_merge_thread_of(part, periods[i].thread);
		periods[i].start = weft__format_shift(part->shift, periods[i].start);
		periods[i].end = weft__format_shift(part->shift, periods[i].end);
	}
	return periods ? 0 : WEFT_ERROR_MEMORY;
}

/* Each file of one stream has all its categories and the newest changes: they are one buffer's. */

static bool is_of_stream(const struct weft__merge *m, uint32_t buffer)
{
	const struct weft_trace_buffer *buffers = m->buffers.rows;
	return buffer < m->buffers.count && buffers[buffer].series;
}

static struct weft_trace_category *find_category(
	const struct weft__merge *m, const struct weft_trace_category *category)
{
	struct weft_trace_category *list = m->categories.rows;
	for (uint32_t i = 0; is_of_stream(m, category->buffer) && i < m->categories.count; i++)
		if (list[i].buffer == category->buffer && list[i].number == category->number)
			return &list[i];
	return NULL;
}

/* Levels are those at the latest end, as for the buffer. */
static int take_category(
	struct weft__merge *m, struct weft_trace_category category, uint64_t end_ns)
{
	const struct weft_trace_buffer *buffers = m->buffers.rows;
	struct weft_trace_category *row = find_category(m, &category);
	if (row && end_ns < buffers[category.buffer].end_ns)
		return 0;
	if (!row)
		row = append(&m->categories, 1, sizeof(*row));
	if (!row)
		return WEFT_ERROR_MEMORY;
	*row = category;
	return 0;
}

static bool has_change(const struct weft__merge *m, const struct weft_trace_change *change)
{
	const struct weft_trace_change *list = m->changes.rows;
	for (uint32_t i = 0; is_of_stream(m, change->buffer) && i < m->changes.count; i++)
		if (list[i].time_ns == change->time_ns && list[i].buffer == change->buffer &&
			list[i].category == change->category && list[i].level == change->level)
			return true;
	return false;
}

static int take_change(struct weft__merge *m, struct weft_trace_change change)
{
	if (has_change(m, &change))
		return 0;
	struct weft_trace_change *row = append(&m->changes, 1, sizeof(*row));
	if (!row)
		return WEFT_ERROR_MEMORY;
	*row = change;
	return 0;
}

static int take_levels(struct weft__merge *m, const struct weft__merged_part *part)
{
	const struct weft_trace_description *d = weft_decoder_describe(part->decoder);
	int error = 0;
	for (uint32_t i = 0; i < d->category_count && !error; i++) {
		struct weft_trace_category category = d->categories[i];
		uint64_t end_ns = weft__format_shift(part->shift,
			weft_trace_buffer_at(d->buffers, d->buffer_count, category.buffer)->end_ns);
		category.buffer += part->first_buffer;
		error = take_category(m, category, end_ns);
	}
	for (uint32_t i = 0; i < d->change_count && !error; i++) {
		struct weft_trace_change change = d->changes[i];
		change.buffer += part->first_buffer;
		change.time_ns = weft__format_shift(part->shift, change.time_ns);
		error = take_change(m, change);
	}
	return error;
}

int weft__format_merge_describe(struct weft__merge *m)
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
	if (m->changes.count)
		qsort(m->changes.rows, m->changes.count, sizeof(struct weft_trace_change), by_time);
	d->loss_periods = m->losses.rows;
	d->loss_period_count = m->losses.count;
	d->categories = m->categories.rows;
	d->category_count = m->categories.count;
	d->changes = m->changes.rows;
	d->change_count = m->changes.count;
	return 0;
}

void weft__format_merge_finish_tables(struct weft__merge *m)
{
	void *tables[] = {m->buffers.rows, m->threads.rows, m->categories.rows, m->changes.rows,
		m->losses.rows, m->domains};
	for (uint32_t i = 0; m->parts && i < m->count; i++)
		free(m->parts[i].thread_of);
	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++)
		free(tables[i]);
	weft__index_finish(&m->by_number);
}
