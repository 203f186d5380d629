/* SPDX-License-Identifier: ISC
 *
 * Streaming a run: which files its rings get, that these have all events, and what happens at a
 * limit, on a full disk, and when a file may not be replaced.
 */
#include "run_ring.h"

#include <errno.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/statvfs.h>

#include <weft/input.h>
#include <weft/weft.h>

#include "abi/buffer_abi.h"
#include "nothing_left.h"
#include "runs/stream/compress.h"
#include "runs/stream/streaming.h"
#include "waiting.h"

#define SIZE  ((size_t)1 << 20)
#define USUAL ((uint64_t)16 << 30)

/* A run directory with a ring of this process, and the stream of that ring. */
struct run {
	struct place place, output;
	char trace[PATH_MAX];
	struct weft__runs_stream stream;
	struct weft__ring_stream ring;
	struct weft__ring_stream *list[1];
	void *bytes;
};

static const char *ring_name(unsigned program)
{
	static char name[64];
	if (program == 1)
		snprintf(name, sizeof(name), "test-%d.weft", (int)getpid());
	else
		snprintf(name, sizeof(name), "test-%d.%u.weft", (int)getpid(), program);
	return name;
}

/* `run` must not move. The stream is served by hand, without its thread. */
static void begin(struct run *run, struct weft__runs_stream_options options, const char *output)
{
	memset(run, 0, sizeof(*run));
	run->place = place_make();
	run->output = place_make();
	run->bytes = map_ring(in_place(&run->place, ring_name(1)), SIZE);
	assert_int_equal(weft_start(run->bytes, SIZE, NULL), 0);
	snprintf(run->trace, sizeof(run->trace), "%s", in_place(&run->output, output));
	options.output = run->trace;
	run->stream.options = options;
	run->stream.piece_bytes = weft__runs_stream_piece_bytes(&options);
	run->stream.notify = -1;
	run->stream.list = run->list;
	run->stream.count = 1;
	run->list[0] = &run->ring;
	run->ring.ring = (struct weft__runs_ring){.pid = getpid(), .is_ours = true, .is_running = true};
	strcpy(run->ring.ring.name, ring_name(1));
	snprintf(run->ring.path, sizeof(run->ring.path), "%s", in_place(&run->place, ring_name(1)));
	weft__runs_stream_file_init(&run->ring.file, &run->stream.options, strdup(run->trace));
}

static void end(struct run *run)
{
	weft_stop();
	weft_stream_close(run->ring.stream);
	weft__runs_stream_file_finish(&run->ring.file);
	munmap(run->bytes, SIZE);
	place_remove(&run->place);
	place_remove(&run->output);
}

static int64_t recorded; /* the next number */

static void record(int64_t count)
{
	for (int64_t i = 0; i < count; i++)
		weft_tag_value("number", recorded++);
}

/* Serves the ring until there is nothing to do. */
static void serve(struct run *run, bool is_last)
{
	while (weft__runs_ring_stream_serve(&run->stream, &run->ring, is_last))
		continue;
}

/* Reads the numbers of a file, which follow `next` without a gap; returns the next one. */
static int64_t read_numbers(const char *path, int64_t next)
{
	struct weft_input *input;
	struct weft_event event;
	assert_int_equal(weft_input_open(path, NULL, &input), 0);
	while (weft_decoder_next(weft_input_decoder(input), &event) == WEFT_OK)
		if (event.type == WEFT_EVENT_TAG)
			assert_int_equal(event.value, next++);
	assert_int_equal(weft_decoder_diagnostics(weft_input_decoder(input))->count, 0);
	weft_input_close(input);
	return next;
}

static uint64_t read_stalled(const char *path)
{
	struct weft_input *input;
	struct weft_event event;
	assert_int_equal(weft_input_open(path, NULL, &input), 0);
	while (weft_decoder_next(weft_input_decoder(input), &event) == WEFT_OK)
		continue;
	uint64_t lost = weft_decoder_describe(weft_input_decoder(input))->losses[WEFT_LOSS_STALLED];
	weft_input_close(input);
	return lost;
}

static off_t size_of(const char *path)
{
	struct stat status;
	assert_int_equal(stat(path, &status), 0);
	return status.st_size;
}

/* ---- One ring ---- */

