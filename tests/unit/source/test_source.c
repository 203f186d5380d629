/* SPDX-License-Identifier: ISC
 *
 * Bytes of files, pipes and special files; a mapped file that is shortened while it is read.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <weft/source.h>

#include "base/hash.h"
#include "nothing_left.h"
#include "source/mapping.h"

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

/* The tables of its reader have a key that the file's author does not know. */
static void opening_a_file_seeds_the_hashes(void **state)
{
	struct weft_source *source;
	(void)state;
	assert_int_equal(weft_source_open(path, &source), 0);
	struct weft__hash_key key = weft__hash_key();
	assert_true(key.low != 0 && key.high != 0);
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

static size_t checked;

static bool is_refused(const void *bytes, size_t size)
{
	(void)bytes;
	checked += size;
	return false;
}

static bool is_wanted(const void *bytes, size_t size)
{
	(void)bytes;
	checked += size;
	return true;
}

static void an_endless_device_is_checked_early(void **state)
{
	(void)state;
	struct weft_source *source = NULL;
	checked = 0;
	assert_int_equal(
		weft_source_open_checked("/dev/zero", 0, is_refused, &source), WEFT_ERROR_FORMAT);
	assert_in_range(checked, WEFT_SOURCE_CHECKED_BYTES, WEFT_SOURCE_CHECKED_BYTES * 2);
	checked = 0;
	const uint64_t most = WEFT_SOURCE_CHECKED_BYTES + 100000;
	assert_int_equal(
		weft_source_open_checked("/dev/zero", most, is_wanted, &source), WEFT_ERROR_SIZE);
	assert_true(checked > 0);
	checked = 0;
	assert_int_equal(weft_source_open_checked("/dev/null", 0, is_refused, &source), 0);
	assert_int_equal(checked, 0); /* it has ended: its reader reports what it is */
	weft_source_close(source);
}

/* Writes words that count, to a pipe, from another process. */
static int long_pipe(size_t words, pid_t *ret_writer)
{
	int ends[2];
	assert_int_equal(pipe(ends), 0);
	*ret_writer = fork();
	if (*ret_writer == 0) {
		FILE *file = fdopen(ends[1], "w");
		for (uint64_t word = 0; word < words; word++)
			fwrite(&word, sizeof(word), 1, file);
		_exit(fclose(file) ? 1 : 0);
	}
	close(ends[1]);
	return ends[0];
}

/* The bytes are put into a file, which is mapped. */
static void a_long_pipe_is_read_to_its_end(void **state)
{
	const size_t words = (WEFT_SOURCE_CHECKED_BYTES + 100000) / sizeof(uint64_t);
	pid_t writer;
	int pipe_end = long_pipe(words, &writer), status;
	struct weft_source *source;
	size_t size;
	(void)state;
	assert_int_equal(weft_source_open_descriptor(pipe_end, 0, &source), 0);
	const uint64_t *list = weft_source_bytes(source, &size);
	assert_int_equal(size, words * sizeof(uint64_t));
	for (uint64_t word = 0; word < words; word++)
		if (list[word] != word)
			fail_msg("word %zu", (size_t)word);
	weft_source_forget(source); /* the pages can be read again */
	assert_int_equal(list[words - 1], words - 1);
	weft_source_close(source);
	close(pipe_end);
	assert_int_equal(waitpid(writer, &status, 0), writer);
	assert_int_equal(status, 0);
}

/* Reading holes of tmpfs through a mapping would allocate them. */
static void holes_are_read_without_being_filled(void **state)
{
	char sparse[] = "/dev/shm/weft-test-holes-XXXXXX";
	const off_t size = (off_t)8 << 20;
	int fd = mkstemp(sparse);
	struct stat before, after;
	struct weft_source *source;
	size_t got, sum = 0;
	(void)state;
	if (fd < 0)
		skip();
	assert_int_equal(ftruncate(fd, size), 0);
	for (off_t at = 5; at < size; at += (off_t)1 << 20)
		assert_int_equal(pwrite(fd, "x", 1, at), 1);
	assert_int_equal(fstat(fd, &before), 0);
	assert_int_equal(weft_source_open(sparse, &source), 0);
	const char *bytes = weft_source_bytes(source, &got);
	assert_int_equal(got, size);
	for (size_t i = 0; i < got; i++)
		sum += bytes[i] == 'x' ? 1 : bytes[i] ? 1000 : 0;
	assert_int_equal(sum, 8);
	weft_source_forget(source);
	assert_true(bytes[5] == 'x' && bytes[size - 1] == 0);
	weft_source_close(source);
	assert_int_equal(fstat(fd, &after), 0);
	unlink(sparse);
	close(fd);
	assert_int_equal(after.st_blocks, before.st_blocks);
}

/* A file's size is known, so the limit does not apply. */
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

/* Standard input may have been read up to somewhere; a large file is mapped, but not then. */
static void what_was_read_before_is_left_out(void **state)
{
	int fd = (int)(intptr_t)*state;
	struct weft_source *source;
	size_t size;
	for (off_t total = 1000; total <= 200000; total += 199000) {
		assert_int_equal(ftruncate(fd, total), 0);
		assert_int_equal(pwrite(fd, "xy", 2, 7), 2);
		assert_int_equal(lseek(fd, 8, SEEK_SET), 8);
		assert_int_equal(weft_source_open_descriptor(fd, 0, &source), 0);
		const char *bytes = weft_source_bytes(source, &size);
		assert_int_equal(size, total - 8);
		assert_int_equal(bytes[0], 'y');
		weft_source_close(source);
	}
}

static void errors_leave_their_reason(void **state)
{
	(void)state;
	struct weft_source *source = NULL;
	assert_int_equal(weft_source_open("/nonexistent/x", &source), WEFT_ERROR_SYSTEM);
	assert_int_equal(errno, ENOENT);
	assert_int_equal(weft_source_open("/", &source), WEFT_ERROR_SYSTEM);
	assert_int_equal(errno, EISDIR);
	int ends[2];
	assert_int_equal(pipe(ends), 0);
	errno = 0;
	assert_int_equal(weft_source_open_descriptor(ends[1], 0, &source), WEFT_ERROR_SYSTEM);
	assert_int_equal(errno, EBADF); /* it is open for writing only */
	close(ends[0]);
	close(ends[1]);
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

/* ---- Files that grow ---- */

/* The file's next bytes must be `text`, and then none. */
static void expect_growth(struct weft_source_growth *growth, const char *text)
{
	const void *bytes;
	size_t size, left = strlen(text);
	while (left && weft_source_growth_next(growth, &bytes, &size) == WEFT_OK) {
		assert_true(size > 0 && size <= left);
		assert_memory_equal(bytes, text, size);
		text += size;
		left -= size;
	}
	assert_int_equal(left, 0);
	assert_int_equal(weft_source_growth_next(growth, &bytes, &size), WEFT_AGAIN);
}

static void a_file_that_grows_is_read_once(void **state)
{
	int fd = (int)(intptr_t)*state;
	struct weft_source_growth *growth;
	const void *bytes;
	size_t size;
	assert_int_equal(weft_source_growth_open(path, &growth), 0);
	expect_growth(growth, "");
	assert_int_equal(write(fd, "one", 3), 3);
	expect_growth(growth, ""); /* it might become a compressed file */
	assert_int_equal(write(fd, " two", 4), 4);
	expect_growth(growth, "one two");
	expect_growth(growth, "");
	assert_int_equal(write(fd, " three", 6), 6);
	expect_growth(growth, " three");
	assert_int_equal(weft_source_growth_size(growth), 13);
	assert_int_equal(ftruncate(fd, 12), 0);
	assert_int_equal(weft_source_growth_next(growth, &bytes, &size), WEFT_END);
	weft_source_growth_close(growth);
}

static void a_file_that_is_replaced_has_ended(void **state)
{
	int fd = (int)(intptr_t)*state;
	struct weft_source_growth *growth;
	const void *bytes;
	size_t size;
	char other[sizeof(path) + 1];
	assert_int_equal(write(fd, "1234", 4), 4);
	assert_int_equal(weft_source_growth_open(path, &growth), 0);
	expect_growth(growth, "1234");
	snprintf(other, sizeof(other), "%s2", path);
	FILE *file = fopen(other, "w");
	assert_non_null(file);
	assert_int_equal(fputs("12345678", file) < 0, 0);
	fclose(file);
	assert_int_equal(rename(other, path), 0);
	assert_int_equal(weft_source_growth_next(growth, &bytes, &size), WEFT_END);
	weft_source_growth_close(growth);
	assert_int_equal(weft_source_growth_open("/dev/null", &growth), WEFT_ERROR_FORMAT);
	assert_int_equal(weft_source_growth_open("/nonexistent", &growth), WEFT_ERROR_SYSTEM);
}

/* Two frames of zstd, of one uncompressed block each. */
static void a_compressed_file_that_grows_is_unpacked(void **state)
{
	static const unsigned char frames[] = {0x28, 0xb5, 0x2f, 0xfd, 0x20, 5, 5 << 3 | 1, 0, 0, 'h',
		'e', 'l', 'l', 'o', 0x28, 0xb5, 0x2f, 0xfd, 0x20, 2, 2 << 3 | 1, 0, 0, '!', '!'};
	int fd = (int)(intptr_t)*state;
	struct weft_source_growth *growth;
	const void *bytes;
	size_t size;
	assert_int_equal(write(fd, frames, 6), 6);
	assert_int_equal(weft_source_growth_open(path, &growth), 0);
	if (weft_source_growth_next(growth, &bytes, &size) == WEFT_ERROR_COMPRESSED) {
		weft_source_growth_close(growth);
		skip();
	}
	/* It may take long until there are more. */
	for (unsigned i = 0; i < 100; i++)
		expect_growth(growth, "");
	assert_int_equal(write(fd, frames + 6, 9), 9);
	expect_growth(growth, "hello");
	assert_int_equal(write(fd, frames + 15, sizeof(frames) - 15), sizeof(frames) - 15);
	expect_growth(growth, "!!");
	assert_int_equal(write(fd, "damage", 6), 6);
	assert_int_equal(weft_source_growth_next(growth, &bytes, &size), WEFT_ERROR_DAMAGED);
	weft_source_growth_close(growth);
}

/* The same two frames, which are there at once. */
static void a_compressed_file_is_unpacked(void **state)
{
	static const unsigned char frames[] = {0x28, 0xb5, 0x2f, 0xfd, 0x20, 5, 5 << 3 | 1, 0, 0, 'h',
		'e', 'l', 'l', 'o', 0x28, 0xb5, 0x2f, 0xfd, 0x20, 2, 2 << 3 | 1, 0, 0, '!', '!'};
	int fd = (int)(intptr_t)*state;
	struct weft_source *source;
	size_t size;
	assert_int_equal(write(fd, frames, sizeof(frames)), sizeof(frames));
	int error = weft_source_open_limited(path, 7, &source);
	if (error == WEFT_ERROR_COMPRESSED)
		skip();
	assert_int_equal(error, 0);
	const void *bytes = weft_source_bytes(source, &size);
	assert_int_equal(size, 7);
	assert_memory_equal(bytes, "hello!!", 7);
	weft_source_close(source);
	assert_int_equal(weft_source_open_limited(path, 6, &source), WEFT_ERROR_SIZE);
	assert_int_equal(weft_source_open_limited(path, 4, &source), WEFT_ERROR_SIZE);
	assert_int_equal(weft_source_open(path, &source), 0);
	weft_source_close(source);
	assert_int_equal(ftruncate(fd, 14), 0); /* the first frame, whose header has its size */
	assert_int_equal(weft_source_open_limited(path, 5, &source), 0);
	weft_source_close(source);
	assert_int_equal(weft_source_open_limited(path, 4, &source), WEFT_ERROR_SIZE);
	assert_int_equal(ftruncate(fd, 8), 0); /* in the middle of the first block's header */
	assert_int_equal(weft_source_open(path, &source), WEFT_ERROR_DAMAGED);
}

/* A block of 4 bytes stands for 128 KiB, which are more than is unpacked at once. All of them come
 * before the next block does. */
static void all_of_a_block_is_unpacked_at_once(void **state)
{
	static const unsigned char frame[] = {0x28, 0xb5, 0x2f, 0xfd, 0, 7 << 3, 2, 0, 0x10, 'x'};
	int fd = (int)(intptr_t)*state, status;
	struct weft_source_growth *growth;
	const void *bytes;
	size_t size, total = 0;
	assert_int_equal(write(fd, frame, sizeof(frame)), sizeof(frame));
	assert_int_equal(weft_source_growth_open(path, &growth), 0);
	while ((status = weft_source_growth_next(growth, &bytes, &size)) == WEFT_OK)
		total += size;
	weft_source_growth_close(growth);
	if (status == WEFT_ERROR_COMPRESSED)
		skip();
	assert_int_equal(status, WEFT_AGAIN);
	assert_int_equal(total, 128 << 10);
}

/* Each block of 4 bytes stands for 128 KiB. */
static void a_few_bytes_that_stand_for_many_are_refused(void **state)
{
	static const unsigned char frame[] = {0x28, 0xb5, 0x2f, 0xfd, 0, 7 << 3};
	static const unsigned char block[] = {2, 0, 0x10, 'x'};
	int fd = (int)(intptr_t)*state, status;
	struct weft_source_growth *growth;
	const void *bytes;
	size_t size, total = 0;
	assert_int_equal(write(fd, frame, sizeof(frame)), sizeof(frame));
	for (int i = 0; i < 1000; i++)
		assert_int_equal(write(fd, block, sizeof(block)), sizeof(block));
	assert_int_equal(weft_source_growth_open(path, &growth), 0);
	while ((status = weft_source_growth_next(growth, &bytes, &size)) == WEFT_OK)
		total += size;
	weft_source_growth_close(growth);
	if (status == WEFT_ERROR_COMPRESSED)
		skip();
	assert_int_equal(status, WEFT_ERROR_SIZE);
	assert_in_range(
		total, WEFT_SOURCE_EXPANDED_BYTES - (1 << 20), WEFT_SOURCE_EXPANDED_BYTES + (1 << 20));
}

/* ---- Closing ---- */

static const unsigned char frame[] = {
	0x28, 0xb5, 0x2f, 0xfd, 0x20, 5, 5 << 3 | 1, 0, 0, 'h', 'e', 'l', 'l', 'o'};

static void nothing_stays_open_or_mapped(void **state)
{
	int fd = (int)(intptr_t)*state;
	struct held before = {0};
	for (int kind = 0; kind < 5; kind++) {
		const off_t size = kind == 2 ? 300000 : kind == 3 ? 8 : 0; /* mapped; cut in a frame */
		assert_int_equal(ftruncate(fd, 0), 0);
		if (kind == 1 || kind == 3)
			assert_int_equal(pwrite(fd, frame, sizeof(frame), 0), sizeof(frame));
		if (size)
			assert_int_equal(ftruncate(fd, size), 0);
		for (int i = 0; i < HELD_ROUNDS + 20; i++) {
			struct weft_source *source = NULL;
			struct weft_source_growth *growth = NULL;
			const void *bytes;
			size_t got;
			if (i == 20)
				before = held_now();
			weft_source_open(kind == 4 ? "/" : path, &source);
			weft_source_close(source);
			weft_source_growth_open(kind == 4 ? "/" : path, &growth);
			if (growth)
				weft_source_growth_next(growth, &bytes, &got);
			weft_source_growth_close(growth);
		}
		held_expect(before);
	}
	assert_int_not_equal(fcntl(STDIN_FILENO, F_GETFD), -1);
	/* The table of guarded mappings has 1024 entries. */
	assert_int_equal(ftruncate(fd, 300000), 0);
	for (int i = 0; i < 1100; i++) {
		struct weft_source *source;
		assert_int_equal(weft_source_open(path, &source), 0);
		weft_source_close(source);
	}
	static char one;
	int count = 0;
	while (weft__source_mapping_guard(&one, 1) == 0)
		count++;
	for (int i = 0; i < count; i++)
		weft__source_mapping_release(&one);
	assert_int_equal(count, 1024);
}

/* A copy does not change with the file; a mapping of a ring must show what its program writes. */
static void large_files_are_mapped_and_small_ones_copied(void **state)
{
	int fd = (int)(intptr_t)*state;
	for (off_t total = 65535; total <= 65536; total++) {
		struct weft_source *source;
		size_t size;
		assert_int_equal(ftruncate(fd, 0), 0);
		assert_int_equal(ftruncate(fd, total), 0);
		assert_int_equal(weft_source_open(path, &source), 0);
		assert_int_equal(pwrite(fd, "x", 1, 5), 1);
		weft_source_forget(source);
		const volatile char *bytes = weft_source_bytes(source, &size);
		assert_int_equal(size, total);
		assert_int_equal(bytes[5], total == 65536 ? 'x' : 0);
		weft_source_close(source);
	}
}

/* The header of a frame may name the size of its content. */
static void a_few_bytes_need_a_limit_at_once(void **state)
{
	static const unsigned char large[] = {
		0x28, 0xb5, 0x2f, 0xfd, 0xe0, 0, 0, 0, 0, 1, 0, 0, 0, 5 << 3 | 1, 0, 0, 'h', 'e'};
	int fd = (int)(intptr_t)*state;
	struct weft_source *source;
	assert_int_equal(write(fd, large, sizeof(large)), sizeof(large));
	int error = weft_source_open(path, &source);
	assert_true(error == WEFT_ERROR_SIZE || error == WEFT_ERROR_COMPRESSED);
}

/* ---- Guarded mappings ---- */

static void *volatile touched;
static sigjmp_buf back;

static void on_other_fault(int signal)
{
	siglongjmp(back, signal);
}

/* A page of a file that is shortened; true if it reads as zeros. */
static bool reads(size_t guarded_from, size_t guarded_bytes, size_t at)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	int fd = memfd_create("pages", MFD_CLOEXEC);
	assert_int_equal(ftruncate(fd, (off_t)(3 * page)), 0);
	char *bytes = mmap(NULL, 3 * page, PROT_READ, MAP_SHARED, fd, 0);
	assert_int_equal(ftruncate(fd, 0), 0);
	assert_int_equal(weft__source_mapping_guard(bytes + guarded_from, guarded_bytes), 0);
	touched = bytes + at;
	bool is_zero = sigsetjmp(back, 1) == 0 && *(volatile char *)touched == 0;
	weft__source_mapping_release(bytes + guarded_from);
	munmap(bytes, 3 * page);
	close(fd);
	return is_zero;
}

/* Another fault goes to the handler that was there before. Runs before other tests, in processes of
 * its own, because the handler is installed once. */
static void only_guarded_addresses_survive(void **state)
{
	static const struct {
		int pages, bytes; /* the address, behind the beginning of the file */
		bool survives;
	} cases[] = {{1, 0, true}, {2, -1, true}, {1, -1, false}, {2, 0, false}, {0, 0, false}};
	const struct sigaction action = {.sa_handler = on_other_fault};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		int status;
		pid_t child = fork();
		if (child == 0) {
			size_t page = (size_t)sysconf(_SC_PAGESIZE);
			sigaction(SIGBUS, &action, NULL);
			bool is_set = weft_source_survive_truncation() == 0 &&
						  weft_source_survive_truncation() == 0; /* once is enough */
			size_t at = (size_t)cases[i].pages * page + (size_t)cases[i].bytes;
			_exit(is_set && reads(page, page, at) == cases[i].survives ? 0 : 1);
		}
		assert_int_equal(waitpid(child, &status, 0), child);
		assert_true(WIFEXITED(status));
		assert_int_equal(WEXITSTATUS(status), 0);
	}
}

