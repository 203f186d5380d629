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
#include "runs/attach/page.h"
#include "runs/attach/region.h"
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
	counters.texts = calloc(1, text_bytes);
	if (!counters.list || !counters.texts) {
		weft__runs_counters_finish(&counters);
		return ENOMEM;
	}
	char *texts = counters.texts;
	for (uint32_t row = 0; row < memory->rows_used; row++)
		counters.count += read_row(memory, row, &texts, &counters.list[counters.count]);
	*ret_counters = counters;
	return 0;
}

/* The counters are in the file of an agent: reads them there. */
static int read_elsewhere(int page, struct weft_abi_counters *ret, ssize_t *ret_size)
{
	struct stat status;
	int fd = fstat(page, &status) == 0 ? weft__runs_region_open(ret->region, status.st_uid) : -1;
	if (fd < 0)
		return errno;
	*ret_size = pread(fd, ret, sizeof(*ret), 0);
	int error = *ret_size < 0 ? errno : 0;
	close(fd);
	return error;
}

/* A child without a file of its own has its parent's, whose counters are not the child's. */
static int read_memory(pid_t pid, struct weft_abi_counters *ret)
{
	int fd = weft__runs_page_open(pid);
	if (fd < 0)
		return errno;
	ssize_t size = pread(fd, ret, sizeof(*ret), WEFT_ABI_ATTACH_BYTES);
	int error = size < 0 ? errno : 0;
	if (size == (ssize_t)sizeof(*ret) && ret->is_elsewhere)
		error = read_elsewhere(fd, ret, &size);
	close(fd);
	bool is_own =
		size == (ssize_t)sizeof(*ret) && ret->owner == (uint32_t)weft__source_process_own_pid(pid);
	return error ? error : is_own ? 0 : ENOENT;
}

int weft__runs_counters_read(pid_t pid, struct weft__runs_counters *ret_counters)
{
	struct weft_abi_counters *memory = malloc(sizeof(*memory));
	int error = memory ? read_memory(pid, memory) : ENOMEM;
	if (!error)
		error = weft__runs_counters_parse(memory, ret_counters);
	free(memory);
	return error;
}

void weft__runs_counters_finish(struct weft__runs_counters *counters)
{
	free(counters->list);
	free(counters->texts);
	*counters = (struct weft__runs_counters){0};
}