static void a_stream_has_all_events_of_its_ring(void **state)
{
	(void)state;
	struct run run;
	begin(&run, (struct weft__runs_stream_options){0}, "out.weft");
	recorded = 0;
	for (int i = 0; i < 10; i++) {
		record(10000);
		serve(&run, false);
	}
	record(10);
	serve(&run, true);
	assert_true(run.ring.is_done);
	assert_false(run.ring.has_failed || run.ring.is_stuck || run.ring.result.is_cut);
	assert_null(run.ring.stream);
	assert_int_equal(run.ring.written, 100010);
	assert_int_equal(run.ring.result.summary.events, 100010);
	assert_int_equal(read_numbers(run.trace, 0), 100010);
	assert_int_equal(run.ring.file.total, size_of(run.trace));
	/* It is done, so nothing opens its ring again. */
	assert_false(weft__runs_ring_stream_serve(&run.stream, &run.ring, true));
	assert_null(run.ring.stream);
	end(&run);
}

/* Each ring gets its turn: a call writes at most 64 pieces. */
static void a_turn_is_limited(void **state)
{
	(void)state;
	struct run run;
	begin(&run, (struct weft__runs_stream_options){.rotate_bytes = 80000}, "out.weft");
	recorded = 0;
	record(60000); /* most of the ring, and more than 64 pieces of 10,000 bytes */
	assert_true(weft__runs_ring_stream_serve(&run.stream, &run.ring, false));
	uint64_t total = run.ring.file.total;
	assert_in_range(total, 63 * 4096, 65 * 10000);
	assert_true(weft__runs_ring_stream_serve(&run.stream, &run.ring, false));
	assert_true(run.ring.file.total > total);
	end(&run);
}

static void each_file_of_a_series_can_be_read_alone(void **state)
{
	(void)state;
	struct run run;
	char name[32];
	const uint64_t most = 300000;
	begin(&run, (struct weft__runs_stream_options){.rotate_bytes = most}, "out.weft");
	recorded = 0;
	for (int i = 0; i < 10; i++) {
		record(10000);
		serve(&run, false);
	}
	serve(&run, true);
	assert_true(run.ring.file.count > 3);
	int64_t next = 0;
	for (unsigned i = 1; i <= run.ring.file.count; i++) {
		snprintf(name, sizeof(name), "out.%04u.weft", i);
		int64_t after = read_numbers(in_place(&run.output, name), next);
		assert_true(after > next);
		next = after;
		assert_true((uint64_t)size_of(in_place(&run.output, name)) <= most);
		if (i < run.ring.file.count)
			assert_true((uint64_t)size_of(in_place(&run.output, name)) > most / 2);
	}
	assert_int_equal(next, 100000);
	end(&run);
}

/* A bit of the byte after zstd's magic number. */
static bool has_checksum(const char *path)
{
	unsigned char head[5];
	FILE *file = fopen(path, "re");
	assert_non_null(file);
	assert_int_equal(fread(head, 1, sizeof(head), file), sizeof(head));
	fclose(file);
	return head[4] & 4;
}

static void compressed_files_are_whole_frames(void **state)
{
	(void)state;
	struct run run;
	char name[32];
	if (!weft__runs_compressor_is_there())
		skip();
	begin(&run, (struct weft__runs_stream_options){.rotate_bytes = 300000, .compress = true},
		"out.weft.zst");
	recorded = 0;
	for (int i = 0; i < 40; i++) {
		record(10000);
		serve(&run, false);
	}
	serve(&run, true);
	assert_true(run.ring.is_done && !run.ring.has_failed);
	assert_true(run.ring.file.count > 1);
	int64_t next = 0;
	for (unsigned i = 1; i <= run.ring.file.count; i++) {
		snprintf(name, sizeof(name), "out.%04u.weft.zst", i);
		next = read_numbers(in_place(&run.output, name), next);
		assert_true(size_of(in_place(&run.output, name)) <= 300000);
		assert_true(has_checksum(in_place(&run.output, name)));
	}
	assert_int_equal(next, 400000);
	end(&run);
}

/* ---- Limits ---- */

static void a_stream_is_cut_at_its_limit(void **state)
{
	(void)state;
	struct run run;
	const uint64_t most = WEFT__RUNS_LIMIT_MIN_BYTES;
	begin(&run, (struct weft__runs_stream_options){.max_bytes = most, .has_max = true}, "out.weft");
	recorded = 0;
	for (int i = 0; i < 100 && !run.ring.is_done; i++) {
		record(20000);
		serve(&run, false);
	}
	assert_true(run.ring.is_done && run.ring.result.is_cut && run.stream.is_full);
	assert_false(run.ring.has_failed);
	assert_true((uint64_t)size_of(run.trace) <= most);
	assert_true((uint64_t)size_of(run.trace) > most / 2);
	assert_non_null(strstr(reported, "limit of 8 MiB"));
	assert_null(strstr(strstr(reported, "limit of") + 1, "limit of"));
	int64_t next = read_numbers(run.trace, 0);
	assert_true(next > 0 && next < recorded);
	end(&run);
}

