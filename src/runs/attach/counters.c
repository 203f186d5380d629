/* SPDX-License-Identifier: ISC
 *
 * See counters.h. The memory is copied once, and each number in the copy is checked before it is
 * used. It is read as a file, because a mapping would end with SIGBUS if the file were cut off.
 */
#include "runs/attach/counters.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "abi/attach_abi.h"
#include "runs/attach/counted.h"
#include "runs/attach/metrics.h"
#include "runs/attach/page.h"
#include "runs/attach/region.h"
#include "runs/attach/run_queue.h"
#include "source/process.h"

static bool is_valid(const struct weft_abi_counters *memory)
{
	return memcmp(memory->magic, WEFT_ABI_COUNTERS_MAGIC, sizeof(memory->magic)) == 0 &&
		   memory->version == WEFT_ABI_COUNTERS_VERSION && memory->rows_used <= WEFT_ABI_COUNTERS;
}

/* The sum wraps around, as the cells do. */
static int64_t integer_of(const struct weft_abi_counters *memory, uint32_t row)
{
	uint64_t sum = 0;
	for (uint32_t i = 0; i < WEFT_ABI_COUNTER_SHARDS; i++)
		sum += memory->cells.shard[i].cell[row];
	return (int64_t)sum;
}

/* False if the row is not there, or damaged. Its name goes to *texts, which is moved behind it. */
static bool read_row(const struct weft_abi_counters *memory, uint32_t row, char **texts,
	struct weft__runs_counter *ret)
{
	const struct weft_abi_counter_row *it = &memory->row[row];
	const bool has_name = it->size > 0 && it->size <= WEFT_ABI_NAME_MAX_BYTES &&
						  it->text <= WEFT_ABI_COUNTER_TEXT &&
						  it->size <= WEFT_ABI_COUNTER_TEXT - it->text;
	double real;
	memcpy(&real, &memory->cells.real[row], sizeof(real));
	if (!it->is_there || !has_name || !isfinite(real) ||
		memchr(memory->text + it->text, '\0', it->size))
		return false;
	*ret = (struct weft__runs_counter){
		.name = *texts, .help = "", .unit = "", .integer = integer_of(memory, row)};
	memcpy(*texts, memory->text + it->text, it->size);
	*texts += it->size + 1;
	ret->begins_at_0 = it->begins_at_0;
	ret->is_real = real != 0;
	ret->real = real + (double)ret->integer;
	return true;
}

int weft__runs_counters_parse(
	const struct weft_abi_counters *memory, struct weft__runs_counters *ret_counters)
{
	struct weft__runs_counters counters = {0};
	size_t text_bytes = 1;
	if (!is_valid(memory))
		return ENOENT;
	for (uint32_t row = 0; row < memory->rows_used; row++)
		text_bytes += memory->row[row].size + (size_t)1;
	counters.list = calloc(memory->rows_used + (size_t)1, sizeof(*counters.list));
	char *texts = calloc(1, text_bytes);
	counters.owned[0] = texts;
	if (!counters.list || !texts) {
		weft__runs_counters_finish(&counters);
		return ENOMEM;
	}
	for (uint32_t row = 0; row < memory->rows_used; row++)
		counters.count += read_row(memory, row, &texts, &counters.list[counters.count]);
	*ret_counters = counters;
	return 0;
}

/* A child without memory of its own has its parent's, whose counters are not the child's. */
static bool is_own(pid_t pid, uint32_t owner)
{
	return owner == (uint32_t)weft__source_process_own_pid(pid);
}

/* The values are in the file of an agent: opens it. `own`: the process's own memory, which is
 * closed. -1 with errno. */
static int open_elsewhere(int own, const uint8_t region[16], const char *suffix)
{
	struct stat status;
	int fd = fstat(own, &status) == 0 ? weft__runs_region_open(region, suffix, status.st_uid) : -1;
	close(own);
	return fd;
}

/* The metrics are in the file of an agent, or beside the process's ring. */
static int open_metrics_elsewhere(pid_t pid, int own, const uint8_t region[16])
{
	struct stat status;
	uid_t user = fstat(own, &status) == 0 ? status.st_uid : (uid_t)-1;
	int fd = open_elsewhere(own, region, WEFT_ABI_AGENT_METRICS_SUFFIX);
	return fd >= 0 ? fd : weft__runs_region_open_beside(pid, region, user);
}

