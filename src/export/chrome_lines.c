/* SPDX-License-Identifier: ISC
 *
 * The oldest half of what is held back is handed out at a time, so that each line waits for at
 * least HELD_BYTES of others.
 */
#include "export/chrome_lines.h"

#include <stdlib.h>
#include <string.h>

#include <weft/unseen.h>

#include "base/array.h"

#define HELD_BYTES ((size_t)64 << 10)

/* Numbers for processes and threads that have none, or one that another has: Linux has no greater
 * ones than 4194304. */
#define FIRST_OWN_NUMBER 5000000u

int weft__export_chrome_lines_init(struct weft__chrome_lines *lines)
{
	int error = weft__index_init(&lines->pid_index);
	return error ? error : weft__index_init(&lines->tid_index);
}

void weft__export_chrome_lines_finish(struct weft__chrome_lines *lines)
{
	weft_text_finish(&lines->text);
	weft__index_finish(&lines->pid_index);
	weft__index_finish(&lines->tid_index);
	free(lines->holes);
	free(lines->pids);
	free(lines->tids);
	free(lines->processes);
}

static void fail(struct weft__chrome_lines *lines, int error)
{
	if (!lines->error)
		lines->error = error;
}

/* ---- Handing out ---- */

static void append(struct weft__chrome_lines *lines, const char *bytes, size_t size)
{
	if (size && !lines->error)
		fail(lines, lines->sink.append(lines->sink.context, bytes, size));
}

static void append_name(struct weft__chrome_lines *lines, uint32_t task)
{
	struct weft_text name = {0};
	lines->name(lines->context, task, &name);
	fail(lines, name.error);
	append(lines, name.bytes, name.size);
	weft_text_finish(&name);
}

/* Hands out the first `size` bytes, which end between lines. */
static void hand_out(struct weft__chrome_lines *lines, size_t size)
{
	struct weft_text *text = &lines->text;
	size_t done = 0;
	uint32_t hole = 0;
	for (; hole < lines->hole_count && lines->holes[hole].at < size; hole++) {
		append(lines, text->bytes + done, lines->holes[hole].at - done);
		append_name(lines, lines->holes[hole].task);
		done = lines->holes[hole].at;
	}
	append(lines, text->bytes + done, size - done);
	memmove(text->bytes, text->bytes + size, text->size - size);
	text->size -= size;
	lines->hole_count -= hole;
	for (uint32_t i = 0; i < lines->hole_count; i++) {
		lines->holes[i] = lines->holes[hole + i];
		lines->holes[i].at -= size;
	}
}

int weft__export_chrome_flush(struct weft__chrome_lines *lines)
{
	fail(lines, lines->text.error);
	if (!lines->error && lines->text.size)
		hand_out(lines, lines->text.size);
	return lines->error;
}

void weft__export_chrome_end(struct weft__chrome_lines *lines)
{
	weft_text_add(&lines->text, "}", 1);
	fail(lines, lines->text.error);
	if (lines->error)
		return;
	if (!lines->half && lines->text.size >= HELD_BYTES)
		lines->half = lines->text.size;
	if (lines->text.size < 2 * HELD_BYTES)
		return;
	hand_out(lines, lines->half);
	lines->half = lines->text.size;
}

/* ---- Lines ---- */

/* A member ,"KEY":N.NNN with a time in microseconds. */
static void add_time(struct weft__chrome_lines *lines, const char *key, uint64_t ns)
{
	char fraction[4] = {
		'.', (char)('0' + ns / 100 % 10), (char)('0' + ns / 10 % 10), (char)('0' + ns % 10)};
	weft_text_add_string(&lines->text, ",\"");
	weft_text_add_string(&lines->text, key);
	weft_text_add_string(&lines->text, "\":");
	weft_text_add_u64(&lines->text, ns / 1000);
	weft_text_add(&lines->text, fraction, sizeof(fraction));
}

static void add_number(struct weft__chrome_lines *lines, const char *key, uint64_t number)
{
	weft_text_add_string(&lines->text, key);
	weft_text_add_u64(&lines->text, number);
}

static void begin_object(struct weft__chrome_lines *lines, char phase)
{
	weft_text_add_string(&lines->text, lines->has_lines ? ",\n{\"ph\":\"" : "\n{\"ph\":\"");
	weft_text_add(&lines->text, &phase, 1);
	weft_text_add(&lines->text, "\"", 1);
	lines->has_lines = true;
}