static void a_ring_that_comes_after_the_limit_is_not_streamed(void **state)
{
	(void)state;
	struct run run;
	begin(&run, (struct weft__runs_stream_options){0}, "out.weft");
	run.stream.is_full = true;
	assert_false(weft__runs_ring_stream_serve(&run.stream, &run.ring, false));
	assert_true(run.ring.is_done && run.ring.result.is_cut);
	assert_int_equal(run.ring.file.count, 0);
	end(&run);
}

static void the_limit_counts_the_files_of_all_rings(void **state)
{
	(void)state;
	struct run run;
	begin(&run, (struct weft__runs_stream_options){.max_bytes = 10 << 20, .has_max = true},
		"out.weft");
	const uint64_t room = weft__runs_stream_most_bytes(&run.stream) + ((uint64_t)2 << 20);
	char other_name[] = "other.weft";
	struct weft__ring_stream other = run.ring;
	other.file.name = other_name;
	struct weft__ring_stream *both[] = {&run.ring, &other};
	run.stream.list = both;
	run.stream.count = 2;
	run.ring.file.total = 1000;
	other.file.total = run.stream.options.max_bytes - room - 1000;
	assert_false(weft__runs_stream_is_full(&run.stream, &run.ring));
	other.file.total++;
	assert_true(weft__runs_stream_is_full(&run.stream, &run.ring));
	other.file.total = 0;
	assert_true(weft__runs_stream_is_full(&run.stream, &run.ring)); /* it stays so */
	run.stream.is_full = false;
	run.stream.options.max_bytes = 0; /* no limit */
	other.file.total = UINT64_MAX / 2;
	assert_false(weft__runs_stream_is_full(&run.stream, &run.ring));
	/* Standard output fills no disk of ours. */
	run.stream.options = (struct weft__runs_stream_options){.max_bytes = 1, .has_max = false};
	free(run.ring.file.name);
	run.ring.file.name = strdup("-");
	assert_false(weft__runs_stream_is_full(&run.stream, &run.ring));
	run.stream.options.has_max = true;
	assert_true(weft__runs_stream_is_full(&run.stream, &run.ring));
	end(&run);
}

static size_t piece_of(uint64_t rotate_bytes, uint64_t max_bytes)
{
	return weft__runs_stream_piece_bytes(
		&(struct weft__runs_stream_options){.rotate_bytes = rotate_bytes, .max_bytes = max_bytes});
}

/* At least eight pieces fit in a file and in the limit. */
static void pieces_are_an_eighth_of_what_they_fill(void **state)
{
	(void)state;
	assert_int_equal(piece_of(0, 0), 1 << 20);
	assert_int_equal(piece_of(80000, 0), 10000);
	assert_int_equal(piece_of(0, 80000), 10000);
	assert_int_equal(piece_of(80000, 160000), 10000);
	assert_int_equal(piece_of(160000, 80000), 10000);
	assert_int_equal(piece_of((uint64_t)1 << 40, 0), 1 << 20);
	assert_int_equal(piece_of(7, 0), 1 << 20);
	struct weft__runs_stream stream = {.piece_bytes = 1000};
	assert_int_equal(weft__runs_stream_most_bytes(&stream), 72 << 10);
	stream.piece_bytes = 100 << 10;
	assert_int_equal(weft__runs_stream_most_bytes(&stream), 106 << 10);
}

/* In place of libc's: what is known of a disk, and whose it was. */
static struct {
	char asked[PATH_MAX];
	fsblkcnt_t all, free, available;
	bool is_refused;
} disk = {.all = 1000, .free = 1000, .available = 1000};

int statvfs(const char *restrict path, struct statvfs *restrict ret_status)
{
	snprintf(disk.asked, sizeof(disk.asked), "%s", path);
	errno = ENOENT;
	if (disk.is_refused)
		return -1;
	*ret_status = (struct statvfs){.f_bsize = 1,
		.f_frsize = 1 << 20,
		.f_blocks = disk.all,
		.f_bfree = disk.free,
		.f_bavail = disk.available};
	return 0;
}

