/* SPDX-License-Identifier: ISC
 *
 * A daemon that is linked with libweft and does not record, with a hostile worker: the worker has
 * given up the daemon's rights, and tries each way to store a request into the page that its parent
 * answers. Prints a line for each way that succeeds, and "recorded" if the daemon then records.
 *
 *     attach-worker fork|clone|twice
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <weft/weft.h>

#include "abi/attach_abi.h"

/* As the daemon wrote it before it forked. */
static struct weft_abi_attach request;
static pid_t daemon_pid;
static unsigned char *inherited[8];
static bool is_writable[8];
static int inherited_count;

static void drop_rights(void)
{
	setgroups(0, NULL);
	if (syscall(SYS_setresgid, 65534, 65534, 65534) || syscall(SYS_setresuid, 65534, 65534, 65534))
		_exit(9);
}

static void prepare(void)
{
	struct timespec now;
	clock_gettime(CLOCK_REALTIME, &now);
	request.number = 77;
	request.until_unix_ns = (uint64_t)(now.tv_sec + 60) * 1000000000;
	request.ring_bytes = 65536;
	request.level = 5;
}

static void find_mappings(void)
{
	char line[512];
	FILE *maps = fopen("/proc/self/maps", "re");
	while (maps && fgets(line, sizeof(line), maps) && inherited_count < 8)
		if (strstr(line, WEFT_ABI_ATTACH_NAME)) {
			is_writable[inherited_count] = strstr(line, " rw-s ");
			inherited[inherited_count++] = (unsigned char *)(uintptr_t)strtoull(line, NULL, 16);
		}
	if (maps)
		fclose(maps);
}

static sigjmp_buf refused;

static void on_fault(int number)
{
	siglongjmp(refused, number);
}

/* Through the mappings that the daemon had. Where the writable one was, the worker may have that of
 * its own page. */
static void store_in_memory(bool has_own_page)
{
	signal(SIGSEGV, on_fault);
	signal(SIGBUS, on_fault);
	for (volatile int i = 0; i < inherited_count; i++) {
		if (has_own_page && is_writable[i])
			continue;
		mprotect(inherited[i], WEFT_ABI_ATTACH_BYTES, PROT_READ | PROT_WRITE);
		if (sigsetjmp(refused, 1))
			continue;
		memcpy(inherited[i] + 128, (char *)&request + 128, 24);
		inherited[i][64] = request.level;
		puts("written: a mapping");
	}
}

static bool store_in(int fd)
{
	return fd >= 0 && pwrite(fd, (char *)&request + 128, 24, 128) == 24 &&
		   pwrite(fd, &request.level, 1, 64) == 1;
}

/* Through descriptors with the page's name: those of a process, as they are and opened again. */
static void store_in_files(pid_t pid, const char *whose)
{
	char path[64], name[512], target[64];
	snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
	DIR *list = opendir(path);
	for (struct dirent *entry; list && (entry = readdir(list));) {
		snprintf(name, sizeof(name), "%s/%s", path, entry->d_name);
		ssize_t size = readlink(name, target, sizeof(target) - 1);
		target[size > 0 ? size : 0] = '\0';
		if (!strstr(target, WEFT_ABI_ATTACH_NAME))
			continue;
		if (pid == getpid() && store_in(atoi(entry->d_name)))
			printf("written: a descriptor of %s\n", whose);
		if (store_in(open(name, O_RDWR)))
			printf("written: a file of %s\n", whose);
	}
	if (list)
		closedir(list);
}

static void attack(bool has_own_page)
{
	drop_rights();
	store_in_memory(has_own_page);
	store_in_files(getpid(), "the worker");
	store_in_files(daemon_pid, "the daemon");
	fflush(stdout);
}

static pid_t start_worker(const char *how)
{
	pid_t worker;
	if (strcmp(how, "clone") == 0)
		worker = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
	else
		worker = fork();
	if (worker == 0 && strcmp(how, "twice") == 0) {
		pid_t second = fork();
		if (second > 0)
			_exit(waitpid(second, NULL, 0) != second);
	}
	if (worker == 0 || getpid() != daemon_pid) {
		attack(strcmp(how, "clone") != 0);
		weft_note("by the worker"); /* must not fault either */
		_exit(0);
	}
	return worker;
}

int main(int argc, char **argv)
{
	daemon_pid = getpid();
	prepare();
	find_mappings();
	pid_t worker = start_worker(argc > 1 ? argv[1] : "fork");
	int status;
	bool has_recorded = false;
	while (waitpid(worker, &status, WNOHANG) == 0)
		weft_note("by the daemon");
	for (int i = 0; i < 1000; i++) {
		weft_note("by the daemon");
		has_recorded |= weft_is_recording();
	}
	if (has_recorded)
		puts("recorded");
	printf("%d mappings, worker %d\n", inherited_count, status);
	return 0;
}
