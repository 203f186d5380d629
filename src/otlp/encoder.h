/* SPDX-License-Identifier: ISC
 *
 * Writes protobuf messages, in their binary encoding or as protobuf's JSON, from a table of fields.
 *
 * Elements of a repeated field must follow each other. A field that is not written has its default,
 * which readers of protobuf 3 cannot distinguish from 0.
 */
#ifndef WEFT_OTLP_ENCODER_H
#define WEFT_OTLP_ENCODER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <weft/event.h>
#include <weft/text.h>

enum weft__otlp_type {
	WEFT__OTLP_MESSAGE,
	WEFT__OTLP_TEXT,
	WEFT__OTLP_ID, /* bytes, which OTLP's JSON has in hexadecimal, not in base 64 */
	WEFT__OTLP_BOOL,
	WEFT__OTLP_UINT32, /* also an enum */
	WEFT__OTLP_UINT64,
	WEFT__OTLP_INT64,
	WEFT__OTLP_SINT32,
	WEFT__OTLP_FIXED32,
	WEFT__OTLP_FIXED64,
	WEFT__OTLP_SFIXED64,
	WEFT__OTLP_DOUBLE,
};

struct weft__otlp_field {
	uint32_t number;
	uint8_t type; /* enum weft__otlp_type */
	bool is_repeated;
	const char *key; /* in JSON */
};

/* Messages in messages. */
#define WEFT__OTLP_DEPTH 12

struct weft__otlp_level {
	size_t start;                        /* in the text, of the message's content */
	const struct weft__otlp_field *last; /* the field written last, or NULL */
};

struct weft__otlp_encoder {
	const struct weft__otlp_field *fields; /* the table */
	bool is_json;
	struct weft_text text; /* the caller's to finish and to empty */
	unsigned depth;
	struct weft__otlp_level levels[WEFT__OTLP_DEPTH];
};

/* The outermost message. */
void weft__otlp_open(struct weft__otlp_encoder *encoder);
void weft__otlp_close(struct weft__otlp_encoder *encoder);

/* Begins an element of a repeated field in an encoder that has nothing else, so that its bytes can
 * be collected, and later be put into another one. */
void weft__otlp_element(struct weft__otlp_encoder *encoder, unsigned field, bool is_first);
void weft__otlp_put_elements(
	struct weft__otlp_encoder *encoder, unsigned field, struct weft_slice elements);

/* A message that is a field. */
void weft__otlp_begin(struct weft__otlp_encoder *encoder, unsigned field);
void weft__otlp_end(struct weft__otlp_encoder *encoder);

/* Bytes that are not UTF-8 become U+FFFD. */
void weft__otlp_put_text(
	struct weft__otlp_encoder *encoder, unsigned field, struct weft_slice text);
void weft__otlp_put_string(struct weft__otlp_encoder *encoder, unsigned field, const char *string);
void weft__otlp_put_id(
	struct weft__otlp_encoder *encoder, unsigned field, const uint64_t *words, size_t count);
/* The number's bits, if the field is signed. */
void weft__otlp_put_integer(struct weft__otlp_encoder *encoder, unsigned field, uint64_t number);
void weft__otlp_put_real(struct weft__otlp_encoder *encoder, unsigned field, double number);
/* All elements of a repeated field. */
void weft__otlp_put_integers(
	struct weft__otlp_encoder *encoder, unsigned field, const uint64_t *numbers, size_t count);
void weft__otlp_put_reals(
	struct weft__otlp_encoder *encoder, unsigned field, const double *numbers, size_t count);

#endif