#define WITH_FILE(test) cmocka_unit_test_setup_teardown(test, make_file, remove_file)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_guarded_addresses_survive),
		WITH_FILE(reads_a_small_file),
		WITH_FILE(opening_a_file_seeds_the_hashes),
		WITH_FILE(an_empty_file_has_no_bytes),
		cmocka_unit_test(special_files_are_read_to_their_end),
		cmocka_unit_test(a_pipe_on_standard_input),
		cmocka_unit_test(errors_leave_their_reason),
		cmocka_unit_test(a_device_without_an_end_is_given_up),
		cmocka_unit_test(an_endless_device_is_checked_early),
		cmocka_unit_test(a_long_pipe_is_read_to_its_end),
		cmocka_unit_test(holes_are_read_without_being_filled),
		WITH_FILE(a_file_has_no_limit),
		WITH_FILE(what_was_read_before_is_left_out),
		WITH_FILE(a_shortened_mapping_reads_as_zeros),
		WITH_FILE(a_file_that_grows_is_read_once),
		WITH_FILE(a_file_that_is_replaced_has_ended),
		WITH_FILE(a_compressed_file_that_grows_is_unpacked),
		WITH_FILE(a_compressed_file_is_unpacked),
		WITH_FILE(all_of_a_block_is_unpacked_at_once),
		WITH_FILE(a_few_bytes_that_stand_for_many_are_refused),
		WITH_FILE(nothing_stays_open_or_mapped),
		WITH_FILE(large_files_are_mapped_and_small_ones_copied),
		WITH_FILE(a_few_bytes_need_a_limit_at_once),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
