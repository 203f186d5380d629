/* SPDX-License-Identifier: ISC
 *
 * See idle.h. Starts and ends of threads and of idle bands are sorted as numbers; a pass counts
 * both. A process that is being started counts as a thread that is never idle.
 */
#include "model/idle.h"

#include <stdbool.h>
#include <stdlib.h>

#include <weft/error.h>

#include "base/sort.h"

/* The lower bits of a sortable number; the others are the time since the trace's start. */
enum change {
	IDLE_ENDS,
	THREAD_ENDS,
	THREAD_BEGINS,
	IDLE_BEGINS,
};

static uint64_t change_at(const struct weft_model *model, uint64_t time, enum change change)
{
	return (time - model->summary.start) << 2 | change;
}

/* ---- Processes that are being started ---- */

/* A process is loaded from `since`, UINT64_MAX: unknown, until its first activation. */
struct loading {
	uint64_t since, until;
};

static void find_first_activations(const struct weft_model *model, struct loading *loadings)
{
	for (uint32_t i = 0; i < model->buffer_count; i++)
		loadings[i] = (struct loading){UINT64_MAX, UINT64_MAX};
	for (uint32_t i = 0; i < model->thread_count; i++) {
		const struct weft_presence *presence = &model->presences[i];
		uint32_t buffer = model->threads[i].buffer;
		if (presence->start <= presence->end && buffer < model->buffer_count &&
			presence->start < loadings[buffer].until)
			loadings[buffer].until = presence->start;
	}
}

/* The first message that a process receives is from the task that started it. */
static void find_senders(const struct weft_model *model, struct loading *loadings)
{
	const struct weft_edges *e = &model->edges;
	for (uint32_t i = 0, message = 0; i < e->count && message < e->sent_count; i++) {
		if (e->type[i] != WEFT_EDGE_RECEIVE)
			continue;
		uint64_t sent = e->sent[message++];
		uint32_t buffer = model->tasks.buffer[e->to[i]];
		struct loading *loading = buffer < model->buffer_count ? &loadings[buffer] : NULL;
		if (loading && loading->since == UINT64_MAX && e->time[i] <= loading->until)
			loading->since = sent > model->summary.start ? sent : model->summary.start;
	}
}

/* Appends their beginnings and ends. 0 or WEFT_ERROR_MEMORY. */
static int list_loadings(const struct weft_model *model, uint64_t *changes, size_t *count)
{
	if (!model->edges.sent_count || !model->tasks.buffer)
		return 0;
	struct loading *loadings = malloc((model->buffer_count + (size_t)1) * sizeof(*loadings));
	if (!loadings)
		return WEFT_ERROR_MEMORY;
	find_first_activations(model, loadings);
	find_senders(model, loadings);
	for (uint32_t i = 0; i < model->buffer_count; i++) {
		if (loadings[i].until == UINT64_MAX || loadings[i].since >= loadings[i].until)
			continue;
		changes[(*count)++] = change_at(model, loadings[i].since, THREAD_BEGINS);
		changes[(*count)++] = change_at(model, loadings[i].until, THREAD_ENDS);
	}
	free(loadings);
	return 0;
}

/* ---- All changes ---- */

/* A thread whose events are missing counts as another one, which is not idle. */
static size_t list_losses(const struct weft_model *model, uint64_t *changes, size_t count)
{
	for (uint32_t i = 0; i < model->loss_period_count; i++) {
		const struct weft_loss_period *loss = &model->loss_periods[i];
		if (loss->start >= loss->end)
			continue;
		changes[count++] = change_at(model, loss->start, THREAD_BEGINS);
		changes[count++] = change_at(model, loss->end, THREAD_ENDS);
	}
	return count;
}

static size_t list_changes(const struct weft_model *model, uint64_t *changes)
{
	size_t count = 0;
	for (uint32_t i = 0; i < model->thread_count; i++) {
		const struct weft_presence *presence = &model->presences[i];
		if (presence->start > presence->end)
			continue;
		changes[count++] = change_at(model, presence->start, THREAD_BEGINS);
		changes[count++] = change_at(model, presence->end, THREAD_ENDS);
	}
	for (uint32_t i = 0; i < model->band_count; i++) {
		const struct weft_band_period *band = &model->bands[i];
		if (band->kind != WEFT_BAND_IDLE || band->end <= band->start ||
			band->thread >= model->thread_count)
			continue;
		changes[count++] = change_at(model, band->start, IDLE_BEGINS);
		changes[count++] = change_at(model, band->end, IDLE_ENDS);
	}
	return list_losses(model, changes, count);
}

/* `list` has room for half as many times as there are changes. */
static uint32_t list_idle(
	const struct weft_model *model, const uint64_t *changes, size_t count, struct weft__idle *list)
{
	int64_t idle = 0, threads = 0;
	uint32_t found = 0;
	bool was_idle = false;
	for (size_t i = 0; i < count; i++) {
		uint64_t time = (changes[i] >> 2) + model->summary.start;
		enum change change = (enum change)(changes[i] & 3);
		idle += (change == IDLE_BEGINS) - (change == IDLE_ENDS);
		threads += (change == THREAD_BEGINS) - (change == THREAD_ENDS);
		if (i + 1 < count && changes[i + 1] >> 2 == changes[i] >> 2)
			continue;
		bool is_idle = threads > 0 && idle >= threads;
		if (is_idle && !was_idle)
			list[found] = (struct weft__idle){.start = time};
		if (is_idle && threads > list[found].threads)
			list[found].threads = (uint32_t)threads;
		if (was_idle && !is_idle)
			list[found++].end = time;
		was_idle = is_idle;
	}
	return found;
}

int weft__model_idle(
	const struct weft_model *model, struct weft__idle **ret_list, uint32_t *ret_count)
{
	size_t room = 2 * ((size_t)model->band_count + model->thread_count + model->buffer_count +
						  model->loss_period_count) +
				  2;
	if ((model->summary.end - model->summary.start) >> 62)
		return WEFT_ERROR_LIMIT;
	uint64_t *changes = malloc(2 * room * sizeof(*changes));
	struct weft__idle *list = malloc(room / 2 * sizeof(*list));
	if (!changes || !list) {
		free(changes);
		free(list);
		return WEFT_ERROR_MEMORY;
	}
	size_t count = list_changes(model, changes);
	int error = list_loadings(model, changes, &count);
	if (error) {
		free(changes);
		free(list);
		return error;
	}
	weft__sort_u64(changes, changes + room, count);
	*ret_count = list_idle(model, changes, count, list);
	*ret_list = list;
	free(changes);
	return 0;
}
