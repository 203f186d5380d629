/* SPDX-License-Identifier: ISC
 *
 * A program that knows nothing of weft, reads and writes by each function that does so, and prints
 * what a trace of it must count: a line for each call, for each that failed the note about it, and
 * the sums of its successes.
 *
 *     write pipe 3 77
 *     note write: EBADF
 *     sum out pipe 3 bytes 1 requests
 */
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

ssize_t __read_chk(int fd, void *bytes, size_t size, size_t room);
ssize_t __pread_chk(int fd, void *bytes, size_t size, off_t at, size_t room);
ssize_t __pread64_chk(int fd, void *bytes, size_t size, off64_t at, size_t room);
ssize_t __recv_chk(int fd, void *bytes, size_t size, size_t room, int flags);
ssize_t __recvfrom_chk(int fd, void *restrict bytes, size_t size, size_t room, int flags,
	__SOCKADDR_ARG from, socklen_t *restrict from_size);

enum direction {
	IN,
	OUT
};
enum kind {
	PIPE,
	UNIX,
	TCP,
	UDP,
	FILES,
	EVENT,
	KINDS
};
static const char *const kind_names[] = {"pipe", "unix", "tcp", "udp", "file", "eventfd"};

static struct {
	long bytes, requests;
} sums[2][KINDS];

static void check(bool is_true, const char *about)
{
	if (is_true)
		return;
	perror(about);
	exit(1);
}

/* ---- A call and its result ---- */

static void note(const char *call)
{
	if (errno != EAGAIN && errno != EINTR)
		printf("note %s: %s\n", call, strerrorname_np(errno));
}

static void sum(enum direction direction, enum kind kind, long bytes, long requests)
{
	sums[direction][kind].bytes += bytes;
	sums[direction][kind].requests += requests;
}

/* `call`: as the trace names it. */
static void made(const char *call, enum direction direction, enum kind kind, long result)
{
	const int error = errno;
	printf("%s %s %ld %d\n", call, kind_names[kind], result, error);
	errno = error;
	if (result >= 0)
		sum(direction, kind, result, 1);
	else
		note(call);
	errno = 77;
}

/* One that only looks at the bytes, or counts messages. */
static void made_other(
	const char *call, enum direction direction, enum kind kind, long result, long requests)
{
	const int error = errno;
	printf("%s %s %ld %d\n", call, kind_names[kind], result, error);
	errno = error;
	if (result >= 0)
		sum(direction, kind, 0, requests);
	else
		note(call);
	errno = 77;
}

static void moved(const char *call, enum kind from, enum kind to, long result)
{
	if (result >= 0)
		sum(IN, from, result, 1);
	made(call, OUT, to, result);
}

/* ---- Functions ---- */

static char room[256];
static char *volatile nowhere = (char *)8;
static struct iovec parts[2] = {{room, 3}, {room + 3, 4}};
static struct msghdr message = {.msg_iov = parts, .msg_iovlen = 2};
static struct mmsghdr messages[3];

#define WRITE(kind, call, name, ...) made(#name, OUT, kind, call(__VA_ARGS__))
#define READ(kind, call, name, ...)  made(#name, IN, kind, call(__VA_ARGS__))

/* As many bytes as all the writes are read, by reads that ask for more than there are at last. */
static void use_stream(enum kind kind, int from, int to)
{
	WRITE(kind, write, write, to, room, 11);
	WRITE(kind, writev, writev, to, parts, 2);
	made("write", OUT, kind, syscall(SYS_write, to, room, 13));
	made("writev", OUT, kind, syscall(SYS_writev, to, parts, 2));
	WRITE(kind, write, write, to, room, 0);
	READ(kind, read, read, from, room, 5);
	READ(kind, __read_chk, read, from, room, 4, sizeof(room));
	READ(kind, readv, readv, from, parts, 2);
	made("read", IN, kind, syscall(SYS_read, from, room, 2));
	made("readv", IN, kind, syscall(SYS_readv, from, parts, 2));
	READ(kind, read, read, from, room, sizeof(room));
	READ(kind, read, read, from, room, sizeof(room)); /* nothing is there */
	READ(kind, read, read, from, nowhere, 1);
}

