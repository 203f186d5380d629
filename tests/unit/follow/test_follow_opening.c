/* SPDX-License-Identifier: ISC
 *
 * Opening a ring by a follower, a stream, a control and a watch: by its path or a descriptor, with
 * and without the right to write, and that nothing stays behind after a close or a failure.
 */
#include "record_trace.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <weft/follow.h>
#include <weft/stream.h>
#include <weft/watch.h>

#include "abi/buffer_abi.h"
#include "follow/live.h"
#include "nothing_left.h"
#include "source/mapping.h"

#define SIZE ((size_t)64 << 10) /* the smallest: 13 packets */

/* ---- Files that may not be opened for writing ---- */

static int write_error; /* 0: they may */

int __wrap_open(const char *path, int flags, ...);
int __wrap_open64(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...)
{
	va_list arguments;
	va_start(arguments, flags);
	mode_t mode = flags & O_CREAT ? va_arg(arguments, mode_t) : 0;
	va_end(arguments);
	if (write_error && (flags & O_ACCMODE) == O_RDWR) {
		errno = write_error;
		return -1;
	}
	return openat(AT_FDCWD, path, flags, mode);
}

int __wrap_open64(const char *path, int flags, ...)
{
	va_list arguments;
	va_start(arguments, flags);
	mode_t mode = flags & O_CREAT ? va_arg(arguments, mode_t) : 0;
	va_end(arguments);
	return __wrap_open(path, flags, mode);
}

/* ---- A ring in a file ---- */

static char path[] = "/tmp/weft-test-opening-XXXXXX";
static struct weft_abi_buffer *ring;

static int begin(void **state)
{
	(void)state;
	write_error = 0;
	memcpy(path + strlen(path) - 6, "XXXXXX", 6);
	int fd = mkstemp(path);
	if (fd < 0 || posix_fallocate(fd, 0, SIZE) != 0)
		return -1;
	ring = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	return ring == MAP_FAILED || weft_start(ring, SIZE, NULL) != 0;
}

static int end(void **state)
{
	(void)state;
	weft_stop();
	munmap(ring, SIZE);
	return unlink(path);
}

/* ---- Readers of each kind ---- */

enum {
	FOLLOW,
	STREAM,
	CONTROL,
	WATCH,
	KINDS
};

/* Opens and closes. By a descriptor if `name` is NULL. */
static int open_once(int kind, const char *name, int fd)
{
	struct weft_follow *follow = NULL;
	struct weft_stream *stream = NULL;
	struct weft_control *control = NULL;
	struct weft_watch *watch = NULL;
	int error = WEFT_ERROR_ARGUMENT;
	switch (kind) {
	case FOLLOW:
		error = name ? weft_follow_open(name, &follow) : weft_follow_open_descriptor(fd, &follow);
		weft_follow_close(follow);
		break;
	case STREAM:
		error = name ? weft_stream_open(name, SIZE, &stream)
					 : weft_stream_open_descriptor(fd, SIZE, &stream);
		weft_stream_close(stream);
		break;
	case CONTROL:
		error =
			name ? weft_control_open(name, &control) : weft_control_open_descriptor(fd, &control);
		weft_control_close(control);
		break;
	case WATCH:
		error = name ? weft_watch_open(name, &watch) : weft_watch_open_descriptor(fd, &watch);
		weft_watch_close(watch);
		break;
	}
	bool is_there = follow || stream || control || watch;
	assert_int_equal(is_there, error == 0);
	return error;
}

