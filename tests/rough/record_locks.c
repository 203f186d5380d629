/* SPDX-License-Identifier: ISC
 *
 * Rule: adapters close no file on which the program has record locks, as that would drop them. The
 * program locks its own file, in which adapters look for names of functions and whether a program
 * that it starts can be recorded.
 */
#include <fcntl.h>
#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void *hold(void *unused)
{
	pthread_mutex_lock(&mutex);
	usleep(1000);
	pthread_mutex_unlock(&mutex);
	return unused;
}

static void contend(void)
{
	pthread_t threads[2];
	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, hold, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
}

/* Whether another process meets the lock. */
static void show(const char *when, const char *file)
{
	struct flock lock = {.l_type = F_WRLCK};
	int status;
	pid_t child = fork();
	if (child == 0)
		_exit(fcntl(open(file, O_RDONLY), F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK);
	waitpid(child, &status, 0);
	printf("%s: %s\n", when, WEXITSTATUS(status) ? "locked" : "not locked");
	fflush(stdout);
}

int main(int argc, char **argv)
{
	struct flock lock = {.l_type = F_RDLCK};
	char word[] = "again", *again[] = {argv[0], word, NULL};
	pid_t child;
	if (argc > 1)
		return 0;
	if (fcntl(open("/proc/self/exe", O_RDONLY), F_SETLK, &lock) != 0)
		return 1;
	show("locked", argv[0]);
	contend();
	show("after a busy lock", argv[0]);
	if (posix_spawn(&child, argv[0], NULL, NULL, again, environ) == 0)
		waitpid(child, NULL, 0);
	show("after a child", argv[0]);
	return 0;
}