static void use_socket(enum kind kind, int from, int to)
{
	WRITE(kind, send, send, to, room, 17, 0);
	WRITE(kind, sendto, sendto, to, room, 19, 0, NULL, 0);
	WRITE(kind, sendmsg, sendmsg, to, &message, 0);
	made("sendto", OUT, kind, syscall(SYS_sendto, to, room, 23, 0, NULL, 0));
	made("sendmsg", OUT, kind, syscall(SYS_sendmsg, to, &message, 0));
	made_other("recv", IN, kind, recv(from, room, 2, MSG_PEEK), 0);
	READ(kind, recv, recv, from, room, 3, 0);
	READ(kind, __recv_chk, recv, from, room, 5, sizeof(room), 0);
	READ(kind, recvfrom, recvfrom, from, room, 7, 0, NULL, NULL);
	READ(kind, __recvfrom_chk, recvfrom, from, room, 4, sizeof(room), 0, NULL, NULL);
	READ(kind, recvmsg, recvmsg, from, &message, 0);
	if (kind == UDP || kind == TCP || kind == UNIX) {
		made_other("sendmmsg", OUT, kind, sendmmsg(to, messages, 3, 0), 3);
		made_other("recvmmsg", IN, kind, recvmmsg(from, messages, 2, 0, NULL), 2);
	}
	made("recvfrom", IN, kind, syscall(SYS_recvfrom, from, room, 6, MSG_DONTWAIT, NULL, NULL));
	made("recvmsg", IN, kind, syscall(SYS_recvmsg, from, &message, MSG_DONTWAIT));
	while (recv(from, room, sizeof(room), MSG_DONTWAIT | MSG_TRUNC) > 0)
		check(false, "no message is left");
}

static void use_file(void)
{
	int file = (int)syscall(SYS_memfd_create, "file", 0);
	check(file >= 0, "memfd_create");
	WRITE(FILES, pwrite, pwrite, file, room, 29, 0);
	WRITE(FILES, pwrite64, pwrite, file, room, 31, 29);
	WRITE(FILES, pwritev, pwritev, file, parts, 2, 60);
	WRITE(FILES, pwritev64, pwritev, file, parts, 1, 67);
	READ(FILES, pread, pread, file, room, 9, 0);
	READ(FILES, pread64, pread, file, room, 10, 0);
	READ(FILES, __pread_chk, pread, file, room, 12, 0, sizeof(room));
	READ(FILES, __pread64_chk, pread, file, room, 14, 0, sizeof(room));
	READ(FILES, preadv, preadv, file, parts, 2, 1);
	READ(FILES, preadv64, preadv, file, parts, 1, 1);
	READ(FILES, pread, pread, file, room, 1, 4096); /* the end */
	READ(FILES, pread, pread, file, room, 1, -1);
	close(file);
}

static void move(int pipe_in, int pipe_out, int socket_in, int socket_out)
{
	int file = (int)syscall(SYS_memfd_create, "moved", 0);
	off_t at = 0;
	off64_t also_at = 0;
	WRITE(FILES, write, write, file, room, 37);
	moved("sendfile", FILES, UNIX, sendfile(socket_out, file, &at, 21));
	moved("sendfile", FILES, UNIX, sendfile64(socket_out, file, &also_at, 22));
	moved("splice", UNIX, PIPE, splice(socket_in, NULL, pipe_out, NULL, 41, 0));
	moved("splice", PIPE, UNIX, splice(pipe_in, NULL, socket_out, NULL, 40, 0));
	moved("splice", PIPE, UNIX, splice(pipe_in, NULL, socket_out, NULL, 0, 0));
	moved("splice", PIPE, FILES, splice(pipe_in, NULL, -1, NULL, 1, 0));
	READ(UNIX, read, read, socket_in, room, sizeof(room));
	READ(PIPE, read, read, pipe_in, room, sizeof(room));
	close(file);
}

