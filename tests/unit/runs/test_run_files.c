/* SPDX-License-Identifier: ISC
 *
 * Names of a run's files: beside the output, never those of other traces, and the numbers of a
 * series.
 */
#include "run_directory.h"

#include <errno.h>

#include "runs/file.h"
#include "runs/saving/name.h"
#include "runs/saving/save.h"
#include "runs/stream/stream_file.h"

static struct weft__runs_ring ring_of(const char *name, int stem_size, pid_t pid)
{
	struct weft__runs_ring ring = {.stem_size = stem_size, .pid = pid};
	strcpy(ring.name, name);
	return ring;
}

static void expect_path(const struct place *place, const char *name, char *got)
{
	assert_non_null(got);
	assert_string_equal(got, in_place(place, name));
	free(got);
}

static void expect_text(const char *expected, char *got)
{
	assert_non_null(got);
	assert_string_equal(got, expected);
	free(got);
}

/* ---- Names ---- */

static void the_first_trace_gets_the_output_and_others_names_beside_it(void **state)
{
	(void)state;
	struct place place = place_make();
	const struct weft__runs_ring first = ring_of("prog-12.weft", 7, 12);
	const struct weft__runs_ring next = ring_of("prog-12.2.weft", 9, 12);
	const struct weft__runs_ring child = ring_of("child-13.weft", 8, 13);
	char *output = strdup(in_place(&place, "out.v1.weft"));
	expect_path(&place, "out.v1.weft", weft__runs_name_trace(output, &first, NULL));
	expect_path(&place, "out.v1-prog-12.2.weft", weft__runs_name_trace(output, &next, &first));
	expect_path(&place, "out.v1-13.weft", weft__runs_name_trace(output, &child, &next));
	expect_path(&place, "out.v1.weft", weft__runs_name_file(output, &first, true));
	expect_path(&place, "out.v1-13.weft", weft__runs_name_file(output, &child, false));
	free(output);
	place_remove(&place);
}

static void a_name_without_a_suffix_is_only_extended(void **state)
{
	(void)state;
	const struct weft__runs_ring child = ring_of("child-13.weft", 8, 13);
	expect_text("a.d/out-13", weft__runs_name_file("a.d/out", &child, false));
	expect_text("a.d/.out-13", weft__runs_name_file("a.d/.out", &child, false));
	expect_text(".out-13", weft__runs_name_file(".out", &child, false));
	expect_text("out-13.weft", weft__runs_name_file("out.weft", &child, false));
}

static void an_earlier_trace_of_that_name_stays(void **state)
{
	(void)state;
	struct place place = place_make();
	const struct weft__runs_ring first = ring_of("prog-12.weft", 7, 12);
	const struct weft__runs_ring child = ring_of("child-13.weft", 8, 13);
	char *output = strdup(in_place(&place, "out.weft"));
	place_put(&place, "out.weft", "old");
	place_put(&place, "out-13.weft", "old");
	place_put(&place, "prog-12.weft", "old");
	place_put(&place, "prog-12_2.weft", "old");
	/* The user named this one, so it is replaced. */
	expect_path(&place, "out.weft", weft__runs_name_trace(output, &first, NULL));
	expect_path(&place, "out-13_2.weft", weft__runs_name_trace(output, &child, &first));
	expect_path(&place, "prog-12_3.weft", weft__runs_name_trace(place.path, &first, NULL));
	expect_path(&place, "child-13.weft", weft__runs_name_trace(place.path, &child, NULL));
	free(output);
	place_remove(&place);
}

/* The last dot may be one of a directory's name, before or in the path. */
static void a_directorys_suffix_is_not_the_files(void **state)
{
	(void)state;
	struct place place = place_make();
	const struct weft__runs_ring first = ring_of("prog-12", 7, 12);
	const struct weft__runs_ring child = ring_of("child-13.weft", 8, 13);
	char *output = strdup(in_place(&place, "a.b/trace"));
	struct weft__runs_identity before = weft__runs_identify(output);
	assert_int_equal(mkdir(in_place(&place, "a.b"), 0700), 0);
	place_put(&place, "a.b/trace", "old");
	place_put(&place, "a.b/trace-13", "old");
	place_put(&place, "a.b/prog-12", "old");
	expect_path(&place, "a.b/trace-13_2", weft__runs_name_trace(output, &child, &first));
	expect_path(&place, "a.b/trace_2", weft__runs_name_output(output, &before));
	expect_path(
		&place, "a.b/prog-12_2", weft__runs_name_trace(in_place(&place, "a.b/"), &first, NULL));
	free(output);
	place_remove(&place);
}

