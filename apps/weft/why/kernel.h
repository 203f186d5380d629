/* SPDX-License-Identifier: ISC
 *
 * Sentences about where a thread of a running process is in the kernel, for threads of which the
 * trace says nothing.
 */
#ifndef WEFT_APPS_WHY_KERNEL_H
#define WEFT_APPS_WHY_KERNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define WHY_KERNEL_BYTES 1024

/* Writes a sentence: "Now it sleeps in read of descriptor 4 (inotify)." False if the process has no
 * such thread, or nothing is known. */
bool why_kernel_sentence(pid_t pid, uint64_t thread, char text[static WHY_KERNEL_BYTES]);

#endif
