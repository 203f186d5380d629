/* SPDX-License-Identifier: ISC */
#include "background.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/attach.h"
#include "cli/cli.h"

/* Failures of a spooled message, each after another message was taken, until it is left in the
 * spool. A receiver that fails at random leaves at most one of 2^10 messages there. */
#define FAILURES_MAX 10

struct queued {
	struct queued *next;
	enum weft_otlp_signal signal;
	uint32_t count;
	uint64_t since_ns; /* it was sent for the first time; 0: never */
	size_t size;
	char bytes[];
};

struct background {
	struct push *push;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct queued *first, **last;
	size_t bytes;
	struct weft_text spooled; /* the message of the spool that is sent */
	uint64_t failing_ns;      /* since when the receiver takes nothing; 0: it does */
	uint64_t delay_ns;
	uint64_t next_ns;     /* nothing is sent before */
	uint64_t close_ns;    /* when the stop began */
	uint64_t deadline_ns; /* until when answers are awaited */
	bool is_wrong;        /* the last answer cannot be mended by waiting */
	bool is_closing, is_hurried, has_ended, has_reported;
};

/* ---- The queue ---- */

static struct queued *take_first(struct background *b)
{
	struct queued *message = b->first;
	b->first = message->next;
	if (!b->first)
		b->last = &b->first;
	b->bytes -= message->size;
	return message;
}

static void append(struct background *b, struct queued *message)
{
	message->next = NULL;
	*b->last = message;
	b->last = &message->next;
	b->bytes += message->size;
}

/* Moves the first message to the spool. If it has no room, the message stays. */
static void keep_first(struct background *b)
{
	struct queued *message = b->first;
	if (push_keep(b->push, message->signal, message->count, message->bytes, message->size))
		free(take_first(b));
}

static void lose(struct background *b, struct queued *message)
{
	push_lose(b->push, message->count);
	free(message);
}

/* ---- Results ---- */

/* Prints a message after the URL. The lock is held before and after, and not meanwhile: the reader
 * does not wait for a terminal. */
__attribute__((format(printf, 2, 3))) static void inform_unlocked(
	struct background *b, const char *format, ...)
{
	char text[1024];
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	pthread_mutex_unlock(&b->lock);
	cli_inform("%s: %s", b->push->options.url, text);
	pthread_mutex_lock(&b->lock);
}

static void report_success(struct background *b)
{
	const uint64_t lost = b->push->lost;
	const bool was_reported = b->has_reported;
	b->has_reported = false;
	if (was_reported && lost)
		inform_unlocked(b, "spans are taken again; %" PRIu64 " were lost", lost);
	else if (was_reported)
		inform_unlocked(b, "spans are taken again");
}

/* A second failure is worth a message, or one that looks like a mistake of the user. */
static void note_failure(struct background *b, enum client_result result)
{
	const uint64_t now = push_now_ns();
	const bool is_worth_it = b->failing_ns || result == CLIENT_WRONG;
	if (!b->failing_ns)
		b->failing_ns = now;
	b->is_wrong = result == CLIENT_WRONG;
	if (b->is_wrong)
		b->delay_ns = LAST_DELAY_NS;
	b->next_ns = now + push_pause_ns(&b->push->client, &b->delay_ns);
	if (is_worth_it && !b->has_reported) {
		b->has_reported = true;
		inform_unlocked(b, "%s; what is not taken waits", b->push->reason);
	}
}

/* True if nobody needs the message any more. */
static bool take_result(struct background *b, enum client_result result, uint32_t count)
{
	const bool is_first = !b->push->lost;
	if (!push_is_done(b->push, result, count)) {
		note_failure(b, result);
		return false;
	}
	b->failing_ns = 0;
	b->delay_ns = NS_PER_S;
	if (result == CLIENT_REFUSED && is_first)
		inform_unlocked(b, "%s; %" PRIu32 " spans are lost", b->push->reason, count);
	else if (result == CLIENT_TAKEN)
		report_success(b);
	return true;
}

/* ---- Sending ---- */

