/* SPDX-License-Identifier: ISC
 *
 * A plugin that brings liburing into a program, and takes it away when it is unloaded.
 */
#include <liburing.h>

__attribute__((visibility("default"))) int use_ring(void);
int use_ring(void)
{
	struct io_uring ring;
	struct io_uring_cqe *cqe;
	if (io_uring_queue_init(8, &ring, 0) != 0)
		return -1;
	io_uring_prep_nop(io_uring_get_sqe(&ring));
	const int submitted = io_uring_submit(&ring);
	const int error = io_uring_wait_cqe(&ring, &cqe);
	io_uring_queue_exit(&ring);
	return error ? error : submitted;
}
