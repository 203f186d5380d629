/* SPDX-License-Identifier: ISC
 *
 * Starts recording in an unmodified program: the environment says into which file.
 *
 *     WEFT_OUT=FILE       the buffer is this file, which must not exist yet
 *     WEFT_OUT=DIR/       the buffer is DIR/PROG-PID.weft; each child, and each program that
 *                         the process executes, gets a buffer of its own
 *     WEFT_OUT=xen:DOMAIN the buffer is shared with that domain of Xen, by its number: see
 *                         include/weft/xen.h; children do not record
 *     WEFT_SIZE=BYTES     the buffer's size, also with K, M or G; default 16M
 *     WEFT_FIT=1          without WEFT_SIZE: smaller if there is little room
 *     WEFT_IN_PLACE=FILE  with WEFT_OUT=DIR/: the first process's buffer is FILE, those of
 *                         other processes are FILE-PID beside it; DIR/ gets links to them
 *     WEFT_IN_PLACE=DIR2/ the same, with all buffers in DIR2/
 *
 * If that fails, the program runs unrecorded, and PROG-PID.failed is made in DIR/: a symbolic link
 * whose target is the reason. A link needs no disk space and is made atomically. `weft record`
 * prints it; without a `weft record`, the process writes the reason to standard error itself.
 *
 * A child's buffer is made at its first event, perhaps in a signal handler. So nothing here
 * allocates or uses stdio.
 */
#include "platform/linux.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <weft/error.h>
#include <weft/xen.h>

#include "abi/run_abi.h"
#include "kernel/call.h"
#include "kernel/filter.h"
#include "record/atomics.h"
#include "record/category.h"
#include "record/copy.h"
#include "record/recorder.h"

/* Buffers for one process, which may execute several programs. */
#define PROGRAMS_MAX 100
/* Reasons per process why a program in it does not record. */
#define REASONS_MAX 16

static struct {
	char path[PATH_MAX]; /* a directory's path ends in '/' */
	uint64_t bytes;
	bool is_directory;
	bool fits_room;          /* the size depends on the free room */
	bool is_answered;        /* a failure is the answer to a request, and needs no link */
	char in_place[PATH_MAX]; /* a directory's path ends in '/'; "": not requested */
} wanted;

/* A text of bounded size. */
struct text {
	char bytes[PATH_MAX + 128];
	size_t size;
};

static void append(struct text *text, const char *more)
{
	size_t length = strlen(more), room = sizeof(text->bytes) - 1 - text->size;
	if (length > room)
		length = room;
	memcpy(text->bytes + text->size, more, length);
	text->size += length;
	text->bytes[text->size] = '\0';
}

static void append_number(struct text *text, uint64_t number)
{
	char digits[21];
	size_t at = sizeof(digits) - 1;
	digits[at] = '\0';
	do
		digits[--at] = (char)('0' + number % 10);
	while (number /= 10);
	append(text, digits + at);
}

/* Reads the target and the size; false if none is requested. */
static bool read_environment(void);

/* Appends the program's number in this process, from the second one on. */
static void append_program(struct text *text, unsigned program)
{
	if (program < 2)
		return;
	append(text, ".");
	append_number(text, program);
}

/* Appends PROG-PID. */
static void name_process(struct text *text, unsigned program)
{
	append(text, weft__platform_linux_program());
	append(text, "-");
	append_number(text, (uint64_t)weft__kernel_process());
	append_program(text, program);
}

/* Appends DIR/PROG-PID and a suffix. */
static void name_file(struct text *text, unsigned program, const char *suffix)
{
	append(text, wanted.path);
	name_process(text, program);
	append(text, suffix);
}

