/* SPDX-License-Identifier: ISC
 *
 * The cost of requests of io_uring that end at once, in a program that knows nothing of weft. Run
 * it alone, and under `weft record -a io`: the difference is the adapter's.
 */
#include <liburing.h>

#include "calls.h"

static struct io_uring ring;

static void request(void)
{
	io_uring_prep_nop(io_uring_get_sqe(&ring));
	io_uring_submit_and_wait(&ring, 1);
	io_uring_cq_advance(&ring, 1);
}

int main(void)
{
	if (io_uring_queue_init(64, &ring, 0) != 0)
		return 1;
	MEASURE("a request of io_uring", request());
	return 0;
}
