/* SPDX-License-Identifier: ISC
 *
 * Filters for system calls that this program inherited, as from systemd's SystemCallFilter=.
 */
#ifndef WEFT_KERNEL_FILTER_H
#define WEFT_KERNEL_FILTER_H

#include <stdbool.h>

/* True if the process has filters that were there at the first call, and that process 1 does not
 * have: they may end the process at system calls that programs rarely make. Those of a container
 * are process 1's, too; they return errors. */
bool weft__kernel_is_filtered(void);

#endif
