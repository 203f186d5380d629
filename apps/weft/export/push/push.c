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
#include "background.h"

#define GZIP_LEVEL  4 /* of 9: three times as fast as the usual one, and a tenth larger */
#define GZIP_WINDOW (15 + 16)

uint64_t push_now_ns(void)
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

uint64_t push_pause_ns(const struct client *client, uint64_t *delay_ns)
{
	const uint64_t most_s = UINT64_MAX / 2 / NS_PER_S;
	const uint64_t asked_s = client->retry_after_s < most_s ? client->retry_after_s : most_s;
	const uint64_t own_ns = shorten(*delay_ns);
	*delay_ns = 2 * *delay_ns < LAST_DELAY_NS ? 2 * *delay_ns : LAST_DELAY_NS;
	return asked_s * NS_PER_S > own_ns ? asked_s * NS_PER_S : own_ns;
}

static bool goes_on(void *context)
{
	(void)context;
	return cli_progress_step(0);
}

/* False if Ctrl-C came first. */
static bool wait_until(uint64_t time_ns)
{
	for (uint64_t now; goes_on(NULL) && (now = push_now_ns()) < time_ns;) {
		const uint64_t step = time_ns - now < NS_PER_S / 10 ? time_ns - now : NS_PER_S / 10;
		const struct timespec pause = {.tv_nsec = (long)step};
		nanosleep(&pause, NULL);
	}
	return goes_on(NULL);
}

static enum client_result deliver(
	struct push *push, enum weft_otlp_signal signal, const void *body, size_t size)
{
	const uint64_t start = push_now_ns();
	uint64_t delay = NS_PER_S;
	for (;;) {
		enum client_result result = client_post(&push->client, signal, body, size);
		if (result != CLIENT_TAKEN)
			memcpy(push->reason, push->client.reason, sizeof(push->reason));
		if (result != CLIENT_LATER)
			return result;
		const uint64_t now = push_now_ns(), pause = push_pause_ns(&push->client, &delay);
		if (pause > push->options.patience_ns || now - start > push->options.patience_ns - pause)
			return CLIENT_LATER;
		if (!wait_until(now + pause))
			return CLIENT_STOPPED;
	}
}

void push_lose(struct push *push, uint32_t count)
{
	if (!push->lost)
		memcpy(push->loss_reason, push->reason, sizeof(push->loss_reason));
	push->lost += count;
}

bool push_is_done(struct push *push, enum client_result result, uint32_t count)
{
	switch (result) {
	case CLIENT_TAKEN:
		push->rejected += push->client.rejected < count ? push->client.rejected : count;
		return true;
	case CLIENT_REFUSED:
		push_lose(push, count);
		return true;
	case CLIENT_WRONG:
	case CLIENT_LATER:
	case CLIENT_STOPPED:
		break;
	}
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

bool push_keep(
	struct push *push, enum weft_otlp_signal signal, uint32_t count, const void *bytes, size_t size)
{
	if (!push->options.spool)
		return false;
	if (spool_add(&push->spool, signal, count, bytes, size))
		return true;
	if (!push->has_no_room)
		cli_error("%s: %s", push->options.spool,
			errno == EDQUOT ? "it is full; --spool-size makes it larger" : strerror(errno));
	push->has_no_room = true;
	return false;
}

/* Sends a packed message, if that was of use so far. True if nobody needs it any more. */
static bool try_to_send(struct push *push, enum weft_otlp_signal signal, uint32_t count)
{
	if (!push->has_given_up)
		push->has_given_up = !push_is_done(
			push, deliver(push, signal, push->packed.bytes, push->packed.size), count);
	return !push->has_given_up;
}

int push_send(
	struct push *push, enum weft_otlp_signal signal, const void *bytes, size_t size, uint32_t count)
{
	int error = pack(push, bytes, size);
	if (error)
		return error;
	if (push->background)
		return background_add(push->background, signal, count);
	if (!try_to_send(push, signal, count) &&
		!push_keep(push, signal, count, push->packed.bytes, push->packed.size))
		push_lose(push, count);
	return 0;
}

/* ---- The spool ---- */

bool push_read_spooled(
	struct push *push, const struct spooled *message, struct weft_text *ret_bytes)
{
	if (spool_read(&push->spool, message, ret_bytes))
		return true;
	snprintf(push->reason, sizeof(push->reason), "message %" PRIu64 " cannot be read: %s",
		message->number, strerror(errno));
	return false;
}

static void send_spool(struct push *push)
{
	for (size_t i = 0; i < push->spool.count && !push->has_given_up; i++) {
		const struct spooled *message = &push->spool.list[i];
		if (push_read_spooled(push, message, &push->packed) &&
			try_to_send(push, message->signal, message->count))
			spool_remove(&push->spool, message);
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

static bool is_url(const char *text)
{
	if (strncmp(text, "http://", 7) != 0 && strncmp(text, "https://", 8) != 0)
		return false;
	CURLU *url = push_library.url();
	const bool is_good = url && push_library.url_set(url, CURLUPART_URL, text, 0) == CURLUE_OK;
	push_library.url_cleanup(url);
	return is_good;
}

int push_check_url(const char *command, const char *option, const char *url)
{
	if (!push_load_library())
		return CLI_NO;
	return is_url(url) ? CLI_DONE
					   : cli_usage_error(command,
							 "%s: \"%s\" is not a URL; write http://HOST:4318 or https://HOST",
							 option, url);
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
	push->client.goes_on = goes_on;
	if (options->in_background && !(push->background = background_start(push))) {
		finish(push);
		return false;
	}
	if (options->spool && !options->in_background)
		send_spool(push);
	*ret_push = push;
	return true;
}

void push_hurry(struct push *push)
{
	background_hurry(push->background);
}

int push_close(struct push *push)
{
	if (push->background)
		background_stop(push->background);
	const uint64_t waiting = push->spool.waiting;
	const bool is_whole = !push->rejected && !waiting && !push->lost;
	const char *url = push->options.url;
	if (push->rejected)
		cli_error("%s: the receiver rejected %" PRIu64 " spans or points", url, push->rejected);
	if (push->lost)
		cli_error("%s: %" PRIu64 " spans or points were not delivered: %s", url, push->lost,
			push->loss_reason);
	if (waiting)
		cli_error("%s: %s; %" PRIu64 " spans or points wait in %s: `weft export --to %s --url %s "
				  "--spool %s` sends them",
			url, push->reason, waiting, push->options.spool,
			push->options.is_json ? "otlp-json" : "otlp", url, push->options.spool);
	finish(push);
	return is_whole ? CLI_DONE : CLI_NO;
}
