/* SPDX-License-Identifier: ISC
 *
 * See ran.h. Samples are collected until there are some megabytes of stacks of a process, or what
 * it has mapped changes; then they are a batch, and a child unwinds them while the program goes on.
 * Of a long run, only each second sample is kept, then each fourth, and so on.
 */
#include "ran.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "abi/buffer_abi.h"
#include "cli/cli.h"
#include "ran_parts.h"
#include "runs/saving/snapshots.h"

#define BATCH_BYTES   ((size_t)16 << 20)  /* of stacks */
#define WAITING_BYTES ((size_t)256 << 20) /* of stacks that no child has unwound yet */
#define BATCH_COUNT   2048
#define RUNNING_MAX   2 /* children */
#define FRESH_MAX     16384

/* For readers of running programs, samples of this age are unwound before a batch is full, as long
 * as that takes at most a hundredth of the time, and a tenth of a second at first. */
#define OLD_NS     UINT64_C(1000000000)
#define SHARE      100
#define AT_ONCE_NS UINT64_C(100000000)

/* A process of the run. Its number may be another one's later. */
struct ran_process {
	struct ran_process *next; /* an earlier one */
	pid_t pid;
	struct ran_batch open; /* what it has mapped now, and samples of that */
	size_t open_bytes;
	struct ran_functions functions;
	struct weft_buffer_ran *list;
	uint32_t count;
	uint32_t stride, skipped;      /* one of `stride` samples is kept */
	struct weft_buffer_ran *fresh; /* the samples that its ring does not have yet */
	uint32_t fresh_count, fresh_room;
};

struct queued_batch {
	struct queued_batch *next;
	struct ran_process *process;
	struct ran_batch batch;
	bool is_running;
};

struct record_ran {
	struct ran_kernel *kernel; /* NULL: there are no samples, for a reason */
	char denied[RAN_DENIED_BYTES];
	unsigned hz;
	struct ran_process *processes;
	struct queued_batch *queue; /* the next one first */
	unsigned running;
	size_t bytes; /* of stacks */
	uint64_t lost;
	struct weft__runs_sampler *sampler;
	time_t since;
	uint64_t start_ns, used_ns; /* the processor time of all children */
};

