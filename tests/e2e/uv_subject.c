/* SPDX-License-Identifier: ISC
 *
 * A program on libuv that knows nothing of weft: uv-subject PART. Prints what it sees, so that runs
 * with and without the adapter can be compared.
 */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <uv.h>

static uv_loop_t *loop;

static void work_for_ms(unsigned ms)
{
	uint64_t end = uv_hrtime() + ms * UINT64_C(1000000);
	while (uv_hrtime() < end)
		;
}

static void is_closed(uv_handle_t *handle)
{
	printf("closed %s\n", uv_handle_type_name(handle->type));
}

static void close_handle(void *handle)
{
	uv_close(handle, is_closed);
}

/* ---- timers ---- */

static uv_timer_t once, again, stopped;

static void on_once(uv_timer_t *timer)
{
	static int count;
	printf("once %d\n", ++count);
	if (count < 3)
		uv_timer_start(timer, on_once, 5, 0);
	else
		close_handle(timer);
}

static void on_again(uv_timer_t *timer)
{
	static int count;
	printf("again %d\n", ++count);
	if (count == 2)
		uv_timer_again(timer);
	if (count < 4)
		return;
	uv_timer_stop(timer);
	close_handle(timer);
	uv_timer_stop(&stopped);
	uv_timer_stop(&stopped);
	uv_close((uv_handle_t *)&stopped, NULL);
}

static void timers(void)
{
	uv_timer_init(loop, &once);
	uv_timer_init(loop, &again);
	uv_timer_init(loop, &stopped);
	uv_timer_start(&once, on_once, 10, 0);
	uv_timer_start(&again, on_again, 7, 8);
	uv_timer_start(&stopped, on_once, 1000, 0);
	uv_timer_start(&stopped, on_once, 2000, 0);
}

/* ---- work ---- */

static uv_work_t works[6], cancelled;
static uv_async_t async;
static uv_sem_t has_cancelled;
static int works_done;

static void on_async(uv_async_t *handle)
{
	(void)handle;
}

static void compute(uv_work_t *request)
{
	(void)request;
	uv_sem_wait(&has_cancelled);
	work_for_ms(5);
	uv_async_send(&async);
}

static void computed(uv_work_t *request, int status)
{
	printf(
		"computed %s %d\n", status ? uv_err_name(status) : "", request->after_work_cb == computed);
	if (++works_done == 7)
		close_handle(&async);
}

/* The last one waits for one of the pool's four threads, and is cancelled before it has it. */
static void work(void)
{
	uv_sem_init(&has_cancelled, 0);
	uv_async_init(loop, &async, on_async);
	for (int i = 0; i < 6; i++)
		uv_queue_work(loop, &works[i], compute, computed);
	uv_queue_work(loop, &cancelled, compute, computed);
	uv_cancel((uv_req_t *)&cancelled);
	for (int i = 0; i < 6; i++)
		uv_sem_post(&has_cancelled);
}

/* ---- files ---- */

static uv_fs_t opened, missing, got;
static char content[64];

static void on_content(uv_fs_t *request)
{
	printf("content %d %d\n", request->result > 0, request->cb == on_content);
	uv_fs_req_cleanup(request);
}

static void on_open(uv_fs_t *request)
{
	printf("open %s %s\n", request->path,
		request->result < 0 ? uv_err_name((int)request->result) : "");
	uv_buf_t buffer = uv_buf_init(content, sizeof(content));
	if (request->result >= 0)
		uv_fs_read(loop, &got, (uv_file)request->result, &buffer, 1, 0, on_content);
	uv_fs_req_cleanup(request);
}

static void files(void)
{
	uv_fs_t now;
	printf("refused %d\n", uv_fs_open(loop, NULL, "/etc/passwd", 0, 0, on_open));
	printf("at once %d\n", uv_fs_stat(loop, &now, "/", NULL));
	uv_fs_req_cleanup(&now);
	uv_fs_open(loop, &opened, "/etc/passwd", 0, 0, on_open);
	uv_fs_open(loop, &missing, "/none", 0, 0, on_open);
}

/* ---- streams ---- */

static uv_tcp_t server, client, refused;
static uv_connect_t connecting, connecting_refused;
static uv_write_t asked;

static void allocate(uv_handle_t *handle, size_t size, uv_buf_t *ret_buffer)
{
	(void)handle;
	*ret_buffer = uv_buf_init(malloc(size), (unsigned)size);
}

static void free_handle(uv_handle_t *handle)
{
	free(handle);
}