int weft__runs_metrics_find(pid_t pid)
{
	int fd = weft__runs_memory_open(pid, WEFT__RUNS_METRICS);
	return fd < 0 && errno == ENOENT ? weft__runs_region_open_metrics(pid) : fd;
}

int weft__runs_metrics_open(pid_t pid)
{
	struct weft_abi_metrics header;
	int fd = weft__runs_metrics_find(pid);
	if (fd < 0)
		return -1;
	int error = weft__runs_region_read(fd, 0, &header, sizeof(header));
	if (!error && !is_own(pid, header.owner))
		error = ENOENT;
	if (!error && header.is_elsewhere)
		return open_metrics_elsewhere(pid, fd, header.region);
	if (!error)
		return fd;
	close(fd);
	errno = error;
	return -1;
}

int weft__runs_counters_open(pid_t pid, off_t *ret_offset)
{
	int fd = weft__runs_memory_open(pid, WEFT__RUNS_PAGE);
	*ret_offset = fd < 0 ? 0 : WEFT_ABI_ATTACH_BYTES;
	if (fd < 0 && errno == ENOENT)
		fd = weft__runs_memory_open(pid, WEFT__RUNS_NAMELESS);
	return fd < 0 && errno == ENOENT ? weft__runs_region_open_counters(pid) : fd;
}

int weft__runs_counters_open_at(int fd, off_t *offset)
{
	const off_t at = *offset + (off_t)offsetof(struct weft_abi_counters, is_elsewhere);
	struct {
		uint32_t is_elsewhere;
		uint8_t region[16];
	} header;
	_Static_assert(offsetof(struct weft_abi_counters, region) ==
					   offsetof(struct weft_abi_counters, is_elsewhere) + 4,
		"header");
	if (weft__runs_region_read(fd, at, &header, sizeof(header)) != 0 || !header.is_elsewhere)
		return fd;
	*offset = 0;
	return open_elsewhere(fd, header.region, WEFT_ABI_AGENT_SUFFIX);
}

int weft__runs_counters_open_own(pid_t pid, off_t *ret_offset)
{
	uint32_t owner;
	int fd = weft__runs_counters_open(pid, ret_offset);
	if (fd >= 0)
		fd = weft__runs_counters_open_at(fd, ret_offset);
	if (fd < 0)
		return -1;
	int error = weft__runs_region_read(
		fd, *ret_offset + (off_t)offsetof(struct weft_abi_counters, owner), &owner, sizeof(owner));
	if (!error && is_own(pid, owner))
		return fd;
	close(fd);
	errno = error ? error : ENOENT;
	return -1;
}

static int read_counters(pid_t pid, struct weft__runs_counters *ret_counters)
{
	struct weft_abi_counters *memory = malloc(sizeof(*memory));
	off_t offset = 0;
	if (!memory)
		return ENOMEM;
	int fd = weft__runs_counters_open_own(pid, &offset);
	int error = fd < 0 ? errno : weft__runs_region_read(fd, offset, memory, sizeof(*memory));
	if (!error)
		error = weft__runs_counters_parse(memory, ret_counters);
	if (fd >= 0)
		close(fd);
	free(memory);
	return error;
}

/* Copies the metrics of a process, which the caller frees. 0 or an errno. */
static int copy_metrics(pid_t pid, struct weft_abi_metrics **ret_memory)
{
	struct weft_abi_metrics *memory = aligned_alloc(64, WEFT_ABI_METRICS_BYTES);
	int fd = memory ? weft__runs_metrics_open(pid) : -1;
	int error = fd < 0 ? errno : weft__runs_metrics_copy(fd, memory);
	if (!error && !is_own(pid, memory->owner))
		error = ENOENT;
	if (fd >= 0)
		close(fd);
	if (error)
		free(memory);
	else
		*ret_memory = memory;
	return error;
}