/* Opening has this result, by the path and by a descriptor, and leaves nothing behind. */
static void expect_result(const char *name, int error)
{
	int fd = open(name, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		fd = open(name, O_RDONLY | O_CLOEXEC);
	for (int kind = 0; kind < KINDS; kind++)
		for (int by_path = 0; by_path < 2; by_path++) {
			for (int i = 0; i < 10; i++) /* malloc keeps some */
				open_once(kind, by_path ? name : NULL, fd);
			struct held before = held_now();
			for (int i = 0; i < HELD_ROUNDS; i++)
				assert_int_equal(open_once(kind, by_path ? name : NULL, fd), error);
			held_expect(before);
		}
	close(fd);
	assert_int_not_equal(fcntl(STDIN_FILENO, F_GETFD), -1); /* 0 was closed by nobody */
}

static void a_ring_is_opened_and_closed(void **state)
{
	(void)state;
	expect_result(path, 0);
}

static void a_file_that_is_no_ring_leaves_nothing(void **state)
{
	(void)state;
	expect_result("/dev/null", WEFT_ERROR_FORMAT);
	weft_stop();
	ring->version++;
	expect_result(path, WEFT_ERROR_UNSUPPORTED);
	ring->version--;
	memset(ring->magic, 0, sizeof(ring->magic)); /* it is being made */
	expect_result(path, WEFT_ERROR_FORMAT);
	struct weft__live_ring live;
	assert_int_equal(weft__follow_live_open(&live, path), WEFT_ERROR_FORMAT);
	weft__follow_live_close(&live);
	assert_int_equal(truncate(path, 0), 0);
	expect_result(path, WEFT_ERROR_EMPTY);
}

static void a_file_has_at_least_a_header(void **state)
{
	(void)state;
	weft_stop();
	assert_int_equal(truncate(path, sizeof(struct weft_abi_buffer) - 1), 0);
	expect_result(path, WEFT_ERROR_FORMAT);
	assert_int_equal(truncate(path, sizeof(struct weft_abi_buffer)), 0);
	expect_result(path, WEFT_ERROR_DAMAGED); /* its packets are missing */
}

/* Some files of /sys have a size, but no memory. */
static void a_file_that_cannot_be_mapped_says_so(void **state)
{
	(void)state;
	static const char *const name = "/sys/kernel/uevent_seqnum";
	struct stat status;
	if (stat(name, &status) != 0 || status.st_size < (off_t)sizeof(struct weft_abi_buffer)) {
		print_message("# not tried: %s is missing\n", name);
		return;
	}
	for (int kind = 0; kind < WATCH; kind++) {
		errno = 0;
		assert_int_equal(open_once(kind, name, -1), WEFT_ERROR_SYSTEM);
		assert_int_equal(errno, ENODEV);
	}
}

static void errors_of_the_system_keep_their_reason(void **state)
{
	(void)state;
	for (int kind = 0; kind < KINDS; kind++) {
		errno = 0;
		assert_int_equal(open_once(kind, "/no/such/file", -1), WEFT_ERROR_SYSTEM);
		assert_int_equal(errno, ENOENT);
		errno = 0;
		assert_int_equal(open_once(kind, NULL, -1), WEFT_ERROR_SYSTEM);
		assert_int_equal(errno, EBADF);
	}
}

/* The table of protected mappings is full. */
static void too_many_mappings_are_an_error(void **state)
{
	(void)state;
	static char bytes[2000];
	struct weft__live_ring live;
	size_t count = 0;
	while (weft__source_mapping_guard(&bytes[count], 1) == 0)
		count++;
	assert_int_equal(count, 1024);
	int result[KINDS];
	for (int kind = 0; kind < KINDS; kind++)
		result[kind] = open_once(kind, path, -1);
	/* There is room for the ring, but not for its writable header. */
	weft__source_mapping_release(&bytes[--count]);
	int error = weft__follow_live_open(&live, path);
	bool has_page = live.page;
	weft__follow_live_close(&live);
	while (count > 0)
		weft__source_mapping_release(&bytes[--count]);
	for (int kind = 0; kind < KINDS; kind++)
		assert_int_equal(result[kind], WEFT_ERROR_LIMIT);
	assert_int_equal(error, 0);
	assert_false(has_page);
	expect_result(path, 0);
}

/* ---- The right to write ---- */

static void a_ring_that_may_be_written_can_wake_its_reader(void **state)
{
	(void)state;
	struct weft__live_ring live;
	assert_int_equal(weft__follow_live_open(&live, path), 0);
	assert_non_null(live.page);
	weft__follow_live_close(&live);
	write_error = EACCES;
	assert_int_equal(weft__follow_live_open(&live, path), 0);
	assert_null(live.page);
	weft__follow_live_close(&live);
}

/* A control that may only read describes, and says at a change why it cannot. */
static void a_ring_that_may_not_be_written_is_described(void **state)
{
	(void)state;
	static const int errors[] = {EACCES, EPERM, EROFS};
	struct weft_control *control;
	struct weft_watch *watch;
	weft_tag("one");
	for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++) {
		write_error = errors[i];
		assert_int_equal(weft_control_open(path, &control), 0);
		assert_string_equal(weft_control_describe(control)->format, "weft");
		assert_int_equal(weft_control_matches(control, "*"), 2); /* "program", "cpu" */
		errno = 0;
		assert_int_equal(
			weft_control_set_level(control, "*", WEFT_LEVEL_OFF, NULL), WEFT_ERROR_SYSTEM);
		assert_int_equal(errno, errors[i]);
		weft_control_close(control);
		assert_int_equal(weft_watch_open(path, &watch), WEFT_ERROR_SYSTEM);
		assert_int_equal(errno, errors[i]);
	}
	write_error = EMFILE; /* another reason */
	assert_int_equal(weft_control_open(path, &control), WEFT_ERROR_SYSTEM);
	assert_int_equal(errno, EMFILE);
}

/* "*" also holds for categories that are registered later, other patterns do not. */
static void a_star_stands_for_all_categories(void **state)
{
	(void)state;
	struct weft_control *control;
	unsigned matched;
	weft_tag("one");
	assert_int_equal(weft_control_open(path, &control), 0);
	assert_int_equal(weft_control_set_level(control, "*", WEFT_LEVEL_OFF, &matched), 0);
	assert_int_equal(matched, 2);
	const struct weft_trace_description *about = weft_control_describe(control);
	assert_int_equal(about->change_count, 1);
	assert_int_equal(about->changes[0].category, WEFT_ABI_CATEGORY_ALL);
	assert_int_equal(ring->levels[WEFT_ABI_LEVELS - 1], WEFT_LEVEL_OFF);
	assert_int_equal(weft_control_set_level(control, "**", WEFT_LEVEL_MAX, &matched), 0);
	assert_int_equal(matched, 2);
	about = weft_control_describe(control);
	assert_int_equal(about->change_count, 3);
	assert_int_not_equal(about->changes[1].category, WEFT_ABI_CATEGORY_ALL);
	assert_int_equal(ring->levels[WEFT_ABI_LEVELS - 1], WEFT_LEVEL_OFF);
	weft_control_close(control);
}

#define WITH_RING(test) cmocka_unit_test_setup_teardown(test, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_RING(a_ring_is_opened_and_closed),
		WITH_RING(a_file_that_is_no_ring_leaves_nothing),
		WITH_RING(a_file_has_at_least_a_header),
		WITH_RING(a_file_that_cannot_be_mapped_says_so),
		WITH_RING(errors_of_the_system_keep_their_reason),
		WITH_RING(too_many_mappings_are_an_error),
		WITH_RING(a_ring_that_may_be_written_can_wake_its_reader),
		WITH_RING(a_ring_that_may_not_be_written_is_described),
		WITH_RING(a_star_stands_for_all_categories),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
