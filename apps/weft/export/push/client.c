/* SPDX-License-Identifier: ISC */
#include "client.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <zlib.h>

#include "cli/cli.h"

/* The specification's limit for answers. Only the begin is kept. */
#define ANSWER_MAX_BYTES  (4 << 20)
#define ANSWER_KEPT_BYTES (64 << 10)

#define GZIP_WINDOW     (15 + 16)
#define PLAIN_MAX_BYTES (64 << 20) /* of a message in a damaged spool */

/* ---- Setting up ---- */

static size_t take_answer(char *bytes, size_t size, size_t count, void *context)
{
	struct client *client = context;
	client->answer_bytes += size * count;
	if (client->answer_bytes > ANSWER_MAX_BYTES)
		return 0; /* which ends the transfer */
	size_t room = ANSWER_KEPT_BYTES - client->answer.size;
	weft_text_add(&client->answer, bytes, size * count < room ? size * count : room);
	return size * count;
}

static int on_progress(
	void *context, curl_off_t total, curl_off_t now, curl_off_t up_total, curl_off_t up_now)
{
	const struct client *client = context;
	(void)total, (void)now, (void)up_total, (void)up_now;
	return !client->goes_on(client->context); /* not 0 ends the transfer */
}

static bool add_header(struct client *client, const char *header)
{
	struct curl_slist *longer = push_library.slist_append(client->headers, header);
	if (longer)
		client->headers = longer;
	return longer;
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* OTEL_EXPORTER_OTLP_HEADERS is "key=value,key=value"; values are percent-encoded. */
static bool add_pair(struct client *client, const char *pair, size_t size)
{
	struct weft_text text = {0};
	bool has_value = false;
	for (size_t i = 0; i < size; i++) {
		char c = pair[i];
		if (c == '%' && i + 2 < size && hex_digit(pair[i + 1]) >= 0 &&
			hex_digit(pair[i + 2]) >= 0) {
			c = (char)(hex_digit(pair[i + 1]) << 4 | hex_digit(pair[i + 2]));
			i += 2;
		} else if (c == '=' && !has_value) {
			has_value = true;
			weft_text_add_string(&text, ": ");
			continue;
		}
		if ((unsigned char)c >= ' ')
			weft_text_add(&text, &c, 1);
	}
	weft_text_add(&text, "", 1);
	bool good = !text.error && (!has_value || add_header(client, text.bytes));
	weft_text_finish(&text);
	return good;
}

static bool add_headers(struct client *client)
{
	const char *pairs = getenv("OTEL_EXPORTER_OTLP_HEADERS");
	bool good = add_header(client, "Content-Encoding: gzip") &&
				add_header(client, client->is_json ? "Content-Type: application/json"
												   : "Content-Type: application/x-protobuf") &&
				add_header(client, "Expect:");
	while (good && pairs && *pairs) {
		const size_t size = strcspn(pairs, ",");
		good = add_pair(client, pairs, size);
		pairs += size + (pairs[size] == ',');
	}
	return good;
}

static bool make_urls(struct client *client, const char *base)
{
	static const char *const paths[] = {"v1/traces", "v1/metrics"};
	size_t size = strlen(base);
	while (size && base[size - 1] == '/')
		size--;
	for (unsigned i = 0; i < WEFT_OTLP_SIGNALS; i++)
		if (asprintf(&client->urls[i], "%.*s/%s", (int)size, base, paths[i]) < 0) {
			client->urls[i] = NULL;
			return false;
		}
	return true;
}

static void set_options(struct client *client, const struct push_options *options)
{
	CURL *curl = client->curl;
	push_library.easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
	push_library.easy_setopt(curl, CURLOPT_USERAGENT, "weft/" WEFT_VERSION);
	push_library.easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
	push_library.easy_setopt(curl, CURLOPT_TIMEOUT_MS, (long)(options->timeout_ns / 1000000 + 1));
	push_library.easy_setopt(curl, CURLOPT_WRITEFUNCTION, take_answer);
	push_library.easy_setopt(curl, CURLOPT_WRITEDATA, client);
	push_library.easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
	push_library.easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, on_progress);
	push_library.easy_setopt(curl, CURLOPT_XFERINFODATA, client);
	push_library.easy_setopt(curl, CURLOPT_ERRORBUFFER, client->reason);
}

