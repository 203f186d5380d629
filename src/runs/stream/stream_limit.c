/* SPDX-License-Identifier: ISC
 *
 * How much a run may write, and how large a piece of a stream is.
 */
#include <stdio.h>
#include <string.h>
#include <sys/statvfs.h>

#include "runs/message.h"
#include "runs/saving/name.h"
#include "runs/stream/streaming.h"

/* Large enough for few system calls, small enough to stay in the processor's cache. */
#define PIECE_BYTES ((size_t)1 << 20)

/* The largest packet in a stream; a header and some names. */
#define PACKET_MAX_BYTES ((size_t)66 << 10)
#define FRONT_BYTES      ((size_t)6 << 10)

/* Kept free below the limit for the table of names and the last header. */
#define LIMIT_RESERVE_BYTES ((uint64_t)2 << 20)

/* The default limit. */
#define LIMIT_USUAL_BYTES ((uint64_t)16 << 30)

size_t weft__runs_stream_piece_bytes(const struct weft__runs_stream_options *options)
{
	uint64_t whole = options->rotate_bytes;
	if (options->max_bytes && (!whole || options->max_bytes < whole))
		whole = options->max_bytes;
	uint64_t part = whole / 8;
	return part && part < PIECE_BYTES ? (size_t)part : PIECE_BYTES;
}

/* The most bytes that the next piece can take: at least one packet, with the header and names
 * before it. */
size_t weft__runs_stream_most_bytes(const struct weft__runs_stream *s)
{
	return (s->piece_bytes > PACKET_MAX_BYTES ? s->piece_bytes : PACKET_MAX_BYTES) + FRONT_BYTES;
}

/* The directory of the first trace. */
static void directory_of_output(const char *output, char ret_directory[PATH_MAX])
{
	bool is_directory = weft__runs_is_directory(output);
	const char *slash = output ? strrchr(output, '/') : NULL;
	if (is_directory)
		snprintf(ret_directory, PATH_MAX, "%s", output ? output : ".");
	else
		snprintf(ret_directory, PATH_MAX, "%.*s", slash ? (int)(slash - output) + 1 : 1,
			slash ? output : ".");
}

/* A program that records at full speed fills any disk. So by default half of the free space remains
 * free. With --rotate BYTES:N the user has named the space that the files may take. */
uint64_t weft__runs_stream_usual_limit(const struct weft__runs_stream_options *options)
{
	char directory[PATH_MAX];
	struct statvfs status;
	uint64_t kept;
	if (options->keep) {
		bool is_huge = __builtin_mul_overflow(options->keep, options->rotate_bytes, &kept);
		return is_huge ? 0 : kept > LIMIT_USUAL_BYTES ? kept : LIMIT_USUAL_BYTES;
	}
	directory_of_output(options->output, directory);
	if (statvfs(directory, &status) != 0)
		return LIMIT_USUAL_BYTES;
	uint64_t half = (uint64_t)status.f_bavail * status.f_frsize / 2;
	if (half < WEFT__RUNS_LIMIT_MIN_BYTES)
		half = WEFT__RUNS_LIMIT_MIN_BYTES;
	return half < LIMIT_USUAL_BYTES ? half : LIMIT_USUAL_BYTES;
}

/* Disk usage of all files of the run, in bytes; of guests, those of one domain, because no guest
 * may end the streams of others. */
static uint64_t disk_bytes(const struct weft__runs_stream *s, const struct weft__ring_stream *r)
{
	uint64_t bytes = 0;
	for (size_t i = 0; i < s->count; i++)
		if (!s->guests || s->list[i]->ring.pid == r->ring.pid)
			bytes += weft__runs_stream_file_disk_bytes(&s->list[i]->file);
	return bytes;
}

/* True if one more piece would exceed the limit. Then all streams of the run end, except one to
 * standard output without --max-size, because it fills no disk of ours. */
bool weft__runs_stream_is_full(struct weft__runs_stream *s, const struct weft__ring_stream *r)
{
	if (strcmp(r->file.name, "-") == 0 && !s->options.has_max)
		return false;
	uint64_t most = s->options.max_bytes;
	char text[32];
	if (!most || s->is_full ||
		disk_bytes(s, r) + weft__runs_stream_most_bytes(s) + LIMIT_RESERVE_BYTES <= most)
		return s->is_full;
	s->is_full = !s->guests;
	weft__runs_report(
		"%s%sthe stream has reached its limit of %s, so it lacks later events; --max-size sets the limit",
		r->guest ? r->path : "", r->guest ? ": " : "", weft__runs_size_text(most, text));
	return true;
}
