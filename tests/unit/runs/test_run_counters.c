/* SPDX-License-Identifier: ISC
 *
 * Reading another process's counters, which is this one here: exact values, and memory in which a
 * hostile process has written anything.
 */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "abi/attach_abi.h"
#include "abi/counter_abi.h"
#include "runs/attach/counters.h"

static struct weft_abi_counters *memory;
static unsigned char *file;
static int file_fd;
static uint32_t text_used;

#define FILE_BYTES (WEFT_ABI_ATTACH_BYTES + WEFT_ABI_COUNTERS_BYTES)

static int begin(void **state)
{
	(void)state;
	file_fd = memfd_create(WEFT_ABI_ATTACH_NAME, MFD_CLOEXEC);
	assert_return_code(ftruncate(file_fd, FILE_BYTES), errno);
	file = mmap(NULL, FILE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, file_fd, 0);
	assert_true(file != MAP_FAILED);
	memory = (struct weft_abi_counters *)(void *)(file + WEFT_ABI_ATTACH_BYTES);
	memcpy(memory->magic, WEFT_ABI_COUNTERS_MAGIC, sizeof(memory->magic));
	memory->version = WEFT_ABI_COUNTERS_VERSION;
	memory->owner = (uint32_t)getpid();
	text_used = 0;
	return 0;
}

static int end(void **state)
{
	(void)state;
	munmap(file, FILE_BYTES);
	return close(file_fd);
}

static void add_row(const char *name)
{
	uint32_t size = (uint32_t)strlen(name);
	memcpy(memory->text + text_used, name, size);
	memory->row[memory->rows_used++] =
		(struct weft_abi_counter_row){.text = text_used, .size = (uint16_t)size, .is_there = 1};
	text_used += size;
}

static struct weft__runs_counters read_all(void)
{
	struct weft__runs_counters counters;
	assert_int_equal(weft__runs_counters_read(getpid(), &counters), 0);
	return counters;
}

static void values_are_sums(void **state)
{
	(void)state;
	add_row("requests");
	add_row("load");
	memory->cells.shard[0].cell[0] = 10;
	memory->cells.shard[15].cell[0] = (uint64_t)-12;
	memory->cells.shard[3].cell[1] = 2;
	memory->cells.real[1] = UINT64_C(0x3fe0000000000000); /* 0.5 */
	struct weft__runs_counters counters = read_all();
	assert_in_range(counters.count, 2, 3); /* and the run queue, if the kernel says it */
	assert_string_equal(counters.list[0].name, "requests");
	assert_int_equal(counters.list[0].integer, -2);
	assert_false(counters.list[0].is_real);
	assert_true(counters.list[1].is_real);
	assert_true(fabs(counters.list[1].real - 2.5) < 1e-12);
	weft__runs_counters_finish(&counters);
}

static void damaged_rows_are_left_out(void **state)
{
	(void)state;
	for (int i = 0; i < 6; i++)
		add_row("name");
	memory->row[0].is_there = 0;
	memory->row[1].text = WEFT_ABI_COUNTER_TEXT - 3; /* reaches beyond the text */
	memory->row[2].text = UINT32_MAX;
	memory->row[3].size = 0;
	memory->text[memory->row[4].text + 2] = '\0';
	memory->cells.real[5] = UINT64_C(0x7ff0000000000000); /* infinity */
	struct weft__runs_counters counters = read_all();
	assert_in_range(counters.count, 0, 1); /* the run queue, if the kernel says it */
	assert_true(counters.count == 0 || strcmp(counters.list[0].name, "name") != 0);
	weft__runs_counters_finish(&counters);
}

static void other_memory_has_none(void **state)
{
	struct weft__runs_counters counters;
	(void)state;
	memory->rows_used = WEFT_ABI_COUNTERS + 1;
	assert_int_equal(weft__runs_counters_read(getpid(), &counters), ENOENT);
	memory->rows_used = 0;
	memory->version++;
	assert_int_equal(weft__runs_counters_read(getpid(), &counters), ENOENT);
	memory->version--;
	memory->owner++;
	assert_int_equal(weft__runs_counters_read(getpid(), &counters), ENOENT);
	memory->owner--;
	memory->magic[0] = 0;
	assert_int_equal(weft__runs_counters_read(getpid(), &counters), ENOENT);
	assert_int_equal(weft__runs_counters_read(1, &counters) != 0, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(values_are_sums, begin, end),
		cmocka_unit_test_setup_teardown(damaged_rows_are_left_out, begin, end),
		cmocka_unit_test_setup_teardown(other_memory_has_none, begin, end),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
