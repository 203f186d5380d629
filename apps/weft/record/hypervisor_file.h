/* SPDX-License-Identifier: ISC
 *
 * The file of weft record xen:host: the windows of xentrace, or those of a filter, with notes
 * between them.
 */
#ifndef WEFT_APPS_RECORD_HYPERVISOR_FILE_H
#define WEFT_APPS_RECORD_HYPERVISOR_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <weft/guest.h>
#include <weft/xentrace.h>

#include "runs/processes/processes.h"

#define HYPERVISOR_HEADER_BYTES 12
#define HYPERVISOR_NOTES        512

struct hypervisor_file {
	struct weft__runs_processes *processes; /* NULL: they are not traced */
	uint64_t size;                          /* so far */
	uint64_t window;                        /* the rest of xentrace's last window */
	size_t header;                          /* the bytes of its next header so far */
	unsigned char head[HYPERVISOR_HEADER_BYTES];
	size_t collected; /* bytes of notes that are not written yet */
	unsigned char notes[HYPERVISOR_NOTES * WEFT_XENTRACE_NOTE_BYTES];
	int fd;
};

/* All of these: false with errno. */

/* Writes bytes to `file`, a struct hypervisor_file, between whose ends no note may stand. */
bool hypervisor_file_put(void *file, const void *bytes, size_t size);

/* Writes the clocks at this time. Without them the rate would be estimated, which is no reason to
 * fail. */
bool hypervisor_file_put_clocks(
	struct hypervisor_file *file, struct weft_host *host, bool is_begin);

/* Writes which processes have run since the last call, between windows. */
bool hypervisor_file_put_processes(struct hypervisor_file *file);

/* Writes the next bytes of xentrace, and the processes before the first window that begins there.
 */
bool hypervisor_file_put_windows(
	struct hypervisor_file *file, const unsigned char *bytes, size_t size);

#endif