/* The program that is recorded may make a file of that name; a directory is never given another
 * name. */
static void an_output_that_came_meanwhile_stays(void **state)
{
	(void)state;
	struct place place = place_make();
	char *output = strdup(in_place(&place, "out.weft"));
	struct weft__runs_identity before = weft__runs_identify(output);
	expect_path(&place, "out.weft", weft__runs_name_output(output, &before));
	place_put(&place, "out.weft", "new");
	expect_path(&place, "out_2.weft", weft__runs_name_output(output, &before));
	before = weft__runs_identify(output);
	expect_path(&place, "out.weft", weft__runs_name_output(output, &before));
	expect_text(place.path, weft__runs_name_output(place.path, &before));
	expect_text("-", weft__runs_name_output("-", &before));
	assert_null(weft__runs_name_output(NULL, &before));
	free(output);
	place_remove(&place);
}

static void standard_output_takes_the_first_trace_only(void **state)
{
	(void)state;
	const struct weft__runs_ring first = ring_of("prog-12.weft", 7, 12);
	const struct weft__runs_ring child = ring_of("child-13.weft", 8, 13);
	expect_text("-", weft__runs_name_trace("-", &first, NULL));
	expect_text("child-13.weft", weft__runs_name_trace("-", &child, &first));
	expect_text("prog-12.weft", weft__runs_name_file("-", &first, true));
	assert_true(weft__runs_is_stdout("-"));
	assert_false(weft__runs_is_stdout("-.weft") || weft__runs_is_stdout(NULL));
}

static void a_directory_gets_one_slash(void **state)
{
	(void)state;
	expect_text("a.weft", weft__runs_name_in("", "a.weft"));
	expect_text("d/a.weft", weft__runs_name_in("d", "a.weft"));
	expect_text("d/a.weft", weft__runs_name_in("d/", "a.weft"));
	assert_true(weft__runs_is_directory(NULL) && weft__runs_is_directory("no-such/"));
	assert_true(weft__runs_is_directory("/tmp"));
	assert_false(weft__runs_is_directory("no-such"));
}

/* ---- A series of files ---- */

static void begin(struct weft__stream_file *file, const struct place *place, const char *name)
{
	assert_true(weft__runs_stream_file_begin(file));
	assert_string_equal(file->path, in_place(place, name));
	assert_true(place_has(place, name));
}

static void write_bytes(struct weft__stream_file *file, size_t size)
{
	static const char zeros[4096];
	assert_true(weft__runs_stream_file_put(file, zeros, size));
	assert_int_equal(file->pending_bytes, size);
	assert_true(weft__runs_stream_file_flush(file));
	assert_int_equal(file->pending_bytes, 0);
}

static void numbers_continue_those_of_existing_files(void **state)
{
	(void)state;
	struct place place = place_make();
	const struct weft__runs_stream_options options = {.rotate_bytes = 1000};
	struct weft__stream_file file;
	place_put(&place, "log.0003.weft", "");
	place_put(&place, "log.0012.weft", "");
	place_put(&place, "log.0007.weft", "");
	/* None of these belongs to the series. */
	place_put(&place, "log.900.weft", "");
	place_put(&place, "log.0900.zst", "");
	place_put(&place, "log.0900.weft.old", "");
	place_put(&place, "log.+900.weft", "");
	place_put(&place, "log. 900.weft", "");
	place_put(&place, "log.900x.weft", "");
	place_put(&place, "log.18446744073709552516.weft", "");
	place_put(&place, "log.100000000.weft", "");
	place_put(&place, "other.0900.weft", "");
	place_put(&place, "abc.0900.weft", "");
	weft__runs_stream_file_init(&file, &options, strdup(in_place(&place, "log.weft")));
	begin(&file, &place, "log.0013.weft");
	begin(&file, &place, "log.0014.weft");
	assert_int_equal(file.count, 2);
	weft__runs_stream_file_finish(&file);
	weft__runs_stream_file_init(&file, &options, strdup(in_place(&place, "log.weft.zst")));
	begin(&file, &place, "log.0001.weft.zst");
	weft__runs_stream_file_finish(&file);
	weft__runs_stream_file_init(&file, &options, strdup(in_place(&place, ".log")));
	begin(&file, &place, ".log.0001");
	weft__runs_stream_file_finish(&file);
	weft__runs_stream_file_init(&file, &options, strdup(in_place(&place, "log.trace")));
	begin(&file, &place, "log.0001.trace");
	weft__runs_stream_file_finish(&file);
	place_remove(&place);
}

