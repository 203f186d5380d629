/* SPDX-License-Identifier: ISC
 *
 * The files in which programs have their counters where an agent collects them, and the folders of
 * these files (abi/counter_abi.h). Each user may put files there; nothing in them is trusted.
 */
#ifndef WEFT_RUNS_REGION_H
#define WEFT_RUNS_REGION_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "abi/counter_abi.h"

/* The name of an agent's folder: that of WEFT_AGENT, else root's, else the user's in
 * XDG_RUNTIME_DIR. False: there is none, because XDG_RUNTIME_DIR is missing or not the user's. */
bool weft__runs_region_folder(char ret_folder[PATH_MAX]);

/* A file's name: `region` in hexadecimal, and the suffix: WEFT_ABI_AGENT_SUFFIX, or that of
 * metrics.
 */
void weft__runs_region_name(
	const uint8_t region[16], const char *suffix, char ret_name[WEFT_ABI_AGENT_NAME_BYTES]);

/* Opens a regular file for reading, without following links and without waiting. -1 with errno. */
int weft__runs_region_open_at(int folder, const char *name);

/* Opens the counters or metrics of the user's process that have that name. -1 with errno; ENOENT:
 * no folder that this process may look into has them. */
int weft__runs_region_open(const uint8_t region[16], const char *suffix, uid_t user);

/* The metrics of a program that may have ended: `header` is the file beside its ring, which is
 * closed if it says that they are in an agent's folder. -1: they are not there any more. */
int weft__runs_region_open_kept(int header);

/* Removes the name by which they are kept, if that is so: they are in the trace. `header` is that
 * file's path. */
void weft__runs_region_drop_kept(const char *header);

/* Opens the metrics of that name beside the ring into which the user's process records. -1 with
 * errno. */
int weft__runs_region_open_beside(pid_t pid, const uint8_t region[16], uid_t user);

/* Opens the file with that suffix beside a ring, which must be a regular file of that user. -1 with
 * errno. */
int weft__runs_region_open_of(const char *ring, const char *suffix, uid_t user);

/* Opens the counters, or metrics, beside the ring into which a process records from its start on.
 * -1 with errno; ENOENT: it has none. */
int weft__runs_region_open_counters(pid_t pid);
int weft__runs_region_open_metrics(pid_t pid);

/* Reads so many bytes of a file. 0 or an errno; ENOENT if there are fewer. */
int weft__runs_region_read(int fd, off_t offset, void *ret, size_t bytes);

#endif