static void use_event(void)
{
	int event = eventfd(0, EFD_NONBLOCK);
	uint64_t number = 5;
	made("eventfd_write", OUT, EVENT, eventfd_write(event, 4) == 0 ? 8 : -1);
	WRITE(EVENT, write, write, event, &number, sizeof(number));
	made("eventfd_read", IN, EVENT, eventfd_read(event, &number) == 0 ? 8 : -1);
	made("eventfd_read", IN, EVENT, eventfd_read(event, &number) == 0 ? 8 : -1); /* it is empty */
	check(number == 9, "the event's number");
	close(event);
}

/* The buffer of the stream is as large as a page or more, so each call here is one of the kernel.
 */
static void use_streams(void)
{
	int ends[2];
	check(pipe(ends) == 0, "pipe");
	FILE *in = fdopen(ends[0], "r"), *out = fdopen(ends[1], "w");
	check(in && out && fputs("some words", out) > 0 && fflush(out) == 0, "fputs");
	sum(OUT, PIPE, 10, 1);
	check(fgetc(in) == 's' && fgetc(in) == 'o', "fgetc");
	sum(IN, PIPE, 10, 1);
	check(fclose(out) == 0 && fclose(in) == 0, "fclose");
}

static void fail(int ends[2], int sockets[2])
{
	WRITE(PIPE, write, write, -1, room, 1);
	WRITE(PIPE, write, write, ends[0], room, 1); /* the end to read */
	READ(PIPE, read, read, ends[1], room, 1);
	READ(PIPE, recv, recv, ends[0], room, 1, 0); /* no socket */
	WRITE(PIPE, sendmsg, sendmsg, 9999, &message, 0);
	close(sockets[0]);
	WRITE(UNIX, send, send, sockets[1], room, 1, MSG_NOSIGNAL);
	READ(UNIX, recv, recv, sockets[1], room, 1, 0); /* the end of the input */
	close(sockets[1]);
}

/* ---- Numbers that are used again ---- */

static void close_by_system(int fd)
{
	syscall(SYS_close, fd);
}

static void close_by_range(int fd)
{
	close_range((unsigned)fd, (unsigned)fd, 0);
}

static void close_stream(int fd)
{
	fclose(fdopen(fd, (fcntl(fd, F_GETFL) & O_ACCMODE) == O_WRONLY ? "w" : "r"));
}

static void close_by(int fd)
{
	close(fd);
}

static void close_from(int fd)
{
	closefrom(fd);
}

/* A pipe's ends are closed, and sockets get their numbers without a function of libc. */
static void use_number_again(void (*close_it)(int fd))
{
	int ends[2], sockets[2];
	check(pipe(ends) == 0, "pipe");
	WRITE(PIPE, write, write, ends[1], room, 2);
	READ(PIPE, read, read, ends[0], room, 3);
	close_it(ends[1]);
	close_it(ends[0]);
	check(syscall(SYS_socketpair, AF_UNIX, SOCK_STREAM, 0, sockets) == 0, "socketpair");
	check(sockets[0] == ends[0] && sockets[1] == ends[1], "the same numbers");
	WRITE(UNIX, write, write, sockets[0], room, 6);
	READ(UNIX, read, read, sockets[1], room, 7);
	close(sockets[0]);
	close(sockets[1]);
}

