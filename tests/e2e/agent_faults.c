/* SPDX-License-Identifier: ISC
 *
 * Runs a command and kills it at its N-th system call, before the call is made.
 *
 *     agent-faults N COMMAND...     status 9: it was killed there; else the command's own status
 *
 * As a library in LD_PRELOAD it lets the N-th call that needs room on a disk fail: FULL_AT=N. With
 * FULL_FOR_EVER=1 all later ones fail, too.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef AS_LIBRARY

static int is_full(void)
{
	static long calls;
	const char *at = getenv("FULL_AT"), *ever = getenv("FULL_FOR_EVER");
	long n = at ? strtol(at, NULL, 10) : 0;
	calls++;
	if (!n || !(ever ? calls >= n : calls == n))
		return 0;
	errno = ENOSPC;
	return 1;
}

#define REAL(name)              \
	__typeof__(&name) original; \
	*(void **)&original = dlsym(RTLD_NEXT, #name)

ssize_t pwrite64(int fd, const void *bytes, size_t size, off64_t at)
{
	REAL(pwrite64);
	return is_full() ? -1 : original(fd, bytes, size, at);
}

ssize_t write(int fd, const void *bytes, size_t size)
{
	REAL(write);
	return fd > 2 && is_full() ? -1 : original(fd, bytes, size);
}

int ftruncate64(int fd, off64_t size)
{
	REAL(ftruncate64);
	return is_full() ? -1 : original(fd, size);
}

int fsync(int fd)
{
	REAL(fsync);
	return is_full() ? -1 : original(fd);
}

int fdatasync(int fd)
{
	REAL(fdatasync);
	return is_full() ? -1 : original(fd);
}

int unlinkat(int folder, const char *path, int flags)
{
	REAL(unlinkat);
	return is_full() ? -1 : original(folder, path, flags);
}

int open64(const char *path, int flags, ...)
{
	va_list arguments;
	va_start(arguments, flags);
	mode_t mode = flags & O_CREAT ? va_arg(arguments, mode_t) : 0;
	va_end(arguments);
	REAL(open64);
	return (flags & O_CREAT) && is_full() ? -1 : original(path, flags, mode);
}

#else

static int trace(pid_t child, long kill_at)
{
	int status;
	waitpid(child, &status, 0);
	ptrace(PTRACE_SETOPTIONS, child, NULL, (void *)(PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL));
	/* Each call stops the process twice: before it, and after it. */
	for (long stops = 0, signal = 0;; signal = 0) {
		ptrace(PTRACE_SYSCALL, child, NULL, (void *)signal);
		waitpid(child, &status, 0);
		if (WIFEXITED(status))
			return WEXITSTATUS(status);
		if (WIFSIGNALED(status))
			return 128 + WTERMSIG(status);
		if (WSTOPSIG(status) != (SIGTRAP | 0x80)) {
			signal = WSTOPSIG(status) == SIGTRAP ? 0 : WSTOPSIG(status);
		} else if (stops++ % 2 == 0 && stops / 2 + 1 == kill_at) {
			kill(child, SIGKILL);
			waitpid(child, &status, 0);
			return 9;
		}
	}
}

int main(int argc, char **argv)
{
	if (argc < 3)
		return 2;
	pid_t child = fork();
	if (!child) {
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		execv(argv[2], argv + 2);
		_exit(127);
	}
	return trace(child, strtol(argv[1], NULL, 10));
}
#endif
