/* SPDX-License-Identifier: ISC
 *
 * A loop that waits for input: when nothing runs, the trace says why.
 */
#include "loop.h"

#include <poll.h>
#include <pthread.h>
#include <unistd.h>

/* False at the end of the input. */
static bool handle(int socket)
{
	char byte;
	uint64_t task = weft_create(WEFT_KIND_TASK);
	weft_label_as(task, "handle input");
	weft_enter(task);
	bool has_come = read(socket, &byte, 1) == 1;
	if (has_come)
		work(1);
	weft_resolve(task);
	weft_leave();
	return has_come;
}

/* recipe: */
static void wait_for_input(struct pollfd *sockets, nfds_t count)
{
	weft_band_begin(WEFT_BAND_IDLE, "poll");
	int ready = poll(sockets, count, -1);
	weft_band_end(WEFT_BAND_IDLE, "poll");
	weft_counter_set("ready sockets", ready);
}
/* end of recipe */

static void *send_bytes(void *socket)
{
	for (int i = 0; i < 3; i++) {
		pause_for(3);
		if (write(*(int *)socket, "x", 1) != 1)
			break;
	}
	close(*(int *)socket);
	return NULL;
}

int main(void)
{
	int sockets[2], handled = 0;
	pthread_t sender;
	if (pipe(sockets) != 0 || pthread_create(&sender, NULL, send_bytes, &sockets[1]) != 0)
		return 1;
	struct pollfd input = {.fd = sockets[0], .events = POLLIN};
	do
		wait_for_input(&input, 1);
	while (handle(sockets[0]) && ++handled);
	pthread_join(sender, NULL);
	printf("%d inputs\n", handled);
}