static void the_largest_number_belongs_to_a_series(void **state)
{
	(void)state;
	struct place place = place_make();
	const struct weft__runs_stream_options options = {.rotate_bytes = 1000};
	struct weft__stream_file file;
	place_put(&place, "log.99999999.weft", "");
	weft__runs_stream_file_init(&file, &options, strdup(in_place(&place, "log.weft")));
	begin(&file, &place, "log.100000000.weft");
	weft__runs_stream_file_finish(&file);
	place_remove(&place);
}

static void only_the_newest_files_are_kept(void **state)
{
	(void)state;
	struct place place = place_make();
	const struct weft__runs_stream_options options = {.rotate_bytes = 1000, .keep = 2};
	struct weft__stream_file file;
	place_put(&place, "log.0001.weft", "");
	place_put(&place, "log.0002.weft", "");
	place_put(&place, "log.0003.weft", "");
	place_put(&place, "log.txt", "");
	weft__runs_stream_file_init(&file, &options, strdup(in_place(&place, "log.weft")));
	begin(&file, &place, "log.0004.weft");
	assert_false(place_has(&place, "log.0001.weft") || place_has(&place, "log.0002.weft"));
	assert_true(place_has(&place, "log.0003.weft") && place_has(&place, "log.txt"));
	begin(&file, &place, "log.0005.weft");
	assert_false(place_has(&place, "log.0003.weft"));
	assert_true(place_has(&place, "log.0004.weft"));
	weft__runs_stream_file_finish(&file);
	place_remove(&place);
}

static void a_file_is_full_when_the_next_piece_exceeds_it(void **state)
{
	(void)state;
	struct place place = place_make();
	const struct weft__runs_stream_options options = {.rotate_bytes = 1000, .keep = 3};
	struct weft__stream_file file;
	weft__runs_stream_file_init(&file, &options, strdup(in_place(&place, "log.weft")));
	begin(&file, &place, "log.0001.weft");
	write_bytes(&file, 600);
	assert_false(weft__runs_stream_file_is_full(&file, 400));
	assert_true(weft__runs_stream_file_is_full(&file, 401));
	assert_int_equal(weft__runs_stream_file_disk_bytes(&file), 600);
	begin(&file, &place, "log.0002.weft");
	assert_int_equal(file.bytes, 0);
	assert_false(weft__runs_stream_file_is_full(&file, 1000));
	write_bytes(&file, 1000);
	begin(&file, &place, "log.0003.weft");
	write_bytes(&file, 1000);
	assert_int_equal(weft__runs_stream_file_disk_bytes(&file), 2600);
	begin(&file, &place, "log.0004.weft");
	write_bytes(&file, 1000);
	/* Rotation has removed the first of them. */
	assert_int_equal(weft__runs_stream_file_disk_bytes(&file), 3000);
	assert_int_equal(file.total, 3600);
	assert_true(weft__runs_stream_file_is_rewritable(&file));
	weft__runs_stream_file_finish(&file);
	place_remove(&place);
}

