/* SPDX-License-Identifier: ISC
 *
 * One tally for all readers: a decoder at the end, a decoder of a copy, a follower.
 */
#include "check.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <weft/decoder.h>
#include <weft/follow.h>

#define THREADS 65536 /* that a reader distinguishes */

struct tally {
	struct tale *tale;
	const char *reader;
	uint64_t count, last_ns;
	uint64_t next[WRITERS];
	uint32_t owner[THREADS]; /* writer + 1 of all of a thread's events */
};

void report_problem(struct tale *tale, const char *format, ...)
{
	va_list arguments;
	if (__atomic_exchange_n(&tale->has_problem, 1, __ATOMIC_ACQ_REL))
		return;
	va_start(arguments, format);
	vsnprintf(tale->problem, sizeof(tale->problem), format, arguments);
	va_end(arguments);
}

static uint64_t sum(const uint64_t *numbers)
{
	uint64_t total = 0;
	for (unsigned i = 0; i < WRITERS; i++)
		total += __atomic_load_n(&numbers[i], __ATOMIC_ACQUIRE);
	return total;
}

uint64_t sum_begun(const struct tale *tale)
{
	return sum(tale->begun);
}

uint64_t sum_done(const struct tale *tale)
{
	return sum(tale->done);
}

const char *name_of(uint64_t number)
{
	static const char names[NAMES][24] = {"a", "bc", "def", "ghij", "klmno", "pqrstu", "vwxyzab",
		"cdefghij", "klmnopqrs", "tuvwxyzabc", "defghijklmn", "opqrstuvwxyz", "1", "12", "123",
		"1234", "12345", "123456", "1234567", "12345678", "123456789", "1234567890", "12345678901",
		"123456789012"};
	return names[number % NAMES];
}

size_t text_of(uint64_t number, char text[TEXT_MAX + 1])
{
	size_t size = (size_t)(number * 7 % TEXT_MAX);
	for (size_t i = 0; i < size; i++)
		text[i] = (char)('a' + (number + i) % 26);
	text[size] = '\0';
	return size;
}

static bool is_text(struct weft_slice slice, const char *text)
{
	return slice.size == strlen(text) && memcmp(slice.bytes, text, slice.size) == 0;
}

static bool is_mark_whole(const struct weft_event *event, uint64_t writer, uint64_t number)
{
	char text[TEXT_MAX + 1];
	if (event->field_count != 2)
		return false;
	if (number % 8 == 5)
		return is_text(event->text, "numbers") && event->fields[1].value.u64 == writer;
	text_of(number, text);
	return number % 16 == 7 && is_text(event->text, "text") &&
		   event->fields[1].type == WEFT_FIELD_TEXT && is_text(event->fields[1].value.text, text);
}

static bool is_whole(const struct weft_event *event, uint64_t writer, uint64_t number)
{
	if (event->type == WEFT_EVENT_MARK)
		return is_mark_whole(event, writer, number);
	if (event->type != WEFT_EVENT_TAG || !event->has_value || number % 8 == 5 || number % 16 == 7)
		return false;
	if (number % 8 == 3)
		return event->task == writer + 1 && is_text(event->text, "of another task");
	return is_text(event->text, name_of(number));
}

static void add_numbered(struct tally *tally, const struct weft_event *event, uint64_t value)
{
	uint64_t writer = value >> 32, number = value & UINT32_MAX;
	if (writer >= WRITERS || !is_whole(event, writer, number)) {
		report_problem(tally->tale,
			"%s: an event that is not whole (writer %llu, number %llu, type %u, text \"%.*s\")",
			tally->reader, (unsigned long long)writer, (unsigned long long)number, event->type,
			(int)(event->text.size < 40 ? event->text.size : 40), event->text.bytes);
		return;
	}
	if (number >= __atomic_load_n(&tally->tale->begun[writer], __ATOMIC_ACQUIRE))
		report_problem(tally->tale, "%s: an event that nobody wrote", tally->reader);
	if (number < tally->next[writer])
		report_problem(tally->tale, "%s: number %llu of writer %llu is there twice, or too late",
			tally->reader, (unsigned long long)number, (unsigned long long)writer);
	tally->next[writer] = number + 1;
	uint32_t *owner = &tally->owner[event->thread % THREADS];
	uint32_t thread = (uint32_t)(writer / ROLES) + 1;
	if (*owner && *owner != thread)
		report_problem(tally->tale, "%s: an event of writer %llu among those of %u", tally->reader,
			(unsigned long long)writer, (*owner - 1) * ROLES);
	*owner = thread;
}

static void add(struct tally *tally, const struct weft_event *event)
{
	if (event->time_ns < tally->last_ns)
		report_problem(tally->tale, "%s: the past changes", tally->reader);
	tally->last_ns = event->time_ns;
	if (event->is_rundown)
		return;
	tally->count++;
	if (event->type == WEFT_EVENT_MARK && is_text(event->text, "snapshot"))
		return;
	uint64_t value = (uint64_t)event->value;
	if (event->type == WEFT_EVENT_MARK)
		value = event->field_count > 0 ? (uint64_t)event->fields[0].value.i64 : UINT64_MAX;
	add_numbered(tally, event, value);
}

