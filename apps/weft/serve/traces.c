/* SPDX-License-Identifier: ISC
 *
 * Operands are scanned at each request, since directories grow and programs start and end. An id is
 * a hash of the operand's number and the name in it; an id that no trace has finds nothing,
 * whatever it contains.
 */
#include "serve.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <weft/buffer.h>
#include <weft/decoder.h>
#include <weft/source.h>

#include "cli/cli.h"
#include "cli/output.h"
#include "tail/xentrace.h"

#include "abi/buffer_abi.h"
#include "runs/directory/directory.h"
#include "runs/directory/find.h"
#include "runs/guests/guest.h"
#include "runs/memory/operand.h"
#include "runs/message.h"

#define WHOLE_BYTES ((uint64_t)1 << 30)
#define PART_SHARE  16 /* of the largest trace that is read as a whole */

/* The saved trace of a ring. */
struct saved {
	struct saved *next;
	char id[SERVE_ID_BYTES + 1];
	char file[PATH_MAX];
};

static struct {
	char **operands;
	int count;
	uint64_t whole_bytes;  /* the largest trace that a page reads as a whole */
	struct saved *saved;   /* in the order of serve_traces_add() */
	char own[PATH_MAX];    /* the run directory of our own program; "": none */
	pthread_mutex_t mutex; /* only one thread at a time may search for rings */
} served = {.whole_bytes = WHOLE_BYTES, .mutex = PTHREAD_MUTEX_INITIALIZER};

static void make_id(const char *operand, const char *name, char ret_id[SERVE_ID_BYTES + 1])
{
	uint64_t hash = 14695981039346656037u; /* FNV-1a */
	const char *const parts[] = {operand, name};
	for (unsigned i = 0; i < 2; i++) {
		for (const char *at = parts[i]; *at; at++)
			hash = (hash ^ (unsigned char)*at) * 1099511628211u;
		hash = (hash ^ 256) * 1099511628211u;
	}
	snprintf(ret_id, SERVE_ID_BYTES + 1, "%016llx", (unsigned long long)hash);
}