bool client_init(struct client *client, const struct push_options *options)
{
	const char *compression = getenv("OTEL_EXPORTER_OTLP_COMPRESSION");
	*client = (struct client){
		.is_json = options->is_json, .is_plain = compression && strcmp(compression, "none") == 0};
	client->curl = push_library.easy_init();
	if (!client->curl || !add_headers(client) || !make_urls(client, options->url)) {
		cli_error("%s", weft_error_text(WEFT_ERROR_MEMORY));
		return false;
	}
	set_options(client, options);
	return true;
}

void client_finish(struct client *client)
{
	if (client->curl)
		push_library.easy_cleanup(client->curl);
	if (client->headers)
		push_library.slist_free_all(client->headers);
	for (unsigned i = 0; i < WEFT_OTLP_SIGNALS; i++)
		free(client->urls[i]);
	weft_text_finish(&client->answer);
	weft_text_finish(&client->plain);
}

/* ---- Answers ---- */

struct bytes {
	const unsigned char *at, *end;
};

static bool read_varint(struct bytes *b, uint64_t *ret_number)
{
	*ret_number = 0;
	for (unsigned shift = 0; shift < 64 && b->at < b->end; shift += 7) {
		*ret_number |= (uint64_t)(*b->at & 0x7f) << shift;
		if (!(*b->at++ & 0x80))
			return true;
	}
	return false;
}

/* Finds a field of a protobuf message: a number in *ret_number, or bytes in *ret_part. False: the
 * message does not have it, or is none. */
static bool find_field(
	struct bytes message, uint64_t wanted, uint64_t *ret_number, struct bytes *ret_part)
{
	uint64_t tag, number;
	while (read_varint(&message, &tag) && read_varint(&message, &number)) {
		*ret_number = number;
		if ((tag & 7) == 2) {
			if (number > (uint64_t)(message.end - message.at))
				return false;
			*ret_part = (struct bytes){message.at, message.at + number};
			message.at += number;
		} else if ((tag & 7) != 0) {
			return false; /* no other types are in these messages */
		}
		if (tag >> 3 == wanted)
			return true;
	}
	return false;
}

/* The number behind a key, as a number or a text. */
static uint64_t json_number(const char *text, const char *key)
{
	const char *at = strstr(text, key);
	at = at ? at + strlen(key) : "";
	at += strspn(at, " \t\r\n\":");
	uint64_t number = 0;
	for (; *at >= '0' && *at <= '9' && number < UINT32_MAX; at++)
		number = 10 * number + (uint64_t)(*at - '0');
	return number;
}

/* How many spans or points the receiver refused of a message that it took ("partial success"). An
 * answer that is not understood says nothing. */
static uint64_t count_rejected(struct client *client)
{
	if (client->answer.size == 0)
		return 0;
	const unsigned char *bytes = (const unsigned char *)client->answer.bytes;
	struct bytes message = {bytes, bytes + client->answer.size}, part = {0};
	uint64_t number;
	if (client->is_json) {
		weft_text_add(&client->answer, "", 1);
		if (client->answer.error)
			return 0;
		number = json_number(client->answer.bytes, "\"rejectedSpans\"");
		return number ? number : json_number(client->answer.bytes, "\"rejectedDataPoints\"");
	}
	if (!find_field(message, 1, &number, &part) || !part.at)
		return 0;
	message = part;
	return find_field(message, 1, &number, &part) ? number : 0;
}

