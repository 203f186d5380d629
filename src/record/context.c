/* SPDX-License-Identifier: ISC
 *
 * Trace contexts of tasks and spans. A context is recorded as a mark, whose fields have the names
 * that OpenTelemetry gives them: so every reader has them, and searches and queries find them.
 * src/model/contexts.c reads them.
 *
 * A program asks for its current context where it sends a request, which may be far from where the
 * context came in. So a process remembers those of its tasks (context_table.c), and a thread its
 * own one for when it runs no task.
 */
#include "abi/event_abi.h"
#include "record/atomics.h"
#include "record/context.h"
#include "record/recorder.h"
#include "record/reserve.h"
#include "record/text.h"

#define STATE_BYTES 512 /* as many as a program has to pass on */

enum {
	FIELDS = 3,    /* that each context has */
	FIELDS_MAX = 5 /* with a parent and a state */
};

/* The name of the mark and of its fields. */
#define FIELD_NAMES "\0trace_id\0span_id\0trace_flags"
#define PARENT_NAME "\0parent_span_id"
#define STATE_NAME  "\0trace_state"
#define SHAPE(name, more)                                           \
	{                                                               \
		name FIELD_NAMES more, sizeof(name FIELD_NAMES more) - 1, 0 \
	}
#define SHAPES(name)                                                                   \
	{                                                                                  \
		SHAPE(name, ""), SHAPE(name, PARENT_NAME), SHAPE(name, PARENT_NAME STATE_NAME) \
	}

struct context_shape {
	const char *names;
	uint32_t size;
	uint64_t cache;
};

static bool is_context(const struct weft_context *context)
{
	return context && context->span && (context->trace_high | context->trace_low);
}

/* ---- What is current ---- */

/* For which task of which buffer; WEFT_TASK_NONE: for the thread itself. */
static uint64_t current_task(uint64_t *ret_generation)
{
	const struct weft__self *self = weft__record_is_off() ? NULL : weft__record_looked();
	*ret_generation = self ? weft__record_entered_generation(self) : 0;
	return self ? weft__load(&self->slot->task) : WEFT_TASK_NONE;
}

#ifdef WEFT_FREESTANDING
static struct weft_context *context_of_thread(void)
{
	return NULL; /* no thread-local storage */
}
#else
static struct weft_context *context_of_thread(void)
{
	/* For the reason of weft__self_here's. */
	static _Thread_local struct weft_context here __attribute__((tls_model("initial-exec")));
	return &here;
}
#endif

/* A signal handler in between finds no context. */
static void set_for_thread(const struct weft_context *context)
{
	struct weft_context *here = context_of_thread();
	if (!here)
		return;
	here->span = 0;
	weft__signal_fence();
	here->trace_high = context->trace_high;
	here->trace_low = context->trace_low;
	here->flags = context->flags;
	weft__signal_fence();
	here->span = context->span;
}

static void set_for(uint64_t task, uint64_t generation, const struct weft_context *context)
{
	static const struct weft_context none;
	if (!is_context(context))
		context = &none;
	if (task == WEFT_TASK_NONE)
		set_for_thread(context);
	else
		weft__record_context_keep(task, generation, context);
}

WEFT__EXPORT void weft_context_set(const struct weft_context *context)
{
	uint64_t generation;
	const uint64_t task = current_task(&generation);
	set_for(task, generation, context);
}

WEFT__EXPORT bool weft_context_current(struct weft_context *ret_context)
{
	uint64_t generation;
	const uint64_t task = current_task(&generation);
	const struct weft_context *here = task == WEFT_TASK_NONE ? context_of_thread() : NULL;
	*ret_context = (struct weft_context){0};
	if (task != WEFT_TASK_NONE)
		return weft__record_context_find(task, generation, ret_context);
	if (!here || !here->span)
		return false;
	*ret_context = *here;
	return true;
}

/* ---- New contexts ---- */

/* All words but the head of the usual mark, as they stand in the event: without a state. */
struct context_words {
	uint64_t types;
	uint64_t trace_size, trace[4];
	uint64_t span_size, span[2];
	uint64_t flags;
	uint64_t parent_size, parent[2];
};

enum {
	WORDS_OF_PARENT = 3,
	WORDS = sizeof(struct context_words) / sizeof(uint64_t)
};

