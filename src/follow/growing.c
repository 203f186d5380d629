/* SPDX-License-Identifier: ISC
 *
 * Opens traces that grow: weft_input_open_growing(). A single ring is followed, which gives its
 * events at once. Of several parts, each ring is read as a stream, so that all have decoders, which
 * are merged.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <weft/follow.h>
#include <weft/guest.h>
#include <weft/source.h>
#include <weft/stream.h>

#include "base/export.h"
#include "base/options.h"
#include "follow/growing.h"
#include "growing/growing.h"

/* Large enough for efficient packets, small enough for low latency. */
#define PIECE_BYTES ((size_t)64 << 10)

/* Each part takes a descriptor, of which a process may have 1024. */
#define PARTS_MAX 512

static const uint64_t LOOK_NS = 50000000;      /* from one look at files to the next */
static const uint64_t RING_LOOK_NS = 20000000; /* and at several rings */
static const uint64_t OPEN_NS = 80000000;      /* as often as pictures are made */

/* ---- The clock ---- */

static double now_ms(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

int weft__follow_sleep(uint64_t timeout_ns, uint64_t most_ns)
{
	const uint64_t ns = timeout_ns < most_ns ? timeout_ns : most_ns;
	const struct timespec pause = {0, (long)ns};
	nanosleep(&pause, NULL);
	return 0;
}

static int wait_for_bytes(struct weft_growing *g, uint64_t timeout_ns)
{
	return weft__follow_sleep(timeout_ns, g->is_program ? RING_LOOK_NS : LOOK_NS);
}

/* ---- Files ---- */

struct file {
	const char *path; /* of the part, which outlives this */
	struct weft_source_growth *growth;
};

static int next_of_file(void *context, const void **ret_bytes, size_t *ret_size)
{
	const struct file *file = context;
	int status = weft_source_growth_next(file->growth, ret_bytes, ret_size);
	return status == WEFT_END ? WEFT_ERROR_STATE : status;
}

static uint64_t size_of_file(void *context)
{
	const struct file *file = context;
	return weft_source_growth_size(file->growth);
}

static double age_of_file(void *context)
{
	const struct file *file = context;
	struct stat status;
	struct timespec now;
	if (stat(file->path, &status) != 0)
		return 0;
	clock_gettime(CLOCK_REALTIME, &now);
	double age_ms = (double)(now.tv_sec - status.st_mtim.tv_sec) * 1e3 +
					(double)(now.tv_nsec - status.st_mtim.tv_nsec) / 1e6;
	return age_ms > 0 ? age_ms : 0;
}

static void close_file(void *context)
{
	struct file *file = context;
	weft_source_growth_close(file->growth);
	free(file);
}

/* ---- Rings ---- */

static int next_of_stream(void *stream, const void **ret_bytes, size_t *ret_size)
{
	return weft_stream_next(stream, ret_bytes, ret_size);
}

static void close_stream(void *stream)
{
	weft_stream_close(stream);
}

static uint64_t mark_of_follow(const void *follow)
{
	return weft_follow_mark(follow);
}

static int wait_for_follow(struct weft_growing *g, uint64_t timeout_ns)
{
	int status = weft_follow_wait(g->events.source.context, timeout_ns);
	return status < 0 ? status : 0;
}

static void close_follow(void *follow)
{
	weft_follow_close(follow);
}

/* A descriptor of a ring that is to be checked, -1 with errno. */
static int open_ring(const struct weft_growing_spec *spec, size_t number)
{
	struct weft_ring_check check = {.reason = ""};
	int fd =
		weft_source_open_ring(spec->paths[number], spec->pids[number], WEFT_RING_WRITE, &check);
	if (spec->ret_check)
		*spec->ret_check = check;
	return fd;
}

static int close_after(int fd, int error)
{
	int reason = errno;
	close(fd);
	errno = reason;
	return error;
}

static pid_t pid_of(const struct weft_growing_spec *spec, size_t number)
{
	return spec->pids ? spec->pids[number] : 0;
}

static int open_follow(const struct weft_growing_spec *spec, struct weft_follow **ret_follow)
{
	if (spec->guest)
		return weft_follow_open_guest(spec->guest, ret_follow);
	if (!pid_of(spec, 0))
		return weft_follow_open(spec->paths[0], ret_follow);
	int fd = open_ring(spec, 0);
	return fd < 0 ? WEFT_ERROR_SYSTEM
				  : close_after(fd, weft_follow_open_descriptor(fd, ret_follow));
}

static int follow(struct weft_growing *g, const struct weft_growing_spec *spec)
{
	struct weft_follow *follow;
	int error = open_follow(spec, &follow);
	if (error)
		return error;
	g->events =
		(struct weft__growing_events){weft_follow_source(follow), mark_of_follow, close_follow};
	g->system.wait = wait_for_follow;
	g->is_program = true;
	return 0;
}

/* ---- Parts ---- */

static int add_file(struct weft_growing *g)
{
	struct weft__growing_part *part = weft__growing_last(g);
	struct file *file = calloc(1, sizeof(*file));
	if (!file)
		return WEFT_ERROR_MEMORY;
	file->path = part->name;
	part->bytes =
		(struct weft__growing_bytes){next_of_file, size_of_file, age_of_file, close_file, file};
	return weft_source_growth_open(file->path, &file->growth);
}

static int add_ring(struct weft_growing *g, const struct weft_growing_spec *spec, size_t number)
{
	struct weft_stream *stream;
	int fd = open_ring(spec, number);
	int error = fd < 0 ? WEFT_ERROR_SYSTEM
					   : close_after(fd, weft_stream_open_descriptor(fd, PIECE_BYTES, &stream));
	if (error)
		return error;
	weft_stream_take_open(stream, OPEN_NS);
	weft__growing_last(g)->bytes = (struct weft__growing_bytes){
		.next = next_of_stream, .close = close_stream, .context = stream};
	return 0;
}

static int add_parts(struct weft_growing *g, const struct weft_growing_spec *spec)
{
	int error = spec->count > PARTS_MAX ? WEFT_ERROR_LIMIT : 0;
	g->system.now_ms = now_ms;
	g->system.wait = wait_for_bytes;
	for (size_t i = 0; i < spec->count && !error; i++) {
		const struct weft_growing_fed part = {
			.name = spec->paths[i], .hz = spec->hz, .is_program = pid_of(spec, i) != 0};
		error = weft_growing_add(g, &part);
		if (!error)
			error = pid_of(spec, i) ? add_ring(g, spec, i) : add_file(g);
	}
	return error ? error : weft_growing_start(g);
}

static int open_only(struct weft_growing *g, const struct weft_growing_spec *spec)
{
	const void *pages;
	size_t size;
	if (spec->guest && weft_guest_bytes(spec->guest, &pages, &size))
		return weft__follow_grow_pages(g, spec->guest);
	if (!spec->guest && !pid_of(spec, 0) && spec->what == WEFT_GROWING_FILES)
		return add_parts(g, spec);
	int error = follow(g, spec);
	bool may_be_file = !spec->guest && !pid_of(spec, 0) && spec->what == WEFT_GROWING_ANY;
	bool is_other = error == WEFT_ERROR_FORMAT || error == WEFT_ERROR_EMPTY;
	return is_other && may_be_file ? add_parts(g, spec) : error;
}

WEFT__EXPORT int weft_input_open_growing(
	const struct weft_growing_spec *spec, struct weft_growing **ret_growing)
{
	struct weft_growing_spec known;
	struct weft_growing *g;
	WEFT__OPTIONS_COPY(&known, spec);
	if (!known.guest && known.count == 0)
		return WEFT_ERROR_ARGUMENT;
	int error = weft_growing_create(&g);
	if (error)
		return error;
	g->is_patient = known.is_patient;
	error = known.guest || known.count == 1 ? open_only(g, &known) : add_parts(g, &known);
	if (error) {
		int reason = errno;
		weft_growing_close(g);
		errno = reason;
	} else {
		*ret_growing = g;
	}
	return error;
}
