/* SPDX-License-Identifier: ISC
 *
 * Dark time: when events of a buffer may be missing. It comes from the losses of the buffer's
 * threads. All tasks of the buffer are concerned, because any thread may have ended or woken them.
 * A buffer without threads, as that of a domain of Xen, is one of tasks that other buffers' threads
 * run.
 */
#include "model/dark.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/export.h"
#include "base/search.h"

#define THREADLESS_LOSSES_MAX 256

WEFT__EXPORT const char *weft_dark_name(enum weft_dark_reason reason)
{
	static const char *const names[WEFT_DARK_REASONS] = {"lost", "before", "after", "unread"};
	return reason < WEFT_DARK_REASONS ? names[reason] : "unknown";
}

/* ---- Finding it ---- */

static uint64_t clamp(uint64_t time, uint64_t start, uint64_t end)
{
	return time < start ? start : time < end ? time : end;
}

/* The oldest events of a flight recorder are overwritten: that is the time before its record. */
static bool is_before(const struct weft_loss_period *loss, uint64_t start)
{
	return loss->cause == WEFT_LOSS_OVERWRITTEN && loss->start <= start;
}

/* True if losses of this cause may be events about tasks, and not only names or metrics. */
static bool is_about_tasks(unsigned cause)
{
	return cause != WEFT_LOSS_NAMES_FULL && cause != WEFT_LOSS_METRICS_FULL &&
		   cause != WEFT_LOSS_TOO_DEEP;
}

/* True if events are missing of which it is unknown when they were. Overwritten ones were before
 * all others; and where a program stopped its recording, that is the end. */
static bool has_unplaced(const struct weft_trace_description *description)
{
	uint64_t counted = 0, placed = 0;
	for (unsigned cause = 0; cause < WEFT_LOSS_CAUSES; cause++)
		if (is_about_tasks(cause) && cause != WEFT_LOSS_OVERWRITTEN && cause != WEFT_LOSS_STOPPED &&
			__builtin_add_overflow(counted, description->losses[cause], &counted))
			return true;
	for (uint32_t i = 0; i < description->loss_period_count; i++)
		if (description->loss_periods[i].cause != WEFT_LOSS_OVERWRITTEN &&
			__builtin_add_overflow(placed, description->loss_periods[i].count, &placed))
			return false;
	return counted > placed;
}

static int by_buffer(const void *left, const void *right)
{
	const struct weft_dark *l = left, *r = right;
	if (l->buffer != r->buffer)
		return l->buffer < r->buffer ? -1 : 1;
	if (l->reason != r->reason)
		return l->reason < r->reason ? -1 : 1;
	if (l->start != r->start)
		return l->start < r->start ? -1 : 1;
	return l->end < r->end ? -1 : l->end > r->end;
}

static void add_dark(struct weft__dark *dark, uint32_t buffer, enum weft_dark_reason reason,
	uint64_t start, uint64_t end)
{
	dark->list[dark->count++] = (struct weft_dark){start, end, buffer, (uint8_t)reason};
}

/* The buffers without threads. `ret_list` has room for all. */
static uint32_t list_threadless(
	const struct weft_trace_description *description, uint32_t buffers, uint32_t *ret_list)
{
	uint32_t count = 0;
	for (uint32_t i = 0; i < buffers; i++)
		ret_list[i] = false;
	for (uint32_t i = 0; i < description->thread_count; i++)
		if (description->threads[i].buffer < buffers)
			ret_list[description->threads[i].buffer] = true;
	for (uint32_t i = 0; i < buffers; i++)
		if (!ret_list[i])
			ret_list[count++] = i;
	return count;
}

/* The losses of all threads are those of a buffer without threads; if they are many, the time from
 * the first one on to the last. */
static void add_to_threadless(
	struct weft__dark *dark, uint32_t losses, const uint32_t *list, uint32_t count)
{
	struct weft_dark whole = {UINT64_MAX, 0, 0, WEFT_DARK_LOST};
	for (uint32_t i = 0; i < losses; i++) {
		whole.start = dark->list[i].start < whole.start ? dark->list[i].start : whole.start;
		whole.end = dark->list[i].end > whole.end ? dark->list[i].end : whole.end;
	}
	const bool is_one = losses > THREADLESS_LOSSES_MAX;
	for (uint32_t i = 0; i < count; i++)
		for (uint32_t loss = 0; loss < (is_one ? 1 : losses); loss++) {
			const struct weft_dark it = is_one ? whole : dark->list[loss];
			add_dark(dark, list[i], (enum weft_dark_reason)it.reason, it.start, it.end);
		}
}