static void a_new_stream_does_not_change_an_open_file(void **state)
{
	(void)state;
	struct place place = place_make();
	const struct weft__runs_stream_options options = {0};
	struct weft__stream_file file;
	char byte;
	place_put(&place, "old.weft", "o");
	assert_int_equal(symlink("old.weft", in_place(&place, "log.weft")), 0);
	int old = open(in_place(&place, "old.weft"), O_RDONLY | O_CLOEXEC);
	weft__runs_stream_file_init(&file, &options, strdup(in_place(&place, "log.weft")));
	begin(&file, &place, "log.weft");
	write_bytes(&file, 10);
	assert_true(weft__runs_stream_file_sync(&file));
	struct stat status;
	assert_int_equal(lstat(in_place(&place, "log.weft"), &status), 0);
	assert_true(S_ISLNK(status.st_mode));
	assert_int_equal(stat(in_place(&place, "old.weft"), &status), 0);
	assert_int_equal(status.st_size, 10);
	assert_int_equal(status.st_mode & 0777, 0600);
	assert_int_equal(read(old, &byte, 1), 1);
	assert_int_equal(byte, 'o');
	close(old);
	assert_false(weft__runs_stream_file_is_full(&file, 1 << 30));
	assert_int_equal(weft__runs_stream_file_disk_bytes(&file), 10);
	weft__runs_stream_file_finish(&file);
	place_remove(&place);
}

/* ---- Whole files ---- */

static void a_file_appears_whole_or_not_at_all(void **state)
{
	(void)state;
	struct place place = place_make();
	struct weft__runs_file file;
	char *path = strdup(in_place(&place, "a.weft"));
	place_put(&place, "a.weft", "old");
	assert_true(weft__runs_file_create(path, &file));
	assert_true(weft__runs_write_all(file.fd, "new content", 11));
	struct stat status;
	assert_int_equal(stat(path, &status), 0);
	assert_int_equal(status.st_size, 3);
	weft__runs_file_abandon(&file);
	assert_int_not_equal(access(file.temporary, F_OK), 0);
	assert_int_equal(stat(path, &status), 0);
	assert_int_equal(status.st_size, 3);
	assert_true(weft__runs_file_create(path, &file));
	assert_true(weft__runs_write_all(file.fd, "new content", 11));
	assert_true(weft__runs_file_commit(&file));
	assert_int_not_equal(access(file.temporary, F_OK), 0);
	assert_int_equal(stat(path, &status), 0);
	assert_int_equal(status.st_size, 11);
	assert_int_equal(status.st_mode & 0777, 0600);
	free(path);
	place_remove(&place);
}

static void only_traces_are_replaced(void **state)
{
	(void)state;
	struct place place = place_make();
	place_put(&place, "letter.txt", "Dear reader,");
	place_put(&place, "empty", "");
	assert_false(weft__runs_file_is_free(in_place(&place, "letter.txt")));
	assert_non_null(strstr(reported, "letter.txt"));
	assert_true(weft__runs_file_is_free(in_place(&place, "empty")));
	assert_true(weft__runs_file_is_free(in_place(&place, "new.weft")));
	assert_false(place_has(&place, "new.weft"));
	assert_false(weft__runs_file_is_free(in_place(&place, "no/such/place")));
	assert_true(weft__runs_can_save(place.path));
	assert_false(weft__runs_can_save(in_place(&place, "letter.txt")));
	place_remove(&place);
}

/* A block of zeros in the middle, a last block that is not whole, and zeros at the end. */
static void a_saved_copy_has_the_bytes_and_the_size(void **state)
{
	enum {
		SIZE = 70 * 4096 + 100,
	};
	(void)state;
	struct place place = place_make();
	char *bytes = calloc(1, SIZE), *got = malloc(SIZE + 1);
	memset(bytes, 'a', 4096);
	bytes[2 * 4096 - 1] = 'b';
	bytes[3 * 4096 + 7] = 'c';
	memset(bytes + (size_t)64 * 4096 - 3, 'd', 6);
	assert_true(weft__runs_save_copy(bytes, SIZE, -1, in_place(&place, "a.weft")));
	int fd = open(in_place(&place, "a.weft"), O_RDONLY | O_CLOEXEC);
	assert_int_equal(read(fd, got, SIZE + 1), SIZE);
	assert_memory_equal(bytes, got, SIZE);
	close(fd);
	free(bytes);
	free(got);
	place_remove(&place);
}

