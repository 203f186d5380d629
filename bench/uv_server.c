/* SPDX-License-Identifier: ISC
 *
 * A web server on libuv that knows nothing of weft: it answers each request with the same few
 * bytes, after a timer of 0 ms. It prints its port.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uv.h>

static char answer[] = "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nhello\n";

struct connection {
	uv_tcp_t tcp;
	uv_timer_t timer;
	uv_write_t request;
	unsigned handles;
	char bytes[4096];
};

static void on_handle_closed(uv_handle_t *handle)
{
	struct connection *it = handle->data;
	if (--it->handles == 0)
		free(it);
}

static void end(struct connection *it)
{
	if (!uv_is_closing((uv_handle_t *)&it->tcp)) {
		uv_close((uv_handle_t *)&it->tcp, on_handle_closed);
		uv_close((uv_handle_t *)&it->timer, on_handle_closed);
	}
}

static void on_written(uv_write_t *request, int status)
{
	if (status < 0)
		end(request->data);
}

static void on_timer(uv_timer_t *timer)
{
	struct connection *it = timer->data;
	uv_buf_t bytes = uv_buf_init(answer, sizeof(answer) - 1);
	uv_write(&it->request, (uv_stream_t *)&it->tcp, &bytes, 1, on_written);
}

static void on_room(uv_handle_t *handle, size_t size, uv_buf_t *ret_room)
{
	struct connection *it = handle->data;
	(void)size;
	*ret_room = uv_buf_init(it->bytes, sizeof(it->bytes));
}

/* A client sends one request at a time, in one piece. */
static void on_read(uv_stream_t *stream, ssize_t size, const uv_buf_t *room)
{
	struct connection *it = stream->data;
	(void)room;
	if (size < 0)
		end(it);
	else if (size > 0)
		uv_timer_start(&it->timer, on_timer, 0, 0);
}

static void on_connection(uv_stream_t *listener, int status)
{
	struct connection *it = status < 0 ? NULL : calloc(1, sizeof(*it));
	if (!it)
		return;
	uv_tcp_init(listener->loop, &it->tcp);
	uv_timer_init(listener->loop, &it->timer);
	it->tcp.data = it->timer.data = it->request.data = it;
	it->handles = 2;
	if (uv_accept(listener, (uv_stream_t *)&it->tcp) < 0)
		end(it);
	else
		uv_read_start((uv_stream_t *)&it->tcp, on_room, on_read);
}

static void on_stop(uv_signal_t *signal, int number)
{
	(void)number;
	uv_stop(signal->loop);
}

int main(void)
{
	uv_loop_t *loop = uv_default_loop();
	uv_tcp_t listener;
	uv_signal_t signal;
	struct sockaddr_in address;
	int size = sizeof(address);
	uv_ip4_addr("127.0.0.1", 0, &address);
	uv_tcp_init(loop, &listener);
	uv_signal_init(loop, &signal);
	uv_signal_start(&signal, on_stop, SIGTERM);
	if (uv_tcp_bind(&listener, (const struct sockaddr *)&address, 0) ||
		uv_listen((uv_stream_t *)&listener, 128, on_connection) ||
		uv_tcp_getsockname(&listener, (struct sockaddr *)&address, &size))
		return 1;
	printf("%d\n", ntohs(address.sin_port));
	fflush(stdout);
	uv_run(loop, UV_RUN_DEFAULT);
	return 0;
}
