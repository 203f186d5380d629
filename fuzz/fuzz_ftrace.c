/* SPDX-License-Identifier: ISC
 *
 * The input is a page of the kernel's ring buffer, and a text that describes one.
 */
#include <string.h>

#include "format/ftrace/page.h"
#include "reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static const char page_text[] = "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
								"\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n"
								"\tfield: char data;\toffset:16;\tsize:4080;\tsigned:0;\n";
static const char switch_text[] =
	"name: sched_switch\nID: 372\nformat:\n"
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n"
	"\tfield:char prev_comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
	"\tfield:pid_t prev_pid;\toffset:24;\tsize:4;\tsigned:1;\n"
	"\tfield:long prev_state;\toffset:32;\tsize:8;\tsigned:1;\n"
	"\tfield:char next_comm[16];\toffset:40;\tsize:16;\tsigned:0;\n"
	"\tfield:pid_t next_pid;\toffset:56;\tsize:4;\tsigned:1;\n";
static const char fork_text[] =
	"name: sched_process_fork\nID: 366\nformat:\n"
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n"
	"\tfield:pid_t parent_pid;\toffset:12;\tsize:4;\tsigned:1;\n"
	"\tfield:pid_t child_pid;\toffset:20;\tsize:4;\tsigned:1;\n";

static void read_page(const struct weft__ftrace_formats *f, const uint8_t *bytes, size_t size)
{
	struct weft__ftrace_page page;
	struct weft__ftrace_event event;
	size_t count = 0;
	if (!weft__format_ftrace_begin(f, bytes, size, &page))
		return;
	while (weft__format_ftrace_next(f, &page, &event)) {
		require(strlen(event.name) < sizeof(event.name));
		require(strlen(event.other_name) < sizeof(event.other_name));
		require(++count <= size / 4);
	}
	require(page.at == page.end);
}

/* The kernel's texts are trusted, but must not be read behind their end. */
static void read_texts(const uint8_t *bytes, size_t size)
{
	struct weft__ftrace_formats f = {0};
	(void)weft__format_ftrace_learn_page(&f, (const char *)bytes, size);
	(void)weft__format_ftrace_learn_event(&f, (const char *)bytes, size);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct weft__ftrace_formats f = {0};
	require(weft__format_ftrace_learn_page(&f, page_text, sizeof(page_text) - 1));
	require(weft__format_ftrace_learn_event(&f, switch_text, sizeof(switch_text) - 1));
	require(weft__format_ftrace_learn_event(&f, fork_text, sizeof(fork_text) - 1));
	read_page(&f, bytes, size);
	read_texts(bytes, size);
	return 0;
}