static uint64_t usual_limit(const char *output, uint64_t rotate_bytes, uint64_t keep)
{
	return weft__runs_stream_usual_limit(&(struct weft__runs_stream_options){
		.output = output, .rotate_bytes = rotate_bytes, .keep = keep});
}

static void with_files_that_are_kept_their_size_is_the_limit(void **state)
{
	(void)state;
	assert_int_equal(usual_limit("out", 1000, 5), USUAL);
	assert_int_equal(usual_limit("out", (uint64_t)1 << 33, 5), (uint64_t)5 << 33);
	assert_int_equal(usual_limit("out", UINT64_MAX / 4, 5), 0);
}

static void the_usual_limit_leaves_half_of_the_disks_room(void **state)
{
	(void)state;
	const uint64_t mib = 1 << 20;
	/* All of it, free for the administrator, free for all. */
	disk.all = 9000, disk.free = 5000, disk.available = 3000;
	assert_int_equal(usual_limit("/tmp/out", 0, 0), 1500 * mib);
	disk.available = (USUAL / mib + 1) * 2;
	assert_int_equal(usual_limit("/tmp/out", 0, 0), USUAL);
	disk.available = WEFT__RUNS_LIMIT_MIN_BYTES / mib * 2 - 1;
	assert_int_equal(usual_limit("/tmp/out", 0, 0), WEFT__RUNS_LIMIT_MIN_BYTES);
	disk.available = 0;
	assert_int_equal(usual_limit("/tmp/out", 0, 0), WEFT__RUNS_LIMIT_MIN_BYTES);
	disk.is_refused = true;
	assert_int_equal(usual_limit("/tmp/out", 0, 0), USUAL);
	disk.is_refused = false;
}

static void the_disk_is_that_of_the_output(void **state)
{
	(void)state;
	static const char *const cases[][2] = {{NULL, "."}, {"out.weft", "."}, {"/tmp/", "/tmp/"},
		{"/tmp/out.weft", "/tmp/"}, {"/tmp", "/tmp"}, {"/none/at/all", "/none/at/"}};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		(void)usual_limit(cases[i][0], 0, 0);
		assert_string_equal(disk.asked, cases[i][1]);
	}
}

/* ---- Files that cannot be written ---- */

static void a_file_of_another_kind_is_not_replaced(void **state)
{
	(void)state;
	struct run run;
	begin(&run, (struct weft__runs_stream_options){0}, "letter.txt");
	place_put(&run.output, "letter.txt", "Dear reader,");
	serve(&run, false);
	assert_true(run.ring.is_done && run.ring.has_failed);
	assert_int_equal(size_of(run.trace), 12);
	assert_non_null(strstr(reported, "letter.txt"));
	end(&run);
}

