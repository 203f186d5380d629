/* SPDX-License-Identifier: ISC
 *
 * The operations of io_uring, by their numbers. They are listed here because headers of an older
 * kernel lack the newer ones.
 */
#include "io/uring.h"

enum {
	NO_BYTES,
	READS,
	WRITES
};

static const struct weft__io_operation operations[] = {
	[0] = {"nop", false, NO_BYTES},
	[1] = {"readv", true, READS},
	[2] = {"writev", true, WRITES},
	[3] = {"fsync", true, NO_BYTES},
	[4] = {"read_fixed", true, READS},
	[5] = {"write_fixed", true, WRITES},
	[6] = {"poll", true, NO_BYTES},
	[7] = {"poll_remove", false, NO_BYTES},
	[8] = {"sync_file_range", true, NO_BYTES},
	[9] = {"sendmsg", true, WRITES},
	[10] = {"recvmsg", true, READS},
	[11] = {"timeout", false, NO_BYTES},
	[12] = {"timeout_remove", false, NO_BYTES},
	[13] = {"accept", true, NO_BYTES},
	[14] = {"async_cancel", false, NO_BYTES},
	[15] = {"link_timeout", false, NO_BYTES},
	[16] = {"connect", true, NO_BYTES},
	[17] = {"fallocate", true, NO_BYTES},
	[18] = {"openat", false, NO_BYTES},
	[19] = {"close", false, NO_BYTES},
	[20] = {"files_update", false, NO_BYTES},
	[21] = {"statx", false, NO_BYTES},
	[22] = {"read", true, READS},
	[23] = {"write", true, WRITES},
	[24] = {"fadvise", true, NO_BYTES},
	[25] = {"madvise", false, NO_BYTES},
	[26] = {"send", true, WRITES},
	[27] = {"recv", true, READS},
	[28] = {"openat2", false, NO_BYTES},
	[29] = {"epoll_ctl", true, NO_BYTES},
	[30] = {"splice", true, WRITES},
	[31] = {"provide_buffers", false, NO_BYTES},
	[32] = {"remove_buffers", false, NO_BYTES},
	[33] = {"tee", true, WRITES},
	[34] = {"shutdown", true, NO_BYTES},
	[35] = {"renameat", false, NO_BYTES},
	[36] = {"unlinkat", false, NO_BYTES},
	[37] = {"mkdirat", false, NO_BYTES},
	[38] = {"symlinkat", false, NO_BYTES},
	[39] = {"linkat", false, NO_BYTES},
	[40] = {"msg_ring", true, NO_BYTES},
	[41] = {"fsetxattr", true, NO_BYTES},
	[42] = {"setxattr", false, NO_BYTES},
	[43] = {"fgetxattr", true, NO_BYTES},
	[44] = {"getxattr", false, NO_BYTES},
	[45] = {"socket", false, NO_BYTES},
	[46] = {"uring_cmd", true, NO_BYTES},
	[47] = {"send_zc", true, WRITES},
	[48] = {"sendmsg_zc", true, WRITES},
	[49] = {"read_multishot", true, READS},
	[50] = {"waitid", false, NO_BYTES},
	[51] = {"futex_wait", false, NO_BYTES},
	[52] = {"futex_wake", false, NO_BYTES},
	[53] = {"futex_waitv", false, NO_BYTES},
	[54] = {"fixed_fd_install", false, NO_BYTES},
	[55] = {"ftruncate", true, NO_BYTES},
	[56] = {"bind", true, NO_BYTES},
	[57] = {"listen", true, NO_BYTES},
	[58] = {"recv_zc", true, READS},
	[59] = {"epoll_wait", true, NO_BYTES},
	[60] = {"readv_fixed", true, READS},
	[61] = {"writev_fixed", true, WRITES},
	[62] = {"pipe", false, NO_BYTES},
};

const struct weft__io_operation *weft__io_operation(unsigned opcode)
{
	return opcode < sizeof(operations) / sizeof(operations[0]) ? &operations[opcode] : NULL;
}
