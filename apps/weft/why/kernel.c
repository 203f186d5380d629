/* SPDX-License-Identifier: ISC
 *
 * A sentence about where a thread is in the kernel.
 */
#include "kernel.h"

#include <string.h>

#include <weft/text.h>

#include "cli/call_names.h"
#include "cli/cli.h"
#include "runs/attach/kernel.h"

enum {
	SHOWN = 3, /* descriptors */
	LISTED = 64,
};

static const char *state_of(char state)
{
	switch (state) {
	case 'S':
		return "sleeps";
	case 'D':
		return "sleeps, and no signal wakes it,";
	case 'T':
		return "is stopped";
	case 't':
		return "is stopped by a debugger";
	case 'R':
		return "runs";
	default:
		return NULL;
	}
}

static bool is_one_of(const char *name, const char *const *list, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(name, list[i]) == 0)
			return true;
	return false;
}

/* True if the first argument is the descriptor for which the call waits. */
static bool takes_descriptor(const char *name)
{
	static const char *const names[] = {"read", "write", "pread64", "pwrite64", "readv", "writev",
		"preadv", "pwritev", "recvfrom", "recvmsg", "recvmmsg", "sendto", "sendmsg", "sendmmsg",
		"accept", "accept4", "connect", "flock", "fcntl", "ioctl", "fsync", "fdatasync",
		"ftruncate", "fallocate", "getdents64", "io_uring_enter", "splice", "tee", "vmsplice",
		"close"};
	return is_one_of(name, names, sizeof(names) / sizeof(*names));
}

static bool is_poll(const char *name)
{
	return strcmp(name, "poll") == 0 || strcmp(name, "ppoll") == 0;
}

static bool is_epoll(const char *name)
{
	return strncmp(name, "epoll_", 6) == 0 && strstr(name, "wait");
}

static void add_descriptor(struct weft_text *text, pid_t pid, int fd)
{
	char name[WEFT__RUNS_DESCRIPTOR_BYTES];
	weft_text_add_i64(text, fd);
	weft__runs_kernel_descriptor(pid, fd, name);
	if (!name[0])
		return;
	weft_text_add_string(text, " (");
	weft_text_add_shown(text, name, strlen(name));
	weft_text_add_string(text, ")");
}

static void add_list(struct weft_text *text, pid_t pid, const int *fds, size_t count)
{
	if (!count)
		return;
	weft_text_add_string(text, count == 1 ? " for descriptor " : " for descriptors ");
	for (size_t i = 0; i < count && i < SHOWN; i++) {
		weft_text_add_string(text, i ? ", " : "");
		add_descriptor(text, pid, fds[i]);
	}
	if (count > SHOWN) {
		weft_text_add_string(text, " and ");
		weft_text_add_u64(text, count - SHOWN);
		weft_text_add_string(text, count == LISTED ? " or more" : " more");
	}
}

static void add_call(struct weft_text *text, pid_t pid, const struct weft__runs_kernel *kernel)
{
	const char *name = cli_call_name(kernel->number);
	int fds[LISTED];
	weft_text_add_string(text, " in ");
	if (!name) {
		weft_text_add_string(text, "system call ");
		weft_text_add_u64(text, kernel->number);
		return;
	}
	weft_text_add_string(text, name);
	if (is_poll(name)) {
		add_list(text, pid, fds, weft__runs_kernel_polled(pid, kernel, fds, LISTED));
	} else if (is_epoll(name)) {
		const int epoll = (int)kernel->arguments[0];
		add_list(text, pid, fds, weft__runs_kernel_watched(pid, epoll, fds, LISTED));
	} else if (takes_descriptor(name)) {
		weft_text_add_string(text, " of descriptor ");
		add_descriptor(text, pid, (int)kernel->arguments[0]);
	}
}

/* False if memory is short. */
static bool add_sentence(
	struct weft_text *text, pid_t pid, const struct weft__runs_kernel *kernel, const char *subject)
{
	weft_text_add_string(text, subject);
	weft_text_add_string(text, state_of(kernel->state));
	if (kernel->has_call) {
		add_call(text, pid, kernel);
	} else if (kernel->function[0]) {
		weft_text_add_string(text, " in the kernel's function ");
		weft_text_add_shown(text, kernel->function, strlen(kernel->function));
	}
	weft_text_add_string(text, ".");
	return !text->error;
}

bool why_kernel_sentence(pid_t pid, uint64_t thread, char ret_text[static WHY_KERNEL_BYTES])
{
	struct weft__runs_kernel kernel;
	struct weft_text text = {0};
	if (!weft__runs_kernel_look(pid, thread, &kernel) || !state_of(kernel.state))
		return false;
	const bool good = add_sentence(&text, pid, &kernel, "Now it ") && text.size < WHY_KERNEL_BYTES;
	if (good) {
		memcpy(ret_text, text.bytes, text.size);
		ret_text[text.size] = '\0';
	}
	weft_text_finish(&text);
	return good;
}