/* Bounds the size of files as a full disk does. */
static void set_room(rlim_t bytes)
{
	struct rlimit limit;
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
	limit.rlim_cur = bytes == RLIM_INFINITY ? limit.rlim_max : bytes;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

static void a_stream_goes_on_when_the_disk_has_room_again(void **state)
{
	(void)state;
	struct run run;
	begin(&run, (struct weft__runs_stream_options){0}, "out.weft");
	recorded = 0;
	record(20000);
	set_room(100000);
	assert_true(weft__runs_ring_stream_serve(&run.stream, &run.ring, false));
	assert_false(weft__runs_ring_stream_serve(&run.stream, &run.ring, false));
	assert_true(run.ring.is_stuck);
	assert_false(run.ring.is_done || run.ring.has_failed);
	set_room(RLIM_INFINITY);
	serve(&run, true);
	assert_false(run.ring.is_stuck || run.ring.has_failed);
	assert_int_equal(read_numbers(run.trace, 0), 20000);
	end(&run);
}

/* The file stays whole, and says how many events it lacks. */
static void a_stream_that_gives_up_counts_what_is_missing(void **state)
{
	(void)state;
	struct run run;
	begin(&run, (struct weft__runs_stream_options){0}, "out.weft");
	run.stream.piece_bytes = 10000;
	recorded = 0;
	record(20000);
	set_room(100000);
	serve(&run, false);
	assert_true(run.ring.is_stuck);
	weft_stream_stop(run.ring.stream);
	weft__runs_ring_stream_give_up(&run.stream, &run.ring);
	set_room(RLIM_INFINITY);
	assert_true(run.ring.is_done && run.ring.has_failed);
	assert_null(run.ring.stream);
	assert_int_equal(run.ring.file.fd, -1);
	assert_int_equal(run.ring.file.bytes, size_of(run.trace));
	int64_t there = read_numbers(run.trace, 0);
	assert_in_range(there, 1000, 19999);
	assert_int_equal(run.ring.written, there);
	assert_int_equal(read_stalled(run.trace), 20000 - there);
	assert_int_equal(run.ring.result.summary.events, 20000);
	assert_non_null(strstr(reported, strerror(EFBIG)));
	end(&run);
}

/* A ring whose stream never began is given up as well. */
static void a_ring_without_a_file_is_given_up(void **state)
{
	(void)state;
	struct run run;
	begin(&run, (struct weft__runs_stream_options){0}, "out.weft");
	weft__runs_ring_stream_give_up(&run.stream, &run.ring);
	assert_true(run.ring.is_done && run.ring.has_failed);
	assert_non_null(strstr(reported, "out.weft: not written"));
	end(&run);
}

/* ---- Rings that cannot be opened ---- */

static void a_ring_that_is_being_made_is_tried_again(void **state)
{
	(void)state;
	struct run run;
	begin(&run, (struct weft__runs_stream_options){0}, "out.weft");
	struct weft_abi_buffer *header = run.bytes;
	uint64_t magic;
	recorded = 0;
	record(10);
	memcpy(&magic, header->magic, sizeof(magic));
	memset(header->magic, 0, sizeof(magic));
	assert_false(weft__runs_ring_stream_serve(&run.stream, &run.ring, false));
	assert_false(run.ring.is_done || run.ring.has_failed);
	memcpy(header->magic, &magic, sizeof(magic));
	serve(&run, true);
	assert_int_equal(read_numbers(run.trace, 0), 10);
	end(&run);
}

static void a_ring_that_was_never_made_is_passed_over(void **state)
{
	(void)state;
	struct run run;
	begin(&run, (struct weft__runs_stream_options){0}, "out.weft");
	weft_stop();
	memset(run.bytes, 0, 8);
	assert_false(weft__runs_ring_stream_serve(&run.stream, &run.ring, true));
	assert_true(run.ring.is_done);
	assert_false(run.ring.has_failed);
	assert_string_equal(reported, "");
	end(&run);
}

static void a_damaged_ring_of_ours_fails(void **state)
{
	(void)state;
	for (int is_ours = 0; is_ours < 2; is_ours++) {
		struct run run;
		begin(&run, (struct weft__runs_stream_options){0}, "out.weft");
		weft_stop();
		((struct weft_abi_buffer *)run.bytes)->version++;
		run.ring.ring.is_ours = is_ours;
		assert_false(weft__runs_ring_stream_serve(&run.stream, &run.ring, false));
		assert_true(run.ring.is_done);
		assert_int_equal(run.ring.has_failed, is_ours);
		assert_non_null(strstr(reported, weft_error_text(WEFT_ERROR_UNSUPPORTED)));
		end(&run);
	}
}

static void a_ring_that_was_removed_fails(void **state)
{
	(void)state;
	struct run run;
	begin(&run, (struct weft__runs_stream_options){0}, "out.weft");
	assert_int_equal(unlink(run.ring.path), 0);
	assert_false(weft__runs_ring_stream_serve(&run.stream, &run.ring, false));
	assert_false(run.ring.is_done || run.ring.has_failed);
	assert_false(weft__runs_ring_stream_serve(&run.stream, &run.ring, true));
	assert_true(run.ring.is_done && run.ring.has_failed);
	assert_non_null(strstr(reported, strerror(ENOENT)));
	end(&run);
}

/* The process could not allocate the ring that it had begun to make. */
static void a_ring_that_its_process_gave_up_is_passed_over(void **state)
{
	(void)state;
	struct run run;
	char link[PATH_MAX + NAME_MAX + 32];
	begin(&run, (struct weft__runs_stream_options){0}, "out.weft");
	size_t stem = strlen(run.ring.path) - strlen(".weft");
	snprintf(link, sizeof(link), "%.*s.failed", (int)stem, run.ring.path);
	assert_int_equal(symlink("allocate: No space left on device", link), 0);
	assert_int_equal(unlink(run.ring.path), 0);
	assert_false(weft__runs_ring_stream_serve(&run.stream, &run.ring, true));
	assert_true(run.ring.is_done);
	assert_false(run.ring.has_failed);
	assert_string_equal(reported, "");
	end(&run);
}

/* ---- The thread ---- */

/* Which is the last program is known at the end. */
static void the_last_program_gets_the_file(void **state)
{
	(void)state;
	struct place place = place_make(), output = place_make();
	struct weft__runs_saved *results;
	struct weft__runs_rings rings;
	char trace[PATH_MAX], name[128];
	size_t count, left_out;
	snprintf(trace, sizeof(trace), "%s", in_place(&output, "out.weft"));
	const struct weft__runs_stream_options options = {.output = trace};
	struct weft__runs_stream *stream = weft__runs_stream_start(place.path, &options);
	assert_non_null(stream);
	for (unsigned program = 1; program <= 2; program++) {
		void *ring = map_ring(in_place(&place, ring_name(program)), SIZE);
		assert_int_equal(weft_start(ring, SIZE, NULL), 0);
		recorded = 0;
		record(1000 * program);
		weft_stop();
		munmap(ring, SIZE);
		while (!place_has(&output, "out.weft"))
			await();
	}
	assert_true(weft__runs_stream_stop(stream));
	assert_true(weft__runs_rings_find(place.path, getpid(), &rings));
	weft__runs_rings_lead(getpid(), &rings);
	assert_true(weft__runs_stream_results(stream, &rings, false, &results, &count, &left_out));
	assert_int_equal(count, 2);
	assert_int_equal(left_out, 0); /* they call libweft */
	snprintf(name, sizeof(name), "out-test-%d.weft", (int)getpid());
	assert_string_equal(results[0].file, trace);
	assert_string_equal(results[0].path, in_place(&place, ring_name(2)));
	assert_int_equal(results[0].stream->summary.events, 2000);
	assert_string_equal(results[1].file, in_place(&output, name));
	for (size_t i = 0; i < 2; i++)
		assert_int_equal(results[i].stream->bytes, size_of(results[i].file));
	free(results);
	weft__runs_stream_destroy(stream);
	weft__runs_rings_finish(&rings);
	place_remove(&place);
	place_remove(&output);
}

/* A program that calls exec has two rings. */
static void all_rings_of_a_run_are_streamed(void **state)
{
	(void)state;
	struct place place = place_make(), output = place_make();
	struct weft__runs_saved *results;
	struct weft__runs_rings rings;
	char trace[PATH_MAX], name[128];
	size_t count, left_out;
	snprintf(trace, sizeof(trace), "%s", in_place(&output, "out.weft"));
	const struct weft__runs_stream_options options = {.output = trace};
	struct weft__runs_stream *stream = weft__runs_stream_start(place.path, &options);
	assert_non_null(stream);
	for (unsigned program = 1; program <= 2; program++) {
		void *ring = map_ring(in_place(&place, ring_name(program)), SIZE);
		assert_int_equal(weft_start(ring, SIZE, NULL), 0);
		recorded = 0;
		record(1000 * program);
		weft_stop();
		munmap(ring, SIZE);
		while (!place_has(&output, "out.weft"))
			await();
	}
	assert_true(weft__runs_stream_stop(stream));
	assert_true(weft__runs_stream_is_complete(stream));
	assert_true(weft__runs_rings_find(place.path, getpid(), &rings));
	assert_true(weft__runs_stream_results(stream, &rings, true, &results, &count, &left_out));
	assert_int_equal(count, 2);
	snprintf(name, sizeof(name), "out-test-%d.2.weft", (int)getpid());
	assert_string_equal(results[0].file, trace);
	assert_string_equal(results[1].file, in_place(&output, name));
	for (size_t i = 0; i < 2; i++) {
		assert_string_equal(results[i].path, in_place(&place, ring_name((unsigned)i + 1)));
		assert_int_equal(results[i].stream->files, 1);
		assert_int_equal(results[i].stream->bytes, size_of(results[i].file));
		assert_int_equal(results[i].stream->summary.events, 1000 * (i + 1));
		assert_int_equal(results[i].stream->unwritten, 0);
		assert_false(results[i].stream->is_cut);
		assert_int_equal(results[i].ring->is_running, rings.list[i].is_running);
		assert_int_equal(read_numbers(results[i].file, 0), 1000 * (i + 1));
	}
	free(results);
	weft__runs_rings_finish(&rings);
	weft__runs_stream_destroy(stream);
	assert_string_equal(reported, "");
	place_remove(&place);
	place_remove(&output);
}

/* In a directory each file is named after its ring. A name that the user gave stays as it is. */
static void compressed_files_are_named_by_their_suffix(void **state)
{
	static const struct {
		const char *output, *first, *second; /* %d: the process */
	} cases[] = {
		{"", "test-%d.weft.zst", "test-%d.2.weft.zst"},
		{"out", "out", "out-test-%d.2.zst"},
		{"out.weft.zst", "out.weft.zst", "out.weft-test-%d.2.zst"},
	};
	(void)state;
	if (!weft__runs_compressor_is_there())
		return;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct place place = place_make(), output = place_make();
		struct weft__runs_saved *results;
		struct weft__runs_rings rings;
		char trace[PATH_MAX], names[2][128];
		size_t count, left_out;
		for (unsigned program = 1; program <= 2; program++) {
			void *ring = map_ring(in_place(&place, ring_name(program)), SIZE);
			assert_int_equal(weft_start(ring, SIZE, NULL), 0);
			recorded = 0;
			record(10);
			weft_stop();
			munmap(ring, SIZE);
		}
		snprintf(trace, sizeof(trace), "%s", in_place(&output, cases[i].output));
		const struct weft__runs_stream_options options = {.output = trace, .compress = true};
		struct weft__runs_stream *stream = weft__runs_stream_start(place.path, &options);
		assert_non_null(stream);
		assert_true(weft__runs_stream_stop(stream));
		assert_true(weft__runs_rings_find(place.path, getpid(), &rings));
		for (size_t k = 0; k < rings.count; k++)
			rings.list[k].is_running = k == 1;
		assert_true(weft__runs_stream_results(stream, &rings, true, &results, &count, &left_out));
		assert_int_equal(count, 2);
		snprintf(names[0], sizeof(names[0]), cases[i].first, (int)getpid());
		snprintf(names[1], sizeof(names[1]), cases[i].second, (int)getpid());
		for (size_t k = 0; k < 2; k++) {
			/* Rings are streamed in the order in which the directory lists them. */
			bool is_second = results[k].ring->program == 2;
			assert_int_equal(results[k].ring->is_running, is_second);
			if (*cases[i].output == '\0')
				assert_string_equal(strrchr(results[k].file, '/') + 1, names[is_second]);
			assert_int_equal(read_numbers(results[k].file, 0), 10);
		}
		assert_true(place_has(&output, names[0]));
		assert_true(place_has(&output, names[1]));
		free(results);
		weft__runs_rings_finish(&rings);
		weft__runs_stream_destroy(stream);
		place_remove(&place);
		place_remove(&output);
	}
}