/* False if the reason could not be stored. */
static bool report_step(const char *step, const char *reason)
{
	static struct text target, link; /* too big for an alternate stack */
	int error = wanted.is_directory ? EEXIST : 0;
	target.size = 0;
	append(&target, step);
	append(&target, ": ");
	append(&target, reason);
	for (unsigned number = 1; error == EEXIST && number <= REASONS_MAX; number++) {
		link.size = 0;
		name_file(&link, number, WEFT_ABI_RUN_FAILED);
		error = -weft__kernel_symlink(target.bytes, link.bytes);
	}
	return !error;
}

/* Reports to the parent: a child in a sandbox may not reach the directory. */
static void report_to_parent(const char *step, int error)
{
	static const char *const names[WEFT_ABI_STEPS] = {
		"", WEFT__STEP_CREATE, WEFT__STEP_ALLOCATE, WEFT__STEP_MAP, WEFT__STEP_START};
	uint64_t number = WEFT_ABI_STEPS - 1;
	while (number > 0 && strcmp(names[number], step) != 0)
		number--;
	weft__platform_children_refuse(
		(uint32_t)weft__kernel_process() | (uint64_t)(error & 0xffff) << 32 | number << 48);
}

/* True if this process may not make a system call: by the permissions of a file, or because it
 * inherited a sandbox, whose filter chooses the error. */
static bool is_refused(int error)
{
	return error == EACCES || error == EPERM || error == ENOSYS;
}

/* True if a `weft record` holds the lock of the directory: it will print the reasons. It does so
 * too if we may not open or lock the directory: root's run directories are like that for other
 * users, and every directory is for a child in a sandbox. */
