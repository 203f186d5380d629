/* SPDX-License-Identifier: ISC
 *
 * A scanner of JSON that allocates nothing: values are parts of the input. Libraries for JSON make
 * a tree of the whole text, which takes ten times its memory, and know no byte positions.
 *
 * It never recurses, and each call takes time in proportion to the bytes that it passes.
 */
#ifndef WEFT_FORMAT_JSON_JSON_H
#define WEFT_FORMAT_JSON_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <weft/event.h>

enum weft__json_type {
	WEFT__JSON_NULL,
	WEFT__JSON_FALSE,
	WEFT__JSON_TRUE,
	WEFT__JSON_NUMBER,
	WEFT__JSON_STRING,
	WEFT__JSON_ARRAY,
	WEFT__JSON_OBJECT,
};

struct weft__json_value {
	enum weft__json_type type;
	struct weft_slice text; /* of a string what is between its quotes, else all of it */
	bool has_escapes;       /* of a string: see weft__format_json_unescape() */
};

/* Containers inside each other. */
#define WEFT__JSON_DEPTH_MAX 512u

/* Moves *at over white space. False at the end of the text. */
bool weft__format_json_skip_space(struct weft_slice text, size_t *at);

/* Reads the value at *at, behind white space, and moves *at past it. If it is damaged or cut off,
 * returns false, and *at is where that shows; at the end of the text it is cut off. */
bool weft__format_json_read(struct weft_slice text, size_t *at, struct weft__json_value *ret_value);

/* Reads a key and its colon in the same way. */
bool weft__format_json_read_key(
	struct weft_slice text, size_t *at, struct weft__json_value *ret_key);

/* Reads the next member of an object that weft__format_json_read() has found; *at is 0 at first.
 * False: there are no more. */
bool weft__format_json_next_member(const struct weft__json_value *object, size_t *at,
	struct weft__json_value *ret_key, struct weft__json_value *ret_value);

/* Reads the next element of an array that weft__format_json_read() has found; *at is 0 at first.
 * False: there are no more. */
bool weft__format_json_next_element(
	const struct weft__json_value *array, size_t *at, struct weft__json_value *ret_element);

/* The first member of that name. False: there is none, or it is no object. */
bool weft__format_json_find(
	const struct weft__json_value *object, const char *key, struct weft__json_value *ret_value);

/* True if it is an object that is not empty. */
bool weft__format_json_has_members(const struct weft__json_value *value);

/* Writes a string's text without escapes, which is never longer. Returns its size. */
size_t weft__format_json_unescape(struct weft_slice text, char *out);

#endif