static void add_losses(struct weft__dark *dark, const struct weft_trace_description *description,
	uint64_t start, uint64_t end)
{
	for (uint32_t i = 0; i < description->loss_period_count; i++) {
		const struct weft_loss_period *loss = &description->loss_periods[i];
		if (loss->thread >= description->thread_count || loss->cause > WEFT_LOSS_CAUSES ||
			(loss->cause < WEFT_LOSS_CAUSES && !is_about_tasks(loss->cause)))
			continue;
		uint64_t from = clamp(loss->start, start, end);
		add_dark(dark, description->threads[loss->thread].buffer,
			is_before(loss, start) ? WEFT_DARK_BEFORE : WEFT_DARK_LOST, from,
			clamp(loss->end, from, end));
	}
}

/* Joins periods of one buffer and reason that touch, so that their ends are in order, too. */
static void join(struct weft__dark *dark)
{
	uint32_t kept = 0;
	for (uint32_t i = 0; i < dark->count; i++) {
		const struct weft_dark *next = &dark->list[i];
		struct weft_dark *last = kept ? &dark->list[kept - 1] : NULL;
		if (!last || last->buffer != next->buffer || last->reason != next->reason ||
			next->start > last->end)
			dark->list[kept++] = *next;
		else if (next->end > last->end)
			last->end = next->end;
	}
	dark->count = kept;
}

/* A program whose record ended before that has nothing behind the range. */
static void add_unread(
	struct weft__dark *dark, uint32_t buffer, uint64_t over, const struct weft_model_builder *b)
{
	if (weft__model_is_unread(&b->before))
		add_dark(dark, buffer, WEFT_DARK_UNREAD, b->before.start, b->before.end);
	if (weft__model_range_goes_on(b, over))
		add_dark(dark, buffer, WEFT_DARK_UNREAD, b->after.start, b->after.end);
}

int weft__model_dark_find(const struct weft_trace_description *description,
	const struct weft__ends *ends, uint64_t start, uint64_t end, const struct weft_model_builder *b,
	struct weft__dark *ret_dark)
{
	const uint32_t buffers = description->buffer_count ? description->buffer_count : 1;
	uint32_t *threadless = malloc(buffers * sizeof(*threadless));
	if (!threadless)
		return WEFT_ERROR_MEMORY;
	const uint32_t others = list_threadless(description, buffers, threadless);
	const uint32_t losses = description->loss_period_count;
	const size_t each = losses > THREADLESS_LOSSES_MAX ? 1 : losses;
	size_t room = losses + others * each + 4 * (size_t)buffers;
	struct weft__dark dark = {malloc(room * sizeof(*dark.list)), 0};
	if (!dark.list) {
		free(threadless);
		return WEFT_ERROR_MEMORY;
	}
	add_losses(&dark, description, start, end);
	add_to_threadless(&dark, dark.count, threadless, others);
	free(threadless);
	const bool is_anywhere = has_unplaced(description);
	for (uint32_t i = 0; i < buffers; i++) {
		uint64_t over = ends && i < ends->buffers ? ends->of_buffer[i] : 0;
		if (is_anywhere)
			add_dark(&dark, i, WEFT_DARK_LOST, start, end);
		if (over && over < end)
			add_dark(&dark, i, WEFT_DARK_AFTER, over, end);
		if (b)
			add_unread(&dark, i, over, b);
	}
	if (dark.count)
		qsort(dark.list, dark.count, sizeof(*dark.list), by_buffer);
	join(&dark);
	*ret_dark = dark;
	return 0;
}

/* ---- Asking for it ---- */

/* The list, and the buffer that is searched in it. */
struct in_buffer {
	const struct weft_dark *list;
	uint32_t buffer;
};

/* Within a buffer, lost time comes first; its periods do not overlap. */
static bool is_lost_before(const void *in_buffer, uint32_t row, uint64_t time)
{
	const struct in_buffer *in = in_buffer;
	const struct weft_dark *d = &in->list[row];
	return d->buffer != in->buffer ? d->buffer < in->buffer
								   : d->reason == WEFT_DARK_LOST && d->end < time;
}

static bool is_lost(const void *in_buffer, uint32_t row, uint64_t time)
{
	const struct in_buffer *in = in_buffer;
	const struct weft_dark *d = &in->list[row];
	(void)time;
	return d->buffer != in->buffer ? d->buffer < in->buffer : d->reason == WEFT_DARK_LOST;
}

/* The first period of lost time that ends at `time` or later, and the first one of another reason.
 */
struct found {
	const struct weft_dark *lost, *other, *end;
};

