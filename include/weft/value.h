/* SPDX-License-Identifier: ISC
 *
 * WEFT__VALUE(x): an argument of weft_labelf, weft_notef or weft_mark with its type, by _Generic in
 * C and by overloading in C++. WEFT__COUNTS(add, x), WEFT__COUNTS(set, x): the function that
 * changes a counter by a number of that type. Programs include weft.h, which includes weft_macros.h
 * and that this file.
 */
#ifndef WEFT_VALUE_H
#define WEFT_VALUE_H

#include <weft/weft_macros.h>

static inline struct weft_value weft__i64(int64_t value)
{
	struct weft_value v = {WEFT_VALUE_I64, 0, {0}};
	v.is.i64 = value;
	return v;
}

static inline struct weft_value weft__u64(uint64_t value)
{
	struct weft_value v = {WEFT_VALUE_U64, 0, {0}};
	v.is.u64 = value;
	return v;
}

static inline struct weft_value weft__bool(bool value)
{
	struct weft_value v = {WEFT_VALUE_BOOL, 0, {0}};
	v.is.u64 = value;
	return v;
}

static inline struct weft_value weft__f64(double value)
{
	struct weft_value v = {WEFT_VALUE_F64, 0, {0}};
	v.is.f64 = value;
	return v;
}

static inline struct weft_value weft__text(const char *value)
{
	struct weft_value v = {WEFT_VALUE_TEXT, UINT32_MAX, {0}};
	v.is.text = value;
	return v;
}

static inline struct weft_value weft__pointer(const void *value)
{
	struct weft_value v = {WEFT_VALUE_POINTER, 0, {0}};
	v.is.u64 = (uintptr_t)value;
	return v;
}

static inline void weft__counter_add_at_real(struct weft_category *category, unsigned level,
	uint64_t task, uint64_t *cache, const char *name, double change)
{
	weft__counter_add_at_f64(category, level, task, cache, name, weft__f64(change).is.u64);
}

static inline void weft__counter_set_at_real(struct weft_category *category, unsigned level,
	uint64_t task, uint64_t *cache, const char *name, double value)
{
	weft__counter_set_at_f64(category, level, task, cache, name, weft__f64(value).is.u64);
}

#ifdef __cplusplus

static inline struct weft_value weft__of(const char *value)
{
	return weft__text(value);
}
static inline struct weft_value weft__of(const void *value)
{
	return weft__pointer(value);
}
static inline struct weft_value weft__of(double value)
{
	return weft__f64(value);
}
static inline struct weft_value weft__of(bool value)
{
	return weft__bool(value);
}
static inline struct weft_value weft__of(int value)
{
	return weft__i64(value);
}
static inline struct weft_value weft__of(long value)
{
	return weft__i64(value);
}
static inline struct weft_value weft__of(long long value)
{
	return weft__i64(value);
}
static inline struct weft_value weft__of(unsigned value)
{
	return weft__u64(value);
}
static inline struct weft_value weft__of(unsigned long value)
{
	return weft__u64(value);
}
static inline struct weft_value weft__of(unsigned long long value)
{
	return weft__u64(value);
}
#define WEFT__VALUE(x) weft__of(x)

#define WEFT__COUNTS_TYPE(type, function, as)                                           \
	static inline void weft__count_add(struct weft_category *category, unsigned level,  \
		uint64_t task, uint64_t *cache, const char *name, type change)                  \
	{                                                                                   \
		weft__counter_add_at##function(category, level, task, cache, name, (as)change); \
	}                                                                                   \
	static inline void weft__count_set(struct weft_category *category, unsigned level,  \
		uint64_t task, uint64_t *cache, const char *name, type value)                   \
	{                                                                                   \
		weft__counter_set_at##function(category, level, task, cache, name, (as)value);  \
	}
WEFT__COUNTS_TYPE(double, _real, double)
WEFT__COUNTS_TYPE(long double, _real, double)
WEFT__COUNTS_TYPE(int, , int64_t)
WEFT__COUNTS_TYPE(long, , int64_t)
WEFT__COUNTS_TYPE(long long, , int64_t)
WEFT__COUNTS_TYPE(unsigned, , int64_t)
WEFT__COUNTS_TYPE(unsigned long, , int64_t)
WEFT__COUNTS_TYPE(unsigned long long, , int64_t)
#undef WEFT__COUNTS_TYPE
#define WEFT__COUNTS(verb, x) weft__count_##verb

#else

/* clang-format off */
#define WEFT__VALUE(x) _Generic((x), \
	char *: weft__text, const char *: weft__text, \
	void *: weft__pointer, const void *: weft__pointer, \
	float: weft__f64, double: weft__f64, \
	bool: weft__bool, unsigned char: weft__u64, unsigned short: weft__u64, unsigned: weft__u64, \
	unsigned long: weft__u64, unsigned long long: weft__u64, \
	default: weft__i64)(x)

#define WEFT__COUNTS(verb, x) _Generic((x), \
	float: weft__counter_##verb##_at_real, double: weft__counter_##verb##_at_real, \
	long double: weft__counter_##verb##_at_real, default: weft__counter_##verb##_at)
/* clang-format on */

#endif

#endif
