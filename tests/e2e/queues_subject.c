/* SPDX-License-Identifier: ISC
 *
 * Processes that give each other messages and tokens by queues and semaphores of the kernel,
 * without libweft. The first line that each part prints has the numbers of its processes, its own
 * first.
 */
#include <fcntl.h>
#include <mqueue.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/prctl.h>
#include <sys/sem.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define ROUNDS 5

struct message {
	long type;
	char bytes[8];
};

static int queue = -1, other_queue = -1, set = -1;
static mqd_t posts = -1;

static void check(int is_good, const char *what)
{
	if (is_good)
		return;
	perror(what);
	exit(1);
}

static void sleep_ms(long ms)
{
	nanosleep(&(struct timespec){ms / 1000, ms % 1000 * 1000000}, NULL);
}

static void print_processes(pid_t child)
{
	printf("%d %d\n", (int)getpid(), (int)child);
	fflush(stdout);
}

static void clean(void)
{
	if (queue >= 0)
		msgctl(queue, IPC_RMID, NULL);
	if (other_queue >= 0)
		msgctl(other_queue, IPC_RMID, NULL);
	if (set >= 0)
		semctl(set, 0, IPC_RMID);
}

static pid_t begin_child(void (*part)(void), const char *name)
{
	pid_t child = fork();
	check(child >= 0, "fork");
	if (child)
		return child;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_NAME, name);
	part();
	_exit(0);
}

static void await_end(pid_t child)
{
	check(waitpid(child, NULL, 0) == child, "waitpid");
	clean();
}

static void open_posts(void)
{
	struct mq_attr attributes = {.mq_maxmsg = 4, .mq_msgsize = 8};
	char name[32];
	snprintf(name, sizeof(name), "/weft-jobs-%d", (int)getpid());
	posts = mq_open(name, O_RDWR | O_CREAT, 0600, &attributes);
	check(posts >= 0 && mq_unlink(name) == 0, "mq_open");
}

/* ---- Messages one by one ---- */

static void send_posts(void)
{
	for (int i = 0; i < ROUNDS; i++) {
		sleep_ms(10);
		check(mq_send(posts, "hello", 6, 0) == 0, "mq_send");
	}
}

static void receive_posts(void)
{
	char bytes[8];
	open_posts();
	pid_t child = begin_child(send_posts, "poster");
	print_processes(child);
	for (int i = 0; i < ROUNDS; i++)
		check(mq_receive(posts, bytes, sizeof(bytes), NULL) == 6, "mq_receive");
	await_end(child);
}

/* Those of type 7 are not for the parent. */
static void send_messages(void)
{
	struct message message = {.type = 1}, other = {.type = 7};
	for (int i = 0; i < ROUNDS; i++) {
		sleep_ms(10);
		check(msgsnd(queue, &other, sizeof(other.bytes), 0) == 0, "msgsnd");
		check(msgsnd(queue, &message, sizeof(message.bytes), 0) == 0, "msgsnd");
	}
}

static void receive_messages(void)
{
	struct message message;
	queue = msgget(IPC_PRIVATE, 0600);
	check(queue >= 0, "msgget");
	pid_t child = begin_child(send_messages, "sender");
	print_processes(child);
	for (int i = 0; i < ROUNDS; i++)
		check(msgrcv(queue, &message, sizeof(message.bytes), 1, 0) == 8, "msgrcv");
	await_end(child);
}

static void add_tokens(void)
{
	for (int i = 0; i < ROUNDS; i++) {
		sleep_ms(10);
		check(semop(set, &(struct sembuf){.sem_num = 1, .sem_op = 1}, 1) == 0, "semop");
	}
}

static void take_tokens(void)
{
	set = semget(IPC_PRIVATE, 2, 0600);
	check(set >= 0, "semget");
	pid_t child = begin_child(add_tokens, "adder");
	print_processes(child);
	for (int i = 0; i < ROUNDS; i++)
		check(semop(set, &(struct sembuf){.sem_num = 1, .sem_op = -1}, 1) == 0, "semop");
	await_end(child);
}

/* ---- Queues that are full ---- */

/* The reader takes one, and no further one: it waits for something else. */
static void read_one(void)
{
	char bytes[8];
	check(mq_receive(posts, bytes, sizeof(bytes), NULL) == 6, "mq_receive");
	check(mq_receive(posts, bytes, sizeof(bytes), NULL) == 6, "mq_receive");
	pause();
}

static void fill_posts(void)
{
	open_posts();
	for (int i = 0; i < 4; i++)
		check(mq_send(posts, "hello", 6, 0) == 0, "mq_send");
	pid_t child = begin_child(read_one, "slow-reader");
	print_processes(child);
	for (;;)
		check(mq_send(posts, "hello", 6, 0) == 0, "mq_send");
}

static void read_and_end(void)
{
	struct message message;
	check(msgrcv(queue, &message, sizeof(message.bytes), 0, 0) == 8, "msgrcv");
}

static void fill_queue_without_reader(void)
{
	struct message message = {.type = 1};
	queue = msgget(IPC_PRIVATE, 0600);
	check(queue >= 0, "msgget");
	check(msgsnd(queue, &message, sizeof(message.bytes), 0) == 0, "msgsnd");
	pid_t child = begin_child(read_and_end, "reader");
	print_processes(child);
	check(waitpid(child, NULL, 0) == child, "waitpid");
	for (;;)
		check(msgsnd(queue, &message, sizeof(message.bytes), 0) == 0, "msgsnd");
}

/* ---- Two that wait for each other ---- */

static void ask(int from, int to)
{
	struct message message = {.type = 1};
	check(msgsnd(to, &message, sizeof(message.bytes), 0) == 0, "msgsnd");
	for (int i = 0; i < 2; i++)
		check(msgrcv(from, &message, sizeof(message.bytes), 0, 0) == 8, "msgrcv");
}

static void ask_back(void)
{
	ask(other_queue, queue);
}

static void ask_each_other(void)
{
	queue = msgget(IPC_PRIVATE, 0600);
	other_queue = msgget(IPC_PRIVATE, 0600);
	check(queue >= 0 && other_queue >= 0, "msgget");
	pid_t child = begin_child(ask_back, "billing");
	print_processes(child);
	ask(queue, other_queue);
}

/* ---- Threads of one process ---- */

static void *feed(void *unused)
{
	for (int i = 0; i < ROUNDS; i++) {
		sleep_ms(10);
		check(mq_send(posts, "hello", 6, 0) == 0, "mq_send");
	}
	return unused;
}

static void receive_of_thread(void)
{
	pthread_t thread;
	char bytes[8];
	open_posts();
	check(pthread_create(&thread, NULL, feed, NULL) == 0, "pthread_create");
	pthread_setname_np(thread, "feeder");
	print_processes(0);
	for (int i = 0; i < ROUNDS; i++)
		check(mq_receive(posts, bytes, sizeof(bytes), NULL) == 6, "mq_receive");
	pthread_join(thread, NULL);
}

int main(int argc, char *arguments[])
{
	static const struct {
		const char *name;
		void (*play)(void);
	} parts[] = {
		{"posts", receive_posts},
		{"messages", receive_messages},
		{"tokens", take_tokens},
		{"full", fill_posts},
		{"gone", fill_queue_without_reader},
		{"circle", ask_each_other},
		{"thread", receive_of_thread},
	};
	for (size_t i = 0; argc == 2 && i < sizeof(parts) / sizeof(parts[0]); i++)
		if (strcmp(arguments[1], parts[i].name) == 0)
			parts[i].play();
	return 0;
}
