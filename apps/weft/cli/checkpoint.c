/* SPDX-License-Identifier: ISC
 *
 * A wrong state would be worse than none, so a file of checkpoints is only used if the trace has
 * the size, time and content that it had when they were made, by this version of weft.
 */
#include "checkpoint.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "abi/buffer_abi.h"

#define SUFFIX ".weft-index"

char *cli_checkpoint_path(const char *path)
{
	const size_t size = strlen(path);
	char *name = malloc(size + sizeof(SUFFIX));
	if (name) {
		memcpy(name, path, size);
		memcpy(name + size, SUFFIX, sizeof(SUFFIX));
	}
	return name;
}

/* A stream only grows, and a ring whose end is known is a copy. A live ring is written to through
 * mappings, which may leave the time of its file as it is. */
static bool changes_visibly(const struct cli_trace *trace, const void *bytes, size_t size)
{
	const struct weft_trace_description *description = weft_decoder_describe(trace->decoder);
	struct weft_abi_buffer header;
	if (strcmp(description->format, "weft") != 0 || size < sizeof(header))
		return false;
	memcpy(&header, bytes, sizeof(header));
	return header.stream || header.ending != WEFT_ENDING_UNKNOWN;
}

bool cli_checkpoint_key(
	const struct cli_trace *trace, const char *path, struct weft_checkpoint_key *ret_key)
{
	static const char version[] = WEFT_VERSION;
	struct stat status;
	size_t size;
	struct weft_source *source = weft_input_source(trace->input);
	if (!source || stat(path, &status) || !S_ISREG(status.st_mode))
		return false;
	const void *bytes = weft_source_bytes(source, &size);
	if (!changes_visibly(trace, bytes, size))
		return false;
	*ret_key = (struct weft_checkpoint_key){
		.bytes = size,
		.modified_ns =
			(uint64_t)status.st_mtim.tv_sec * 1000000000 + (uint64_t)status.st_mtim.tv_nsec,
		.content =
			weft_checkpoint_hash(bytes, size) ^ weft_checkpoint_hash(version, sizeof(version)),
	};
	return true;
}

/* Opens the file of checkpoints, if its owner is one that may say what is in the trace. */
static struct weft_source *open_file(const char *path)
{
	char *name = cli_checkpoint_path(path);
	struct stat trace, own;
	struct weft_source *source = NULL;
	const int fd = name ? open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;
	free(name);
	if (fd < 0)
		return NULL;
	if (fstat(fd, &own) == 0 && S_ISREG(own.st_mode) && stat(path, &trace) == 0 &&
		(own.st_uid == geteuid() || own.st_uid == trace.st_uid))
		(void)weft_source_open_descriptor(fd, 0, &source);
	close(fd);
	return source;
}

static bool open_state(struct cli_checkpoint *c)
{
	int error = weft_decoder_create(&c->decoder);
	if (!error)
		error = weft_decoder_feed_borrowed(c->decoder, c->found.bytes, c->found.size);
	if (!error)
		error = weft_decoder_finish(c->decoder);
	return !error;
}

bool cli_checkpoint_find(const struct cli_trace *trace, const char *path, uint64_t time_ns,
	struct cli_checkpoint *ret_checkpoint)
{
	struct cli_checkpoint c = {0};
	struct weft_checkpoint_key key;
	size_t size = 0;
	*ret_checkpoint = c;
	c.source = open_file(path);
	if (!c.source)
		return false;
	const void *bytes = weft_source_bytes(c.source, &size);
	if (!cli_checkpoint_key(trace, path, &key) ||
		weft_checkpoint_find(bytes, size, &key, time_ns, &c.found) != WEFT_OK || !open_state(&c)) {
		cli_checkpoint_close(&c);
		return false;
	}
	*ret_checkpoint = c;
	return true;
}

bool cli_checkpoint_is_current(const char *path, const struct weft_checkpoint_key *key)
{
	struct weft_source *source = open_file(path);
	struct weft_checkpoint found;
	size_t size = 0;
	if (!source)
		return false;
	const void *bytes = weft_source_bytes(source, &size);
	const int status = weft_checkpoint_find(bytes, size, key, UINT64_MAX, &found);
	weft_source_close(source);
	return status == WEFT_OK || status == WEFT_END;
}

void cli_checkpoint_close(struct cli_checkpoint *c)
{
	weft_decoder_destroy(c->decoder);
	weft_source_close(c->source);
	*c = (struct cli_checkpoint){0};
}

int cli_checkpoint_seek(
	const struct cli_checkpoint *c, struct weft_decoder *decoder, struct weft_event *event)
{
	int status =
		event->time_ns < c->found.time_ns ? weft_decoder_seek(decoder, c->found.time_ns) : WEFT_OK;
	while (status == WEFT_OK && event->time_ns < c->found.time_ns)
		status = weft_decoder_next(decoder, event);
	return status;
}