static void streaming_leaves_nothing(void **state)
{
	(void)state;
	struct place place = place_make(), output = place_make();
	struct held before = {0};
	char trace[PATH_MAX];
	snprintf(trace, sizeof(trace), "%s", in_place(&output, "out.weft"));
	const struct weft__runs_stream_options options = {.output = trace};
	place_put(&place, ring_name(1), "not yet a ring");
	for (int i = 0; i < 24; i++) {
		if (i == 4)
			before = held_now();
		struct weft__runs_stream *stream = weft__runs_stream_start(place.path, &options);
		assert_non_null(stream);
		assert_true(weft__runs_stream_stop(stream));
		weft__runs_stream_destroy(stream);
	}
	held_expect(before);
	place_remove(&place);
	place_remove(&output);
}

/* While a stream goes on, rings that have ended keep no descriptor. */
static void ended_rings_keep_no_descriptor(void **state)
{
	(void)state;
	struct place place = place_make(), output = place_make();
	char trace[PATH_MAX];
	for (unsigned program = 1; program <= 40; program++) {
		void *ring = map_ring(in_place(&place, ring_name(program)), SIZE);
		assert_int_equal(weft_start(ring, SIZE, NULL), 0);
		weft_note("ended");
		weft_stop();
		munmap(ring, SIZE);
	}
	snprintf(trace, sizeof(trace), "%s", output.path);
	const struct weft__runs_stream_options options = {.output = trace};
	int before = held_now().file;
	struct weft__runs_stream *stream = weft__runs_stream_start(place.path, &options);
	assert_non_null(stream);
	assert_true(weft__runs_stream_stop(stream));
	assert_true(weft__runs_stream_is_complete(stream));
	assert_in_range(held_now().file, before, before + 8);
	weft__runs_stream_destroy(stream);
	place_remove(&place);
	place_remove(&output);
}

