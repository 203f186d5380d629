/* SPDX-License-Identifier: ISC
 *
 * The input is two traces, of two hosts if they name different boots: the first two bytes say where
 * the second begins. Opened as one, their clocks are compared and all events can be read, in the
 * order of the trace's clock.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <weft/error.h>
#include <weft/input.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void require(int condition)
{
	if (!condition)
		abort();
}

struct parts {
	const uint8_t *bytes[2];
	size_t size[2];
};

/* Opens "0" or "1". */
static int open_part(void *context, const char *path, struct weft_source **ret_source)
{
	const struct parts *parts = context;
	const unsigned number = path[0] == '1';
	const int fd = memfd_create("part", MFD_CLOEXEC);
	require(fd >= 0);
	require(write(fd, parts->bytes[number], parts->size[number]) == (ssize_t)parts->size[number]);
	require(lseek(fd, 0, SEEK_SET) == 0);
	const int error = weft_source_open_descriptor(fd, 0, ret_source);
	require(close(fd) == 0);
	return error;
}

static void check_hosts(const struct weft_input *input)
{
	char text[512];
	for (size_t i = 0; i < weft_input_host_count(input); i++) {
		const struct weft_input_host *host = weft_input_host(input, i);
		require(weft_input_explain_host(host, text, sizeof(text)) < sizeof(text));
		require((host->alignment == WEFT_ALIGNMENT_SAME) == (i == 0));
	}
	for (size_t i = 0; i < weft_input_file_count(input); i++) {
		const struct weft_input_file *file = weft_input_file(input, i);
		weft_input_explain(file, text, sizeof(text));
		if (file->decoder)
			(void)weft_input_own_time(input, file, weft_input_trace_time(input, file, 1 << 30));
	}
}

static void check_events(struct weft_decoder *decoder)
{
	struct weft_event event;
	uint64_t last_ns = 0;
	int status;
	while ((status = weft_decoder_next(decoder, &event)) == WEFT_OK) {
		require(event.time_ns >= last_ns);
		last_ns = event.time_ns;
	}
	require(status != WEFT_AGAIN);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	static const char *const paths[] = {"0", "1"};
	struct weft_input *input;
	if (size < 2 || size > 1 << 16)
		return 0;
	const size_t first = (size_t)(bytes[0] | bytes[1] << 8) % (size - 1);
	struct parts parts = {{bytes + 2, bytes + 2 + first}, {first, size - 2 - first}};
	struct weft_input_options options = {
		.size = sizeof(options), .open = open_part, .context = &parts, .at_any_time = true};
	for (unsigned aligns = 0; aligns < 2; aligns++) {
		options.no_align = !aligns;
		if (weft_input_open_files(paths, 2, &options, &input) != 0)
			continue;
		check_hosts(input);
		if (weft_input_decoder(input))
			check_events(weft_input_decoder(input));
		weft_input_close(input);
	}
	return 0;
}
