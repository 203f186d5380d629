/* SPDX-License-Identifier: ISC
 *
 * Asynchronous slices: those of one category and id are a stack. The outermost is a task, those
 * inside it are its spans. An id belongs to its process, unless the trace says that it is global.
 */
#include "format/chrome/reader.h"

#include "base/array.h"

/* ---- Finding ---- */

static uint64_t hash_of_async(const struct weft__hash_key *key, const void *owner, uint32_t async)
{
	const struct weft__chrome_reader *r = owner;
	return weft__hash_u64(key, r->asyncs[async].hash);
}

uint32_t weft__format_chrome_find_async(struct weft__chrome_reader *r, uint64_t hash)
{
	struct weft__index *index = &r->async_index;
	uint32_t slot = weft__index_start(index, weft__hash_u64(&index->key, hash)), found;
	for (; (found = index->slots[slot]) != WEFT__INDEX_EMPTY; slot = weft__index_next(index, slot))
		if (r->asyncs[found].hash == hash)
			return found;
	return WEFT__CHROME_NONE;
}

uint32_t weft__format_chrome_add_async(struct weft__chrome_reader *r, uint64_t hash)
{
	const struct weft__column column = {&r->asyncs, sizeof(*r->asyncs)};
	int error = weft__columns_reserve(&column, 1, &r->async_capacity, r->async_count + (size_t)1);
	if (!error) {
		r->asyncs[r->async_count] = (struct weft__chrome_async){.hash = hash,
			.innermost = WEFT__CHROME_NONE,
			.awaited = WEFT__CHROME_NONE,
			.outer = WEFT__CHROME_NONE};
		error = weft__index_add(&r->async_index, r->async_count, hash_of_async, r);
	}
	if (error) {
		r->error = error;
		return WEFT__CHROME_NONE;
	}
	return r->async_count++;
}

static void hash_text(
	const struct weft__chrome_reader *r, struct weft__hash *hash, struct weft_slice text)
{
	weft__hash_word(hash, weft__hash_bytes(&r->async_index.key, text.bytes, text.size));
}

static uint64_t hash_of_name(const struct weft__chrome_reader *r)
{
	const struct weft_slice name = r->entry.name;
	return weft__hash_bytes(&r->async_index.key, name.bytes, name.size);
}

/* In the older form, S to F, slices of one id with different names are different ones. */
static bool is_old(char phase)
{
	return phase == 'S' || phase == 'T' || phase == 'p' || phase == 'F';
}

static uint64_t hash_of_entry(struct weft__chrome_reader *r)
{
	const struct weft__chrome_entry *entry = &r->entry;
	const bool is_global = entry->id_type == WEFT__CHROME_ID_GLOBAL;
	struct weft__hash hash = weft__hash_begin(&r->async_index.key);
	weft__hash_word(
		&hash, is_global ? UINT64_MAX : weft__format_chrome_thread(r, r->thread)->process);
	hash_text(r, &hash, entry->category);
	hash_text(r, &hash, entry->scope);
	hash_text(r, &hash, entry->id);
	weft__hash_word(&hash, is_old(entry->phase) ? hash_of_name(r) : 0);
	return weft__hash_end(&hash);
}

/* ---- Beginning and ending ---- */

/* The last of its categories, which is the narrowest: "node,node.fs,node.fs.async". */
static struct weft_slice kind_of(const struct weft__chrome_reader *r)
{
	const struct weft_slice category = r->entry.category;
	size_t start = category.size;
	while (start > 0 && category.bytes[start - 1] != ',')
		start--;
	if (start == category.size)
		return (struct weft_slice){"async", 5};
	return (struct weft_slice){category.bytes + start, category.size - start};
}

/* A global id may go on in another process, but a task has one. */
static void move_to_its_process(
	struct weft__chrome_reader *r, const struct weft__chrome_async *async)
{
	if (weft__format_chrome_thread(r, r->thread)->process !=
		weft__format_chrome_thread(r, async->thread)->process)
		r->thread = async->thread;
}