static enum client_result judge_status(struct client *client, long status)
{
	curl_off_t wait = 0;
	if (status / 100 == 2) {
		client->rejected = count_rejected(client);
		return CLIENT_TAKEN;
	}
	snprintf(client->reason, sizeof(client->reason), "the receiver answers %ld", status);
	switch (status) {
	case 429:
	case 502:
	case 503:
	case 504:
		push_library.easy_getinfo(client->curl, CURLINFO_RETRY_AFTER, &wait);
		client->retry_after_s = wait > 0 ? (uint64_t)wait : 0;
		return CLIENT_LATER;
	case 401:
	case 403:
	case 404:
	case 405:
		return CLIENT_WRONG;
	default:
		return CLIENT_REFUSED;
	}
}

static enum client_result judge_failure(struct client *client, CURLcode code)
{
	if (code == CURLE_ABORTED_BY_CALLBACK)
		return CLIENT_STOPPED;
	if (!client->reason[0])
		snprintf(client->reason, sizeof(client->reason), "%s", push_library.easy_strerror(code));
	if (code == CURLE_WRITE_ERROR) {
		snprintf(client->reason, sizeof(client->reason), "its answer is longer than 4 MiB");
		return CLIENT_REFUSED;
	}
	if (code == CURLE_URL_MALFORMAT || code == CURLE_PEER_FAILED_VERIFICATION)
		return CLIENT_WRONG;
	return CLIENT_LATER;
}

static enum client_result post(struct client *client, enum weft_otlp_signal signal,
	const struct curl_slist *headers, const void *body, size_t size)
{
	client->status = 0;
	client->answer.size = client->answer_bytes = 0;
	client->answer.error = 0;
	client->retry_after_s = client->rejected = 0;
	client->reason[0] = '\0';
	push_library.easy_setopt(client->curl, CURLOPT_URL, client->urls[signal]);
	push_library.easy_setopt(client->curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)size);
	push_library.easy_setopt(client->curl, CURLOPT_POSTFIELDS, body);
	push_library.easy_setopt(client->curl, CURLOPT_HTTPHEADER, headers);
	CURLcode code = push_library.easy_perform(client->curl);
	if (code != CURLE_OK)
		return judge_failure(client, code);
	push_library.easy_getinfo(client->curl, CURLINFO_RESPONSE_CODE, &client->status);
	return judge_status(client, client->status);
}

/* Unpacks into client->plain. False if it is damaged, or memory is short. */
static bool unpack(struct client *client, const void *body, size_t size)
{
	z_stream stream = {.next_in = (Bytef *)body, .avail_in = (uInt)size};
	unsigned char part[4096];
	int status = inflateInit2(&stream, GZIP_WINDOW);
	client->plain.size = 0;
	client->plain.error = 0;
	while (status == Z_OK && client->plain.size < PLAIN_MAX_BYTES) {
		stream.next_out = part;
		stream.avail_out = sizeof(part);
		status = inflate(&stream, Z_NO_FLUSH);
		weft_text_add(&client->plain, (const char *)part, sizeof(part) - stream.avail_out);
	}
	inflateEnd(&stream);
	return status == Z_STREAM_END && !client->plain.error;
}

static enum client_result post_plain(
	struct client *client, enum weft_otlp_signal signal, const void *body, size_t size)
{
	if (unpack(client, body, size))
		return post(client, signal, client->headers->next, client->plain.bytes, client->plain.size);
	snprintf(client->reason, sizeof(client->reason), "it cannot be unpacked");
	return CLIENT_REFUSED;
}

/* A receiver that does not know gzip takes the body for nonsense. */
static bool may_not_unpack(const struct client *client)
{
	return client->status == 400 || client->status == 415;
}

enum client_result client_post(
	struct client *client, enum weft_otlp_signal signal, const void *body, size_t size)
{
	if (client->is_plain)
		return post_plain(client, signal, body, size);
	enum client_result result = post(client, signal, client->headers, body, size);
	if (result != CLIENT_REFUSED || !may_not_unpack(client))
		return result;
	result = post_plain(client, signal, body, size);
	client->is_plain = result == CLIENT_TAKEN;
	return result;
}
