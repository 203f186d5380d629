/* SPDX-License-Identifier: ISC
 *
 * The samples of tests/data, for tests that need a real trace.
 */
#ifndef WEFT_TESTS_SAMPLE_H
#define WEFT_TESTS_SAMPLE_H

#include <stdio.h>
#include <stdlib.h>

#include <weft/decoder.h>

/* `name` is within the source tree. */
static inline void sample_path(char *path, size_t size, const char *name)
{
	const char *source = getenv("WEFT_SOURCE");
	snprintf(path, size, "%s/%s", source ? source : ".", name);
}

/* Reads a file and appends a NUL; the caller frees it. NULL if it can't be read. */
static inline char *sample_read(const char *path, size_t *ret_size)
{
	FILE *file = fopen(path, "rb");
	if (!file)
		return NULL;
	fseek(file, 0, SEEK_END);
	long size = ftell(file);
	rewind(file);
	char *bytes = malloc((size_t)size + 1);
	if (bytes) {
		*ret_size = fread(bytes, 1, (size_t)size, file);
		bytes[*ret_size] = '\0';
	}
	fclose(file);
	return bytes;
}

static inline int sample_decode(
	struct weft_decoder *decoder, const char *bytes, size_t size, struct weft_model **ret_model)
{
	int error = weft_decoder_feed(decoder, bytes, size);
	if (!error)
		error = weft_decoder_finish(decoder);
	return error ? error : weft_decoder_build_model(decoder, NULL, ret_model);
}

/* NULL if it can't be read. */
static inline struct weft_model *sample_model_at(const char *path)
{
	size_t size = 0;
	struct weft_decoder *decoder = NULL;
	struct weft_model *model = NULL;
	char *bytes = sample_read(path, &size);
	if (bytes && weft_decoder_create(&decoder) == 0 && sample_decode(decoder, bytes, size, &model))
		model = NULL;
	weft_decoder_destroy(decoder);
	free(bytes);
	return model;
}

/* `name` is within tests/data/traces. */
static inline struct weft_model *sample_model(const char *name)
{
	char relative[256], path[512];
	snprintf(relative, sizeof(relative), "tests/data/traces/%s", name);
	sample_path(path, sizeof(path), relative);
	return sample_model_at(path);
}

#endif