void weft__export_chrome_begin(
	struct weft__chrome_lines *lines, char phase, uint64_t time_ns, uint32_t thread)
{
	begin_object(lines, phase);
	add_time(lines, "ts", time_ns);
	if (thread < lines->tid_count) {
		add_number(lines, ",\"pid\":", lines->pids[lines->processes[thread]]);
		add_number(lines, ",\"tid\":", lines->tids[thread]);
	}
	weft_text_add_string(&lines->text, ",\"cat\":\"weft\",\"name\":");
}

void weft__export_chrome_name(struct weft__chrome_lines *lines, struct weft_slice name)
{
	weft_text_add_json(&lines->text, name.bytes, name.size);
}

void weft__export_chrome_name_task(struct weft__chrome_lines *lines, uint32_t task)
{
	const struct weft__column column = {&lines->holes, sizeof(*lines->holes)};
	int error =
		weft__columns_reserve(&column, 1, &lines->hole_capacity, lines->hole_count + (size_t)1);
	if (error)
		fail(lines, error);
	else
		lines->holes[lines->hole_count++] = (struct weft__chrome_hole){lines->text.size, task};
}

void weft__export_chrome_id(struct weft__chrome_lines *lines, const char *letter, uint64_t id)
{
	weft_text_add_string(&lines->text, ",\"id2\":{\"local\":\"");
	weft_text_add_string(&lines->text, letter);
	weft_text_add_u64(&lines->text, id);
	weft_text_add_string(&lines->text, "\"}");
}

void weft__export_chrome_flow(struct weft__chrome_lines *lines, uint64_t id)
{
	char digits[16];
	size_t at = sizeof(digits);
	do
		digits[--at] = "0123456789abcdef"[id & 15];
	while (id >>= 4);
	weft_text_add_string(&lines->text, ",\"id\":\"0x");
	weft_text_add(&lines->text, digits + at, sizeof(digits) - at);
	weft_text_add_string(&lines->text, "\"");
}

/* ---- Processes and threads ---- */

static uint64_t hash_of_pid(const struct weft__hash_key *key, const void *owner, uint32_t process)
{
	return weft__hash_u64(key, ((const struct weft__chrome_lines *)owner)->pids[process]);
}

static uint64_t hash_of_number(const struct weft__hash_key *key, uint32_t process, uint64_t number)
{
	struct weft__hash hash = weft__hash_begin(key);
	weft__hash_word(&hash, process);
	weft__hash_word(&hash, number);
	return weft__hash_end(&hash);
}

static uint64_t hash_of_tid(const struct weft__hash_key *key, const void *owner, uint32_t thread)
{
	const struct weft__chrome_lines *lines = owner;
	return hash_of_number(key, lines->processes[thread], lines->tids[thread]);
}

static bool has_pid(const struct weft__chrome_lines *lines, uint64_t pid)
{
	const struct weft__index *index = &lines->pid_index;
	uint32_t slot = weft__index_start(index, weft__hash_u64(&index->key, pid)), found;
	for (; (found = index->slots[slot]) != WEFT__INDEX_EMPTY; slot = weft__index_next(index, slot))
		if (lines->pids[found] == pid)
			return true;
	return false;
}

static bool has_tid(const struct weft__chrome_lines *lines, uint32_t process, uint64_t tid)
{
	const struct weft__index *index = &lines->tid_index;
	uint32_t slot = weft__index_start(index, hash_of_number(&index->key, process, tid)), found;
	for (; (found = index->slots[slot]) != WEFT__INDEX_EMPTY; slot = weft__index_next(index, slot))
		if (lines->processes[found] == process && lines->tids[found] == tid)
			return true;
	return false;
}

/* The clock, for weft: the format has none. */
static void add_clock(struct weft__chrome_lines *lines, const struct weft_clock *clock)
{
	add_number(lines, ",\"epoch\":", (uint64_t)clock->epoch);
	weft_text_add_string(&lines->text, ",\"offset\":");
	weft_text_add_i64(&lines->text, clock->offset_ns);
}

static void add_process_name(
	struct weft__chrome_lines *lines, const struct weft_trace_buffer *buffer)
{
	const struct weft_slice name = weft_trace_process_name(buffer);
	weft_text_add_json(&lines->text, name.bytes, name.size);
}