/* A socket's number becomes a pipe's. */
static void replace_number(int (*copy)(int from, int to))
{
	int ends[2], sockets[2];
	check(pipe(ends) == 0 && socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) == 0, "pipe");
	WRITE(UNIX, write, write, sockets[1], room, 2);
	const int fd = copy(ends[1], sockets[1]);
	check(fd >= 0, "copy");
	WRITE(PIPE, write, write, fd, room, 9);
	READ(PIPE, read, read, ends[0], room, 10);
	close(ends[0]);
	close(ends[1]);
	close(sockets[0]);
	close(sockets[1]);
	if (fd != sockets[1])
		close(fd);
}

static int copy_by_dup3(int from, int to)
{
	return dup3(from, to, O_CLOEXEC);
}

static int copy_by_dup(int from, int to)
{
	close(to);
	return dup(from);
}

static int copy_by_fcntl(int from, int to)
{
	close(to);
	return fcntl(from, F_DUPFD_CLOEXEC, to);
}

/* ---- Beginning and end ---- */

static void make_pair(int domain, int type, int ret[2])
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t size = sizeof(address);
	if (domain == AF_UNIX) {
		check(socketpair(AF_UNIX, type, 0, ret) == 0, "socketpair");
		return;
	}
	int listener = socket(AF_INET, type, 0);
	check(bind(listener, (struct sockaddr *)&address, size) == 0, "bind");
	check(type == SOCK_DGRAM || listen(listener, 1) == 0, "listen");
	check(getsockname(listener, (struct sockaddr *)&address, &size) == 0, "getsockname");
	ret[1] = socket(AF_INET, type, 0);
	check(connect(ret[1], (struct sockaddr *)&address, size) == 0, "connect");
	ret[0] = type == SOCK_DGRAM ? listener : accept(listener, NULL, NULL);
	if (type != SOCK_DGRAM)
		close(listener);
}

static void use_sockets(enum kind kind, int domain, int type)
{
	int ends[2];
	make_pair(domain, type, ends);
	for (int i = 0; i < 3; i++)
		messages[i].msg_hdr = message;
	use_socket(kind, ends[0], ends[1]);
	close(ends[0]);
	close(ends[1]);
}

/* So many requests that the counts are shared, and are in the trace. */
static void use_often(void)
{
	int ends[2];
	check(pipe(ends) == 0, "pipe");
	for (int i = 0; i < 1000; i++) {
		check(write(ends[1], room, 4) == 4 && read(ends[0], room, 8) == 4, "pipe");
		sum(OUT, PIPE, 4, 1);
		sum(IN, PIPE, 4, 1);
	}
}

static void print_sums(void)
{
	for (int direction = IN; direction <= OUT; direction++)
		for (int kind = 0; kind < KINDS; kind++)
			if (sums[direction][kind].requests)
				printf("sum %s %s %ld bytes %ld requests\n", direction == IN ? "in" : "out",
					kind_names[kind], sums[direction][kind].bytes, sums[direction][kind].requests);
}

int main(void)
{
	static char printed[1 << 16]; /* written at the end, which does not count */
	int ends[2], sockets[2];
	setvbuf(stdout, printed, _IOFBF, sizeof(printed));
	errno = 77;
	check(pipe2(ends, O_NONBLOCK) == 0, "pipe");
	check(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, sockets) == 0, "socketpair");
	use_stream(PIPE, ends[0], ends[1]);
	use_stream(UNIX, sockets[0], sockets[1]);
	use_sockets(UNIX, AF_UNIX, SOCK_DGRAM);
	use_sockets(UDP, AF_INET, SOCK_DGRAM);
	use_file();
	move(ends[0], ends[1], sockets[0], sockets[1]);
	use_event();
	use_streams();
	fail(ends, sockets);
	use_number_again(close_by);
	use_number_again(close_by_system);
	use_number_again(close_by_range);
	use_number_again(close_stream);
	use_number_again(close_from);
	replace_number(dup2);
	replace_number(copy_by_dup3);
	replace_number(copy_by_dup);
	replace_number(copy_by_fcntl);
	use_often();
	print_sums();
	return 0;
}