static struct found find_dark(
	const struct weft_dark *list, uint32_t count, uint32_t buffer, uint64_t time)
{
	const struct in_buffer in = {list, buffer};
	uint32_t lost = weft__search(&in, 0, count, is_lost_before, time);
	uint32_t other = weft__search(&in, lost, count, is_lost, 0);
	struct found found = {list + lost, list + other, list + other};
	while (found.end < list + count && found.end->buffer == buffer)
		found.end++;
	return found;
}

/* Events that are missing at the very time of the last one may also have followed it. */
uint64_t weft__model_dark_after(const struct weft__dark *dark, uint32_t buffer, uint64_t seen_ns)
{
	if (!dark->count)
		return UINT64_MAX;
	struct found found = find_dark(dark->list, dark->count, buffer, seen_ns);
	uint64_t begin = UINT64_MAX;
	for (const struct weft_dark *d = found.lost; d < found.other && begin == UINT64_MAX; d++)
		if (d->end > seen_ns || d->start == d->end)
			begin = d->start;
	for (const struct weft_dark *d = found.other; d < found.end; d++)
		if (d->reason != WEFT_DARK_AFTER && d->end > seen_ns && d->start < begin)
			begin = d->start;
	return begin;
}

static const struct weft_dark *dark_of(
	const struct weft_model *model, uint32_t buffer, uint64_t start, uint64_t end)
{
	struct found found = find_dark(model->dark, model->dark_count, buffer, start);
	if (found.lost < found.other && found.lost->start <= end)
		return found.lost;
	for (const struct weft_dark *d = found.other; d < found.end; d++)
		if (d->start < end && d->end > start)
			return d;
	return NULL;
}

WEFT__EXPORT const struct weft_dark *weft_model_dark(
	const struct weft_model *model, uint32_t buffer, uint64_t start, uint64_t end)
{
	const uint32_t buffers = model->buffer_count ? model->buffer_count : 1;
	const struct weft_dark *dark = NULL;
	if (!model->dark_count)
		return NULL;
	if (buffer != WEFT_NONE)
		return dark_of(model, buffer, start, end);
	for (uint32_t i = 0; i < buffers && !dark; i++)
		dark = dark_of(model, i, start, end);
	return dark;
}

/* A period that ends at the first time is that of events before it, and one that begins at the last
 * time that of events after it. If it does both, or is the whole trace, they may be at any time. */
bool weft__model_dark_between(
	const struct weft_model *model, uint32_t buffer, uint64_t from, uint64_t to)
{
	struct found found = find_dark(model->dark, model->dark_count, buffer, from);
	for (const struct weft_dark *d = found.lost; d < found.other && d->start <= to; d++)
		if ((d->start < to && d->end > from) || d->start == d->end ||
			(d->start <= model->summary.start && d->end >= model->summary.end))
			return true;
	for (const struct weft_dark *d = found.other; d < found.end; d++)
		if (d->start < to && d->end > from)
			return true;
	return false;
}

int weft__model_dark_until(
	const struct weft_trace_description *description, uint64_t end, struct weft_model *ret_model)
{
	struct weft__dark dark;
	int error = weft__model_dark_find(description, NULL, 0, UINT64_MAX, NULL, &dark);
	if (!error)
		*ret_model = (struct weft_model){
			.dark = dark.list, .dark_count = dark.count, .summary = {.end = end}};
	return error;
}

/* ---- Counters ---- */

bool weft__model_dark_lacks_changes(const struct weft_trace_description *description,
	const struct weft_model *model, uint32_t buffer, uint64_t from, uint64_t to)
{
	for (uint32_t i = 0; i < description->change_count; i++)
		if (description->changes[i].buffer == buffer && description->changes[i].time_ns > from &&
			description->changes[i].time_ns <= to)
			return true;
	return weft__model_dark_between(model, buffer, from, to);
}

/* True if changes may be missing between two times, or before the first one. `known_ns`: none is
 * missing because what is before was not read. */
static bool lacks_changes(const struct weft_model *m, const struct weft_counter *counter,
	uint64_t first, uint64_t last, uint64_t known_ns)
{
	struct found found = find_dark(m->dark, m->dark_count, counter->buffer, first);
	if (found.lost < found.other && found.lost->start <= last)
		return true;
	struct found before = find_dark(m->dark, m->dark_count, counter->buffer, 0);
	if (!counter->begins_set && before.lost < before.other && before.lost->start <= first)
		return true;
	for (const struct weft_dark *d = found.other; d < found.end; d++)
		if (d->reason != WEFT_DARK_AFTER && d->start <= first &&
			(d->reason != WEFT_DARK_UNREAD || d->end > known_ns) &&
			(!counter->begins_set || d->end > first))
			return true;
	return false;
}

