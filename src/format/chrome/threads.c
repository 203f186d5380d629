/* SPDX-License-Identifier: ISC
 *
 * A pid and a tid may be names. A thread is found by a hash of both with a secret key, of which two
 * do not collide by accident, nor on purpose.
 */
#include "model/slice.h"
#include "format/chrome/threads.h"

#include <stdlib.h>
#include <string.h>

#include <weft/error.h>

#include "base/array.h"
#include "format/chrome/number.h"

int weft__format_chrome_threads_init(struct weft__chrome_threads *threads)
{
	int error = weft__index_init(&threads->process_index);
	return error ? error : weft__index_init(&threads->index);
}

void weft__format_chrome_threads_finish(struct weft__chrome_threads *threads)
{
	for (uint32_t i = 0; i < threads->process_count; i++) {
		free(threads->processes[i].name);
		free(threads->processes[i].host);
	}
	for (uint32_t i = 0; i < threads->count; i++)
		free(threads->list[i].name);
	free(threads->processes);
	free(threads->list);
	free(threads->buffers);
	free(threads->described);
	weft__index_finish(&threads->process_index);
	weft__index_finish(&threads->index);
}

static int set_name(char **name, struct weft_slice text)
{
	char *copy = malloc(text.size + 1);
	if (!copy)
		return WEFT_ERROR_MEMORY;
	memcpy(copy, text.bytes, text.size);
	copy[text.size] = '\0';
	free(*name);
	*name = copy;
	return 0;
}

/* ---- Finding ---- */

static uint64_t hash_of_process(
	const struct weft__hash_key *key, const void *owner, uint32_t process)
{
	const struct weft__chrome_threads *threads = owner;
	return weft__hash_u64(key, threads->processes[process].hash);
}

static uint64_t hash_of_thread(const struct weft__hash_key *key, const void *owner, uint32_t thread)
{
	const struct weft__chrome_threads *threads = owner;
	return weft__hash_u64(key, threads->list[thread].hash);
}

static uint64_t number_of(const struct weft__chrome_who *who)
{
	uint64_t number;
	return !who->is_name && weft__format_chrome_id(who->text, &number) ? number : 0;
}

static int find_process(
	struct weft__chrome_threads *threads, const struct weft__chrome_who *pid, uint32_t *ret_process)
{
	struct weft__index *index = &threads->process_index;
	const uint64_t hash = weft__hash_bytes(&index->key, pid->text.bytes, pid->text.size);
	uint32_t slot = weft__index_start(index, weft__hash_u64(&index->key, hash));
	for (; (*ret_process = index->slots[slot]) != WEFT__INDEX_EMPTY;
		 slot = weft__index_next(index, slot))
		if (threads->processes[*ret_process].hash == hash)
			return 0;
	*ret_process = WEFT__CHROME_NONE;
	if (threads->process_count == WEFT__CHROME_PROCESSES_MAX)
		return 0;
	const struct weft__column column = {&threads->processes, sizeof(*threads->processes)};
	int error = weft__columns_reserve(
		&column, 1, &threads->process_capacity, threads->process_count + (size_t)1);
	if (error)
		return error;
	struct weft__chrome_process *process = &threads->processes[threads->process_count];
	*process = (struct weft__chrome_process){.hash = hash, .pid = number_of(pid)};
	*ret_process = threads->process_count++;
	if (pid->is_name)
		error = set_name(&process->name, pid->text);
	return error ? error : weft__index_add(index, *ret_process, hash_of_process, threads);
}

static int add_thread(struct weft__chrome_threads *threads, const struct weft__chrome_who *tid,
	uint32_t process, uint64_t hash, uint32_t *ret_thread)
{
	*ret_thread = WEFT__CHROME_NONE;
	if (threads->count == WEFT__CHROME_THREADS_MAX)
		return 0;
	const struct weft__column column = {&threads->list, sizeof(*threads->list)};
	int error = weft__columns_reserve(&column, 1, &threads->capacity, threads->count + (size_t)1);
	if (error)
		return error;
	struct weft__chrome_thread *thread = &threads->list[threads->count];
	*thread = (struct weft__chrome_thread){.hash = hash,
		.tid = number_of(tid),
		.process = process,
		.innermost = WEFT__CHROME_NONE,
		.callback = WEFT__CHROME_NONE};
	*ret_thread = threads->count++;
	if (tid->is_name)
		error = set_name(&thread->name, tid->text);
	return error ? error : weft__index_add(&threads->index, *ret_thread, hash_of_thread, threads);
}

/* An event without a tid belongs to the process's first thread, which has its number. */
int weft__format_chrome_find_thread(struct weft__chrome_threads *threads,
	const struct weft__chrome_entry *entry, uint32_t *ret_thread)
{
	const struct weft__chrome_who *tid = entry->tid.text.size ? &entry->tid : &entry->pid;
	uint32_t process;
	int error = find_process(threads, &entry->pid, &process);
	*ret_thread = WEFT__CHROME_NONE;
	if (error || process == WEFT__CHROME_NONE)
		return error;
	struct weft__index *index = &threads->index;
	struct weft__hash state = weft__hash_begin(&index->key);
	weft__hash_word(&state, process);
	weft__hash_word(&state, weft__hash_bytes(&index->key, tid->text.bytes, tid->text.size));
	const uint64_t hash = weft__hash_end(&state);
	uint32_t slot = weft__index_start(index, weft__hash_u64(&index->key, hash)), found;
	for (; (found = index->slots[slot]) != WEFT__INDEX_EMPTY; slot = weft__index_next(index, slot))
		if (threads->list[found].hash == hash) {
			*ret_thread = found;
			return 0;
		}
	return add_thread(threads, tid, process, hash, ret_thread);
}