static uint64_t nanoseconds(struct timespec time)
{
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

/* Takes the boot and the buffer from the header of weft's format. */
static void take_identity(const char *bytes, size_t size, struct serve_trace *trace)
{
	struct weft_abi_buffer header;
	if (size < sizeof(header))
		return;
	memcpy(&header, bytes, sizeof(header));
	if (memcmp(header.magic, WEFT_ABI_MAGIC, sizeof(header.magic)) != 0)
		return;
	trace->has_parts = true;
	memcpy(trace->boot_id, header.boot_id, sizeof(trace->boot_id));
	memcpy(trace->uuid, header.uuid, sizeof(trace->uuid));
}

/* True if the first bytes look like a trace. They may end before its first packet, which counts as
 * damage. The content of a compressed file is not checked. */
static bool look_at_start(int fd, const char *name, struct serve_trace *trace)
{
	static char bytes[65536]; /* protected by the mutex */
	struct weft_decoder *decoder;
	ssize_t size = pread(fd, bytes, sizeof(bytes), 0);
	if (size <= 0)
		return false;
	if (size >= 4 && memcmp(bytes, "\x28\xb5\x2f\xfd", 4) == 0)
		return strstr(name, ".weft") != NULL;
	take_identity(bytes, (size_t)size, trace);
	if (weft_decoder_create(&decoder))
		return false;
	int error = weft_decoder_feed_borrowed(decoder, bytes, (size_t)size);
	if (!error)
		error = weft_decoder_finish(decoder);
	weft_decoder_destroy(decoder);
	return !error || error == WEFT_ERROR_DAMAGED;
}

static void describe_file(const struct stat *status, struct serve_trace *trace)
{
	trace->size_bytes = (uint64_t)status->st_size;
	trace->modified_ns = nanoseconds(status->st_mtim);
}

/* Visits an entry. The id is compared first, because checking for a trace is expensive. */
static bool visit_entry(int directory, const char *operand, const char *name, const char *wanted,
	serve_visit *visitor, void *context)
{
	struct serve_trace trace = {.is_entry = true};
	struct stat status;
	make_id(operand, name, trace.id);
	if (wanted && strcmp(trace.id, wanted) != 0)
		return true;
	int fd = openat(directory, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return true;
	bool is_ours =
		fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && look_at_start(fd, name, &trace);
	close(fd);
	if (!is_ours)
		return true;
	describe_file(&status, &trace);
	snprintf(trace.name, sizeof(trace.name), "%s", name);
	snprintf(trace.path, sizeof(trace.path), "%.*s/%s", PATH_MAX - 1, operand, name);
	trace.is_growing = tail_xentrace_fits(trace.path);
	return visitor(context, &trace);
}

static int by_name(const struct dirent **left, const struct dirent **right)
{
	return strcmp((*left)->d_name, (*right)->d_name);
}

static bool visit_directory(
	const char *operand, const char *wanted, serve_visit *visitor, void *context)
{
	struct dirent **entries;
	bool goes_on = true;
	int directory = open(operand, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int count = directory < 0 ? -1 : scandirat(directory, ".", &entries, NULL, by_name);
	for (int i = 0; i < count; i++) {
		if (goes_on && entries[i]->d_name[0] != '.')
			goes_on = visit_entry(directory, operand, entries[i]->d_name, wanted, visitor, context);
		free(entries[i]);
	}
	if (count >= 0)
		free(entries);
	if (directory >= 0)
		close(directory);
	return goes_on;
}

static bool visit_file(
	const char *file, const char *id, const char *wanted, serve_visit *visitor, void *context)
{
	struct serve_trace trace = {0};
	struct stat status;
	const char *slash = strrchr(file, '/');
	if ((wanted && strcmp(id, wanted) != 0) || stat(file, &status) || !S_ISREG(status.st_mode))
		return true;
	int fd = open(file, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd >= 0) {
		(void)look_at_start(fd, file, &trace); /* what the user has named is served in any case */
		close(fd);
	}
	memcpy(trace.id, id, sizeof(trace.id));
	describe_file(&status, &trace);
	snprintf(trace.name, sizeof(trace.name), "%s", slash ? slash + 1 : file);
	snprintf(trace.path, sizeof(trace.path), "%s", file);
	trace.is_growing = tail_xentrace_fits(file);
	return visitor(context, &trace);
}

static bool visit_operand(
	const char *operand, const char *wanted, serve_visit *visitor, void *context)
{
	char id[SERVE_ID_BYTES + 1];
	struct stat status;
	if (stat(operand, &status) == 0 && S_ISDIR(status.st_mode))
		return visit_directory(operand, wanted, visitor, context);
	make_id(operand, "", id);
	return visit_file(operand, id, wanted, visitor, context);
}

/* The same of a ring's header. */
static void take_ring_identity(const char *path, pid_t pid, struct serve_trace *trace)
{
	char header[sizeof(struct weft_abi_buffer)];
	struct weft_ring_check check;
	int fd = weft_source_open_ring(path, pid, WEFT_RING_READ, &check);
	ssize_t size = fd < 0 ? -1 : pread(fd, header, sizeof(header), 0);
	if (fd >= 0)
		close(fd);
	if (size > 0)
		take_identity(header, (size_t)size, trace);
}

/* True for a run that belongs to what is served: that of our own program, or one whose traces will
 * be saved in an operand. */
static bool is_asked_for(const char *run)
{
	bool is_asked = served.own[0] && strcmp(run, served.own) == 0;
	for (int i = 0; i < served.count && !is_asked; i++)
		is_asked = weft__runs_directory_saves_in(run, served.operands[i]);
	return is_asked;
}

static void describe_run(const char *ring, struct serve_trace *trace)
{
	char run[PATH_MAX];
	const char *slash = strrchr(ring, '/');
	snprintf(run, sizeof(run), "%.*s", slash ? (int)(slash + 1 - ring) : 0, ring);
	if (!is_asked_for(run))
		make_id(run, "", trace->run);
}

/* The number of events that were recorded, whether or not the ring still has them. */
static uint64_t recorded(const struct weft_buffer_summary *summary)
{
	uint64_t events = summary->events;
	for (unsigned i = 0; i < WEFT_LOSS_CAUSES; i++)
		events += summary->losses[i];
	return events;
}

static bool is_saved(const char *id)
{
	const struct saved *saved = served.saved;
	while (saved && strcmp(saved->id, id) != 0)
		saved = saved->next;
	return saved;
}

static bool visit_ring(
	const struct weft__runs_found *ring, const char *wanted, serve_visit *visitor, void *context)
{
	struct serve_trace trace = {.pid = (int)ring->ring.pid, .state = "ended"};
	struct weft_buffer_summary summary;
	struct stat status;
	size_t size;
	make_id(ring->path, "", trace.id);
	if ((wanted && strcmp(trace.id, wanted) != 0) || is_saved(trace.id))
		return true;
	if (!weft__runs_ring_summarize(ring->path, ring->ring.pid, &summary, &size) ||
		stat(ring->path, &status))
		return true;
	describe_file(&status, &trace);
	describe_run(ring->path, &trace);
	take_ring_identity(ring->path, ring->ring.pid, &trace);
	trace.recorded = recorded(&summary);
	if (ring->ring.is_running)
		trace.state = "running";
	else if (summary.is_stopped && ring->is_alive)
		trace.state = "stopped";
	snprintf(trace.name, sizeof(trace.name), "%s", summary.program);
	snprintf(trace.path, sizeof(trace.path), "%s", ring->path);
	return visitor(context, &trace);
}

static bool visit_rings(const char *wanted, serve_visit *visitor, void *context)
{
	struct weft__runs_list rings;
	bool goes_on = true;
	if (!weft__runs_find(&rings))
		return true;
	for (size_t i = 0; goes_on && i < rings.count; i++)
		goes_on = visit_ring(&rings.list[i], wanted, visitor, context);
	weft__runs_list_finish(&rings);
	return goes_on;
}

static bool visit_all(const char *wanted, serve_visit *visitor, void *context)
{
	bool goes_on = true;
	pthread_mutex_lock(&served.mutex);
	for (int i = 0; goes_on && i < served.count; i++)
		goes_on = visit_operand(served.operands[i], wanted, visitor, context);
	for (const struct saved *saved = served.saved; goes_on && saved; saved = saved->next)
		goes_on = visit_file(saved->file, saved->id, wanted, visitor, context);
	goes_on = goes_on && visit_rings(wanted, visitor, context);
	pthread_mutex_unlock(&served.mutex);
	return goes_on;
}

bool serve_traces_init(char **operands, int count)
{
	for (int i = 0; i < count; i++) {
		struct stat status;
		if (weft__runs_guest_domain(operands[i])) {
			const char *guest = weft__runs_shown(operands[i]);
			cli_error("%s: guests of Xen are served from a file: `weft collect %s -o FILE` saves "
					  "one while it runs, and `weft serve FILE` shows it",
				guest, guest);
			return false;
		}
		if (weft__runs_is_image(operands[i])) {
			const char *ring = weft__runs_shown(operands[i]);
			cli_error("%s: a ring in memory is served from a file: `weft cut %s -o FILE` writes it",
				ring, ring);
			return false;
		}
		if (stat(operands[i], &status) != 0) {
			cli_error("%s: %s", operands[i], strerror(errno));
			return false;
		}
		if (!S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode)) {
			cli_error("%s: neither a file nor a directory", operands[i]);
			return false;
		}
	}
	served.operands = operands;
	served.count = count;
	return true;
}

void serve_traces_ring_id(const char *ring, char ret_id[SERVE_ID_BYTES + 1])
{
	make_id(ring, "", ret_id);
}

void serve_traces_add(const char *file, const char *ring)
{
	struct saved *saved = calloc(1, sizeof(*saved));
	if (!saved)
		return; /* without memory it is served as a plain file */
	make_id(ring, "", saved->id);
	snprintf(saved->file, sizeof(saved->file), "%s", file);
	pthread_mutex_lock(&served.mutex);
	struct saved **end = &served.saved;
	while (*end)
		end = &(*end)->next;
	*end = saved;
	pthread_mutex_unlock(&served.mutex);
}

bool serve_traces_each(serve_visit *visitor, void *context)
{
	return visit_all(NULL, visitor, context);
}

void serve_traces_own(const char *run)
{
	pthread_mutex_lock(&served.mutex);
	snprintf(served.own, sizeof(served.own), "%s", run);
	pthread_mutex_unlock(&served.mutex);
}

struct search {
	struct serve_trace *trace;
	bool is_found;
};

static bool take_trace(void *context, const struct serve_trace *trace)
{
	struct search *search = context;
	*search->trace = *trace;
	search->is_found = true;
	return false;
}

bool serve_traces_find(const char *id, struct serve_trace *ret_trace)
{
	struct search search = {.trace = ret_trace};
	if (strlen(id) == SERVE_ID_BYTES)
		visit_all(id, take_trace, &search);
	return search.is_found;
}

void serve_traces_whole(uint64_t bytes)
{
	served.whole_bytes = bytes;
}

uint64_t serve_traces_part_bytes(const struct serve_trace *trace)
{
	const bool is_large =
		trace->has_parts && !trace->state && trace->size_bytes > served.whole_bytes;
	return is_large ? served.whole_bytes / PART_SHARE : 0;
}

/* Copies a ring into a nameless file, which disappears with its descriptor. */
static int open_ring(const struct serve_trace *trace)
{
	struct weft_ring_check check;
	struct weft_source *source;
	size_t size;
	int ring = weft_source_open_ring(trace->path, trace->pid, WEFT_RING_READ, &check);
	int error = ring < 0 ? WEFT_ERROR_SYSTEM : weft_source_open_descriptor(ring, 0, &source);
	if (ring >= 0)
		close(ring);
	if (error)
		return -1;
	const void *bytes = weft_source_bytes(source, &size);
	int fd = memfd_create("weft-ring", MFD_CLOEXEC);
	void *copy = MAP_FAILED;
	bool good = false;
	if (fd >= 0 && size && ftruncate(fd, (off_t)size) == 0)
		copy = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (copy != MAP_FAILED) {
		good = weft_buffer_copy(copy, bytes, size) == 0;
		munmap(copy, size);
	}
	if (!good && fd >= 0) {
		close(fd);
		fd = -1;
	}
	weft_source_close(source);
	return fd;
}

int serve_traces_open(const struct serve_trace *trace, struct timespec *ret_modified)
{
	struct stat status;
	const int flags = O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
	int fd = trace->state ? open_ring(trace)
						  : open(trace->path, trace->is_entry ? flags | O_NOFOLLOW : flags);
	if (fd < 0)
		return -1;
	if (fstat(fd, &status) || !S_ISREG(status.st_mode) ||
		(!trace->state && (uint64_t)status.st_size < trace->size_bytes)) {
		close(fd);
		return -1;
	}
	*ret_modified = status.st_mtim;
	return fd;
}