static void declare_process(struct weft__chrome_lines *lines,
	const struct weft_trace_buffer *buffer, const struct weft_clock *clock)
{
	const struct weft__column column = {&lines->pids, sizeof(*lines->pids)};
	int error =
		weft__columns_reserve(&column, 1, &lines->pid_capacity, lines->pid_count + (size_t)1);
	if (error) {
		fail(lines, error);
		return;
	}
	const uint32_t process = lines->pid_count;
	const bool is_own = buffer->pid == 0 || has_pid(lines, buffer->pid);
	const uint64_t pid = is_own ? FIRST_OWN_NUMBER + process : buffer->pid;
	lines->pids[lines->pid_count++] = pid;
	fail(lines, weft__index_add(&lines->pid_index, process, hash_of_pid, lines));
	begin_object(lines, 'M');
	add_number(lines, ",\"pid\":", pid);
	weft_text_add_string(&lines->text, ",\"name\":\"process_name\",\"args\":{\"name\":");
	add_process_name(lines, buffer);
	weft_text_add_string(&lines->text, ",\"host\":");
	weft_text_add_json(&lines->text, buffer->host, strlen(buffer->host));
	weft_text_add_string(&lines->text, "}");
	add_number(lines, ",\"weft\":{\"number\":", buffer->pid);
	add_number(lines, ",\"categories\":", buffer->has_categories);
	add_clock(lines, clock);
	weft_text_add_string(&lines->text, "}");
	weft__export_chrome_end(lines);
}

static void declare_thread(struct weft__chrome_lines *lines, const struct weft_trace_thread *thread)
{
	const struct weft__column column = {&lines->tids, sizeof(*lines->tids)};
	const struct weft__column other = {&lines->processes, sizeof(*lines->processes)};
	const size_t need = lines->tid_count + (size_t)1;
	int error = weft__columns_reserve(&column, 1, &lines->tid_capacity, need);
	if (!error)
		error = weft__columns_reserve(&other, 1, &lines->process_capacity, need);
	if (error) {
		fail(lines, error);
		return;
	}
	const uint32_t process = thread->buffer < lines->pid_count ? thread->buffer : 0;
	const bool is_own = thread->tid == 0 || has_tid(lines, process, thread->tid);
	const uint64_t tid = is_own ? FIRST_OWN_NUMBER + lines->tid_count : thread->tid;
	lines->processes[lines->tid_count] = process;
	lines->tids[lines->tid_count++] = tid;
	fail(lines, weft__index_add(&lines->tid_index, lines->tid_count - 1, hash_of_tid, lines));
	begin_object(lines, 'M');
	add_number(lines, ",\"pid\":", lines->pids[process]);
	add_number(lines, ",\"tid\":", tid);
	weft_text_add_string(&lines->text, ",\"name\":\"thread_name\",\"args\":{\"name\":");
	weft_text_add_json(&lines->text, thread->name, strlen(thread->name));
	weft_text_add_string(&lines->text, "}");
	add_number(lines, ",\"weft\":{\"number\":", thread->tid);
	weft_text_add_string(&lines->text, "}");
	weft__export_chrome_end(lines);
}

void weft__export_chrome_declare(
	struct weft__chrome_lines *lines, const struct weft_trace_description *trace)
{
	const uint32_t processes = trace->buffer_count ? trace->buffer_count : 1;
	while (lines->pid_count < processes && !lines->error)
		declare_process(lines,
			weft_trace_buffer_at(trace->buffers, trace->buffer_count, lines->pid_count),
			&trace->clock);
	while (lines->tid_count < trace->thread_count && !lines->error)
		declare_thread(lines, &trace->threads[lines->tid_count]);
}

static void declare_end(struct weft__chrome_lines *lines, uint32_t process,
	const struct weft_trace_buffer *buffer, const uint64_t *losses)
{
	begin_object(lines, 'M');
	add_number(lines, ",\"pid\":", lines->pids[process]);
	weft_text_add_string(&lines->text, ",\"name\":\"process_name\",\"args\":{\"name\":");
	add_process_name(lines, buffer);
	add_number(lines, "},\"weft\":{\"end\":", buffer->end_ns);
	add_number(lines, ",\"ending\":", (uint64_t)buffer->ending);
	add_number(lines, ",\"wait_status\":", buffer->wait_status);
	for (unsigned cause = 0; cause < WEFT_LOSS_CAUSES && losses; cause++) {
		weft_text_add_string(&lines->text, ",\"");
		weft_text_add_string(&lines->text, weft_loss_name((enum weft_loss)cause));
		add_number(lines, "\":", losses[cause]);
	}
	weft_text_add_string(&lines->text, "}");
	weft__export_chrome_end(lines);
}

/* The first process has the losses of all. */
void weft__export_chrome_declare_ends(
	struct weft__chrome_lines *lines, const struct weft_trace_description *trace)
{
	for (uint32_t i = 0; i < lines->pid_count; i++)
		declare_end(lines, i, weft_trace_buffer_at(trace->buffers, trace->buffer_count, i),
			i == 0 ? trace->losses : NULL);
}