/* ---- Names ---- */

static int set_member(struct weft__chrome_texts *texts, const struct weft__chrome_entry *entry,
	const char *key, char **name)
{
	struct weft__json_value value;
	if (!weft__format_json_find(&entry->args, key, &value) || value.type != WEFT__JSON_STRING)
		return 0;
	return set_name(name, weft__format_chrome_text(texts, &value));
}

/* A number that weft itself added to the entry. */
static void set_number(const struct weft__chrome_entry *entry, const char *key, uint64_t *number)
{
	struct weft__json_value value;
	uint64_t read;
	if (weft__format_json_find(&entry->weft, key, &value) &&
		weft__format_chrome_id(value.text, &read))
		*number = read;
}

static void set_clock(struct weft__chrome_threads *threads, const struct weft__chrome_entry *entry)
{
	static const char *const names[] = {"unknown", "unix", "monotonic"};
	struct weft__json_value value;
	struct weft__chrome_number offset;
	uint64_t epoch = UINT64_MAX;
	set_number(entry, "epoch", &epoch);
	if (epoch > WEFT_EPOCH_MONOTONIC || !weft__format_json_find(&entry->weft, "offset", &value) ||
		!weft__format_chrome_number(value.text, &offset) || offset.is_real)
		return;
	threads->clock = (struct weft_clock){.name = names[epoch],
		.epoch = (enum weft_clock_epoch)epoch,
		.hz = 1000000000,
		.offset_ns = offset.integer};
}

static int name_process(struct weft__chrome_threads *threads, struct weft__chrome_texts *texts,
	const struct weft__chrome_entry *entry)
{
	uint32_t number;
	int error = find_process(threads, &entry->pid, &number);
	if (error || number == WEFT__CHROME_NONE)
		return error;
	struct weft__chrome_process *process = &threads->processes[number];
	set_number(entry, "number", &process->pid);
	set_clock(threads, entry);
	for (unsigned cause = 0; cause < WEFT_LOSS_CAUSES; cause++)
		set_number(entry, weft_loss_name((enum weft_loss)cause), &threads->losses[cause]);
	set_number(entry, "categories", &process->categories);
	set_number(entry, "end", &process->end_ns);
	set_number(entry, "ending", &process->ending);
	set_number(entry, "wait_status", &process->wait_status);
	error = set_member(texts, entry, "name", &process->name);
	return error ? error : set_member(texts, entry, "host", &process->host);
}

int weft__format_chrome_metadata(struct weft__chrome_threads *threads,
	struct weft__chrome_texts *texts, const struct weft__chrome_entry *entry)
{
	uint32_t thread;
	if (weft__slice_is(entry->name, "process_name"))
		return name_process(threads, texts, entry);
	if (!weft__slice_is(entry->name, "thread_name"))
		return 0;
	int error = weft__format_chrome_find_thread(threads, entry, &thread);
	if (error || thread == WEFT__CHROME_NONE)
		return error;
	set_number(entry, "number", &threads->list[thread].tid);
	return set_member(texts, entry, "name", &threads->list[thread].name);
}

static const char *or_empty(const char *name)
{
	return name ? name : "";
}

int weft__format_chrome_describe(
	struct weft__chrome_threads *threads, struct weft_trace_description *description)
{
	threads->buffers = calloc(threads->process_count + (size_t)1, sizeof(*threads->buffers));
	threads->described = calloc(threads->count + (size_t)1, sizeof(*threads->described));
	if (!threads->buffers || !threads->described)
		return WEFT_ERROR_MEMORY;
	for (uint32_t i = 0; i < threads->process_count; i++) {
		const struct weft__chrome_process *process = &threads->processes[i];
		threads->buffers[i] = (struct weft_trace_buffer){.process = or_empty(process->name),
			.host = or_empty(process->host),
			.file = "",
			.end_ns = process->end_ns,
			.has_categories = process->categories,
			.ending = process->ending < WEFT_ENDINGS ? (enum weft_ending)process->ending : 0,
			.wait_status = (uint32_t)process->wait_status,
			.pid = process->pid};
	}
	for (uint32_t i = 0; i < threads->count; i++) {
		const struct weft__chrome_thread *thread = &threads->list[i];
		threads->described[i] = (struct weft_trace_thread){
			.name = or_empty(thread->name), .tid = thread->tid, .buffer = thread->process};
	}
	description->threads = threads->described;
	description->thread_count = threads->count;
	description->buffers = threads->buffers;
	description->buffer_count = threads->process_count;
	memcpy(description->losses, threads->losses, sizeof(description->losses));
	return 0;
}
