/* SPDX-License-Identifier: ISC
 *
 * Calls of Xen, which programs make by ioctl(2) on the devices below /dev/xen: spans of the task
 * that makes them.
 */
#ifndef WEFT_ADAPTERS_XEN_CALL_H
#define WEFT_ADAPTERS_XEN_CALL_H

#include <sys/ioctl.h>

#include <stdbool.h>

/* False for the numbers of nearly all other ioctls. */
static inline bool weft__xen_may_be(unsigned long request)
{
	const unsigned long type = _IOC_TYPE(request);
	return _IOC_DIR(request) == _IOC_NONE && (type == 'P' || type == 'G' || type == 'E');
}

/* Makes the ioctl, and records it if it is one of Xen's devices. */
int weft__xen_ioctl(int fd, unsigned long request, void *argument);

#endif