static uint64_t now_ns(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* ---- Processes ---- */

static struct ran_process *find_process(struct record_ran *ran, pid_t pid)
{
	struct ran_process *process = ran->processes;
	while (process && process->pid != pid)
		process = process->next;
	return process;
}

/* It may have ended; then its user is the one that it was known to have, or ours. */
static uid_t user_of(pid_t pid, uid_t known)
{
	char path[32];
	struct stat status;
	snprintf(path, sizeof(path), "/proc/%d", (int)pid);
	return stat(path, &status) == 0 ? status.st_uid : known;
}

static struct ran_process *add_process(struct record_ran *ran, pid_t pid)
{
	struct ran_process *process = calloc(1, sizeof(*process));
	if (!process)
		return NULL;
	process->pid = process->open.pid = pid;
	process->open.user = user_of(pid, geteuid());
	process->open.since = ran->since;
	process->stride = 1;
	process->next = ran->processes;
	return ran->processes = process;
}

static struct ran_process *get_process(struct record_ran *ran, pid_t pid)
{
	struct ran_process *process = find_process(ran, pid);
	return process ? process : add_process(ran, pid);
}

/* ---- Mappings ---- */

static void add_mapping(struct ran_batch *to, const struct ran_mapping *mapping)
{
	struct ran_mapping *more =
		realloc(to->mappings, (to->mapping_count + (size_t)1) * sizeof(*more));
	char *path = strdup(mapping->path);
	if (more)
		to->mappings = more;
	if (!more || !path) {
		free(path);
		return;
	}
	more[to->mapping_count] = *mapping;
	more[to->mapping_count++].path = path;
}

static void copy_mappings(struct ran_batch *to, const struct ran_batch *from)
{
	for (uint32_t i = 0; i < from->mapping_count; i++)
		add_mapping(to, &from->mappings[i]);
}

static bool overlaps(const struct ran_batch *batch, const struct ran_event *mapped)
{
	for (uint32_t i = 0; i < batch->mapping_count; i++)
		if (batch->mappings[i].start < mapped->address + mapped->length &&
			mapped->address < batch->mappings[i].end)
			return true;
	return false;
}

static void drop_overlapping(struct ran_batch *batch, const struct ran_event *mapped)
{
	uint32_t kept = 0;
	for (uint32_t i = 0; i < batch->mapping_count; i++) {
		struct ran_mapping *mapping = &batch->mappings[i];
		if (mapping->start < mapped->address + mapped->length && mapped->address < mapping->end)
			free(mapping->path);
		else
			batch->mappings[kept++] = *mapping;
	}
	batch->mapping_count = kept;
}

/* ---- Batches ---- */

/* Samples that are no more to be had are lost. */
static void end_batch(struct record_ran *ran, struct ran_process *process, bool keeps_mappings)
{
	struct queued_batch **last = &ran->queue, *queued = calloc(1, sizeof(*queued));
	struct ran_batch batch = process->open;
	batch.user = user_of(batch.pid, batch.user);
	process->open = (struct ran_batch){.pid = batch.pid, .user = batch.user, .since = batch.since};
	process->open_bytes = 0;
	if (keeps_mappings)
		copy_mappings(&process->open, &batch);
	if (!batch.count || !queued) {
		ran->lost += batch.count;
		free(queued);
		ran_batch_finish(&batch);
		return;
	}
	while (*last)
		last = &(*last)->next;
	queued->process = process;
	queued->batch = batch;
	*last = queued;
}

/* Halves the samples. */
static void thin_out(struct ran_process *process)
{
	uint32_t kept = 0;
	for (uint32_t i = 1; i < process->count; i += 2)
		process->list[kept++] = process->list[i];
	process->count = kept;
	process->stride *= 2;
	process->skipped = 0;
}

static void keep(struct ran_process *process, const struct weft_buffer_ran *sample)
{
	if (!process->list && !(process->list = malloc(WEFT_BUFFER_RAN_MAX * sizeof(*process->list))))
		return;
	if (process->count == WEFT_BUFFER_RAN_MAX)
		thin_out(process);
	if (++process->skipped < process->stride)
		return;
	process->skipped = 0;
	process->list[process->count++] = *sample;
}

/* A process that does not record has no ring: of its samples, only the newest are kept. */
static void keep_fresh(struct ran_process *process, const struct weft_buffer_ran *sample)
{
	if (process->fresh_count == FRESH_MAX)
		process->fresh_count = 0;
	if (process->fresh_count == process->fresh_room) {
		const uint32_t room = process->fresh_room ? 2 * process->fresh_room : 64;
		struct weft_buffer_ran *more = realloc(process->fresh, room * sizeof(*more));
		if (!more)
			return;
		process->fresh = more;
		process->fresh_room = room;
	}
	process->fresh[process->fresh_count++] = *sample;
}

static void take_results(struct record_ran *ran, struct queued_batch *queued)
{
	struct ran_batch *batch = &queued->batch;
	for (uint32_t i = 0; i < batch->count; i++) {
		const struct ran_event *event = batch->samples[i];
		const struct weft_buffer_ran sample = {
			.monotonic_ns = event->time_ns,
			.thread = (uint32_t)event->tid,
			.code = batch->results ? ran_batch_functions(batch, i, &queued->process->functions) : 0,
		};
		ran->bytes -= event->size;
		keep(queued->process, &sample);
		keep_fresh(queued->process, &sample);
	}
	ran->used_ns += batch->used_ns;
	ran_batch_finish(batch);
}

/* Starts children, and takes what they have found. A batch whose child cannot be started has
 * samples without functions. */
static void work(struct record_ran *ran, bool must_wait)
{
	for (struct queued_batch *q = ran->queue; q && ran->running < RUNNING_MAX; q = q->next) {
		if (q->is_running)
			continue;
		q->is_running = true;
		ran->running++;
		ran_batch_start(&q->batch);
	}
	for (struct queued_batch **at = &ran->queue; *at;) {
		struct queued_batch *q = *at;
		if (!q->is_running || !ran_batch_has_ended(&q->batch, must_wait)) {
			at = &q->next;
			continue;
		}
		take_results(ran, q);
		ran->running--;
		*at = q->next;
		free(q);
	}
}

/* ---- Events ---- */

static void take_sample(struct record_ran *ran, struct ran_event *event)
{
	struct ran_process *process = get_process(ran, event->pid);
	struct ran_batch *open = process ? &process->open : NULL;
	struct ran_event **more =
		open ? realloc(open->samples, (open->count + (size_t)1) * sizeof(*more)) : NULL;
	if (more)
		open->samples = more;
	if (!more || ran->bytes + event->size > WAITING_BYTES) {
		ran->lost++;
		free(event);
		return;
	}
	more[open->count++] = event;
	ran->bytes += event->size;
	process->open_bytes += event->size;
	if (process->open_bytes >= BATCH_BYTES || open->count == BATCH_COUNT)
		end_batch(ran, process, true);
}

static void take_mapped(struct record_ran *ran, const struct ran_event *event)
{
	struct ran_process *process = get_process(ran, event->pid);
	const struct ran_mapping mapping = {event->address, event->address + event->length,
		event->offset, event->inode, (char *)(uintptr_t)event->bytes};
	if (!process)
		return;
	if (overlaps(&process->open, event)) {
		end_batch(ran, process, true);
		drop_overlapping(&process->open, event);
	}
	if (event->bytes[0] == '/' && event->bytes[1] != '/')
		add_mapping(&process->open, &mapping);
}

static void take_forked(struct record_ran *ran, const struct ran_event *event)
{
	const struct ran_process *parent = find_process(ran, event->parent);
	struct ran_process *process = add_process(ran, event->pid);
	if (process && parent)
		copy_mappings(&process->open, &parent->open);
}

static void take_event(void *context, struct ran_event *event)
{
	struct record_ran *ran = context;
	struct ran_process *process;
	switch (event->type) {
	case RAN_SAMPLE:
		take_sample(ran, event);
		return;
	case RAN_MAPPED:
		take_mapped(ran, event);
		break;
	case RAN_FORKED:
		take_forked(ran, event);
		break;
	case RAN_EXECUTED:
		process = get_process(ran, event->pid);
		if (process)
			end_batch(ran, process, false);
		break;
	}
	free(event);
}

/* ---- Rings of running programs ---- */

static int by_time(const void *left, const void *right)
{
	const struct weft_buffer_ran *l = left, *r = right;
	return l->monotonic_ns < r->monotonic_ns ? -1 : l->monotonic_ns > r->monotonic_ns;
}

static void add_to_ring(
	struct record_ran *ran, struct weft__runs_snapshots *snapshots, struct ran_process *process)
{
	struct weft_buffer_sampling *sampling = &ran->sampler->sampling;
	if (!process->fresh_count)
		return;
	qsort(process->fresh, process->fresh_count, sizeof(*process->fresh), by_time);
	sampling->lost = record_ran_lost(ran);
	struct weft_buffer_sampling samples = *sampling;
	samples.is_growing = true;
	samples.codes = process->functions.list;
	samples.code_count = process->functions.count;
	samples.list = process->fresh;
	samples.count = process->fresh_count;
	if (weft__runs_snapshots_add_samples(snapshots, process->pid, &samples))
		process->fresh_count = 0;
}

static void add_to_rings(struct record_ran *ran, struct weft__runs_snapshots *snapshots)
{
	for (struct ran_process *process = ran->processes; process; process = process->next)
		add_to_ring(ran, snapshots, process);
}

static void end_old_batches(struct record_ran *ran)
{
	const uint64_t now = now_ns();
	if (ran->used_ns > (now - ran->start_ns) / SHARE + AT_ONCE_NS)
		return;
	for (struct ran_process *process = ran->processes; process; process = process->next)
		if (process->open.count && now >= process->open.samples[0]->time_ns + OLD_NS)
			end_batch(ran, process, true);
}

static bool is_queued(const struct record_ran *ran, const struct ran_process *process)
{
	for (const struct queued_batch *q = ran->queue; q; q = q->next)
		if (q->process == process)
			return true;
	return false;
}

/* See struct weft__runs_sampler. */
static bool add_all(
	void *context, struct weft__runs_snapshots *snapshots, pid_t pid, bool has_ended)
{
	struct record_ran *ran = context;
	ran_kernel_take(ran->kernel, take_event, ran);
	struct ran_process *process = find_process(ran, pid);
	if (!process)
		return true;
	if (process->open.count)
		end_batch(ran, process, true);
	do
		work(ran, !has_ended);
	while (!has_ended && is_queued(ran, process));
	add_to_ring(ran, snapshots, process);
	return !is_queued(ran, process);
}

/* ---- The run ---- */

struct record_ran *record_ran_start(pid_t process, unsigned hz, struct weft__runs_sampler *sampler)
{
	struct record_ran *ran = calloc(1, sizeof(*ran));
	if (!ran)
		return NULL;
	ran->hz = hz;
	ran->sampler = sampler;
	ran->start_ns = now_ns();
	ran->since = time(NULL);
	ran->kernel = ran_kernel_open(process, hz, ran->denied);
	if (!ran->kernel) {
		cli_error("--samples: the program runs without: %s", ran->denied);
		sampler->sampling.denied = ran->denied;
		return ran;
	}
	sampler->sampling.has_kernel = ran_kernel_has_kernel(ran->kernel);
	sampler->add = add_all;
	sampler->context = ran;
	return ran;
}

void record_ran_look(struct record_ran *ran, struct weft__runs_snapshots *snapshots)
{
	if (!ran->kernel)
		return;
	ran_kernel_take(ran->kernel, take_event, ran);
	end_old_batches(ran);
	work(ran, false);
	add_to_rings(ran, snapshots);
}

void record_ran_end(struct record_ran *ran, struct weft__runs_snapshots *snapshots)
{
	if (!ran->kernel)
		return;
	ran_kernel_take(ran->kernel, take_event, ran);
	for (struct ran_process *process = ran->processes; process; process = process->next)
		end_batch(ran, process, true);
	while (ran->queue)
		work(ran, true);
	add_to_rings(ran, snapshots);
	for (struct ran_process *process = ran->processes; process; process = process->next)
		if (process->count)
			qsort(process->list, process->count, sizeof(*process->list), by_time);
}

uint64_t record_ran_lost(const struct record_ran *ran)
{
	return ran->kernel ? ran->lost + ran_kernel_lost(ran->kernel) : 0;
}

bool record_ran_is_denied(const struct record_ran *ran)
{
	return !ran->kernel;
}

/* ---- Saving ---- */

/* The bytes of the header are stored last, so that readers never see incomplete tables. */
static bool replace_tables(int fd, const void *tables, uint64_t size, uint64_t offset)
{
	const uint64_t sizes[] = {0, size};
	const off_t at = offsetof(struct weft_abi_buffer, added_bytes);
	return pwrite(fd, &sizes[0], sizeof(sizes[0]), at) == (ssize_t)sizeof(sizes[0]) &&
		   ftruncate(fd, (off_t)offset) == 0 &&
		   pwrite(fd, tables, size, (off_t)offset) == (ssize_t)size &&
		   pwrite(fd, &offset, sizeof(offset), offsetof(struct weft_abi_buffer, added_offset)) ==
			   (ssize_t)sizeof(offset) &&
		   pwrite(fd, &sizes[1], sizeof(sizes[1]), at) == (ssize_t)sizeof(sizes[1]);
}

/* The whole file; NULL: it cannot be read. */
static void *read_file(int fd, size_t *ret_size)
{
	struct stat status;
	if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode) ||
		status.st_size < (off_t)sizeof(struct weft_abi_buffer))
		return NULL;
	*ret_size = (size_t)status.st_size;
	void *bytes = malloc(*ret_size);
	if (bytes && pread(fd, bytes, *ret_size, 0) == (ssize_t)*ret_size)
		return bytes;
	free(bytes);
	return NULL;
}

