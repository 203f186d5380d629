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
#include <unistd.h>

#include "abi/buffer_abi.h"
#include "cli/cli.h"
#include "ran_parts.h"

#define BATCH_BYTES   ((size_t)16 << 20)  /* of stacks */
#define WAITING_BYTES ((size_t)256 << 20) /* of stacks that no child has unwound yet */
#define BATCH_COUNT   2048
#define RUNNING_MAX   2 /* children */

/* A process of the run. Its number may be another one's later. */
struct ran_process {
	struct ran_process *next; /* an earlier one */
	pid_t pid;
	struct ran_batch open; /* what it has mapped now, and samples of that */
	size_t open_bytes;
	struct ran_functions functions;
	struct weft_buffer_ran *list;
	uint32_t count;
	uint32_t stride, skipped; /* each how many samples is kept */
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
};

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
	process->open = (struct ran_batch){.pid = batch.pid, .user = batch.user};
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
	}
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

/* ---- The run ---- */

struct record_ran *record_ran_start(pid_t process, unsigned hz)
{
	struct record_ran *ran = calloc(1, sizeof(*ran));
	if (!ran)
		return NULL;
	ran->hz = hz;
	ran->kernel = ran_kernel_open(process, hz, ran->denied);
	if (!ran->kernel)
		cli_error("--samples: the program runs without: %s", ran->denied);
	return ran;
}

void record_ran_look(struct record_ran *ran)
{
	if (!ran->kernel)
		return;
	ran_kernel_take(ran->kernel, take_event, ran);
	work(ran, false);
}

static int by_time(const void *left, const void *right)
{
	const struct weft_buffer_ran *l = left, *r = right;
	return l->monotonic_ns < r->monotonic_ns ? -1 : l->monotonic_ns > r->monotonic_ns;
}

void record_ran_end(struct record_ran *ran)
{
	if (!ran->kernel)
		return;
	ran_kernel_take(ran->kernel, take_event, ran);
	for (struct ran_process *process = ran->processes; process; process = process->next)
		end_batch(ran, process, true);
	while (ran->queue)
		work(ran, true);
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

/* The bytes of the header are stored last: a table that is not complete is not there. Tables of
 * metrics may be there already, at the end of the file. */
static bool append(
	int fd, struct weft_abi_buffer *header, size_t file_bytes, const void *tables, size_t size)
{
	const bool has_others =
		header->added_bytes && header->added_offset + header->added_bytes == file_bytes;
	const uint64_t at = has_others ? file_bytes : (file_bytes + 63) / 64 * 64;
	const uint64_t offset = has_others ? header->added_offset : at, bytes = at + size - offset;
	return (!header->added_bytes || has_others) && at % 8 == 0 &&
		   pwrite(fd, tables, size, (off_t)at) == (ssize_t)size &&
		   pwrite(fd, &offset, sizeof(offset), offsetof(struct weft_abi_buffer, added_offset)) ==
			   (ssize_t)sizeof(offset) &&
		   pwrite(fd, &bytes, sizeof(bytes), offsetof(struct weft_abi_buffer, added_bytes)) ==
			   (ssize_t)sizeof(bytes);
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
	int fd = open(file, O_RDWR | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	void *bytes = fd >= 0 ? read_file(fd, &file_bytes) : NULL;
	if (bytes && weft_buffer_make_samples(bytes, file_bytes, sampling, &tables, &size) == 0 &&
		tables && !append(fd, bytes, file_bytes, tables, size))
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
		free(process);
	}
	if (ran->kernel)
		ran_kernel_close(ran->kernel);
	free(ran);
}
