/* SPDX-License-Identifier: ISC
 *
 * The macros of weft.h, which includes this file unless WEFT_DISABLED is defined: they test the
 * level, find the type of each value, and remember the ids of literals. Programs use nothing of
 * this file directly but WEFT_CATEGORY_DECLARE and WEFT_CATEGORY_DEFINE, which weft.h describes.
 */
#ifndef WEFT_MACROS_H
#define WEFT_MACROS_H

#include <weft/weft.h>
#include <weft/weft_ffi.h>

#ifdef __cplusplus
extern "C" {
#endif

#define WEFT_CATEGORY_DECLARE(id) \
	extern __attribute__((visibility("hidden"))) struct weft_category weft_category_##id
#ifdef WEFT_FREESTANDING /* registered at its first use */
#define WEFT__LEVEL_UNSET 255
extern const uint8_t weft__level_unset;
bool weft__category_first_use(struct weft_category *category, unsigned level);
#define WEFT_CATEGORY_DEFINE(id, name, description) \
	WEFT_CATEGORY_DECLARE(id);                      \
	struct weft_category weft_category_##id = {&weft__level_unset, "" name, "" description, NULL}
#else /* runs before the constructors of C++ objects */
#define WEFT_CATEGORY_DEFINE(id, name, description)                                              \
	WEFT_CATEGORY_DECLARE(id);                                                                   \
	struct weft_category weft_category_##id = {weft__levels_off, "" name, "" description, NULL}; \
	__attribute__((constructor(102))) static void weft__category_begin_##id(void)                \
	{                                                                                            \
		weft_category_register(&weft_category_##id);                                             \
	}                                                                                            \
	__attribute__((destructor(102))) static void weft__category_end_##id(void)                   \
	{                                                                                            \
		weft_category_unregister(&weft_category_##id);                                           \
	}                                                                                            \
	WEFT_CATEGORY_DECLARE(id)
#endif

/* The macros call these functions. `cache` keeps the id of a literal's name for this call site;
 * NULL if the text may differ from call to call. */
void weft__span_begin(uint64_t task, uint64_t *cache, const char *name) WEFT__DIRECT;
void weft__span(const struct weft_given_span *span) WEFT__DIRECT;
void weft__tag(uint64_t task, uint64_t *cache, const char *text) WEFT__DIRECT;
void weft__tag_value(uint64_t task, uint64_t *cache, const char *text, int64_t value) WEFT__DIRECT;
/* These test the level themselves, because the value changes at any level. */
void weft__counter_add_at(struct weft_category *category, unsigned level, uint64_t task,
	uint64_t *cache, const char *name, int64_t change) WEFT__DIRECT;
void weft__counter_set_at(struct weft_category *category, unsigned level, uint64_t task,
	uint64_t *cache, const char *name, int64_t value) WEFT__DIRECT;
/* `bits`: the bits of a double. */
void weft__counter_add_at_f64(struct weft_category *category, unsigned level, uint64_t task,
	uint64_t *cache, const char *name, uint64_t bits) WEFT__DIRECT;
void weft__counter_set_at_f64(struct weft_category *category, unsigned level, uint64_t task,
	uint64_t *cache, const char *name, uint64_t bits) WEFT__DIRECT;
/* Programs that were compiled with earlier headers call these, only while the level is on. */
void weft__counter_add(uint64_t task, uint64_t *cache, const char *name, int64_t change);
void weft__counter_set(uint64_t task, uint64_t *cache, const char *name, int64_t value);
void weft__counter_add_f64(uint64_t task, uint64_t *cache, const char *name, uint64_t bits);
void weft__counter_set_f64(uint64_t task, uint64_t *cache, const char *name, uint64_t bits);
void weft__band(unsigned kind, uint64_t *cache, const char *reason, bool begin) WEFT__DIRECT;

/* Returns a new id and records nothing, for a task whose creation is filtered. */
uint64_t weft__create_unseen(void) WEFT__DIRECT;
/* Records only that `task` runs from now on, for a call whose event is filtered. */
void weft__runs(uint64_t task) WEFT__DIRECT;
uint64_t weft__operation_begin(uint64_t task, uint64_t *cache, const char *label) WEFT__DIRECT;
uint16_t weft__kind(uint64_t *cache, const char *name) WEFT__DIRECT;
/* The same in files with a category: readers show it with the task. */
uint64_t weft__create_in(
	const struct weft_category *category, uint64_t task, uint16_t kind) WEFT__DIRECT;
void weft__create_id_in(
	const struct weft_category *category, uint64_t task, uint64_t id, uint16_t kind) WEFT__DIRECT;
uint64_t weft__operation_begin_in(const struct weft_category *category, uint64_t task,
	uint64_t *cache, const char *label) WEFT__DIRECT;
uint16_t weft__kind_in(
	const struct weft_category *category, uint64_t *cache, const char *name) WEFT__DIRECT;
/* A jump out of a signal handler has left an event that the calling thread was recording: the next
 * events are not nested in it. For adapters. */
void weft__left_by_jump(void);
void weft__rundown_in(const struct weft_category *category, uint64_t task, uint16_t kind,
	const char *label, uint64_t age_ns, uint64_t waits_for) WEFT__DIRECT;
/* Records only that `waiter` runs from now on, for an operation whose end is filtered. */
void weft__operation_continues(uint64_t waiter) WEFT__DIRECT;

/* True if calls of `category` at `level` are recorded. */
__attribute__((always_inline)) static inline bool weft__allows(
	struct weft_category *category, unsigned level)
{
	const uint8_t *at = __atomic_load_n(&category->level, __ATOMIC_RELAXED);
	unsigned allowed = __atomic_load_n(at, __ATOMIC_RELAXED);
#ifdef WEFT_FREESTANDING
	if (__builtin_expect(allowed == WEFT__LEVEL_UNSET, 0))
		return weft__category_first_use(category, level);
#endif
	return allowed >= level;
}

/* Bytes from a category's level to whether its calls are counted. */
#define WEFT__COUNTING_AT 1616
void weft__tally(struct weft_category *category, unsigned event) WEFT__DIRECT;
#ifdef WEFT__LIBRARY_MAY_BE_OLDER
/* For weft's adapters: a program may bring a libweft that cannot count. */
#pragma weak weft__tally
#define WEFT__CAN_COUNT (weft__tally != NULL)
#else
#define WEFT__CAN_COUNT 1
#endif

/* True if calls that the category does not record are to be counted. Loads the level's address
 * again, so that calls that record need no register for it. */
__attribute__((always_inline)) static inline bool weft__counts(const struct weft_category *category)
{
#ifdef WEFT_FREESTANDING
	(void)category;
	return false;
#else
	const uint8_t *level = __atomic_load_n(&category->level, __ATOMIC_RELAXED);
	return __builtin_expect(__atomic_load_n(level + WEFT__COUNTING_AT, __ATOMIC_RELAXED), 0);
#endif
}

/* The same as weft__allows(), and counts the call if the category wants that instead. */
__attribute__((always_inline)) static inline bool weft__takes(
	struct weft_category *category, unsigned level, unsigned event)
{
	if (weft__allows(category, level))
		return true;
	if (WEFT__CAN_COUNT && weft__counts(category))
		weft__tally(category, event);
	return false;
}

enum {
	weft__level_given = 0 /* weft_at shadows it */
};

/* clang-format off */
#define WEFT__AT(given, ...) \
	do { \
		_Pragma("GCC diagnostic push") \
		_Pragma("GCC diagnostic ignored \"-Wshadow\"") \
		enum { weft__level_given = (given) }; \
		_Pragma("GCC diagnostic pop") \
		__VA_ARGS__; \
	} while (0)
/* clang-format on */

#define WEFT__OWN_CATEGORY WEFT__APPLY_(weft_category_, WEFT_CATEGORY)
#define WEFT__LEVEL_OR(usual) \
	((unsigned)weft__level_given != 0 ? (unsigned)weft__level_given : (unsigned)(usual))
#define WEFT__TAKES(event, usual) \
	weft__takes(&WEFT__OWN_CATEGORY, WEFT__LEVEL_OR(usual), WEFT__EVENT_##event)
#define WEFT__IS_ON(event)      WEFT__TAKES(event, WEFT_LEVEL_INFO)
#define WEFT__FAILS_ARE_ON      WEFT__TAKES(FAIL, WEFT_LEVEL_ERROR)
#define WEFT__IS_RECORDING      weft__allows(&weft_category_always, WEFT_LEVEL_ERROR)
#define WEFT__WHEN(is_on, call) ((is_on) ? call : (void)0)
#define WEFT__OR_RUNS(event, call, task) \
	(WEFT__IS_ON(event) ? call : WEFT__IS_RECORDING ? weft__runs(task) : (void)0)
#define WEFT__OR_CONTINUES(is_on, call, waiter) \
	((is_on) ? call : WEFT__IS_RECORDING ? weft__operation_continues(waiter) : (void)0)
#define WEFT__OR_UNSEEN(call) (WEFT__IS_ON(CREATE) ? call : weft__create_unseen())

/* WEFT__BY_CATEGORY(F_) is F_PLAIN in files of the categories `program` and `always`, whose tasks
 * are recorded without a category; else it is F_NAMED. */
#define WEFT__IS_PLAIN_program        ~, PLAIN,
#define WEFT__IS_PLAIN_always         ~, PLAIN,
#define WEFT__SECOND(first, two, ...) two
#define WEFT__SECOND_OF(...)          WEFT__SECOND(__VA_ARGS__)
#define WEFT__PLAIN_OR_NAMED          WEFT__SECOND_OF(WEFT__APPLY_(WEFT__IS_PLAIN_, WEFT_CATEGORY), NAMED, ~)
#define WEFT__BY_CATEGORY(f)          WEFT__APPLY_(f, WEFT__PLAIN_OR_NAMED)

#define WEFT__CREATE_PLAIN(kind)           weft_create(kind)
#define WEFT__CREATE_NAMED(kind)           weft__create_in(&WEFT__OWN_CATEGORY, WEFT_TASK_CURRENT, kind)
#define WEFT__CREATE_AS_PLAIN(task, kind)  weft_create_as(task, kind)
#define WEFT__CREATE_AS_NAMED(task, kind)  weft__create_in(&WEFT__OWN_CATEGORY, task, kind)
#define WEFT__CREATE_ID_PLAIN(t, id, kind) weft_create_id(t, id, kind)
#define WEFT__CREATE_ID_NAMED(t, id, kind) weft__create_id_in(&WEFT__OWN_CATEGORY, t, id, kind)
#define WEFT__BEGIN_PLAIN(task, cache, x)  weft__operation_begin(task, cache, x)
#define WEFT__BEGIN_NAMED(task, cache, x) \
	weft__operation_begin_in(&WEFT__OWN_CATEGORY, task, cache, x)
#define WEFT__KIND_PLAIN(cache, name)      weft__kind(cache, name)
#define WEFT__KIND_NAMED(cache, name)      weft__kind_in(&WEFT__OWN_CATEGORY, cache, name)
#define WEFT__RUNDOWN_PLAIN(t, k, l, a, w) weft_rundown_task(t, k, l, a, w)
#define WEFT__RUNDOWN_NAMED(t, k, l, a, w) weft__rundown_in(&WEFT__OWN_CATEGORY, t, k, l, a, w)

#ifndef WEFT__FUNCTIONS /* the recorder's own files define the functions */
#define weft_is_recording()        (WEFT__IS_RECORDING && weft_is_recording())
#define weft_current()             (WEFT__IS_RECORDING ? weft_current() : WEFT_TASK_NONE)
#define weft_create(kind)          WEFT__OR_UNSEEN(WEFT__BY_CATEGORY(WEFT__CREATE_)(kind))
#define weft_create_as(task, kind) WEFT__OR_UNSEEN(WEFT__BY_CATEGORY(WEFT__CREATE_AS_)(task, kind))
#define weft_create_id(t, i, kind) \
	WEFT__WHEN(WEFT__IS_ON(CREATE), WEFT__BY_CATEGORY(WEFT__CREATE_ID_)(t, i, kind))
#define weft_switch(task)          WEFT__WHEN(WEFT__IS_RECORDING, weft_switch(task))
#define weft_enter(task)           WEFT__WHEN(WEFT__IS_RECORDING, weft_enter(task))
#define weft_leave()               WEFT__WHEN(WEFT__IS_RECORDING, weft_leave())
#define weft_thread_name(name)     WEFT__WHEN(WEFT__IS_RECORDING, weft_thread_name(name))
#define weft_snapshot_request(why) WEFT__WHEN(WEFT__IS_RECORDING, weft_snapshot_request(why))
#define weft_rundown_wanted(seen)  (WEFT__IS_RECORDING && weft_rundown_wanted(seen))
#define weft_now()                 (WEFT__IS_RECORDING ? weft_now() : 0)
#define weft_clock_sync(clock, ns) WEFT__WHEN(WEFT__IS_RECORDING, weft_clock_sync(clock, ns))
#define weft_gc(duration_ns)       WEFT__WHEN(WEFT__IS_RECORDING, weft_gc(duration_ns))
#define weft_off_cpu(duration_ns)  WEFT__WHEN(WEFT__IS_RECORDING, weft_off_cpu(duration_ns))
#define weft_moment_begin()        WEFT__WHEN(WEFT__IS_RECORDING, weft_moment_begin())
#define weft_moment_end()          WEFT__WHEN(WEFT__IS_RECORDING, weft_moment_end())
#define weft_fail(target, message) WEFT__WHEN(WEFT__FAILS_ARE_ON, weft_fail(target, message))
#define weft_fail_as(t, x, m)      WEFT__WHEN(WEFT__FAILS_ARE_ON, weft_fail_as(t, x, m))
#define weft_end()                 WEFT__WHEN(WEFT__IS_ON(END), weft_end())
#define weft_end_as(task)          WEFT__WHEN(WEFT__IS_ON(END), weft_end_as(task))

/* Variadic, because the commas of a compound literal, such as (uint64_t[]){a, b}, separate a
 * macro's arguments. */
#define weft_wait_any(count, ...) \
	WEFT__WHEN(WEFT__IS_ON(WAIT_ANY), weft_wait_any(count, __VA_ARGS__))
#define weft_wait_any_as(t, n, ...) \
	WEFT__WHEN(WEFT__IS_ON(WAIT_ANY), weft_wait_any_as(t, n, __VA_ARGS__))

#define weft_rundown_task(t, k, l, a, w) WEFT__BY_CATEGORY(WEFT__RUNDOWN_)(t, k, l, a, w)

#define weft_operation_end(o, w) \
	WEFT__OR_CONTINUES(WEFT__IS_ON(RESOLVE), weft_operation_end(o, w), w)
#define weft_operation_cancel(o, w) \
	WEFT__OR_CONTINUES(WEFT__IS_ON(CANCEL), weft_operation_cancel(o, w), w)
#define weft_operation_fail(o, w, m) \
	WEFT__OR_CONTINUES(WEFT__FAILS_ARE_ON, weft_operation_fail(o, w, m), w)
#endif

/* For adapters, whose labels name functions: records that the function `name` is at `address` in
 * the ELF file `file`, before relocation. Readers of the saved trace then show its source line. */
void weft__code(const char *name, size_t size, const char *file, uint64_t address) WEFT__DIRECT;

/* For adapters: says what they cannot record. `key` is of unseen.def; after "-" it takes back the
 * same fact. `what` is the file, call or number that it is about. */
void weft__unseen(const char *key, const char *what) WEFT__DIRECT;

/* For adapters: calls in which a task waits. `calls` is the list in src/abi/name_abi.h, whose
 * modules are of the buffer with that generation: if it is another one meanwhile, nothing happens.
 * `*cache` is 0 at first, belongs to this text, and has 0 in its bits 16 to 31. Returns true if the
 * buffer has the text; with NULL it is only looked for. weft__stack then records that the current
 * task is about to wait there. */
bool weft__stack_name(
	uint64_t *cache, uint32_t generation, const char *calls, size_t size) WEFT__DIRECT;
void weft__stack(const uint64_t *cache) WEFT__DIRECT;

/* The id of an ELF file for weft__stack_name, and the generation of the buffer that has it. 0:
 * there is no room. `build_id` is in hexadecimal, or "". */
uint16_t weft__module(
	const char *file, const char *build_id, uint32_t *ret_generation) WEFT__DIRECT;

/* The end of a WEFT_TASK_SCOPE. */
__attribute__((unused)) static inline void weft__leave_scope(const char *scope)
{
	(void)scope;
	weft_leave();
}

#define WEFT__TASK_SCOPE(task)                                                   \
	__attribute__((cleanup(weft__leave_scope), unused)) const char WEFT__APPLY_( \
		weft__scope_, __LINE__) = (weft_enter(task), 0)

/* `names`: the mark's name, then the name of each value. */
void weft__mark(uint64_t task, uint64_t *cache, const char *const *names, unsigned count,
	const struct weft_value *values) WEFT__DIRECT;

#define WEFT__QUOTE(x) #x
/* True if the expression is written as a string literal, so that its text never changes at this
 * call site. __builtin_constant_p rejects expressions like "a"[0] == c ? "x" : "y", which also
 * begin and end with a quote. */
#define WEFT__IS_LITERAL(x)                                                           \
	(WEFT__QUOTE(x)[0] == '"' && WEFT__QUOTE(x)[sizeof(WEFT__QUOTE(x)) - 2] == '"' && \
		__builtin_constant_p(x))

#define WEFT__IF(is_on, ...)             \
	do {                                 \
		if (is_on) {                     \
			static uint64_t weft__cache; \
			__VA_ARGS__;                 \
		}                                \
	} while (0)
#define WEFT__ANY_SIZE    ((size_t)-1) /* the text is a C string */
#define WEFT__CACHE(text) (WEFT__IS_LITERAL(text) ? &weft__cache : NULL)

#define WEFT__KIND(name)                                                                \
	__extension__({                                                                     \
		static uint64_t weft__kind_cache;                                               \
		WEFT__IS_RECORDING ? WEFT__BY_CATEGORY(WEFT__KIND_)(&weft__kind_cache, "" name) \
						   : (uint16_t)WEFT_KIND_UNKNOWN;                               \
	})

#define WEFT__OPERATION_BEGIN(task, label)                                          \
	__extension__({                                                                 \
		static uint64_t weft__operation_cache;                                      \
		WEFT__OR_UNSEEN(WEFT__BY_CATEGORY(WEFT__BEGIN_)(                            \
			task, WEFT__IS_LITERAL(label) ? &weft__operation_cache : NULL, label)); \
	})

/* The end of a WEFT_SPAN. Its level was tested at the beginning, and may have changed since. */
__attribute__((unused)) static inline void weft__end_scope(const bool *has_begun)
{
	if (*has_begun)
		(weft_end)();
}

/* clang-format off */
#define WEFT__SPAN(level, name) \
	__attribute__((cleanup(weft__end_scope), unused)) const bool WEFT__APPLY_(weft__span_, __LINE__) = \
		__extension__({ \
			bool weft__is_on = weft__takes(&WEFT__OWN_CATEGORY, level, WEFT__EVENT_BEGIN); \
			WEFT__IF(weft__is_on, weft__span_begin(WEFT_TASK_CURRENT, WEFT__CACHE(name), name)); \
			weft__is_on; \
		})
/* clang-format on */

/* clang-format off */
#define WEFT__SPAN_ON(track, clock, name, begin, end) \
	WEFT__IF(WEFT__IS_ON(SPAN), \
		static uint64_t weft__track_cache; \
		const struct weft_given_span weft__given = { \
			track, name, WEFT__ANY_SIZE, WEFT__ANY_SIZE, \
			WEFT__IS_LITERAL(track) ? &weft__track_cache : NULL, WEFT__CACHE(name), \
			(begin), (end), (clock), 0}; \
		weft__span(&weft__given))
/* clang-format on */

#define WEFT__WITH_TEXT(event, function, task, text) \
	WEFT__IF(WEFT__IS_ON(event), function(task, WEFT__CACHE(text), text))
#define WEFT__WITH_TEXT_AND(event, function, task, text, last) \
	WEFT__IF(WEFT__IS_ON(event), function(task, WEFT__CACHE(text), text, last))
#define WEFT__COUNTED(function, task, name, number)                                             \
	do {                                                                                        \
		static uint64_t weft__cache;                                                            \
		function(&WEFT__OWN_CATEGORY, WEFT__LEVEL_OR(WEFT_LEVEL_INFO), task, WEFT__CACHE(name), \
			name, number);                                                                      \
	} while (0)
#define WEFT__BAND(kind, reason, begin) \
	WEFT__IF(WEFT__IS_RECORDING, weft__band(kind, WEFT__CACHE(reason), reason, begin))

/* clang-format off */
#define WEFT__FORMATTED(event, function, task, ...) \
	WEFT__IF(WEFT__IS_ON(event), \
		const struct weft_value weft__values[] = { \
			{0, 0, {0}} WEFT__APPLY(WEFT__VALUES_, __VA_ARGS__)}; \
		if (0) \
			weft__check_format(__VA_ARGS__); \
		function(task, &weft__cache, "" WEFT__FIRST(__VA_ARGS__, ), \
			(unsigned)(sizeof(weft__values) / sizeof(weft__values[0])) - 1, weft__values + 1))

#define WEFT__MARK(task, ...) \
	WEFT__IF(WEFT__IS_ON(MARK), \
		static const char *const weft__names[] = {WEFT__APPLY(WEFT__NAMES_, __VA_ARGS__)}; \
		const struct weft_value weft__values[] = { \
			{0, 0, {0}} WEFT__APPLY(WEFT__FIELDS_, __VA_ARGS__)}; \
		weft__mark(task, &weft__cache, weft__names, \
			(unsigned)(sizeof(weft__values) / sizeof(weft__values[0])) - 1, weft__values + 1))
/* clang-format on */

__attribute__((format(printf, 1, 2))) static inline void weft__check_format(const char *format, ...)
{
	(void)format;
}

/* Apply a macro by the number of its arguments: APPLY(F_, a, b, c) is F_3(a, b, c). */
#define WEFT__FIRST(x, ...)                                             x
#define WEFT__COUNT(...)                                                WEFT__FOURTEENTH(__VA_ARGS__, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, )
#define WEFT__FOURTEENTH(a, b, c, d, e, f, g, h, i, j, k, l, m, n, ...) n
#define WEFT__PASTE(a, b)                                               a##b
#define WEFT__APPLY_(f, n)                                              WEFT__PASTE(f, n)
#define WEFT__APPLY(f, ...)                                             WEFT__APPLY_(f, WEFT__COUNT(__VA_ARGS__))(__VA_ARGS__)

/* The values of a labelf or notef, without its format. */
#define WEFT__VALUES_1(f)
#define WEFT__VALUES_2(f, a)      , WEFT__VALUE(a)
#define WEFT__VALUES_3(f, a, ...) WEFT__VALUES_2(f, a) WEFT__VALUES_2(f, __VA_ARGS__)
#define WEFT__VALUES_4(f, a, ...) WEFT__VALUES_2(f, a) WEFT__VALUES_3(f, __VA_ARGS__)
#define WEFT__VALUES_5(f, a, ...) WEFT__VALUES_2(f, a) WEFT__VALUES_4(f, __VA_ARGS__)
#define WEFT__VALUES_6(f, a, ...) WEFT__VALUES_2(f, a) WEFT__VALUES_5(f, __VA_ARGS__)
#define WEFT__VALUES_7(f, a, ...) WEFT__VALUES_2(f, a) WEFT__VALUES_6(f, __VA_ARGS__)
#define WEFT__VALUES_8(f, a, ...) WEFT__VALUES_2(f, a) WEFT__VALUES_7(f, __VA_ARGS__)
#define WEFT__VALUES_9(f, a, ...) WEFT__VALUES_2(f, a) WEFT__VALUES_8(f, __VA_ARGS__)

/* The names of a mark. The "" makes the compiler reject anything but literals. */
#define WEFT__NAMES_1(n)             "" n
#define WEFT__NAMES_3(n, k, v)       "" n, "" k
#define WEFT__NAMES_5(n, k, v, ...)  "" n, WEFT__NAMES_3(k, __VA_ARGS__)
#define WEFT__NAMES_7(n, k, v, ...)  "" n, WEFT__NAMES_5(k, __VA_ARGS__)
#define WEFT__NAMES_9(n, k, v, ...)  "" n, WEFT__NAMES_7(k, __VA_ARGS__)
#define WEFT__NAMES_11(n, k, v, ...) "" n, WEFT__NAMES_9(k, __VA_ARGS__)
#define WEFT__NAMES_13(n, k, v, ...) "" n, WEFT__NAMES_11(k, __VA_ARGS__)

/* The values of a mark. */
#define WEFT__FIELDS_1(n)
#define WEFT__FIELDS_3(n, k, v)       , WEFT__VALUE(v)
#define WEFT__FIELDS_5(n, k, v, ...)  , WEFT__VALUE(v) WEFT__FIELDS_3(n, __VA_ARGS__)
#define WEFT__FIELDS_7(n, k, v, ...)  , WEFT__VALUE(v) WEFT__FIELDS_5(n, __VA_ARGS__)
#define WEFT__FIELDS_9(n, k, v, ...)  , WEFT__VALUE(v) WEFT__FIELDS_7(n, __VA_ARGS__)
#define WEFT__FIELDS_11(n, k, v, ...) , WEFT__VALUE(v) WEFT__FIELDS_9(n, __VA_ARGS__)
#define WEFT__FIELDS_13(n, k, v, ...) , WEFT__VALUE(v) WEFT__FIELDS_11(n, __VA_ARGS__)

#ifdef __cplusplus
}
#endif

#include <weft/value.h>

#endif