static void on_answered(uv_write_t *request, int status)
{
	printf("answered %d\n", status);
	free(request->data);
	free(request);
}

static void on_question(uv_stream_t *stream, ssize_t size, const uv_buf_t *buffer)
{
	if (size > 0) {
		uv_write_t *request = malloc(sizeof(*request));
		uv_buf_t answer = uv_buf_init(buffer->base, (unsigned)size);
		request->data = buffer->base;
		uv_write(request, stream, &answer, 1, on_answered);
		return;
	}
	free(buffer->base);
	if (size < 0)
		uv_close((uv_handle_t *)stream, free_handle);
}

static void on_client(uv_stream_t *stream, int status)
{
	uv_tcp_t *accepted = malloc(sizeof(*accepted));
	uv_tcp_init(loop, accepted);
	printf("client %d %d\n", status, uv_accept(stream, (uv_stream_t *)accepted));
	uv_read_start((uv_stream_t *)accepted, allocate, on_question);
}

static void on_asked(uv_write_t *request, int status)
{
	printf("asked %d %d\n", status, request->cb == on_asked);
}

static void ask(uv_stream_t *stream)
{
	static char text[] = "hello";
	uv_buf_t question = uv_buf_init(text, 5);
	uv_write(&asked, stream, &question, 1, on_asked);
}

static void on_answer(uv_stream_t *stream, ssize_t size, const uv_buf_t *buffer)
{
	static int count;
	if (size > 0) {
		printf("answer %d\n", (int)size);
		if (++count < 3) {
			ask(stream);
		} else {
			close_handle(stream);
			close_handle(&server);
		}
	}
	free(buffer->base);
}

static void on_connect(uv_connect_t *request, int status)
{
	printf("connect %s\n", status ? uv_err_name(status) : "");
	if (status) {
		close_handle(request->handle);
		return;
	}
	uv_read_start(request->handle, allocate, on_answer);
	ask(request->handle);
}

static void streams(void)
{
	struct sockaddr_in address;
	int size = sizeof(address);
	uv_ip4_addr("127.0.0.1", 0, &address);
	uv_tcp_init(loop, &server);
	uv_tcp_bind(&server, (const struct sockaddr *)&address, 0);
	uv_listen((uv_stream_t *)&server, 8, on_client);
	uv_tcp_getsockname(&server, (struct sockaddr *)&address, &size);
	uv_tcp_init(loop, &client);
	uv_tcp_connect(&connecting, &client, (const struct sockaddr *)&address, on_connect);
	uv_ip4_addr("127.0.0.1", 1, &address);
	uv_tcp_init(loop, &refused);
	uv_tcp_connect(&connecting_refused, &refused, (const struct sockaddr *)&address, on_connect);
}

/* ---- others ---- */

static uv_process_t process;
static uv_signal_t signals;
static uv_poll_t polling;
static uv_prepare_t prepare;
static uv_udp_t receiver, sender;
static uv_udp_send_t sending;
static uv_getaddrinfo_t looking;
static int ends[2];

static void on_exit_status(uv_process_t *child, int64_t status, int number)
{
	printf("exit %" PRId64 " %d\n", status, number);
	close_handle(child);
	raise(SIGUSR1);
}

static void on_signal(uv_signal_t *handle, int number)
{
	printf("signal %d\n", number == SIGUSR1);
	close_handle(handle);
	close_handle(&prepare);
	if (write(ends[1], "x", 1) != 1)
		abort();
}

static void on_poll(uv_poll_t *handle, int status, int events)
{
	printf("poll %d %d\n", status, events);
	close_handle(handle);
}

static void on_prepare(uv_prepare_t *handle)
{
	(void)handle;
}

static void on_datagram(uv_udp_t *udp, ssize_t size, const uv_buf_t *buffer,
	const struct sockaddr *address, unsigned flags)
{
	(void)flags;
	if (size > 0 && address) {
		printf("datagram %d\n", (int)size);
		close_handle(udp);
	}
	free(buffer->base);
}

static void on_sent(uv_udp_send_t *request, int status)
{
	printf("sent %d\n", status);
	close_handle(request->handle);
}

static void on_addresses(uv_getaddrinfo_t *request, int status, struct addrinfo *addresses)
{
	(void)request;
	printf("addresses %d\n", status);
	uv_freeaddrinfo(addresses);
}

