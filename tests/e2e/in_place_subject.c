/* SPDX-License-Identifier: ISC
 *
 * A program whose buffer is in a file that is shortened meanwhile, or that causes SIGBUS itself.
 *
 *     in-place-subject ACTION record   two threads record until a line of standard input comes
 *                             fault    reads a page of its own that is gone
 *                             raise    sends itself the signal
 *
 * ACTION is what SIGBUS did before libweft was there: default, ignore, plain, info.
 */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <weft/weft.h>

static sigjmp_buf back;
static const char *caught;
static void *expected_address;

static void leave(const char *how)
{
	caught = how;
	siglongjmp(back, 1);
}

static void on_plain(int number)
{
	sigset_t mask;
	sigprocmask(SIG_SETMASK, NULL, &mask);
	bool is_masked =
		sigismember(&mask, SIGBUS) && sigismember(&mask, SIGUSR1) && !sigismember(&mask, SIGUSR2);
	leave(number == SIGBUS && is_masked ? "plain" : "wrong");
}

static void on_info(int number, siginfo_t *info, void *context)
{
	bool is_right =
		number == SIGBUS && context && (info->si_code <= 0 || info->si_addr == expected_address);
	leave(is_right ? "info" : "wrong");
}

/* Before any constructor. */
static void begin(int argc, char **argv, char **environment)
{
	struct sigaction action = {.sa_handler = SIG_DFL};
	const char *name = argc > 1 ? argv[1] : "";
	(void)environment;
	sigemptyset(&action.sa_mask);
	sigaddset(&action.sa_mask, SIGUSR1);
	if (strcmp(name, "ignore") == 0)
		action.sa_handler = SIG_IGN;
	if (strcmp(name, "plain") == 0)
		action.sa_handler = on_plain;
	if (strcmp(name, "info") == 0) {
		action.sa_sigaction = on_info;
		action.sa_flags = SA_SIGINFO;
	}
	sigaction(SIGBUS, &action, NULL);
}

__attribute__((section(".preinit_array"), used)) static void (*const at_first)(
	int, char **, char **) = begin;

static atomic_bool is_over;
static atomic_int recorded;

static void *record(void *argument)
{
	while (!atomic_load(&is_over)) {
		uint64_t task = weft_create(WEFT_KIND_TASK);
		weft_note_as(task, "a note");
		weft_notef_as(task, "%s %d", "another", 1);
		atomic_fetch_add(&recorded, 1);
	}
	return argument;
}

static int record_until_asked(void)
{
	pthread_t threads[2];
	for (int i = 0; i < 2; i++)
		if (pthread_create(&threads[i], NULL, record, NULL))
			return 1;
	while (atomic_load(&recorded) < 10000)
		usleep(1000);
	puts("ready");
	fflush(stdout);
	getchar();
	atomic_store(&is_over, true);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	/* weft_is_recording() has the new state, and children decide for themselves. */
	printf("%s\n", weft_is_recording() ? "recording" : "alive");
	return 7;
}

static void touch_what_is_gone(void)
{
	FILE *file = tmpfile();
	if (!file || ftruncate(fileno(file), 4096))
		exit(1);
	volatile char *page = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fileno(file), 0);
	if (page == MAP_FAILED || ftruncate(fileno(file), 0))
		exit(1);
	expected_address = (void *)page;
	(void)*page;
}

int main(int argc, char **argv)
{
	const char *what = argc > 2 ? argv[2] : "";
	weft_note("main");
	if (strcmp(what, "record") == 0)
		return record_until_asked();
	if (sigsetjmp(back, 1) == 0) {
		if (strcmp(what, "fault") == 0)
			touch_what_is_gone();
		else
			raise(SIGBUS);
		caught = "nothing";
	}
	puts(caught);
	weft_note("still here");
	return 0;
}