static int read_metrics(pid_t pid, struct weft__runs_counters *ret_counters)
{
	struct weft_abi_metrics *memory;
	int error = copy_metrics(pid, &memory);
	if (!error) {
		error = weft__runs_metrics_parse(memory, ret_counters);
		free(memory);
	}
	return error;
}

/* Copies what is used of the memory of children twice, as children.c wants it. */
static int copy_children(pid_t pid, void **ret_first, void **ret_second, size_t *ret_bytes)
{
	struct weft_abi_children header;
	void *first = NULL, *second = NULL;
	int fd = weft__runs_memory_open(pid, WEFT__RUNS_CHILDREN);
	int error = fd < 0 ? errno : weft__runs_region_read(fd, 0, &header, sizeof(header));
	if (!error && (!is_own(pid, header.owner) || header.used > WEFT_ABI_CHILDREN_MAX))
		error = ENOENT;
	const size_t bytes = error ? 0 : sizeof(header) + header.used * sizeof(struct weft_abi_child);
	if (!error && (!(first = malloc(bytes)) || !(second = malloc(bytes))))
		error = ENOMEM;
	if (!error)
		error = weft__runs_region_read(fd, 0, first, bytes);
	if (!error)
		error = weft__runs_region_read(fd, 0, second, bytes);
	if (fd >= 0)
		close(fd);
	*ret_first = first;
	*ret_second = second;
	*ret_bytes = bytes;
	return error;
}

int weft__runs_children_read(pid_t pid, struct weft__runs_counters *ret_counters)
{
	struct weft_abi_metrics *metrics = NULL;
	void *first, *second;
	size_t bytes;
	/* Rows are only added: the later copy has those of all children. */
	int error = copy_children(pid, &first, &second, &bytes);
	if (!error)
		error = copy_metrics(pid, &metrics);
	if (!error) {
		error = weft__runs_children_parse(metrics, first, second, bytes, ret_counters);
		free(metrics);
	}
	free(first);
	free(second);
	return error;
}

/* Moves a list behind another one, and what it owns to the other's `owned`, from a number on. */
static int join(struct weft__runs_counters *to, struct weft__runs_counters *more, size_t owned)
{
	struct weft__runs_counter *list =
		realloc(to->list, (to->count + more->count + 1) * sizeof(*list));
	if (!list) {
		weft__runs_counters_finish(more);
		return ENOMEM;
	}
	if (more->count)
		memcpy(list + to->count, more->list, more->count * sizeof(*list));
	to->list = list;
	to->count += more->count;
	for (size_t i = 0; owned < sizeof(to->owned) / sizeof(*to->owned); i++)
		to->owned[owned++] = more->owned[i];
	free(more->list);
	return 0;
}

/* Adds a list, if it could be read. */
static int add_list(
	int error, struct weft__runs_counters *more, size_t owned, struct weft__runs_counters *counters)
{
	return error ? error : join(counters, more, owned);
}

int weft__runs_counters_read(pid_t pid, struct weft__runs_counters *ret_counters)
{
	struct weft__runs_counters counters = {0}, more = {0};
	int without = read_counters(pid, &counters);
	bool has_any = !without;
	int error = without == ENOENT ? 0 : without;
	if (!error) {
		error = add_list(read_metrics(pid, &more), &more, 1, &counters);
		has_any |= !error;
	}
	if (!error || error == ENOENT) {
		error = add_list(weft__runs_counted_read(pid, &more), &more, 4, &counters);
		has_any |= !error && counters.count;
	}
	if (error == ENOENT && has_any)
		error = 0;
	else if (!error && !has_any)
		error = ENOENT;
	/* If the kernel does not say it, or the process has just ended, it is left out. */
	if (!error && weft__runs_queue_read(pid, &more) == 0)
		error = join(&counters, &more, sizeof(counters.owned) / sizeof(*counters.owned));
	if (error)
		weft__runs_counters_finish(&counters);
	else
		*ret_counters = counters;
	return error;
}

void weft__runs_counters_finish(struct weft__runs_counters *counters)
{
	for (size_t i = 0; i < sizeof(counters->owned) / sizeof(*counters->owned); i++)
		free(counters->owned[i]);
	free(counters->list);
	*counters = (struct weft__runs_counters){0};
}
