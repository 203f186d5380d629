/* SPDX-License-Identifier: ISC */
#include "runs/saving/wall_clock.h"

#include <fcntl.h>
#include <string.h>
#include <sys/timex.h>
#include <time.h>
#include <unistd.h>

#include <weft/parse.h>

enum {
	UNKNOWN_US = 16000000, /* the kernel's largest error */
	TRIES = 4,
};

bool weft__runs_wall_clock_is_bounded(long max_us, long estimate_us)
{
	return estimate_us > 0 && estimate_us <= max_us && max_us < UNKNOWN_US;
}

static uint64_t read_clock(clockid_t clock)
{
	struct timespec now;
	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* The two clocks are read one after the other: of several tries the quickest is kept, and what it
 * took is part of the error. */
static bool read_row(struct weft_abi_wall_clock_row *ret_row)
{
	struct timex timex = {.modes = 0};
	uint64_t least = UINT64_MAX;
	for (int i = 0; i < TRIES; i++) {
		const uint64_t before = read_clock(CLOCK_MONOTONIC), wall = read_clock(CLOCK_REALTIME);
		const uint64_t took = read_clock(CLOCK_MONOTONIC) - before;
		if (took >= least)
			continue;
		least = took;
		*ret_row = (struct weft_abi_wall_clock_row){.monotonic_ns = before, .wall_ns = wall};
	}
	if (adjtimex(&timex) < 0 || !weft__runs_wall_clock_is_bounded(timex.maxerror, timex.esterror))
		return false;
	ret_row->error_ns = (uint64_t)timex.maxerror * 1000 + least;
	ret_row->estimate_ns = (uint64_t)timex.esterror * 1000;
	return true;
}

static struct weft_abi_wall_clock_row first;
static bool has_first;

void weft__runs_wall_clock_begin(void)
{
	has_first = read_row(&first);
}

static bool is_of_this_boot(const struct weft_abi_buffer *header)
{
	uint8_t own[16] = {0};
	char text[40] = "";
	int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
	const ssize_t size = fd >= 0 ? read(fd, text, sizeof(text)) : 0;
	if (fd >= 0)
		close(fd);
	return size > 0 && weft_parse_uuid(text, (size_t)size, own) &&
		   memcmp(own, header->boot_id, sizeof(own)) == 0;
}

bool weft__runs_wall_clock_fits(const struct weft_abi_buffer *header)
{
	return !header->guest && header->time_base == WEFT_ABI_TIME_MONOTONIC &&
		   is_of_this_boot(header);
}

static struct weft_abi_table table_of(uint32_t rows)
{
	return (struct weft_abi_table){
		.number = WEFT_ABI_TABLE_wall_clock,
		.growth = WEFT_ABI_TABLE_GROWS,
		.cut = WEFT_ABI_TABLE_OF_CLOCK,
		.row_bytes = sizeof(struct weft_abi_wall_clock_row),
		.room = rows,
		.count = rows,
	};
}

bool weft__runs_wall_clock_note(uint64_t number, struct weft__runs_wall_clock_note *ret_note)
{
	*ret_note = (struct weft__runs_wall_clock_note){
		.chunk = {.magic = WEFT_ABI_CHUNK_MAGIC,
			.kind = WEFT_ABI_CHUNK_TABLE,
			.bytes = sizeof(*ret_note) - sizeof(ret_note->chunk),
			.at = number},
		.table = table_of(1),
	};
	return read_row(&ret_note->row);
}

void weft__runs_wall_clock_pack(const struct weft_abi_buffer *header, struct weft_text *tables)
{
	struct weft_abi_wall_clock_row rows[2];
	uint32_t count = 0;
	if (!weft__runs_wall_clock_fits(header))
		return;
	if (has_first)
		rows[count++] = first;
	count += read_row(&rows[count]);
	const struct weft_abi_table table = table_of(count);
	if (!count)
		return;
	weft_text_add(tables, (const char *)&table, sizeof(table));
	weft_text_add(tables, (const char *)rows, count * sizeof(rows[0]));
}
