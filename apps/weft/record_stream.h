/* SPDX-License-Identifier: ISC
 *
 * weft record --stream: what the processes of a run record goes to disk while they run.
 */
#ifndef WEFT_APPS_RECORD_STREAM_H
#define WEFT_APPS_RECORD_STREAM_H

#include "record.h"
#include "stream_file.h"

struct record_stream;

/* From now on, until finish: of all processes that record into the directory. NULL after a message.
 */
struct record_stream *record_stream_start(
	const char *directory, const struct stream_options *options);

/* The run is over: writes the rest, says what there is, and removes the directory. `program` as of
 * record_save_run. True if all that was not lost on the way is in the files. */
bool record_stream_finish(struct record_stream *stream, pid_t program, const char *program_name);

/* One process, until it ends or we are interrupted; its ring stays. Answers an exit status. */
int record_stream_process(
	const char *ring_path, const struct record_ring *ring, const struct stream_options *options);

#endif
