/* SPDX-License-Identifier: ISC
 *
 * Events decoded per second, compared with a plain bounds-checked loop over the same bytes and with
 * babeltrace 2 on the same events as CTF 1.8. All in processor time.
 *
 *     bench_decode [EVENTS]      10⁶ events; in-process rows also 10⁷ unless EVENTS is given
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <weft/decoder.h>
#include <weft/export.h>

#include "format/decoder.h"
#include "model/load.h"
#include "random_trace.h"

extern char **environ;

#define RUNS 5 /* the least processor time counts */

/* Processor time, which other programs affect less than the wall's clock. */
static uint64_t now_ns(void)
{
	struct timespec now;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void print_row(const char *what, uint64_t events, size_t bytes, uint64_t ns)
{
	printf("  %-34s %9" PRIu64 " events %7.1f MB %8.1f ns/event %8.2f M events/s\n", what, events,
		(double)bytes / 1e6, (double)ns / (double)events, (double)events * 1e3 / (double)ns);
	fflush(stdout);
}

static void die(const char *what, int error)
{
	fprintf(stderr, "bench_decode: %s: %s\n", what,
		error == WEFT_ERROR_SYSTEM ? strerror(errno) : weft_error_text(error));
	exit(1);
}

/* The minimum that any decoder does: checks every length, reads every field, and sums them up so
 * that nothing is optimised away. It ignores damage, order and diagnostics. */
static uint64_t plain_mirage(const uint8_t *bytes, size_t size, uint64_t *ret_sum)
{
	/* Fixed bytes after time and operation; whether text follows. */
	static const struct {
		uint8_t fixed, text;
	} operations[] = {{17, 0}, {16, 0}, {16, 0}, {16, 1}, {16, 0}, {8, 1}, {16, 1}, {8, 0}, {8, 0},
		{16, 0}, {16, 0}, {16, 1}, {16, 0}, {16, 0}};
	uint64_t events = 0, sum = 0;
	for (size_t packet = 0; size - packet >= 30;) {
		uint32_t packet_bits, content_bits;
		memcpy(&packet_bits, bytes + packet + 20, 4);
		memcpy(&content_bits, bytes + packet + 26, 4);
		size_t end = packet + content_bits / 8;
		if (end > size || packet_bits / 8 < content_bits / 8 || packet_bits / 8 > size - packet)
			break;
		for (size_t at = packet + 30; end - at >= 9;) {
			uint64_t time, a, b = 0;
			uint8_t operation = bytes[at + 8];
			memcpy(&time, bytes + at, 8);
			if (operation >= sizeof(operations) / sizeof(operations[0]) ||
				end - at < 9u + operations[operation].fixed)
				break;
			memcpy(&a, bytes + at + 9, 8);
			if (operations[operation].fixed >= 16)
				memcpy(&b, bytes + at + 17, 8);
			at += 9u + operations[operation].fixed;
			if (operations[operation].text) {
				const uint8_t *nul = memchr(bytes + at, 0, end - at);
				if (!nul)
					break;
				at = (size_t)(nul - bytes) + 1;
			}
			sum += time ^ a ^ b ^ operation;
			events++;
		}
		packet += packet_bits / 8;
	}
	*ret_sum = sum;
	return events;
}

/* The same for a line of text: numbers are read digit by digit, everything else is skipped. */
static uint64_t plain_sexp(const uint8_t *bytes, size_t size, uint64_t *ret_sum)
{
	uint64_t lines = 0, sum = 0, number = 0;
	for (size_t i = 0; i < size; i++) {
		if (bytes[i] >= '0' && bytes[i] <= '9') {
			number = number * 10 + (bytes[i] - '0');
			continue;
		}
		sum ^= number;
		number = 0;
		lines += bytes[i] == '\n';
	}
	*ret_sum = sum;
	return lines;
}

/* weft's own format is words of 8 bytes: sums all of them, without parsing events. */
static uint64_t plain_weft(const uint8_t *bytes, size_t size, uint64_t *ret_sum)
{
	uint64_t sum = 0;
	for (size_t at = 0; size - at >= 8; at += 8) {
		uint64_t word;
		memcpy(&word, bytes + at, 8);
		sum = (sum ^ word) * 31;
	}
	*ret_sum = sum;
	return 0;
}

static struct weft_decoder *open_decoder(const struct bytes *trace)
{
	struct weft_decoder *decoder;
	int error = weft_decoder_create(&decoder);
	if (!error)
		error = weft_decoder_feed_borrowed(decoder, trace->data, trace->size);
	if (!error)
		error = weft_decoder_finish(decoder);
	if (error)
		die("decoder", error);
	return decoder;
}

static uint64_t decode(const struct bytes *trace, uint64_t *ret_sum)
{
	struct weft_decoder *decoder = open_decoder(trace);
	struct weft_event event;
	uint64_t events = 0, sum = 0;
	int status;
	while ((status = weft_decoder_next(decoder, &event)) == WEFT_OK) {
		sum += event.time_ns ^ event.task ^ event.other ^ event.type;
		events++;
	}
	if (status < 0)
		die("decoder", status);
	weft_decoder_destroy(decoder);
	*ret_sum = sum;
	return events;
}

/* As a trace is opened: tasks and texts have numbers. */
static uint64_t decode_to_facts(const struct bytes *trace, uint64_t *ret_sum)
{
	static struct weft__fact facts[8192];
	struct weft_decoder *decoder = open_decoder(trace);
	struct weft_model_builder *builder;
	struct weft_event event;
	uint64_t events = 0, sum = 0;
	int status = weft_model_builder_create(&builder);
	const uint32_t most = sizeof(facts) / sizeof(facts[0]);
	while (status == WEFT_OK) {
		const struct weft__naming naming = weft__model_naming(builder);
		uint32_t count;
		status = weft__format_decoder_next_facts(decoder, &naming, UINT64_MAX, facts, most, &count);
		if (status == WEFT_OK && !count) {
			status = weft_decoder_next(decoder, &event);
			if (status == WEFT_OK)
				status = weft__model_fact(builder, &event, facts);
			count = status == WEFT_OK;
		}
		sum += count ? facts[count - 1].time_ns ^ facts[count - 1].task : 0;
		events += count;
	}
	if (status < 0)
		die("decoder", status);
	weft_model_builder_destroy(builder);
	weft_decoder_destroy(decoder);
	*ret_sum = sum;
	return events;
}

static uint64_t decode_plain(const struct bytes *trace, uint64_t *ret_sum)
{
	if (trace->data[0] == '(')
		return plain_sexp(trace->data, trace->size, ret_sum);
	if (trace->data[0] == 0xC1)
		return plain_mirage(trace->data, trace->size, ret_sum);
	return plain_weft(trace->data, trace->size, ret_sum);
}

static void measure(const char *what, const struct bytes *trace, uint64_t expected,
	uint64_t (*work)(const struct bytes *trace, uint64_t *ret_sum))
{
	uint64_t best = UINT64_MAX, events = 0;
	volatile uint64_t kept;
	for (int i = 0; i < RUNS; i++) {
		uint64_t sum, start = now_ns();
		events = work(trace, &sum);
		uint64_t ns = now_ns() - start;
		kept = sum;
		best = ns < best ? ns : best;
	}
	(void)kept;
	if (events == 0)
		events = expected; /* this loop does not count events */
	/* More are found than were recorded: a packet's first change of a counter has the total beside
	 * it. */
	if (events < expected)
		fprintf(stderr, "bench_decode: %s found %" PRIu64 " events of %" PRIu64 "\n", what, events,
			expected);
	print_row(what, events, trace->size, best);
}

/* ---- babeltrace 2 ---- */

static int append(void *context, const char *name, const void *bytes, size_t size)
{
	char path[256];
	snprintf(path, sizeof(path), "%s/%s", (const char *)context, name);
	int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	if (fd < 0)
		return WEFT_ERROR_SYSTEM;
	ssize_t written = write(fd, bytes, size);
	close(fd);
	return written == (ssize_t)size ? 0 : WEFT_ERROR_SYSTEM;
}

static void export_ctf(const struct bytes *trace, char *directory)
{
	const struct weft_export_ctf_sink sink = {append, directory};
	struct weft_decoder *decoder = open_decoder(trace);
	struct weft_export_ctf *ctf;
	struct weft_event event;
	uint64_t start = now_ns();
	int error = weft_export_ctf_create(&sink, &ctf);
	while (!error && weft_decoder_next(decoder, &event) == WEFT_OK)
		error = weft_export_ctf_add(ctf, &event, weft_decoder_describe(decoder));
	if (!error)
		error = weft_export_ctf_finish(ctf, weft_decoder_describe(decoder));
	if (error)
		die("export", error);
	struct weft_export_ctf_summary summary = weft_export_ctf_summarize(ctf);
	print_row(
		"weft: decode and export as CTF 1.8", summary.events, summary.bytes, now_ns() - start);
	weft_export_ctf_destroy(ctf);
	weft_decoder_destroy(decoder);
}

static uint64_t to_ns(struct timeval time)
{
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_usec * 1000;
}

/* Runs a program without its output; the ns of processor time, or 0 if it could not run. */
static uint64_t time_child(char *const arguments[])
{
	posix_spawn_file_actions_t actions;
	struct rusage usage = {0};
	pid_t pid;
	int status = 1;
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
	int error = posix_spawnp(&pid, arguments[0], &actions, NULL, arguments, environ);
	if (!error)
		wait4(pid, &status, 0, &usage);
	posix_spawn_file_actions_destroy(&actions);
	return error || status ? 0 : to_ns(usage.ru_utime) + to_ns(usage.ru_stime);
}

static void remove_directory(const char *directory)
{
	static const char *const names[] = {"thread_0", "metadata"};
	char path[256];
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s", directory, names[i]);
		unlink(path);
	}
	rmdir(directory);
}