#define TYPE(index, type) ((uint64_t)WEFT_ABI_VALUE_##type << (4 + 4 * (index)))
#define TYPES             (TYPE(0, TEXT) | TYPE(1, TEXT) | TYPE(2, U64))

static void write_words(
	const struct weft_context *context, uint64_t parent, struct context_words *ret_words)
{
	ret_words->types = parent ? (FIELDS + 1) | TYPES | TYPE(3, TEXT) : FIELDS | TYPES;
	ret_words->trace_size = sizeof(ret_words->trace);
	weft__record_context_digits(&ret_words->trace[0], context->trace_high);
	weft__record_context_digits(&ret_words->trace[2], context->trace_low);
	ret_words->span_size = sizeof(ret_words->span);
	weft__record_context_digits(ret_words->span, context->span);
	ret_words->flags = context->flags;
	ret_words->parent_size = sizeof(ret_words->parent);
	if (parent)
		weft__record_context_digits(ret_words->parent, parent);
}

static struct weft_value text_value(const void *text, uint32_t size)
{
	return (struct weft_value){.type = WEFT_VALUE_TEXT, .size = size, .is.text = text};
}

static WEFT__OUT_OF_LINE void record_slowly(uint64_t task, struct context_shape *shape,
	unsigned count, const struct context_words *words, const struct weft_context *context)
{
	const uint32_t state_size =
		context->state_size < STATE_BYTES ? context->state_size : STATE_BYTES;
	const struct weft_value values[FIELDS_MAX] = {
		text_value(words->trace, sizeof(words->trace)),
		text_value(words->span, sizeof(words->span)),
		{.type = WEFT_VALUE_U64, .is.u64 = words->flags},
		text_value(words->parent, sizeof(words->parent)),
		text_value(context->state, state_size),
	};
	weft__record_mark(task, &shape->cache, shape->names, shape->size, count, values);
}

/* `parent`: its span id; 0: none. */
static void record_context(uint64_t task, struct context_shape *shapes,
	const struct weft_context *context, uint64_t parent)
{
	const bool has_state = parent && context->state && context->state_size;
	const unsigned more = has_state ? 2 : parent ? 1 : 0;
	struct context_words words;
	write_words(context, parent, &words);
	if (has_state || !weft__record_mark_again(task, &shapes[more].cache,
						 parent ? WORDS : WORDS - WORDS_OF_PARENT, &words.types))
		record_slowly(task, &shapes[more], FIELDS + more, &words, context);
}

/* The span id of a new context is new; without a parent, so is its trace. `parent` may be where the
 * context goes. */
static void start(struct weft_category *category, unsigned level, uint64_t task,
	struct context_shape *shapes, const struct weft_context *parent,
	struct weft_context *ret_context)
{
	const uint64_t parent_span = is_context(parent) ? parent->span : 0;
	if (!parent_span)
		*ret_context = (struct weft_context){0};
	else if (parent != ret_context)
		*ret_context = *parent;
	if (!weft_ffi_is_enabled(category, level))
		return;
	if (!parent_span)
		weft__record_context_trace(ret_context);
	ret_context->span = weft__record_context_span();
	record_context(task, shapes, ret_context, parent_span);
}

WEFT__EXPORT void weft_ffi_context_start(struct weft_category *category, unsigned level,
	uint64_t task, const struct weft_context *parent, struct weft_context *ret_context)
{
	static struct context_shape shapes[] = SHAPES("trace context");
	struct weft_context own;
	if (!ret_context)
		ret_context = &own;
	start(category, level, task, shapes, parent, ret_context);
	uint64_t generation;
	const uint64_t current = current_task(&generation);
	set_for(task == WEFT_TASK_CURRENT ? current : task, generation, ret_context);
}

WEFT__EXPORT void weft_ffi_context_begin(struct weft_category *category, unsigned level,
	const struct weft_context *parent, struct weft_context *ret_context)
{
	static struct context_shape shapes[] = SHAPES("span context");
	struct weft_context own;
	if (!ret_context)
		ret_context = &own;
	start(category, level, WEFT_TASK_CURRENT, shapes, parent, ret_context);
	weft_context_set(ret_context);
}