static struct tally *create_tally(const struct round *round, const char *reader)
{
	struct tally *tally = calloc(1, sizeof(*tally));
	if (!tally)
		abort();
	tally->tale = round->tale;
	tally->reader = reader;
	return tally;
}

static uint64_t sum_losses(const struct weft_trace_description *trace)
{
	uint64_t total = 0;
	for (int cause = 0; cause < WEFT_LOSS_CAUSES; cause++)
		total += cause == WEFT_LOSS_NAMES_FULL ? 0 : trace->losses[cause];
	return total;
}

static void check_diagnostics(struct tally *tally, const struct weft_diagnostics *diagnostics)
{
	if (diagnostics->count)
		report_problem(tally->tale, "%s: %s", tally->reader, diagnostics->list[0].message);
}

/* Returns the number of events found and of losses. */
static uint64_t decode(const void *bytes, struct tally *tally)
{
	struct weft_decoder *decoder;
	struct weft_event event;
	int status;
	if (weft_decoder_create(&decoder))
		abort();
	weft_decoder_feed_borrowed(decoder, bytes, BUFFER_BYTES);
	status = weft_decoder_finish(decoder);
	while (!status && (status = weft_decoder_next(decoder, &event)) == WEFT_OK)
		add(tally, &event);
	if (status != WEFT_END)
		report_problem(tally->tale, "%s: %s", tally->reader, weft_error_text(status));
	uint64_t found = tally->count + sum_losses(weft_decoder_describe(decoder));
	check_diagnostics(tally, weft_decoder_diagnostics(decoder));
	weft_decoder_destroy(decoder);
	return found;
}

/* Calls while recording was off, or below the level, do not count as lost. */
static bool are_all_counted(const struct round *round)
{
	return !(round->happenings & (RESTARTS | LEVELS));
}

static void check_sum(
	const struct round *round, const char *reader, uint64_t found, uint64_t least, uint64_t most)
{
	if (found > most || (found < least && are_all_counted(round)))
		report_problem(round->tale, "%s: %llu events found and lost, of %llu to %llu", reader,
			(unsigned long long)found, (unsigned long long)least, (unsigned long long)most);
}

void check_copy(const struct round *round, const void *copy, uint64_t least, uint64_t most)
{
	struct tally *tally = create_tally(round, "a copy");
	uint64_t found = decode(copy, tally);
	check_sum(round, tally->reader, found, least, most);
	free(tally);
}

static void check_sum_at_end(const struct round *round, const char *reader, uint64_t found)
{
	uint64_t done = sum_done(round->tale), left = round->tale->left;
	check_sum(round, reader, found, done - left, sum_begun(round->tale));
}

uint64_t check_end(const struct round *round)
{
	uint64_t found = 0, read = 0;
	for (unsigned i = 0; i <= round->tale->buffer; i++) {
		struct tally *tally = create_tally(round, "the end");
		found += decode(round->buffers + i * BUFFER_BYTES, tally);
		read += tally->count;
		free(tally);
	}
	check_sum_at_end(round, "the end", found);
	if (round->tale->follower_ended)
		check_sum_at_end(round, "a follower", round->tale->follower_found);
	return read;
}

/* ---- Another process ---- */

static struct weft_control *control_levels(const struct round *round, const char *path)
{
	struct weft_control *control = NULL;
	if (round->happenings & LEVELS && weft_control_open(path, &control))
		report_problem(round->tale, "levels cannot be controlled");
	return control;
}

static void set_some_level(struct weft_control *control, unsigned *turn)
{
	if (control)
		weft_control_set_level(control, "*", (enum weft_level)((*turn)++ % 6), NULL);
}

static void follow_to_end(const struct round *round, struct weft_follow *follower,
	struct weft_control *control, struct tally *tally)
{
	struct weft_event event;
	unsigned turn = 0;
	int status;
	while ((status = weft_follow_next(follower, &event)) != WEFT_END) {
		if (status == WEFT_OK) {
			add(tally, &event);
			continue;
		}
		if (status == WEFT_AGAIN)
			status = weft_follow_wait(follower, 5000000);
		if (status != WEFT_OK && status != WEFT_AGAIN) {
			report_problem(round->tale, "a follower: %s", weft_error_text(status));
			return;
		}
		set_some_level(control, &turn);
	}
	round->tale->followed = tally->count;
	round->tale->follower_found = tally->count + sum_losses(weft_follow_describe(follower));
	round->tale->follower_ended = 1;
	check_diagnostics(tally, weft_follow_diagnostics(follower));
}

void follow(const struct round *round)
{
	char path[64];
	struct weft_follow *follower;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", round->files[0]);
	int error = weft_follow_open(path, &follower);
	if (error) {
		report_problem(round->tale, "a follower cannot begin: %s", weft_error_text(error));
		return;
	}
	struct tally *tally = create_tally(round, "a follower");
	struct weft_control *control = control_levels(round, path);
	follow_to_end(round, follower, control, tally);
	weft_control_close(control);
	weft_follow_close(follower);
	free(tally);
}