static void measure_babeltrace(const struct bytes *trace, uint64_t events)
{
	char directory[] = "/tmp/weft-bench-XXXXXX", path[64];
	char program[] = "babeltrace2", output[] = "-o", dummy[] = "dummy", text[] = "text";
	char *const runs[][5] = {
		{program, output, dummy, directory, NULL}, {program, output, text, directory, NULL}};
	static const char *const names[] = {
		"babeltrace2 -o dummy (of that CTF)", "babeltrace2 -o text"};
	struct stat status;
	if (!mkdtemp(directory))
		die("/tmp", WEFT_ERROR_SYSTEM);
	export_ctf(trace, directory);
	snprintf(path, sizeof(path), "%s/thread_0", directory);
	if (stat(path, &status))
		die(path, WEFT_ERROR_SYSTEM);
	for (size_t i = 0; i < sizeof(runs) / sizeof(runs[0]); i++) {
		uint64_t ns = time_child(runs[i]);
		if (ns)
			print_row(names[i], events, (size_t)status.st_size, ns);
		else
			printf("  %-34s cannot be run here\n", names[i]);
	}
	remove_directory(directory);
}

static void measure_format(
	const char *name, struct bytes (*make)(uint64_t events), uint64_t events, bool peers)
{
	struct bytes trace = make(events);
	printf(" %s, a random mix\n", name);
	measure("plain bounds-checked loop", &trace, events, decode_plain);
	measure("weft: decode", &trace, events, decode);
	measure("weft: decode, number tasks, texts", &trace, events, decode_to_facts);
	if (peers)
		measure_babeltrace(&trace, events);
	free(trace.data);
}

int main(int argc, char **argv)
{
	uint64_t events = argc > 1 ? strtoull(argv[1], NULL, 10) : 1000000;
	if (argc > 2 || events == 0) {
		fputs("usage: bench_decode [EVENTS]\n", stderr);
		return 2;
	}
	measure_format("mirage-ctf", random_mirage, events, true);
	if (argc == 1)
		measure_format("mirage-ctf", random_mirage, 10 * events, false);
	measure_format("sexp", random_sexp, events, false);
	measure_format("weft", random_weft, events, true);
	return 0;
}
