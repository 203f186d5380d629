/* SPDX-License-Identifier: ISC
 *
 * Grants the pages of a buffer and publishes the references in XenStore.
 *
 *     data/weft/ID/state = closed → format, name, pages, ring-ref-N | directory-ref → state = open
 *
 * Keys are written one after the other, without a transaction, so that a unikernel needs only a
 * write. A reader takes them once `state` is "open".
 */
#include <stdbool.h>

#include <weft/error.h>
#include <weft/xen.h>

#include "guest/publish.h"

/* XenStore refuses values of guests above about 2,000 bytes. */
#define VALUE_BYTES 1900
#define DIGITS_MAX  10

#define ID_BYTES_MAX   (WEFT__GUEST_ID_BYTES - 1)
#define NAME_BYTES_MAX 63
#define PATH_BYTES     64

/* A path or a value while it is put together; `text` is never full. */
struct words {
	char *text;
	size_t size;
};

static void add_word(struct words *words, const char *text)
{
	while (*text)
		words->text[words->size++] = *text++;
	words->text[words->size] = '\0';
}

/* 32 bits, because a unikernel may have no division of 64 bits. */
static void add_number(struct words *words, uint32_t number)
{
	char digits[DIGITS_MAX + 1];
	char *at = digits + DIGITS_MAX;
	*at = '\0';
	do
		*--at = (char)('0' + number % 10);
	while (number /= 10);
	add_word(words, at);
}

static bool fits(const char *text, size_t bytes_max)
{
	size_t bytes = 0;
	while (text[bytes] && bytes <= bytes_max)
		bytes++;
	return bytes <= bytes_max;
}

/* A part of a path of XenStore. */
static bool is_id(const char *id)
{
	for (const char *at = id; *at; at++) {
		bool is_letter = (*at >= 'a' && *at <= 'z') || (*at >= 'A' && *at <= 'Z');
		if (!is_letter && !(*at >= '0' && *at <= '9') && *at != '-' && *at != '_')
			return false;
	}
	return *id && fits(id, ID_BYTES_MAX);
}

static const char *id_of(const struct weft_xen_share *share)
{
	return share->id ? share->id : "0";
}

/* Writes data/weft/ID/KEY, or KEY-N if `number` is not negative. */
static int write_key(
	const struct weft__publication *p, const char *key, int number, const char *value)
{
	char text[PATH_BYTES + ID_BYTES_MAX];
	struct words path = {text, 0};
	add_word(&path, "data/weft/");
	add_word(&path, id_of(p->share));
	add_word(&path, "/");
	add_word(&path, key);
	if (number >= 0) {
		add_word(&path, "-");
		add_number(&path, (uint32_t)number);
	}
	return p->guest->write(p->guest->context, text, value) ? WEFT_ERROR_SYSTEM : 0;
}

static int write_number(const struct weft__publication *p, const char *key, uint32_t number)
{
	char text[DIGITS_MAX + 1];
	struct words value = {text, 0};
	add_number(&value, number);
	return write_key(p, key, -1, text);
}

/* The first page has what a reader may set: levels, and requests. */
static int grant(const struct weft__publication *p, const void *page, uint32_t *ret_ref)
{
	const struct weft_xen_guest *guest = p->guest;
	uint64_t frame = guest->frame(guest->context, page);
	bool is_header = page == p->share->buffer;
	uint32_t ref = guest->grant(guest->context, p->share->domain, frame, is_header);
	if (ref == 0)
		return WEFT_ERROR_LIMIT;
	*ret_ref = ref;
	return 0;
}

/* Grants `count` pages and writes their references: into one key, or with `is_split` into as many
 * as are needed, KEY-0 and so on. */
static int grant_to_keys(const struct weft__publication *p, const char *key, bool is_split,
	const char *pages, size_t count)
{
	char text[VALUE_BYTES + DIGITS_MAX + 2];
	struct words list = {text, 0};
	int number = 0;
	for (size_t i = 0; i < count; i++) {
		uint32_t ref = 0;
		int error = grant(p, pages + i * WEFT_XEN_PAGE_BYTES, &ref);
		if (error)
			return error;
		if (list.size)
			add_word(&list, ",");
		add_number(&list, ref);
		bool is_full = list.size > VALUE_BYTES - DIGITS_MAX;
		if (is_full && !is_split && i + 1 < count)
			return WEFT_ERROR_LIMIT;
		if (!is_full && i + 1 < count)
			continue;
		error = write_key(p, key, is_split ? number++ : -1, text);
		if (error)
			return error;
		list.size = 0;
	}
	return 0;
}

static int grant_to_directory(const struct weft__publication *p, size_t count)
{
	const char *buffer = p->share->buffer;
	for (size_t i = 0; i < count; i++) {
		int error = grant(p, buffer + i * WEFT_XEN_PAGE_BYTES, &p->share->directory[i]);
		if (error)
			return error;
	}
	size_t pages = (count * sizeof(uint32_t) + WEFT_XEN_PAGE_BYTES - 1) / WEFT_XEN_PAGE_BYTES;
	return grant_to_keys(p, "directory-ref", false, (const char *)p->share->directory, pages);
}

bool weft__guest_can_publish(const struct weft_xen_share *share)
{
	uintptr_t pages = (uintptr_t)share->buffer | (uintptr_t)share->directory | share->size;
	return share->buffer && share->size && pages % WEFT_XEN_PAGE_BYTES == 0 &&
		   is_id(id_of(share)) && (!share->name || fits(share->name, NAME_BYTES_MAX));
}

int weft__guest_publish(const struct weft__publication *p)
{
	const struct weft_xen_share *share = p->share;
	size_t count = share->size / WEFT_XEN_PAGE_BYTES;
	int error = write_key(p, "state", -1, "closed");
	if (!error)
		error = write_number(p, "format", 1);
	if (!error && share->name)
		error = write_key(p, "name", -1, share->name);
	if (!error && p->alive_ref)
		error = write_number(p, "alive-ref", p->alive_ref);
	if (!error)
		error = write_number(p, "pages", (uint32_t)count);
	if (!error)
		error = share->directory ? grant_to_directory(p, count)
								 : grant_to_keys(p, "ring-ref", true, share->buffer, count);
	return error ? error : write_key(p, "state", -1, "open");
}

void weft__guest_unpublish(const struct weft__publication *p)
{
	(void)write_key(p, "state", -1, "closed");
}