static void others(void)
{
	struct sockaddr_in address;
	int size = sizeof(address);
	static char text[] = "datagram", shell[] = "/bin/sh", option[] = "-c", command[] = "exit 3";
	uv_buf_t datagram = uv_buf_init(text, 8);
	char *arguments[] = {shell, option, command, NULL};
	uv_process_options_t options = {
		.exit_cb = on_exit_status, .file = arguments[0], .args = arguments};
	uv_spawn(loop, &process, &options);
	uv_signal_init(loop, &signals);
	uv_signal_start(&signals, on_signal, SIGUSR1);
	if (pipe(ends) != 0)
		abort();
	uv_poll_init(loop, &polling, ends[0]);
	uv_poll_start(&polling, UV_READABLE, on_poll);
	uv_prepare_init(loop, &prepare);
	uv_prepare_start(&prepare, on_prepare);
	uv_ip4_addr("127.0.0.1", 0, &address);
	uv_udp_init(loop, &receiver);
	uv_udp_bind(&receiver, (const struct sockaddr *)&address, 0);
	uv_udp_recv_start(&receiver, allocate, on_datagram);
	uv_udp_getsockname(&receiver, (struct sockaddr *)&address, &size);
	uv_udp_init(loop, &sender);
	uv_udp_send(&sending, &sender, &datagram, 1, (const struct sockaddr *)&address, on_sent);
	uv_getaddrinfo(loop, &looking, on_addresses, "127.0.0.1", "80", NULL);
}

/* ---- forks ---- */

static void on_forking(uv_timer_t *timer)
{
	pid_t child = fork();
	if (child == 0) {
		uv_loop_fork(loop);
		uv_timer_start(&once, on_once, 1, 0);
		close_handle(timer);
		return;
	}
	int status;
	waitpid(child, &status, 0);
	printf("child %d\n", WEXITSTATUS(status));
	close_handle(timer);
}

/* The child goes on with the loop of its parent. */
static void forks(void)
{
	setvbuf(stdout, NULL, _IONBF, 0);
	uv_timer_init(loop, &once);
	uv_timer_init(loop, &again);
	uv_timer_start(&again, on_forking, 5, 5);
}

/* ---- forks_in_round ---- */

static uv_pipe_t own_pipe;

static void on_byte(uv_stream_t *stream, ssize_t size, const uv_buf_t *buffer)
{
	printf("read %d\n", (int)size);
	free(buffer->base);
	close_handle(stream);
}

/* The child has a loop of its own, in the round of its parent's. */
static void allocate_and_fork(uv_handle_t *handle, size_t size, uv_buf_t *ret_buffer)
{
	pid_t child = fork();
	allocate(handle, size, ret_buffer);
	if (child == 0) {
		uv_loop_t own;
		uv_loop_init(&own);
		uv_timer_init(&own, &again);
		uv_timer_start(&again, on_again, 1, 1);
		uv_timer_init(&own, &stopped);
		uv_run(&own, UV_RUN_DEFAULT);
		_exit(3);
	}
	int status;
	waitpid(child, &status, 0);
	printf("child %d\n", WEXITSTATUS(status));
}

/* libuv calls this function of the program in the middle of its own work. */
static void forks_in_round(void)
{
	setvbuf(stdout, NULL, _IONBF, 0);
	if (pipe(ends) != 0 || write(ends[1], "x", 1) != 1)
		return;
	uv_pipe_init(loop, &own_pipe, 0);
	uv_pipe_open(&own_pipe, ends[0]);
	uv_read_start((uv_stream_t *)&own_pipe, allocate_and_fork, on_byte);
}

/* ---- many ---- */

static void on_round(uv_async_t *handle)
{
	static int rounds;
	if (++rounds < 30000) {
		uv_async_send(handle);
		return;
	}
	close_handle(handle);
	close_handle(&stopped);
}

/* More events than a small buffer has room for, while a timer waits. */
static void many(void)
{
	uv_timer_init(loop, &stopped);
	uv_timer_start(&stopped, on_once, 3600000, 0);
	uv_async_init(loop, &async, on_round);
	uv_async_send(&async);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*start)(void);
	} parts[] = {{"timers", timers}, {"work", work}, {"files", files}, {"streams", streams},
		{"others", others}, {"forks", forks}, {"forks_in_round", forks_in_round}, {"many", many}};
	loop = uv_default_loop();
	for (size_t i = 0; argc > 1 && i < sizeof(parts) / sizeof(parts[0]); i++)
		if (strcmp(parts[i].name, argv[1]) == 0)
			parts[i].start();
	int left = uv_run(loop, UV_RUN_DEFAULT);
	printf("left %d, closed %d\n", left, uv_loop_close(loop));
	return 7;
}
