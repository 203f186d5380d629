/* SPDX-License-Identifier: ISC
 *
 * See automatic.h. A child does the work, so that no lack of memory or of room ends the command
 * with another status than that of its answer. It ends with us, and what it writes has no name
 * before it is complete: an interrupt leaves nothing.
 */
#include "automatic.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <weft/parse.h>

#include "cli/checkpoint.h"
#include "make.h"
#include "runs/file.h"

#define LEAST_BYTES (UINT64_C(64) << 20)

/* A file whose writer did not say that it was complete has not changed for this time. */
#define REST_SECONDS 60

static struct {
	char *path; /* of a trace; NULL: none */
	uint64_t bytes;
} noted;

/* The size from which on traces get checkpoints. */
static uint64_t least_bytes(void)
{
	const char *value = getenv("WEFT_INDEX");
	uint64_t bytes;
	if (!value || !*value)
		return LEAST_BYTES;
	return weft_parse_size(value, strlen(value), &bytes) == WEFT_PARSE_OK ? bytes : UINT64_MAX;
}

/* A trace that its owner has read, as a whole, and that does not grow. */
static bool is_fit(const struct cli_trace *trace, const struct weft_checkpoint_key *key)
{
	const struct weft_trace_description *description = weft_decoder_describe(trace->decoder);
	struct stat status;
	if (key->bytes < least_bytes() || description->buffer_count > 1 ||
		stat(trace->name, &status) != 0)
		return false;
	const bool has_ended =
		weft_trace_buffer_at(description->buffers, description->buffer_count, 0)->ending !=
		WEFT_ENDING_UNKNOWN;
	return status.st_uid == geteuid() && (uint64_t)status.st_size == key->bytes &&
		   (has_ended || status.st_mtim.tv_sec + REST_SECONDS < time(NULL));
}

void index_note(const struct cli_trace *trace)
{
	struct weft_checkpoint_key key;
	if (noted.path || !cli_checkpoint_key(trace, trace->name, &key) || !is_fit(trace, &key) ||
		cli_checkpoint_is_current(trace->name, &key))
		return;
	noted.path = strdup(trace->name);
	noted.bytes = key.bytes;
}

/* True if nothing but an older file is in the way, and the new one will have no name before it is
 * complete, on a disk that has room for as much as the trace is. */
static bool can_write(const char *path)
{
	struct weft__runs_file trial;
	struct statvfs disk;
	struct stat old;
	if ((lstat(path, &old) == 0 && !S_ISREG(old.st_mode)) || !weft__runs_file_create(path, &trial))
		return false;
	const bool can = trial.is_unnamed && fstatvfs(trial.fd, &disk) == 0 &&
					 disk.f_bavail >= noted.bytes / disk.f_frsize;
	weft__runs_file_abandon(&trial);
	return can;
}

static void write_file(const char *path, const char *text)
{
	const int fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	(void)!write(fd, text, strlen(text));
	close(fd);
}

/* Says nothing, and is the first that the kernel ends when memory is short. */
static _Noreturn void make_in_child(pid_t parent)
{
	struct index_summary made;
	const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != parent || nowhere < 0)
		_exit(CLI_NO);
	dup2(nowhere, STDERR_FILENO);
	write_file("/proc/self/oom_score_adj", "1000");
	_exit(index_make(noted.path, INDEX_SPACING, true, &made));
}

static void wait_for(pid_t child)
{
	const bool is_shown = isatty(STDERR_FILENO);
	if (is_shown)
		fputs("making checkpoints beside the trace, so that parts of it open quickly ", stderr);
	while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
		continue;
	if (is_shown)
		fputs("\r\033[K", stderr);
}

/* Ctrl-C ends us and the child at once: the answer is out. */
static void end_with_interrupt(void)
{
	struct sigaction current;
	if (sigaction(SIGINT, NULL, &current) == 0 && current.sa_handler != SIG_IGN)
		signal(SIGINT, SIG_DFL);
}

void index_make_noted(void)
{
	char *path = noted.path ? cli_checkpoint_path(noted.path) : NULL;
	if (path && can_write(path)) {
		const pid_t parent = getpid();
		end_with_interrupt();
		const pid_t child = fork();
		if (child == 0)
			make_in_child(parent);
		if (child > 0)
			wait_for(child);
	}
	free(path);
	free(noted.path);
	noted.path = NULL;
}