static void sizes_are_written_in_the_largest_unit(void **state)
{
	(void)state;
	char text[32];
	assert_string_equal(weft__runs_size_text(0, text), "0 bytes");
	assert_string_equal(weft__runs_size_text(1023, text), "1023 bytes");
	assert_string_equal(weft__runs_size_text(1024, text), "1 KiB");
	assert_string_equal(weft__runs_size_text(1536, text), "1.5 KiB");
	assert_string_equal(weft__runs_size_text(1024 + 51, text), "1.0 KiB");
	assert_string_equal(weft__runs_size_text(1024 + 52, text), "1.1 KiB");
	assert_string_equal(weft__runs_size_text((uint64_t)16 << 20, text), "16 MiB");
	assert_string_equal(weft__runs_size_text((uint64_t)3 << 30, text), "3 GiB");
	assert_string_equal(weft__runs_size_text((uint64_t)5000 << 40, text), "5000 TiB");
}

static void strange_paths_are_quoted(void **state)
{
	(void)state;
	assert_string_equal(weft__runs_shown("/tmp/a-b_c.weft"), "/tmp/a-b_c.weft");
	const char *quoted = weft__runs_shown("a b");
	assert_string_equal(quoted, "\"a b\"");
	for (int i = 0; i < 3; i++)
		assert_string_not_equal(weft__runs_shown("c d"), quoted);
	assert_string_equal(weft__runs_shown(""), "\"\"");
}

static void a_trial_leaves_nothing_behind(void **state)
{
	(void)state;
	struct place place = place_make();
	struct stat status;
	assert_true(weft__runs_file_can_create(in_place(&place, "new.weft")));
	assert_false(place_has(&place, "new.weft"));
	place_put(&place, "old.weft", "content");
	assert_true(weft__runs_file_can_create(in_place(&place, "old.weft")));
	assert_int_equal(stat(in_place(&place, "old.weft"), &status), 0);
	assert_int_equal(status.st_size, strlen("content"));
	assert_false(weft__runs_file_can_create(in_place(&place, "missing/new.weft")));
	assert_int_equal(errno, ENOENT);
	assert_int_equal(unlink(in_place(&place, "old.weft")), 0);
	assert_int_equal(rmdir(place.path), 0); /* nothing else is there */
}

/* A file that was removed meanwhile needs no wait. */
static void many_files_are_waited_for_together(void **state)
{
	(void)state;
	struct place place = place_make();
	const char *paths[] = {strdup(in_place(&place, "a.weft")), strdup(in_place(&place, "b.weft"))};
	place_put(&place, "a.weft", "x");
	assert_true(weft__runs_sync_all(paths, 2));
	assert_string_equal(reported, "");
	free((char *)paths[1]);
	paths[1] = strdup(in_place(&place, "a.weft/b.weft"));
	assert_false(weft__runs_sync_all(paths, 2));
	assert_non_null(strstr(reported, "a.weft/b.weft may not be on the disk: "));
	free((char *)paths[0]);
	free((char *)paths[1]);
	place_remove(&place);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_first_trace_gets_the_output_and_others_names_beside_it),
		cmocka_unit_test(a_name_without_a_suffix_is_only_extended),
		cmocka_unit_test(an_earlier_trace_of_that_name_stays),
		cmocka_unit_test(a_directorys_suffix_is_not_the_files),
		cmocka_unit_test(an_output_that_came_meanwhile_stays),
		cmocka_unit_test(standard_output_takes_the_first_trace_only),
		cmocka_unit_test(a_directory_gets_one_slash),
		cmocka_unit_test(numbers_continue_those_of_existing_files),
		cmocka_unit_test(the_largest_number_belongs_to_a_series),
		cmocka_unit_test(only_the_newest_files_are_kept),
		cmocka_unit_test(a_file_is_full_when_the_next_piece_exceeds_it),
		cmocka_unit_test(a_new_stream_does_not_change_an_open_file),
		cmocka_unit_test(a_file_appears_whole_or_not_at_all),
		cmocka_unit_test(only_traces_are_replaced),
		cmocka_unit_test(a_trial_leaves_nothing_behind),
		cmocka_unit_test(many_files_are_waited_for_together),
		cmocka_unit_test(a_saved_copy_has_the_bytes_and_the_size),
		cmocka_unit_test(sizes_are_written_in_the_largest_unit),
		cmocka_unit_test(strange_paths_are_quoted),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