static void a_failed_stream_is_not_complete(void **state)
{
	(void)state;
	struct place place = place_make(), output = place_make();
	struct weft__runs_saved *results;
	size_t count, left_out;
	char trace[PATH_MAX];
	place_put(&output, "letter.txt", "Dear reader,");
	snprintf(trace, sizeof(trace), "%s", in_place(&output, "letter.txt"));
	const struct weft__runs_stream_options options = {.output = trace};
	void *ring = map_ring(in_place(&place, ring_name(1)), SIZE);
	assert_int_equal(weft_start(ring, SIZE, NULL), 0);
	weft_stop();
	struct weft__runs_stream *stream = weft__runs_stream_start(place.path, &options);
	assert_non_null(stream);
	assert_true(weft__runs_stream_stop(stream));
	assert_false(weft__runs_stream_is_complete(stream));
	assert_true(weft__runs_stream_results(stream, NULL, true, &results, &count, &left_out));
	assert_int_equal(count, 0);
	free(results);
	weft__runs_stream_destroy(stream);
	munmap(ring, SIZE);
	place_remove(&place);
	place_remove(&output);
}

/* `weft ctl stream PID`: one ring, which remains, until its process ends or a signal comes. */
static void one_process_is_streamed_until_it_stops(void **state)
{
	(void)state;
	struct place place = place_make(), output = place_make();
	struct weft__runs_ring ring = {.pid = getpid(), .is_ours = true};
	char trace[PATH_MAX], path[PATH_MAX];
	sigset_t before;
	sigprocmask(SIG_SETMASK, NULL, &before);
	strcpy(ring.name, ring_name(1));
	snprintf(path, sizeof(path), "%s", in_place(&place, ring.name));
	snprintf(trace, sizeof(trace), "%s", in_place(&output, "out.weft"));
	const struct weft__runs_stream_options options = {.output = trace};
	void *bytes = map_ring(path, SIZE);
	assert_int_equal(weft_start(bytes, SIZE, NULL), 0);
	recorded = 0;
	record(1000);
	for (int i = 0; i < 2; i++) {
		struct weft__runs_stream *stream = weft__runs_stream_start_process(path, &ring, &options);
		assert_non_null(stream);
		if (i == 0)
			kill(getpid(), SIGTERM);
		else
			weft_stop();
		weft__runs_stream_wait(stream);
		assert_true(weft__runs_stream_stop(stream));
		weft__runs_stream_destroy(stream);
		assert_int_equal(read_numbers(trace, 0), 1000);
	}
	sigprocmask(SIG_SETMASK, &before, NULL);
	munmap(bytes, SIZE);
	place_remove(&place);
	place_remove(&output);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_stream_has_all_events_of_its_ring),
		cmocka_unit_test(a_turn_is_limited),
		cmocka_unit_test(each_file_of_a_series_can_be_read_alone),
		cmocka_unit_test(compressed_files_are_whole_frames),
		cmocka_unit_test(a_stream_is_cut_at_its_limit),
		cmocka_unit_test(a_ring_that_comes_after_the_limit_is_not_streamed),
		cmocka_unit_test(the_limit_counts_the_files_of_all_rings),
		cmocka_unit_test(pieces_are_an_eighth_of_what_they_fill),
		cmocka_unit_test(with_files_that_are_kept_their_size_is_the_limit),
		cmocka_unit_test(the_usual_limit_leaves_half_of_the_disks_room),
		cmocka_unit_test(the_disk_is_that_of_the_output),
		cmocka_unit_test(a_file_of_another_kind_is_not_replaced),
		cmocka_unit_test(a_stream_goes_on_when_the_disk_has_room_again),
		cmocka_unit_test(a_stream_that_gives_up_counts_what_is_missing),
		cmocka_unit_test(a_ring_without_a_file_is_given_up),
		cmocka_unit_test(a_ring_that_is_being_made_is_tried_again),
		cmocka_unit_test(a_ring_that_was_never_made_is_passed_over),
		cmocka_unit_test(a_damaged_ring_of_ours_fails),
		cmocka_unit_test(a_ring_that_was_removed_fails),
		cmocka_unit_test(a_ring_that_its_process_gave_up_is_passed_over),
		cmocka_unit_test(the_last_program_gets_the_file),
		cmocka_unit_test(all_rings_of_a_run_are_streamed),
		cmocka_unit_test(compressed_files_are_named_by_their_suffix),
		cmocka_unit_test(streaming_leaves_nothing),
		cmocka_unit_test(ended_rings_keep_no_descriptor),
		cmocka_unit_test(a_failed_stream_is_not_complete),
		cmocka_unit_test(one_process_is_streamed_until_it_stops),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
