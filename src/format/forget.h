/* SPDX-License-Identifier: ISC
 *
 * Gives back the memory of an input that is a mapped file. Reading the header of a packet maps the
 * pages around it, so reading all headers would map the whole file.
 */
#ifndef WEFT_FORMAT_FORGET_H
#define WEFT_FORMAT_FORGET_H

struct weft_decoder;

struct weft__forget {
	void (*forget)(void *context); /* the bytes stay readable */
	void *context;
};

/* For weft_decoder_finish(), which borrows it. */
void weft__format_decoder_lend_forget(
	struct weft_decoder *decoder, const struct weft__forget *forget);

#endif
