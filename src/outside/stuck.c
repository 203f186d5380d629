/* SPDX-License-Identifier: ISC
 *
 * Threads that only each other could wake: the largest set in which each thread waits for others of
 * the set alone. A thread that could be woken by anything else is not in it, nor is one that waits
 * for a process of which a single thread may still go on.
 */
#include <stdlib.h>

#include "parts.h"

static bool is_alive(const struct weft__outside_thread *thread)
{
	return thread->kind != WEFT__OUTSIDE_ENDED;
}

static int compare_tid(const void *tid, const void *thread)
{
	const pid_t a = *(const pid_t *)tid, b = ((const struct weft__outside_thread *)thread)->tid;
	return (a > b) - (a < b);
}

/* A process's threads are in the order of their numbers. */
static const struct weft__outside_thread *find_thread(
	const struct weft__outside_process *process, pid_t tid)
{
	if (!process || !process->count)
		return NULL;
	return bsearch(&tid, process->threads, process->count, sizeof(*process->threads), compare_tid);
}

/* A thread of another process may stand for a process whose number we do not know. */
static const struct weft__outside_process *process_of(
	const struct weft__outside_host *outside, struct weft__outside_other other)
{
	const struct weft__outside_process *process = weft__outside_find(outside, other.pid);
	for (uint32_t i = 0; !process && other.tid && i < outside->count; i++)
		if (find_thread(&outside->processes[i], other.tid))
			process = &outside->processes[i];
	return process;
}

/* True if nothing that could end the wait can go on. */
static bool is_other_stuck(
	const struct weft__outside_host *outside, struct weft__outside_other other)
{
	const struct weft__outside_process *process = process_of(outside, other);
	bool has_any = false;
	if (!process)
		return false;
	if (other.tid) {
		const struct weft__outside_thread *thread = find_thread(process, other.tid);
		return thread && thread->is_stuck;
	}
	for (uint32_t i = 0; i < process->count; i++) {
		if (!is_alive(&process->threads[i]))
			continue;
		if (!process->threads[i].is_stuck)
			return false;
		has_any = true;
	}
	return has_any && !process->is_cut;
}

static bool remains_stuck(
	const struct weft__outside_host *outside, const struct weft__outside_thread *thread)
{
	for (uint32_t i = 0; i < thread->other_count; i++)
		if (!is_other_stuck(outside, thread->others[i]))
			return false;
	return true;
}

/* Takes threads out of the set until all that remain wait for it alone. */
static void reduce(struct weft__outside_host *outside)
{
	for (bool has_changed = true; has_changed;) {
		has_changed = false;
		for (uint32_t i = 0; i < outside->count; i++) {
			struct weft__outside_process *process = &outside->processes[i];
			for (uint32_t k = 0; k < process->count; k++) {
				struct weft__outside_thread *thread = &process->threads[k];
				if (!thread->is_stuck || remains_stuck(outside, thread))
					continue;
				thread->is_stuck = false;
				has_changed = true;
			}
		}
	}
}

/* Adds the ways in which the waits of stuck threads may end that could end this one's. Returns
 * whether any is new. */
static bool inherit_ends(
	struct weft__outside_thread *thread, const struct weft__outside_process *process, pid_t tid)
{
	const bool had_timeout = thread->has_timeout, was_hidden = thread->is_hidden;
	for (uint32_t i = 0; process && i < process->count; i++) {
		const struct weft__outside_thread *other = &process->threads[i];
		if (!other->is_stuck || (tid && other->tid != tid))
			continue;
		thread->has_timeout |= other->has_timeout;
		thread->is_hidden |= other->is_hidden;
	}
	return thread->has_timeout != had_timeout || thread->is_hidden != was_hidden;
}

/* A timeout of one stuck thread may end the waits of all that wait for it, directly or not. */
static void spread_ends(struct weft__outside_host *outside)
{
	for (bool has_changed = true; has_changed;) {
		has_changed = false;
		for (uint32_t i = 0; i < outside->count; i++)
			for (uint32_t k = 0; k < outside->processes[i].count; k++) {
				struct weft__outside_thread *thread = &outside->processes[i].threads[k];
				for (uint32_t n = 0; thread->is_stuck && n < thread->other_count; n++)
					has_changed |= inherit_ends(
						thread, process_of(outside, thread->others[n]), thread->others[n].tid);
			}
	}
}

void weft__outside_find_stuck(struct weft__outside_host *outside)
{
	for (uint32_t i = 0; i < outside->count; i++)
		for (uint32_t k = 0; k < outside->processes[i].count; k++) {
			struct weft__outside_thread *thread = &outside->processes[i].threads[k];
			thread->is_stuck = thread->is_complete && thread->other_count;
		}
	reduce(outside);
	/* The looks were made one after the other. Threads that have not run until now were all at
	 * their calls at the time between. */
	for (uint32_t i = 0; i < outside->count; i++)
		for (uint32_t k = 0; k < outside->processes[i].count; k++) {
			struct weft__outside_thread *thread = &outside->processes[i].threads[k];
			thread->is_stuck =
				thread->is_stuck && weft__outside_has_stayed(outside->processes[i].pid, thread);
		}
	reduce(outside);
	spread_ends(outside);
}

const struct weft__outside_thread *weft__outside_next_stuck(
	const struct weft__outside_host *outside, const struct weft__outside_thread *thread)
{
	for (uint32_t i = 0; i < thread->other_count; i++) {
		const struct weft__outside_other other = thread->others[i];
		const struct weft__outside_process *process = process_of(outside, other);
		const struct weft__outside_thread *next = find_thread(process, other.tid);
		for (uint32_t k = 0; process && !other.tid && !next && k < process->count; k++)
			if (process->threads[k].is_stuck)
				next = &process->threads[k];
		if (next && next->is_stuck)
			return next;
	}
	return NULL;
}
