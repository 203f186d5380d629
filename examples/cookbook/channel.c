/* SPDX-License-Identifier: ISC
 *
 * A channel with room for one message: who sends what to whom, and who waits for room.
 */
#include "loop.h"

struct channel {
	uint64_t task;
	unsigned count, message;
	bool is_closed;
};

static struct channel parts;

/* recipe: */
static bool send(struct channel *channel, unsigned message)
{
	if (channel->count == 1) {
		weft_try_read(channel->task); /* for room: the sender tries again later */
		return false;
	}
	channel->message = message;
	weft_signal_only(channel->task);
	channel->count = 1;
	weft_counter_set("parts", 1);
	return true;
}

static bool receive(struct channel *channel, unsigned *message)
{
	if (channel->count == 0) {
		weft_try_read(channel->task);
		return false;
	}
	*message = channel->message;
	weft_read(channel->task);
	channel->count = 0;
	weft_counter_set("parts", 0);
	return true;
}
/* end of recipe */

static uint64_t reader, writer;
static unsigned sent, received;

static void produce(void *argument)
{
	weft_enter(reader);
	work(0.5);
	sent += send(&parts, sent);
	if (sent == 4)
		weft_resolve(reader);
	else
		after(0.5, produce, argument);
	weft_leave();
}

static void consume(void *argument)
{
	unsigned message;
	weft_enter(writer);
	if (receive(&parts, &message)) {
		work(1.5);
		received++;
	}
	if (received == 4)
		weft_resolve(writer);
	else
		after(0.5, consume, argument);
	weft_leave();
}

int main(void)
{
	parts.task = weft_create(WEFT_KIND_CHANNEL);
	weft_label_as(parts.task, "channel");
	reader = weft_create(WEFT_KIND_TASK);
	weft_label_as(reader, "read file");
	writer = weft_create(WEFT_KIND_TASK);
	weft_label_as(writer, "write file");
	after(0, produce, &parts);
	after(0, consume, &parts);
	run_loop();
	weft_close(parts.task);
	printf("%u of %u parts\n", received, sent);
}