static void begin(struct weft__chrome_reader *r, struct weft__chrome_async *async)
{
	const uint32_t outer = async->is_open ? async->innermost : WEFT__CHROME_NONE;
	const uint32_t slice = weft__format_chrome_open_slice(r, outer, UINT64_MAX);
	if (slice == WEFT__CHROME_NONE)
		return;
	r->slices[slice].name = hash_of_name(r);
	async->innermost = slice;
	if (async->is_open) {
		weft__format_chrome_make_text(
			r, WEFT_EVENT_BEGIN, async->task, weft__format_chrome_name(r));
		return;
	}
	async->is_open = true;
	async->thread = r->thread;
	async->task = weft__format_chrome_new_task(r);
	struct weft_event *event = weft__format_chrome_make(r, WEFT_EVENT_CREATE);
	event->task = weft__format_chrome_running(r);
	event->other = async->task;
	event->kind = WEFT_KIND_UNKNOWN;
	event->kind_name = kind_of(r);
	if (r->entry.name.size)
		weft__format_chrome_make_text(
			r, WEFT_EVENT_LABEL, async->task, weft__format_chrome_name(r));
	if (weft__format_json_has_members(&r->entry.args))
		weft__format_chrome_make_remark(r, async->task);
}

static void end_innermost(struct weft__chrome_reader *r, struct weft__chrome_async *async)
{
	const uint32_t slice = async->innermost;
	async->innermost = r->slices[slice].outer;
	weft__format_chrome_free_slice(r, slice);
	if (async->innermost != WEFT__CHROME_NONE) {
		weft__format_chrome_make(r, WEFT_EVENT_END)->task = async->task;
		return;
	}
	weft__format_chrome_make_edge(
		r, WEFT_EVENT_RESOLVE, weft__format_chrome_running(r), async->task);
	async->is_open = false;
}

/* The slice that the entry ends: the innermost of its name. An end may be nameless. */
static uint32_t find_slice(
	const struct weft__chrome_reader *r, const struct weft__chrome_async *async)
{
	const uint64_t name = hash_of_name(r);
	uint32_t slice = async->innermost;
	if (r->entry.name.size == 0)
		return slice;
	for (unsigned i = 0; i < WEFT__CHROME_SEARCHED_MAX && slice != WEFT__CHROME_NONE; i++) {
		if (r->slices[slice].name == name)
			return slice;
		slice = r->slices[slice].outer;
	}
	return WEFT__CHROME_NONE;
}

static void end(struct weft__chrome_reader *r, struct weft__chrome_async *async)
{
	const uint32_t slice = find_slice(r, async);
	if (slice == WEFT__CHROME_NONE) {
		weft__format_chrome_report(r, "an end of a slice that has not begun; it is left out");
		return;
	}
	while (async->innermost != slice) {
		weft__format_chrome_report(r, "a slice outlasts the one around it; it ends with that");
		end_innermost(r, async);
	}
	end_innermost(r, async);
}

void weft__format_chrome_read_async(struct weft__chrome_reader *r)
{
	const char phase = r->entry.phase;
	const bool is_begin = phase == 'b' || phase == 'S', is_end = phase == 'e' || phase == 'F';
	if (r->entry.id_type == WEFT__CHROME_ID_NONE) {
		weft__format_chrome_report(r, "an asynchronous event lacks its \"id\"; it is left out");
		return;
	}
	const uint64_t hash = hash_of_entry(r);
	uint32_t found = weft__format_chrome_find_async(r, hash);
	if (found == WEFT__CHROME_NONE && is_begin)
		found = weft__format_chrome_add_async(r, hash);
	struct weft__chrome_async *async = found == WEFT__CHROME_NONE ? NULL : &r->asyncs[found];
	const bool is_open = async && async->is_open;
	if (is_open)
		move_to_its_process(r, async);
	if (is_begin && async)
		begin(r, async);
	else if (is_open && is_end)
		end(r, async);
	else if (is_end)
		weft__format_chrome_report(r, "an end of a slice that has not begun; it is left out");
	else if (!is_begin)
		weft__format_chrome_make_remark(r, is_open ? async->task : weft__format_chrome_actor(r));
}