static void add_tables(const struct weft_buffer_sampling *sampling, const char *file)
{
	void *tables = NULL;
	size_t size = 0, file_bytes;
	uint64_t offset;
	int fd = open(file, O_RDWR | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	void *bytes = fd >= 0 ? read_file(fd, &file_bytes) : NULL;
	if (bytes &&
		weft_buffer_make_samples(bytes, file_bytes, sampling, &tables, &size, &offset) == 0 &&
		tables && !replace_tables(fd, tables, size, offset))
		cli_error("%s: the samples of what ran cannot be added", file);
	free(tables);
	free(bytes);
	if (fd >= 0)
		close(fd);
}

static void save_process(
	const struct record_ran *ran, const struct ran_process *process, const char *file)
{
	const struct weft_buffer_sampling sampling = {
		.interval_ns = 1000000000 / ran->hz * process->stride,
		.lost = record_ran_lost(ran),
		.has_kernel = ran_kernel_has_kernel(ran->kernel),
		.codes = process->functions.list,
		.code_count = process->functions.count,
		.list = process->list,
		.count = process->count,
	};
	add_tables(&sampling, file);
}

void record_ran_save(struct record_ran *ran, pid_t pid, const char *file)
{
	if (!ran->kernel)
		add_tables(&(struct weft_buffer_sampling){.denied = ran->denied}, file);
	for (struct ran_process *process = ran->processes; process; process = process->next)
		if (process->pid == pid && process->count)
			save_process(ran, process, file);
}

void record_ran_destroy(struct record_ran *ran)
{
	if (!ran)
		return;
	for (struct queued_batch *q = ran->queue, *next; q; q = next) {
		next = q->next;
		ran_batch_has_ended(&q->batch, true);
		ran_batch_finish(&q->batch);
		free(q);
	}
	for (struct ran_process *process = ran->processes, *next; process; process = next) {
		next = process->next;
		ran_batch_finish(&process->open);
		ran_functions_finish(&process->functions);
		free(process->list);
		free(process->fresh);
		free(process);
	}
	if (ran->kernel)
		ran_kernel_close(ran->kernel);
	free(ran);
}
