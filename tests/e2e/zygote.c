/* SPDX-License-Identifier: ISC
 *
 * Preloaded into weft, runs its main function for one command line after the other, each in a child
 * process. Loading the libraries and starting a sanitizer takes longer than most commands of the
 * tests; the children share what that made.
 *
 * A request, on the descriptor WEFT_ZYGOTE: 4 bytes, its size, and strings that end with a zero
 * byte: the folder, the files for standard output and standard error, and the arguments. The
 * answer: the 4 bytes of the child's status as of waitpid.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#pragma GCC visibility push(default)

#define ARGUMENTS_MAX 4096

typedef int main_function(int, char **, char **);

int __libc_start_main(main_function *program, int argc, char **argv, void (*init)(void),
	void (*fini)(void), void (*rtld_fini)(void), void *stack_end);

extern char **environ;
static main_function *real_main;

static int read_all(int from, void *to, size_t size)
{
	for (size_t done = 0; done < size;) {
		ssize_t got = read(from, (char *)to + done, size - done);
		if (got <= 0)
			return 0;
		done += (size_t)got;
	}
	return 1;
}

static void redirect(const char *path, int to)
{
	int file = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);
	if (file < 0 || dup2(file, to) < 0)
		_exit(127);
}

static int run_child(char **words)
{
	int count = 0;
	prctl(PR_SET_PDEATHSIG, 9);
	if (chdir(words[0]))
		_exit(127);
	redirect(words[1], 1);
	redirect(words[2], 2);
	for (words += 3; words[count];)
		count++;
	return real_main(count, words, environ);
}

/* Returns in children, with the exit status of their command, and at the end of the requests. */
static int serve(int argc, char **argv, char **environment)
{
	static char request[1 << 16];
	uint32_t size;
	const char *number = getenv("WEFT_ZYGOTE");
	if (!number)
		return real_main(argc, argv, environment);
	const int requests = atoi(number);
	fcntl(requests, F_SETFD, FD_CLOEXEC);
	unsetenv("WEFT_ZYGOTE");
	unsetenv("LD_PRELOAD");
	while (read_all(requests, &size, sizeof(size)) && size < sizeof(request) &&
		   read_all(requests, request, size)) {
		char *words[ARGUMENTS_MAX + 1];
		int count = 0, status = 127 << 8;
		request[size] = 0;
		for (char *at = request; at < request + size && count < ARGUMENTS_MAX; at += strlen(at) + 1)
			words[count++] = at;
		words[count] = NULL;
		pid_t child = fork();
		if (child == 0)
			return run_child(words);
		if (child > 0)
			waitpid(child, &status, 0);
		if (write(requests, &status, sizeof(status)) != sizeof(status))
			break;
	}
	return 0;
}

int __libc_start_main(main_function *program, int argc, char **argv, void (*init)(void),
	void (*fini)(void), void (*rtld_fini)(void), void *stack_end)
{
	void *next = dlsym(RTLD_NEXT, "__libc_start_main");
	__typeof__(__libc_start_main) *start;
	memcpy(&start, &next, sizeof(start));
	real_main = program;
	return start(serve, argc, argv, init, fini, rtld_fini, stack_end);
}
