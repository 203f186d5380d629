/* SPDX-License-Identifier: ISC */
#include "push.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#include <zlib.h>

#include "cli/attach.h"
#include "cli/cli.h"
#include "client.h"
#include "spool.h"

#define NS_PER_S       UINT64_C(1000000000)
#define FIRST_DELAY_NS NS_PER_S
#define LAST_DELAY_NS  (30 * NS_PER_S)
#define GZIP_LEVEL     4 /* of 9: three times as fast as the usual one, and a tenth larger */
#define GZIP_WINDOW    (15 + 16)

struct push {
	struct push_options options;
	struct client client;
	struct spool spool;
	struct weft_text packed;
	bool has_given_up;                                    /* what comes is kept or lost */
	uint64_t taken, rejected, refused, spooled, lost;     /* spans and points */
	char reason[sizeof(((struct client *)NULL)->reason)]; /* why something was not taken */
};

static uint64_t now_ns(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

/* ---- Sending one message ---- */

/* Between half of the delay and all of it, so that many clients do not come back together. */
static uint64_t shorten(uint64_t delay_ns)
{
	uint32_t number = 0;
	if (getrandom(&number, sizeof(number), GRND_NONBLOCK) != sizeof(number))
		return delay_ns;
	return delay_ns / 2 + (delay_ns / 2 * (number >> 16) >> 16);
}

/* Ctrl-C is caught by a progress line, or by a command that follows a program. */
static bool goes_on(void)
{
	return cli_progress_step(0) && !cli_is_interrupted();
}

/* False if Ctrl-C came first. */
static bool wait_until(uint64_t time_ns)
{
	for (uint64_t now; goes_on() && (now = now_ns()) < time_ns;) {
		const uint64_t step = time_ns - now < NS_PER_S / 10 ? time_ns - now : NS_PER_S / 10;
		const struct timespec pause = {.tv_nsec = (long)step};
		nanosleep(&pause, NULL);
	}
	return goes_on();
}

static uint64_t pause_after(const struct client *client, uint64_t delay_ns)
{
	const uint64_t most_s = UINT64_MAX / 2 / NS_PER_S;
	const uint64_t asked_s = client->retry_after_s < most_s ? client->retry_after_s : most_s;
	const uint64_t own_ns = shorten(delay_ns);
	return asked_s * NS_PER_S > own_ns ? asked_s * NS_PER_S : own_ns;
}

static enum client_result deliver(
	struct push *push, enum weft_otlp_signal signal, const void *body, size_t size)
{
	const uint64_t start = now_ns();
	uint64_t delay = FIRST_DELAY_NS;
	for (;;) {
		enum client_result result = client_post(&push->client, signal, body, size);
		if (result != CLIENT_TAKEN)
			memcpy(push->reason, push->client.reason, sizeof(push->reason));
		if (result != CLIENT_LATER)
			return result;
		const uint64_t now = now_ns(), pause = pause_after(&push->client, delay);
		if (pause > push->options.patience_ns || now - start > push->options.patience_ns - pause)
			return CLIENT_LATER;
		if (!wait_until(now + pause))
			return CLIENT_STOPPED;
		delay = 2 * delay < LAST_DELAY_NS ? 2 * delay : LAST_DELAY_NS;
	}
}

/* True if nobody needs the message any more. */
static bool is_done(struct push *push, enum client_result result, uint32_t count)
{
	const uint64_t rejected = push->client.rejected < count ? push->client.rejected : count;
	switch (result) {
	case CLIENT_TAKEN:
		push->taken += count - rejected;
		push->rejected += rejected;
		return true;
	case CLIENT_REFUSED:
		push->refused += count;
		return true;
	case CLIENT_WRONG:
	case CLIENT_LATER:
	case CLIENT_STOPPED:
		break;
	}
	push->has_given_up = true;
	return false;
}

/* ---- Messages ---- */

static int pack(struct push *push, const void *bytes, size_t size)
{
	z_stream stream = {.next_in = (Bytef *)bytes, .avail_in = (uInt)size};
	if (deflateInit2(&stream, GZIP_LEVEL, Z_DEFLATED, GZIP_WINDOW, 8, Z_DEFAULT_STRATEGY) != Z_OK)
		return WEFT_ERROR_MEMORY;
	const size_t bound = deflateBound(&stream, size);
	char *room = malloc(bound);
	int error = room ? 0 : WEFT_ERROR_MEMORY;
	stream.next_out = (Bytef *)room;
	stream.avail_out = (uInt)bound;
	if (!error && deflate(&stream, Z_FINISH) != Z_STREAM_END)
		error = WEFT_ERROR_MEMORY;
	push->packed.size = 0;
	if (!error)
		weft_text_add(&push->packed, room, stream.total_out);
	deflateEnd(&stream);
	free(room);
	return error ? error : push->packed.error;
}

static void keep(struct push *push, enum weft_otlp_signal signal, uint32_t count)
{
	if (push->options.spool &&
		spool_add(&push->spool, signal, count, push->packed.bytes, push->packed.size)) {
		push->spooled += count;
		return;
	}
	if (push->options.spool && !push->lost)
		cli_error("%s: %s", push->options.spool,
			errno == EDQUOT ? "it is full; --spool-size makes it larger" : strerror(errno));
	push->lost += count;
}

int push_send(
	struct push *push, enum weft_otlp_signal signal, const void *bytes, size_t size, uint32_t count)
{
	int error = pack(push, bytes, size);
	if (error)
		return error;
	if (push->has_given_up ||
		!is_done(push, deliver(push, signal, push->packed.bytes, push->packed.size), count))
		keep(push, signal, count);
	return 0;
}

/* ---- The spool ---- */

static void send_spooled(struct push *push, const struct spooled *message)
{
	if (!spool_read(&push->spool, message, &push->packed)) {
		snprintf(push->reason, sizeof(push->reason), "message %" PRIu64 " cannot be read: %s",
			message->number, strerror(errno));
		push->spooled += message->count;
		return;
	}
	if (is_done(push, deliver(push, message->signal, push->packed.bytes, push->packed.size),
			message->count))
		spool_remove(&push->spool, message);
}

static void send_spool(struct push *push)
{
	for (size_t i = 0; i < push->spool.count; i++) {
		if (!push->has_given_up)
			send_spooled(push, &push->spool.list[i]);
		if (push->has_given_up)
			push->spooled += push->spool.list[i].count;
	}
}

/* ---- Beginning and end ---- */

static void finish(struct push *push)
{
	client_finish(&push->client);
	if (push->options.spool)
		spool_close(&push->spool);
	weft_text_finish(&push->packed);
	free(push);
}

bool push_open(const struct push_options *options, struct push **ret_push)
{
	struct push *push = calloc(1, sizeof(*push));
	if (!push) {
		cli_error("%s", weft_error_text(WEFT_ERROR_MEMORY));
		return false;
	}
	push->options = *options;
	push->spool = (struct spool){.directory = -1, .lock = -1};
	if (!client_init(&push->client, options) ||
		(options->spool &&
			!spool_open(options->spool, options->spool_bytes, options->is_json, &push->spool))) {
		finish(push);
		return false;
	}
	if (options->spool)
		send_spool(push);
	*ret_push = push;
	return true;
}

int push_close(struct push *push)
{
	const bool is_whole = !push->rejected && !push->refused && !push->spooled && !push->lost;
	const char *url = push->options.url;
	if (push->rejected)
		cli_error("%s: the receiver rejected %" PRIu64 " spans or points", url, push->rejected);
	if (push->refused || push->lost)
		cli_error("%s: %" PRIu64 " spans or points were not delivered: %s", url,
			push->refused + push->lost, push->reason);
	if (push->spooled)
		cli_error("%s: %s; %" PRIu64 " spans or points wait in %s: `weft export --to %s --url %s "
				  "--spool %s` sends them",
			url, push->reason, push->spooled, push->options.spool,
			push->options.is_json ? "otlp-json" : "otlp", url, push->options.spool);
	finish(push);
	return is_whole ? CLI_DONE : CLI_NO;
}