/* The lock is held before and after, and not meanwhile. */
static enum client_result post_unlocked(
	struct background *b, enum weft_otlp_signal signal, const void *body, size_t size)
{
	pthread_mutex_unlock(&b->lock);
	enum client_result result = client_post(&b->push->client, signal, body, size);
	pthread_mutex_lock(&b->lock);
	if (result != CLIENT_TAKEN)
		memcpy(b->push->reason, b->push->client.reason, sizeof(b->push->reason));
	return result;
}

static void send_queued(struct background *b)
{
	struct queued *message = take_first(b);
	message->since_ns = message->since_ns ? message->since_ns : push_now_ns();
	if (take_result(
			b, post_unlocked(b, message->signal, message->bytes, message->size), message->count)) {
		free(message);
		return;
	}
	if (push_now_ns() - message->since_ns > b->push->options.patience_ns)
		lose(b, message);
	else
		append(b, message);
}

/* The next attempt is for another message, because the receiver may fail because of this one. If it
 * fails again and again after others were taken, it stays in the spool until the next start. */
static void defer_spooled(struct background *b, bool is_suspect)
{
	struct spool *spool = &b->push->spool;
	struct spooled *message = &spool->list[spool->first];
	message->failures += is_suspect;
	if (message->failures < FAILURES_MAX) {
		spool_defer_first(spool);
		return;
	}
	spool->first++;
	inform_unlocked(b,
		"%s; others are taken, so a message of %" PRIu32
		" spans stays in the spool until the next start",
		b->push->reason, message->count);
}

/* One that cannot be read stays where it is. */
static void send_spooled(struct background *b)
{
	struct spool *spool = &b->push->spool;
	const struct spooled message = spool->list[spool->first];
	if (!push_read_spooled(b->push, &message, &b->spooled)) {
		spool->first++;
		return;
	}
	const bool took_last = !b->failing_ns;
	if (!take_result(b, post_unlocked(b, message.signal, b->spooled.bytes, b->spooled.size),
			message.count)) {
		defer_spooled(b, took_last);
		return;
	}
	spool->first++;
	spool_remove(spool, &message);
	b->push->has_no_room = false;
}

/* ---- The thread ---- */

static void wait_for_change(struct background *b, uint64_t until_ns)
{
	const struct timespec until = {
		.tv_sec = (time_t)(until_ns / NS_PER_S), .tv_nsec = (long)(until_ns % NS_PER_S)};
	if (until_ns == UINT64_MAX)
		pthread_cond_wait(&b->changed, &b->lock);
	else
		pthread_cond_timedwait(&b->changed, &b->lock, &until);
}

static uint64_t add_ns(uint64_t time, uint64_t ns)
{
	return ns < UINT64_MAX - time ? time + ns : UINT64_MAX;
}

/* When it is no use to try any longer; UINT64_MAX: never. */
static uint64_t end_ns(const struct background *b)
{
	const uint64_t start = b->failing_ns > b->close_ns ? b->failing_ns : b->close_ns;
	if (!b->is_closing || !b->failing_ns)
		return b->deadline_ns;
	if (b->is_hurried || b->is_wrong)
		return 0;
	return add_ns(start, b->push->options.patience_ns);
}

/* False: the thread ends. */
static bool do_next(struct background *b)
{
	const struct push *push = b->push;
	const uint64_t now = push_now_ns(), end = end_ns(b);
	if (now >= end || (b->failing_ns && b->next_ns > end))
		return false;
	if (b->failing_ns && b->first && push->options.spool && !push->has_no_room)
		keep_first(b);
	else if (!b->first && push->spool.first == push->spool.count && b->is_closing)
		return false;
	else if (!b->first && push->spool.first == push->spool.count)
		wait_for_change(b, UINT64_MAX);
	else if (b->failing_ns && now < b->next_ns)
		wait_for_change(b, b->next_ns < end ? b->next_ns : end);
	else if (b->first)
		send_queued(b);
	else
		send_spooled(b);
	return true;
}

