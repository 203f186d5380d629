/* SPDX-License-Identifier: ISC
 *
 * See remote.h. TCP_INFO is read at once, under the socket's lock.
 */
#include "io/remote.h"

#include <linux/sockios.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <stddef.h>
#include <sys/ioctl.h>

#include <weft/kinds.h>

#include "kernel/call.h"

/* TCP's states in which the other side has sent its end, which counts as a byte. Linux numbers them
 * so. */
enum {
	TIME_WAITS = 6,
	CLOSE_WAITS = 8,
	LAST_ACK_WAITS = 9,
	IS_CLOSING = 11,
};

uint64_t weft__io_remote_key(uint64_t direction, uint64_t offset)
{
	return WEFT_KEY_ONCE | weft__io_remote_direction(direction ^ weft__hooks_mix(offset + 1));
}

/* Linux 4.19 and later have all that is needed. */
static bool ask(int fd, struct tcp_info *ret_info)
{
	socklen_t size = sizeof(*ret_info);
	return weft__kernel_call(SYS_getsockopt, fd, IPPROTO_TCP, TCP_INFO, (long)(uintptr_t)ret_info,
			   (long)(uintptr_t)&size, 0) == 0 &&
		   size >= offsetof(struct tcp_info, tcpi_bytes_retrans) + sizeof(uint64_t);
}

WEFT__OWN_FRAME bool weft__io_remote_written(int fd, uint64_t *ret_offset)
{
	struct tcp_info info;
	if (!weft__hooks_system_begin())
		return false;
	bool is_known = ask(fd, &info);
	weft__hooks_system_end();
	if (is_known)
		*ret_offset = info.tcpi_bytes_sent - info.tcpi_bytes_retrans + info.tcpi_notsent_bytes;
	return is_known;
}

static bool count_unread(int fd, int *ret_bytes)
{
	return weft__kernel_call(SYS_ioctl, fd, SIOCINQ, (long)(uintptr_t)ret_bytes, 0, 0, 0) == 0;
}

static bool has_end(const struct tcp_info *info)
{
	return info->tcpi_state == TIME_WAITS || info->tcpi_state == CLOSE_WAITS ||
		   info->tcpi_state == LAST_ACK_WAITS || info->tcpi_state == IS_CLOSING;
}

WEFT__OWN_FRAME bool weft__io_remote_read(int fd, uint64_t *ret_offset, bool *ret_has_more)
{
	struct tcp_info info;
	int before = 0, after = 0;
	if (!weft__hooks_system_begin())
		return false;
	bool is_known =
		count_unread(fd, &before) && ask(fd, &info) && count_unread(fd, &after) && before == after;
	weft__hooks_system_end();
	if (!is_known)
		return false;
	*ret_offset = info.tcpi_bytes_received - (uint64_t)has_end(&info) - (uint64_t)after;
	*ret_has_more = after > 0;
	return true;
}