/* A counter that is only set has a known value from each sample on. */
void weft__model_dark_mark_counters(struct weft_model *m, uint64_t known_ns)
{
	struct weft_counter *list = (struct weft_counter *)(uintptr_t)m->counters;
	for (uint32_t i = 0; i < m->counter_count; i++) {
		struct weft_counter *c = &list[i];
		const uint64_t *time = m->samples.time + c->first;
		c->is_relative = c->sets < c->count && (c->lacks_past || lacks_changes(m, c, time[0],
																	 time[c->count - 1], known_ns));
	}
}

/* ---- What threads did ---- */

/* The losses of each thread by their end; those of thread t are [first[t], first[t + 1]). The start
 * of each is the least of those from it on. */
struct by_thread {
	struct weft_loss_period *list;
	uint32_t count, threads;
	uint32_t *first;
};

static int by_thread_and_end(const void *left, const void *right)
{
	const struct weft_loss_period *l = left, *r = right;
	if (l->thread != r->thread)
		return l->thread < r->thread ? -1 : 1;
	if (l->end != r->end)
		return l->end < r->end ? -1 : 1;
	return l->start < r->start ? -1 : l->start > r->start;
}

static int list_losses(const struct weft_trace_description *d, struct by_thread *ret_losses)
{
	struct by_thread by = {.threads = d->thread_count};
	by.list = malloc((d->loss_period_count + (size_t)1) * sizeof(*by.list));
	by.first = calloc(by.threads + (size_t)2, sizeof(*by.first));
	if (!by.list || !by.first) {
		free(by.list);
		free(by.first);
		return WEFT_ERROR_MEMORY;
	}
	for (uint32_t i = 0; i < d->loss_period_count; i++)
		if (d->loss_periods[i].thread < by.threads)
			by.list[by.count++] = d->loss_periods[i];
	if (by.count)
		qsort(by.list, by.count, sizeof(*by.list), by_thread_and_end);
	for (uint32_t i = 0; i < by.count; i++)
		by.first[by.list[i].thread + 1]++;
	for (uint32_t thread = 0; thread < by.threads; thread++)
		by.first[thread + 1] += by.first[thread];
	for (uint32_t i = by.count; i > 1; i--)
		if (by.list[i - 2].thread == by.list[i - 1].thread &&
			by.list[i - 2].start > by.list[i - 1].start)
			by.list[i - 2].start = by.list[i - 1].start;
	*ret_losses = by;
	return 0;
}

static bool ends_by(const void *losses, uint32_t row, uint64_t time)
{
	return ((const struct weft_loss_period *)losses)[row].end <= time;
}

/* The time until which a period of the thread is known. */
static uint64_t known_until(
	const struct by_thread *losses, uint32_t thread, uint64_t start, uint64_t end)
{
	if (thread >= losses->threads || losses->first[thread] == losses->first[thread + 1])
		return end;
	uint32_t last = losses->first[thread + 1];
	uint32_t i = weft__search(losses->list, losses->first[thread], last, ends_by, start);
	if (i == last || losses->list[i].start >= end)
		return end;
	return losses->list[i].start > start ? losses->list[i].start : start;
}

static void cut_activations(struct activation_columns *a, const struct by_thread *losses)
{
	uint32_t kept = 0;
	for (uint32_t i = 0; i < a->count; i++) {
		uint64_t end = known_until(losses, a->thread[i], a->start[i], a->end[i]);
		if (end <= a->start[i])
			continue;
		a->start[kept] = a->start[i];
		a->end[kept] = end;
		a->thread[kept] = a->thread[i];
		a->task[kept++] = a->task[i];
	}
	a->count = kept;
}

static void cut_bands(struct bands *bands, const struct by_thread *losses)
{
	uint32_t kept = 0;
	for (uint32_t i = 0; i < bands->count; i++) {
		struct weft_band_period band = bands->list[i];
		band.end = known_until(losses, band.thread, band.start, band.end);
		if (band.end > band.start)
			bands->list[kept++] = band;
	}
	bands->count = kept;
}

int weft__model_dark_cut_periods(
	struct weft_model_builder *b, const struct weft_trace_description *description)
{
	struct by_thread losses;
	if (!description->loss_period_count)
		return 0;
	int error = list_losses(description, &losses);
	if (error)
		return error;
	cut_activations(&b->activations, &losses);
	cut_bands(&b->bands, &losses);
	free(losses.list);
	free(losses.first);
	return 0;
}
