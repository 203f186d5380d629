/* SPDX-License-Identifier: ISC
 *
 * Bytes of files, pipes and special files; a mapped file that is cut short under its reader.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <weft/source.h>

static char path[] = "/tmp/weft-test-source-XXXXXX";

static int make_file(void **state)
{
	int fd = mkstemp(path);
	*state = (void *)(intptr_t)fd;
	return fd < 0;
}

static int remove_file(void **state)
{
	close((int)(intptr_t)*state);
	int error = unlink(path);
	strcpy(path + strlen(path) - 6, "XXXXXX");
	return error;
}

static void reads_a_small_file(void **state)
{
	int fd = (int)(intptr_t)*state;
	assert_int_equal(write(fd, "abc", 3), 3);
	struct weft_source *source;
	assert_int_equal(weft_source_open(path, &source), 0);
	assert_int_equal(ftruncate(fd, 0), 0); /* a copy doesn't mind */
	size_t size;
	const void *bytes = weft_source_bytes(source, &size);
	assert_int_equal(size, 3);
	assert_memory_equal(bytes, "abc", 3);
	weft_source_close(source);
}

static void an_empty_file_has_no_bytes(void **state)
{
	(void)state;
	struct weft_source *source;
	assert_int_equal(weft_source_open(path, &source), 0);
	size_t size = 1;
	weft_source_bytes(source, &size);
	assert_int_equal(size, 0);
	weft_source_close(source);
}

static void special_files_are_read_to_their_end(void **state)
{
	(void)state;
	struct weft_source *source;
	size_t size;
	assert_int_equal(weft_source_open("/proc/self/status", &source), 0); /* stat says 0 bytes */
	const void *bytes = weft_source_bytes(source, &size);
	assert_true(size > 5);
	assert_memory_equal(bytes, "Name:", 5);
	weft_source_close(source);
}

static void a_pipe_on_standard_input(void **state)
{
	(void)state;
	int ends[2], saved = dup(STDIN_FILENO);
	assert_int_equal(pipe(ends), 0);
	assert_int_equal(write(ends[1], "piped", 5), 5);
	close(ends[1]);
	dup2(ends[0], STDIN_FILENO);
	struct weft_source *source;
	size_t size;
	assert_int_equal(weft_source_open("-", &source), 0);
	assert_memory_equal(weft_source_bytes(source, &size), "piped", 5);
	assert_int_equal(size, 5);
	weft_source_close(source);
	dup2(saved, STDIN_FILENO);
	close(saved);
	close(ends[0]);
}

static void a_device_without_an_end_is_given_up(void **state)
{
	(void)state;
	struct weft_source *source = NULL;
	assert_int_equal(weft_source_open_limited("/dev/zero", 1 << 20, &source), WEFT_ERROR_SIZE);
	assert_null(source);
}

/* A file says how large it is: the limit is not for it. */
static void a_file_has_no_limit(void **state)
{
	int fd = (int)(intptr_t)*state;
	struct weft_source *source;
	size_t size;
	assert_int_equal(ftruncate(fd, 100000), 0);
	assert_int_equal(weft_source_open_limited(path, 10, &source), 0);
	weft_source_bytes(source, &size);
	assert_int_equal(size, 100000);
	weft_source_close(source);
	assert_int_equal(ftruncate(fd, 1000), 0);
	assert_int_equal(weft_source_open_limited(path, 10, &source), 0);
	weft_source_close(source);
}

static void errors_leave_their_reason(void **state)
{
	(void)state;
	struct weft_source *source = NULL;
	assert_int_equal(weft_source_open("/nonexistent/x", &source), WEFT_ERROR_SYSTEM);
	assert_int_equal(errno, ENOENT);
	assert_int_equal(weft_source_open("/", &source), WEFT_ERROR_SYSTEM);
	assert_int_equal(errno, EISDIR);
	assert_null(source);
	weft_source_close(NULL);
}

static void a_shortened_mapping_reads_as_zeros(void **state)
{
	int fd = (int)(intptr_t)*state;
	const off_t large = (off_t)65 << 20; /* above what is copied; sparse */
	assert_int_equal(ftruncate(fd, large), 0);
	assert_int_equal(pwrite(fd, "x", 1, 0), 1);
	assert_int_equal(pwrite(fd, "y", 1, large - 1), 1);
	assert_int_equal(weft_source_survive_truncation(), 0);
	struct weft_source *source;
	assert_int_equal(weft_source_open(path, &source), 0);
	size_t size;
	const volatile char *bytes = weft_source_bytes(source, &size);
	assert_int_equal(size, large);
	assert_int_equal(bytes[0], 'x');
	assert_int_equal(ftruncate(fd, 100), 0);
	assert_int_equal(bytes[size - 1], 0);
	assert_int_equal(bytes[size / 2], 0);
	assert_int_equal(bytes[0], 'x');
	weft_source_close(source);
}

#define WITH_FILE(test) cmocka_unit_test_setup_teardown(test, make_file, remove_file)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_FILE(reads_a_small_file),
		WITH_FILE(an_empty_file_has_no_bytes),
		cmocka_unit_test(special_files_are_read_to_their_end),
		cmocka_unit_test(a_pipe_on_standard_input),
		cmocka_unit_test(errors_leave_their_reason),
		cmocka_unit_test(a_device_without_an_end_is_given_up),
		WITH_FILE(a_file_has_no_limit),
		WITH_FILE(a_shortened_mapping_reads_as_zeros),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
