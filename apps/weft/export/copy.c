/* SPDX-License-Identifier: ISC
 *
 * See copy.h.
 */
#include "copy.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "index/automatic.h"

struct export_outcome export_copy(const struct cli_trace *trace, int status,
	struct weft_event *event, const struct export_writer *writer)
{
	struct export_outcome outcome = {0};
	const struct weft_trace_description *description = weft_decoder_describe(trace->decoder);
	cli_progress_start();
	while (status == WEFT_OK && !outcome.write_error) {
		outcome.write_error = writer->add(writer->context, event, description);
		status = weft_decoder_next(trace->decoder, event);
		if (++outcome.events % 65536 == 0 && !cli_progress_step(outcome.events)) {
			outcome.interrupted = status == WEFT_OK;
			break;
		}
	}
	if (status < 0)
		outcome.read_error = status;
	else if (!outcome.write_error)
		outcome.write_error = writer->finish(writer->context, description);
	outcome.reason = errno;
	if (status == WEFT_END && !outcome.write_error)
		index_note(trace);
	cli_progress_end();
	return outcome;
}

int export_fail(
	const struct cli_trace *trace, const char *path, const struct export_outcome *outcome)
{
	errno = outcome->reason; /* which the message about a read error may show */
	if (outcome->read_error)
		return cli_trace_fail(trace, outcome->read_error);
	const bool is_system = outcome->write_error == WEFT_ERROR_SYSTEM;
	if (!is_system || strcmp(path, "-") != 0) /* else the end of the program reports it */
		cli_error("%s: %s", path,
			is_system ? strerror(outcome->reason) : weft_error_text(outcome->write_error));
	return CLI_NO;
}

void export_end_if_interrupted(const char *path, const struct export_outcome *outcome)
{
	if (!outcome->interrupted)
		return;
	cli_error("interrupted: %s has the first %" PRIu64 " events", path, outcome->events);
	cli_progress_die_if_interrupted();
}