static void *run(void *context)
{
	struct background *b = context;
	pthread_mutex_lock(&b->lock);
	while (do_next(b))
		;
	b->has_ended = true;
	pthread_cond_broadcast(&b->changed);
	pthread_mutex_unlock(&b->lock);
	return NULL;
}

static bool goes_on(void *context)
{
	struct background *b = context;
	pthread_mutex_lock(&b->lock);
	const bool goes_on = push_now_ns() < b->deadline_ns;
	pthread_mutex_unlock(&b->lock);
	return goes_on;
}

/* ---- For the reader ---- */

static int add(struct background *b, enum weft_otlp_signal signal, uint32_t count)
{
	struct push *push = b->push;
	const struct weft_text *packed = &push->packed;
	const uint64_t most = push->options.queue_bytes;
	if (b->first && (packed->size > most || b->bytes > most - packed->size)) {
		if (push_keep(push, signal, count, packed->bytes, packed->size))
			return 0;
		if (!b->failing_ns)
			snprintf(push->reason, sizeof(push->reason), "it takes less than is recorded");
		push_lose(push, count);
		return 0;
	}
	struct queued *message = malloc(sizeof(*message) + packed->size);
	if (!message)
		return WEFT_ERROR_MEMORY;
	*message = (struct queued){.signal = signal, .count = count, .size = packed->size};
	memcpy(message->bytes, packed->bytes, packed->size);
	append(b, message);
	return 0;
}

int background_add(struct background *b, enum weft_otlp_signal signal, uint32_t count)
{
	pthread_mutex_lock(&b->lock);
	int error = add(b, signal, count);
	pthread_cond_broadcast(&b->changed);
	pthread_mutex_unlock(&b->lock);
	return error;
}

static void hurry(struct background *b)
{
	if (b->is_hurried)
		return;
	b->is_hurried = true;
	b->deadline_ns = add_ns(push_now_ns(), b->push->options.timeout_ns);
	pthread_cond_broadcast(&b->changed);
}

void background_hurry(struct background *b)
{
	pthread_mutex_lock(&b->lock);
	hurry(b);
	pthread_mutex_unlock(&b->lock);
}

/* ---- Beginning and end ---- */

static bool start_thread(struct background *b)
{
	sigset_t all, before;
	pthread_condattr_t attributes;
	pthread_mutex_init(&b->lock, NULL);
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&b->changed, &attributes);
	pthread_condattr_destroy(&attributes);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	int error = pthread_create(&b->thread, NULL, run, b);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (error)
		cli_error("no thread that sends: %s", strerror(error));
	return !error;
}

struct background *background_start(struct push *push)
{
	struct background *b = calloc(1, sizeof(*b));
	if (!b) {
		cli_error("%s", weft_error_text(WEFT_ERROR_MEMORY));
		return NULL;
	}
	b->push = push;
	b->last = &b->first;
	b->delay_ns = NS_PER_S;
	b->deadline_ns = UINT64_MAX;
	push->client.goes_on = goes_on;
	push->client.context = b;
	if (start_thread(b))
		return b;
	free(b);
	return NULL;
}

static void wait_for_end(struct background *b)
{
	pthread_mutex_lock(&b->lock);
	b->is_closing = true;
	b->close_ns = push_now_ns();
	pthread_cond_broadcast(&b->changed);
	while (!b->has_ended) {
		if (cli_is_interrupted())
			hurry(b);
		wait_for_change(b, push_now_ns() + NS_PER_S / 10);
	}
	pthread_mutex_unlock(&b->lock);
	pthread_join(b->thread, NULL);
}

void background_stop(struct background *b)
{
	wait_for_end(b);
	if (!b->failing_ns && b->first)
		snprintf(b->push->reason, sizeof(b->push->reason), "it did not take all in time");
	while (b->first) {
		if (b->push->options.spool && !b->push->has_no_room)
			keep_first(b);
		else
			lose(b, take_first(b));
	}
	pthread_cond_destroy(&b->changed);
	pthread_mutex_destroy(&b->lock);
	weft_text_finish(&b->spooled);
	free(b);
}