static bool is_attended(void)
{
	if (!wanted.is_directory)
		return false;
	int fd = weft__kernel_open(wanted.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
	if (fd < 0)
		return is_refused(-fd);
	int error = -weft__kernel_lock(fd, LOCK_EX | LOCK_NB);
	weft__kernel_close(fd);
	return error == EWOULDBLOCK || is_refused(error);
}

/* Writes to standard error, unless that would block. Neither a closed pipe nor a limit on the size
 * of files may end the program: their signals are blocked, and discarded. */
static void write_line(const struct text *line)
{
	struct pollfd output = {STDERR_FILENO, POLLOUT, 0};
	const struct timespec now = {0, 0};
	sigset_t fatal, before, pending;
	sigemptyset(&fatal);
	sigaddset(&fatal, SIGPIPE);
	sigaddset(&fatal, SIGXFSZ);
	if (weft__kernel_poll(&output, 1) != 1 || output.revents != POLLOUT)
		return;
	sigprocmask(SIG_BLOCK, &fatal, &before);
	sigpending(&pending);
	bool is_pending = sigismember(&pending, SIGPIPE) || sigismember(&pending, SIGXFSZ);
	if (!is_pending && weft__kernel_write(STDERR_FILENO, line->bytes, line->size) < 0)
		sigtimedwait(&fatal, NULL, &now);
	sigprocmask(SIG_SETMASK, &before, NULL);
}

/* Says what is wrong, if no `weft record` will; with the settings if these led to a failure. Only
 * the process's start does this, once: later the program may use descriptor 2 for something else.
 */
static void report_effect(
	const char *effect, const char *what, const char *reason, bool with_settings)
{
	static struct text line;
	if (line.size || is_attended())
		return;
	append(&line, "weft: ");
	name_process(&line, 1);
	append(&line, effect);
	append(&line, what);
	append(&line, ": ");
	append(&line, reason);
	if (with_settings) {
		append(&line, "; WEFT_OUT is ");
		append(&line, wanted.path);
		append(&line, ", WEFT_SIZE is ");
		append_number(&line, wanted.bytes);
	}
	append(&line, "\n");
	write_line(&line);
}

void weft__platform_linux_report(const char *what, const char *reason)
{
	if (*wanted.path || read_environment())
		report_step(what, reason);
	report_effect(" ignores ", what, reason, false);
}

/* Appends FILE, or FILE-PID and so on before its suffix; in a directory, the ring's own name. */
static void name_in_place(struct text *text, unsigned attempt)
{
	const char *slash = strrchr(wanted.in_place, '/'), *base = slash + 1;
	const char *suffix = strrchr(base, '.');
	if (!suffix || suffix == base)
		suffix = base + strlen(base);
	append(text, wanted.in_place);
	if (!*base) {
		name_process(text, attempt);
		append(text, WEFT_ABI_RUN_RING);
	} else if (attempt > 1) {
		text->size = (size_t)(suffix - wanted.in_place);
		append(text, "-");
		append_number(text, (uint64_t)weft__kernel_process());
		append_program(text, attempt - 1);
		append(text, suffix);
	}
}

/* Links the ring into the run directory, where readers look for it. */
static void link_to(const char *path)
{
	int error = EEXIST;
	for (unsigned program = 1; error == EEXIST && program <= PROGRAMS_MAX; program++) {
		static struct text link;
		link.size = 0;
		name_file(&link, program, WEFT_ABI_RUN_RING);
		error = -weft__kernel_symlink(path, link.bytes);
	}
}

/* Glibc's strerror may allocate; other libraries' is a table. */
static const char *describe(int error)
{
#ifdef __GLIBC__
	return strerrordesc_np(error);
#else
	return strerror(error);
#endif
}

/* True for one process of the run, and the programs that it executes. */
static bool is_first(void)
{
	static struct text link, pid; /* too big for an alternate stack */
	char known[32];
	link.size = pid.size = 0;
	append(&link, wanted.path);
	append(&link, WEFT_ABI_RUN_FIRST);
	append_number(&pid, (uint64_t)weft__kernel_process());
	if (weft__kernel_symlink(pid.bytes, link.bytes) == 0)
		return true;
	long size = weft__kernel_readlink(link.bytes, known, sizeof(known));
	return size == (long)pid.size && memcmp(known, pid.bytes, pid.size) == 0;
}

/* A setting or step that failed, and the reason. */
struct failure {
	const char *step, *reason;
};

/* The ring in the run directory. A forked child has its parent's name, until it has its own. */
static struct {
	struct text path;
	pid_t owner; /* 0: there is none in a run directory */
} made;

const char *weft__platform_linux_beside(const char *suffix)
{
	static struct text path;
	if (!made.owner || made.owner != weft__kernel_process())
		return NULL;
	path.size = 0;
	append(&path, made.path.bytes);
	path.size -= sizeof(WEFT_ABI_RUN_RING) - 1;
	append(&path, suffix);
	return path.bytes;
}

static bool start_in_directory(struct failure *ret_failure)
{
	struct text *path = &made.path;
	const char *step = "";
	int error = EEXIST;
	bool is_in_place = wanted.in_place[0];
	uint64_t bytes = wanted.bytes;
	if (wanted.fits_room)
		bytes = weft__platform_ring_fitting_bytes(wanted.path, is_first());
	if (!weft__platform_total_take(wanted.path, bytes)) {
		*ret_failure = (struct failure){"--total", "the run's other processes use all of it"};
		report_step(ret_failure->step, ret_failure->reason);
		return false;
	}
	made.owner = 0;
	for (unsigned attempt = 1; error == EEXIST && attempt <= PROGRAMS_MAX; attempt++) {
		path->size = 0;
		if (is_in_place)
			name_in_place(path, attempt);
		else
			name_file(path, attempt, WEFT_ABI_RUN_RING);
		const struct weft__ring ring = {path->bytes, bytes, is_in_place};
		error = weft__platform_ring_create(&ring, &step);
	}
	if (!error && is_in_place)
		link_to(path->bytes);
	else if (!error)
		made.owner = weft__kernel_process();
	if (!error)
		return true;
	*ret_failure = (struct failure){step, describe(error)};
	if (!wanted.is_answered && !report_step(step, ret_failure->reason))
		report_to_parent(step, error);
	return false;
}

/* Called by both sides; the one that comes last finds the count. */
static void count_missed(void)
{
	uint32_t missed = __atomic_exchange_n(&weft__live.missed, 0, __ATOMIC_SEQ_CST);
	if (missed && weft__record_generation())
		weft__fetch_add(&weft__record_header()->losses[WEFT_ABI_LOSS_FULL], missed);
}

/* Called in another thread of this child, or in a signal handler, while the first event still makes
 * the buffer. */
static bool resume_elsewhere(bool for_event)
{
	if (weft__record_generation())
		return true;
	if (for_event)
		__atomic_fetch_add(&weft__live.missed, 1, __ATOMIC_SEQ_CST);
	if (__atomic_load_n(&weft__live.has_resumed, __ATOMIC_SEQ_CST) == 2)
		count_missed();
	return false;
}

/* The child could not make a buffer. */
static void give_up(void)
{
	weft__record_rest();
	weft__record_categories_point();
	weft__copies_notify();
}

/* Called in a child at its first event. */
static bool resume_child(bool for_event)
{
	int saved = errno;
	if (!weft__compare_exchange(&weft__live.has_resumed, 0, 1))
		return resume_elsewhere(for_event);
	uint64_t next_task = weft__load(&weft__record_header()->next_task);
	weft__store(&weft__recorder.parent, weft__record_header());
	struct failure failure;
	bool started = start_in_directory(&failure);
	weft__store(&weft__recorder.parent, NULL);
	if (started) { /* the child must not reuse ids of the parent's tasks */
		weft__store(&weft__record_header()->next_task, next_task);
		weft__platform_metrics_keep();
	} else {
		give_up();
	}
	__atomic_store_n(&weft__live.has_resumed, 2, __ATOMIC_SEQ_CST);
	count_missed();
	errno = saved;
	return started;
}

/* Parses bytes, or K, M, G; 0 if it is neither. */
static uint64_t parse_size(const char *text)
{
	char *end;
	unsigned shift = 0;
	if (*text < '0' || *text > '9')
		return 0;
	errno = 0;
	uint64_t size = strtoull(text, &end, 10);
	if (*end && !end[1])
		shift = *end == 'K' || *end == 'k'   ? 10
				: *end == 'M' || *end == 'm' ? 20
				: *end == 'G' || *end == 'g' ? 30
											 : 0;
	if (errno || (*end && !shift) || size > UINT64_MAX >> shift)
		return 0;
	return size << shift;
}

/* The size of the buffer that a request asks for: at most half of the free room, and what WEFT_SIZE
 * says. 0: it is too large. */
static uint64_t allowed_bytes(uint64_t bytes)
{
	const char *size = secure_getenv(WEFT_ABI_RUN_SIZE);
	uint64_t most = weft__platform_ring_room(wanted.path) / 2;
	uint64_t set = size && *size ? parse_size(size) : most;
	return bytes <= most && bytes <= set ? bytes : 0;
}

/* Makes the buffer in the new run directory. */
static bool start_for(const struct weft__attach_request *request, struct failure *ret_failure)
{
	uint64_t bytes = allowed_bytes(request->ring_bytes);
	if (request->ring_bytes && !bytes) {
		*ret_failure = (struct failure){"allocate",
			"the buffer would take more than half of the free room, or than the program's "
			"WEFT_SIZE"};
		return false;
	}
	wanted.bytes = bytes;
	wanted.is_directory = true;
	wanted.fits_room = !bytes;
	wanted.in_place[0] = '\0';
	wanted.is_answered = true;
	bool started = start_in_directory(ret_failure);
	wanted.is_answered = false;
	return started;
}

/* Removes the new run directory, which has no buffer. */
static void remove_run(void)
{
	static struct text link; /* too big for an alternate stack */
	link.size = 0;
	append(&link, wanted.path);
	append(&link, WEFT_ABI_RUN_FIRST);
	weft__kernel_unlink(link.bytes);
	rmdir(wanted.path);
}

/* Makes the buffer that a request asks for. "", or the reason why it could not. */
static const char *obey(const struct weft__attach_request *request)
{
	static struct text reason; /* too big for an alternate stack */
	struct failure failure;
	_Static_assert(sizeof(wanted.path) >= WEFT__RUN_BYTES, "a run directory's name");
	const char *wrong = weft__platform_run_make(wanted.path);
	if (wrong)
		return wrong;
	if (start_for(request, &failure)) {
		/* From now on children make their buffers at their first event. */
		weft__store(&weft__recorder.idle, NULL);
		weft__copies_notify();
		return "";
	}
	remove_run();
	reason.size = 0;
	append(&reason, failure.step);
	append(&reason, ": ");
	append(&reason, failure.reason);
	return reason.bytes;
}

/* Makes a buffer for a request, and answers it. */
static void answer(const struct weft__attach_request *request)
{
	const char *reason = obey(request);
	weft__platform_attach_answer(request->number, *reason ? "" : wanted.path, reason);
}

/* Called in a process that does not record, while there is a request. Events in other threads and
 * in signal handlers meanwhile are not lost: they come before the recording. */
static bool resume_for_request(void)
{
	static struct weft__attach_request request; /* too big for an alternate stack */
	int saved = errno;
	if (!weft__platform_attach_is_for_us() ||
		(!weft__compare_exchange(&weft__live.has_resumed, 0, 1) &&
			!weft__compare_exchange(&weft__live.has_resumed, 2, 1)))
		return weft__record_generation();
	/* Another thread may have answered the request before this one came here. */
	if (!weft__record_generation() && weft__platform_attach_take(&request))
		answer(&request);
	__atomic_store_n(&weft__live.has_resumed, 2, __ATOMIC_SEQ_CST);
	errno = saved;
	return weft__record_generation();
}

static bool resume(bool for_event)
{
	return weft__load(&weft__recorder.idle) ? resume_for_request() : resume_child(for_event);
}

void weft__platform_linux_offer(void)
{
	const uint8_t *level = NULL;
	if (!weft__platform_attach_is_wanted() || weft__kernel_is_filtered())
		return;
	if (weft__record_generation())
		weft__platform_attach_show_counters();
	else
		level = weft__platform_attach_offer();
	if (!level)
		return;
	weft__store(&weft__recorder.offered, level);
	weft__store(&weft__recorder.idle, level);
	weft__store(&weft__recorder.resume, resume);
	weft__record_categories_point();
	weft__copies_notify();
}

static bool is_directory(const char *path)
{
	struct stat status;
	size_t length = strlen(path);
	return path[length - 1] == '/' ||
		   (!weft__kernel_stat_path(path, &status) && S_ISDIR(status.st_mode));
}

/* Makes the path absolute, because the working directory may change. */
static bool remember_path(const char *path, char ret_path[PATH_MAX], bool *ret_is_directory)
{
	struct text full = {.size = 0};
	if (path[0] != '/') {
		if (!getcwd(full.bytes, PATH_MAX))
			return false;
		full.size = strlen(full.bytes);
		append(&full, "/");
	}
	append(&full, path);
	*ret_is_directory = is_directory(path);
	if (*ret_is_directory && full.bytes[full.size - 1] != '/')
		append(&full, "/");
	if (full.size >= PATH_MAX)
		return false;
	memcpy(ret_path, full.bytes, full.size + 1);
	return true;
}

static bool read_environment(void)
{
	/* secure_getenv ignores the environment of a set-user-ID program: its caller must not make it
	 * write files. */
	const char *out = secure_getenv(WEFT_ABI_RUN_OUT);
	const char *size = secure_getenv(WEFT_ABI_RUN_SIZE);
	const char *in_place = secure_getenv(WEFT_ABI_RUN_IN_PLACE);
	bool any;
	if (!out || !*out || !remember_path(out, wanted.path, &wanted.is_directory))
		return false;
	if (in_place && *in_place && !remember_path(in_place, wanted.in_place, &any))
		return false;
	bool has_size = size && *size;
	wanted.bytes = has_size ? parse_size(size) : WEFT_ABI_RUN_RING_BYTES;
	wanted.fits_room = !has_size && wanted.is_directory && secure_getenv(WEFT_ABI_RUN_FIT);
	return true;
}

static bool start_in_file(struct failure *ret_failure)
{
	const char *step;
	int error =
		weft__platform_ring_create(&(struct weft__ring){wanted.path, wanted.bytes, false}, &step);
	if (error == EEXIST)
		*ret_failure = (struct failure){"WEFT_OUT",
			"the file exists: remove it, or name a directory for files of each process"};
	else if (error)
		*ret_failure = (struct failure){step, describe(error)};
	return !error;
}

static bool has_output(void)
{
	const char *out = secure_getenv(WEFT_ABI_RUN_OUT);
	return out && *out;
}

/* The domain of WEFT_OUT=xen:DOMAIN. False: it is a path. */
static bool read_domain(unsigned long *ret_domain)
{
	static const char scheme[] = WEFT_ABI_RUN_XEN;
	const char *out = secure_getenv(WEFT_ABI_RUN_OUT);
	char *end;
	if (strncmp(out, scheme, sizeof(scheme) - 1) != 0)
		return false;
	const char *number = out + sizeof(scheme) - 1;
	errno = 0;
	*ret_domain = strtoul(number, &end, 10);
	if (*number < '0' || *number > '9' || *end || errno)
		*ret_domain = UINT16_MAX; /* the domain of nobody */
	return true;
}

static const char *describe_xen(int error)
{
	switch (error) {
	case WEFT_ERROR_ARGUMENT:
		return "write xen:DOMAIN with the number of a domain, and at least 64K for WEFT_SIZE";
	case WEFT_ERROR_UNSUPPORTED:
		return "libxengnttab.so.1 or libxenstore.so.4 is missing";
	case WEFT_ERROR_SYSTEM:
		return errno == ENOENT
				   ? "this machine is not a guest of Xen, or /dev/xen/gntalloc is missing"
				   : describe(errno);
	default:
		return "the buffer is too small, or the program records already";
	}
}

static void start_in_xen(unsigned long domain)
{
	const char *size = secure_getenv(WEFT_ABI_RUN_SIZE);
	uint64_t bytes = size && *size ? parse_size(size) : WEFT_ABI_RUN_XEN_BYTES;
	int error = domain < UINT16_MAX
					? weft_xen_record((uint16_t)domain, bytes - bytes % WEFT_XEN_PAGE_BYTES)
					: WEFT_ERROR_ARGUMENT;
	if (error)
		report_effect(" is not recorded: ", WEFT_ABI_RUN_OUT, describe_xen(error), false);
}

void weft__platform_linux_autostart(void)
{
	struct failure failure = {"WEFT_SIZE", "not a size of at least 64K"};
	bool started = false;
	unsigned long domain;
	if (!has_output())
		return;
	if (read_domain(&domain)) {
		start_in_xen(domain);
		return;
	}
	if (!read_environment())
		failure = (struct failure){"WEFT_OUT", "the path is too long"};
	else if (wanted.bytes < WEFT_ABI_BUFFER_MIN_BYTES)
		report_step(failure.step, failure.reason);
	else if (!wanted.is_directory)
		started = start_in_file(&failure);
	else if ((started = start_in_directory(&failure))) {
		weft__store(&weft__recorder.resume, resume);
		weft__copies_notify();
	}
	if (!started)
		report_effect(" is not recorded: ", failure.step, failure.reason,
			wanted.bytes >= WEFT_ABI_BUFFER_MIN_BYTES);
}
