/* SPDX-License-Identifier: ISC
 *
 * The recording interface in C++17: scopes that end by themselves, std::string_view for texts, and
 * marks whose values are checked when they are compiled. weft.h says what each call means.
 *
 *     inline weft::category net{"net", "connections"};
 *     static weft::mark request{"request", "bytes", "path"};
 *
 *     weft::task task = weft::here.create();
 *     task.label(path, net);
 *     {
 *         weft::activation running{task};            until the end of the block
 *         weft::here.mark(request, size, path);
 *         task.resolve(task);
 *     }
 *
 * Methods of a task act as that task: `task.read(source)` is weft_read_as(task, source).
 * `weft::here` is the thread's current task, and none of its calls takes more room in the buffer.
 * The last parameter of each method says where the call belongs: a category, a level, or both as in
 * {net, weft::level::debug}.
 *
 * A text is copied into the event. A weft::name is stored once instead, as a literal in weft.h.
 * Nothing here throws or allocates. With WEFT_DISABLED defined, everything compiles to nothing.
 */
#ifndef WEFT_HPP
#define WEFT_HPP

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string_view>
#include <type_traits>

#include <weft/weft_ffi.h>

namespace weft
{

namespace detail
{
#ifdef WEFT_DISABLED
inline constexpr bool is_compiled = false;
#else
inline constexpr bool is_compiled = true;
#endif

template <class> inline constexpr bool never = false;

template <class T>
inline constexpr bool is_text = std::is_convertible_v<const T &, std::string_view>;
} /* namespace detail */

/* ---- Where a call belongs ---- */

enum class level : unsigned {
	usual,
	error,
	warning,
	info,
	debug,
	trace
};

/* Its name and description are copied. */
class category
{
  public:
	explicit category(std::string_view name, std::string_view description = {}) noexcept
	{
		if constexpr (detail::is_compiled)
			handle_ =
				weft_ffi_category(name.data(), name.size(), description.data(), description.size());
	}
	weft_category *handle() const noexcept
	{
		return handle_;
	}

  private:
	weft_category *handle_ = nullptr;
};

/* A category and a level; the default is "program" and the call's usual level. */
struct where {
	constexpr where() noexcept = default;
	constexpr where(weft::level l) noexcept : level(static_cast<unsigned>(l))
	{
	}
	where(const weft::category &c, weft::level l = weft::level::usual) noexcept
		: handle(c.handle()), level(static_cast<unsigned>(l))
	{
	}

	weft_category *handle = nullptr;
	unsigned level = 0;
};

/* True if calls of that category and level would be recorded. */
inline bool is_enabled([[maybe_unused]] where at = {}) noexcept
{
	if constexpr (detail::is_compiled)
		return weft_ffi_is_enabled(at.handle, at.level);
	else
		return false;
}

/* ---- Texts and values ---- */

/* A literal that is stored once in the buffer. Make it a static or global variable. */
class name
{
  public:
	template <std::size_t N>
	constexpr explicit name(const char (&literal)[N]) noexcept : text_(literal), size_(N - 1)
	{
	}
	template <std::size_t N> explicit name(char (&)[N]) = delete;
	template <class T, std::enable_if_t<!std::is_array_v<T>, int> = 0> explicit name(const T &)
	{
		static_assert(
			detail::never<T>, "a weft::name is a string literal; other texts need no weft::name");
	}
	name(const name &) = delete;
	name &operator=(const name &) = delete;

  private:
	friend class text;
	const char *text_;
	std::size_t size_;
	mutable std::uint64_t cache_ = 0;
};

/* The texts of methods: a weft::name, or anything that converts to std::string_view. */
class text
{
  public:
	constexpr text(const name &n) noexcept : bytes(n.text_), size(n.size_), cache(&n.cache_)
	{
	}
	constexpr text(const char *s) noexcept : text(s ? std::string_view(s) : std::string_view())
	{
	}
	template <class T, std::enable_if_t<detail::is_text<T>, int> = 0>
	constexpr text(const T &s) noexcept : text(std::string_view(s))
	{
	}
	constexpr text(std::string_view s) noexcept : bytes(s.data()), size(s.size())
	{
	}

	const char *bytes;
	std::size_t size;
	std::uint64_t *cache = nullptr;
};

/* A kind of your own, by its name: `task.create(weft::kind(job))` with a weft::name `job`. Call it
 * where the task is created, because the number belongs to the present buffer. */
[[nodiscard]] inline std::uint16_t kind([[maybe_unused]] text name) noexcept
{
	if constexpr (detail::is_compiled)
		return weft_ffi_kind(name.bytes, name.size, name.cache);
	else
		return WEFT_KIND_UNKNOWN;
}

namespace detail
{
inline weft_value text_value(std::string_view s) noexcept
{
	weft_value v{WEFT_VALUE_TEXT, UINT32_MAX, {}};
	if (s.size() < UINT32_MAX)
		v.size = static_cast<std::uint32_t>(s.size());
	v.is.text = s.data();
	return v;
}

inline weft_value signed_value(std::int64_t n) noexcept
{
	weft_value v{WEFT_VALUE_I64, 0, {}};
	v.is.i64 = n;
	return v;
}

inline weft_value unsigned_value(std::uint64_t n, weft_value_type type = WEFT_VALUE_U64) noexcept
{
	weft_value v{static_cast<std::uint32_t>(type), 0, {}};
	v.is.u64 = n;
	return v;
}

inline weft_value real_value(double n) noexcept
{
	weft_value v{WEFT_VALUE_F64, 0, {}};
	v.is.f64 = n;
	return v;
}

template <class T> weft_value value_of(const T &value) noexcept
{
	if constexpr (std::is_enum_v<T>) {
		return value_of(static_cast<std::underlying_type_t<T>>(value));
	} else if constexpr (std::is_same_v<T, bool>) {
		return unsigned_value(value, WEFT_VALUE_BOOL);
	} else if constexpr (std::is_integral_v<T>) {
		static_assert(sizeof(T) <= 8, "a value of a mark has at most 64 bits");
		if constexpr (std::is_signed_v<T>)
			return signed_value(value);
		else
			return unsigned_value(value);
	} else if constexpr (std::is_floating_point_v<T>) {
		return real_value(static_cast<double>(value));
	} else if constexpr (std::is_pointer_v<T> && is_text<T>) {
		return text_value(value ? std::string_view(value) : std::string_view("(null)"));
	} else if constexpr (is_text<T>) {
		return text_value(value);
	} else if constexpr (std::is_pointer_v<T>) {
		return unsigned_value(reinterpret_cast<std::uintptr_t>(value), WEFT_VALUE_POINTER);
	} else {
		static_assert(never<T>, "a value of a mark is an integer, a floating-point number, an "
								"enumeration, a pointer, or convertible to std::string_view");
	}
}
} /* namespace detail */

/* A mark's name and the names of its values, all literals. Make it a static or global variable. */
template <std::size_t Count, std::size_t Size> class mark
{
	static_assert(Size > 0, "the names of a weft::mark are string literals");
	static_assert(Count <= 15, "a weft::mark has at most 15 values");
	static_assert(Size <= 1024, "the names of a weft::mark have at most 1024 bytes");

  public:
	template <std::size_t... N> constexpr explicit mark(const char (&...names)[N]) noexcept
	{
		std::size_t at = 0;
		(append(names, at), ...);
	}
	mark(const mark &) = delete;
	mark &operator=(const mark &) = delete;

  private:
	friend class task;

	/* The literal's NUL separates it from the next one. */
	template <std::size_t N>
	constexpr void append(const char (&literal)[N], std::size_t &at) noexcept
	{
		for (std::size_t i = 0; i < N; i++)
			names_[at++] = literal[i];
	}

	char names_[Size > 0 ? Size : 1]{};
	mutable std::uint64_t cache_ = 0;
};

template <std::size_t... N> mark(const char (&...names)[N]) -> mark<sizeof...(N) - 1, (N + ...)>;
template <class... T>
mark(const T &...names) -> mark<0, 0>; /* for the message of its static_assert */

/* ---- Tasks ---- */

class task
{
  public:
	constexpr explicit task(std::uint64_t id) noexcept : id_(id)
	{
	}
	constexpr std::uint64_t id() const noexcept
	{
		return id_;
	}
	friend constexpr bool operator==(task a, task b) noexcept
	{
		return a.id_ == b.id_;
	}
	friend constexpr bool operator!=(task a, task b) noexcept
	{
		return a.id_ != b.id_;
	}

	/* This task creates another; `kind`: enum weft_kind, or weft::kind(). */
	[[nodiscard]] task create([[maybe_unused]] std::uint16_t kind = WEFT_KIND_TASK,
		[[maybe_unused]] where at = {}) const noexcept
	{
		if constexpr (detail::is_compiled)
			return task(weft_ffi_create(at.handle, at.level, id_, kind));
		else
			return task(0);
	}

	/* Calls about this task, and another or a text: task.resolve(other), task.send(key),
	 * task.expect(), task.label("text"), each with a category and a level as the last argument. */
#define WEFT__EDGE(name, other, event, small, runs, text) \
	void name(task other, where at = {}) const noexcept   \
	{                                                     \
		call<weft_ffi_##name>(other.id_, at);             \
	}
#define WEFT__MESSAGE(name, event, text)                       \
	void name(std::uint64_t key, where at = {}) const noexcept \
	{                                                          \
		call<weft_ffi_##name>(key, at);                        \
	}
#define WEFT__STATEMENT(name, event, text)  \
	void name(where at = {}) const noexcept \
	{                                       \
		call<weft_ffi_##name>(at);          \
	}
#define WEFT__TEXT(name, event, meaning)            \
	void name(text t, where at = {}) const noexcept \
	{                                               \
		call_with_text<weft_ffi_##name>(t, at);     \
	}
#include <weft/calls.def>

	/* It waits for several tasks, reads the first one that is done, and lets the others go. */
	void wait_any([[maybe_unused]] const task *sources, [[maybe_unused]] std::size_t count,
		[[maybe_unused]] where at = {}) const noexcept
	{
		static_assert(sizeof(task) == sizeof(std::uint64_t), "a task is its id");
		if constexpr (detail::is_compiled)
			weft_ffi_wait_any(at.handle, at.level, id_,
				reinterpret_cast<const std::uint64_t *>(sources), static_cast<unsigned>(count));
	}
	void wait_any(std::initializer_list<task> sources, where at = {}) const noexcept
	{
		wait_any(sources.begin(), sources.size(), at);
	}
	void fail([[maybe_unused]] task target, [[maybe_unused]] text message,
		[[maybe_unused]] where at = {}) const noexcept
	{
		if constexpr (detail::is_compiled)
			weft_ffi_fail(at.handle, at.level, id_, target.id_, message.bytes, message.size);
	}

	/* An operation that this task waits for; its end, after which `waiter` runs. */
	[[nodiscard]] task begin_operation(
		[[maybe_unused]] text label, [[maybe_unused]] where at = {}) const noexcept
	{
		if constexpr (detail::is_compiled)
			return task(weft_ffi_operation_begin(
				at.handle, at.level, id_, label.bytes, label.size, label.cache));
		else
			return task(0);
	}
	void end_operation([[maybe_unused]] task waiter, [[maybe_unused]] where at = {}) const noexcept
	{
		if constexpr (detail::is_compiled)
			weft_ffi_operation_end(at.handle, at.level, id_, waiter.id_);
	}
	void cancel_operation(
		[[maybe_unused]] task waiter, [[maybe_unused]] where at = {}) const noexcept
	{
		if constexpr (detail::is_compiled)
			weft_ffi_operation_cancel(at.handle, at.level, id_, waiter.id_);
	}
	void fail_operation([[maybe_unused]] task waiter, [[maybe_unused]] text message,
		[[maybe_unused]] where at = {}) const noexcept
	{
		if constexpr (detail::is_compiled)
			weft_ffi_operation_fail(
				at.handle, at.level, id_, waiter.id_, message.bytes, message.size);
	}

	void tag(text t, where at = {}) const noexcept
	{
		call_with_text<weft_ffi_tag>(t, at);
	}
	void tag_value(text t, std::int64_t value, where at = {}) const noexcept
	{
		call_with_number<weft_ffi_tag_value>(t, value, at);
	}
	/* A floating-point number keeps its fraction. */
	template <class Number>
	void counter_add(text counter, Number change, where at = {}) const noexcept
	{
		if constexpr (std::is_floating_point_v<Number>)
			call_with_number<weft_ffi_counter_add_f64>(counter, static_cast<double>(change), at);
		else
			call_with_number<weft_ffi_counter_add>(counter, whole(change), at);
	}
	template <class Number>
	void counter_set(text counter, Number value, where at = {}) const noexcept
	{
		if constexpr (std::is_floating_point_v<Number>)
			call_with_number<weft_ffi_counter_set_f64>(counter, static_cast<double>(value), at);
		else
			call_with_number<weft_ffi_counter_set>(counter, whole(value), at);
	}

	template <std::size_t Count, std::size_t Size, class... T>
	void mark(const weft::mark<Count, Size> &shape, const T &...values) const noexcept
	{
		mark_at({}, shape, values...);
	}
	template <std::size_t Count, std::size_t Size, class... T>
	void mark_at([[maybe_unused]] where at, [[maybe_unused]] const weft::mark<Count, Size> &shape,
		const T &...values) const noexcept
	{
		static_assert(sizeof...(T) == Count, "a mark takes one value for each of its names");
		if constexpr (detail::is_compiled) {
			const weft_value list[Count + 1] = {detail::value_of(values)...};
			weft_ffi_mark(at.handle, at.level, id_, shape.names_, Size - 1, &shape.cache_,
				static_cast<unsigned>(Count), list);
		} else {
			(static_cast<void>(values), ...);
		}
	}

  private:
	template <void (*function)(weft_category *, unsigned, std::uint64_t, std::uint64_t)>
	void call([[maybe_unused]] std::uint64_t other, [[maybe_unused]] where at) const noexcept
	{
		if constexpr (detail::is_compiled)
			function(at.handle, at.level, id_, other);
	}
	template <void (*function)(weft_category *, unsigned, std::uint64_t)>
	void call([[maybe_unused]] where at) const noexcept
	{
		if constexpr (detail::is_compiled)
			function(at.handle, at.level, id_);
	}
	template <void (*function)(
		weft_category *, unsigned, std::uint64_t, const char *, std::size_t, std::uint64_t *)>
	void call_with_text([[maybe_unused]] text t, [[maybe_unused]] where at) const noexcept
	{
		if constexpr (detail::is_compiled)
			function(at.handle, at.level, id_, t.bytes, t.size, t.cache);
	}
	template <class Number> static std::int64_t whole(Number number) noexcept
	{
		static_assert(std::is_convertible_v<Number, std::int64_t>,
			"a counter's value is an integer or a floating-point number");
		return static_cast<std::int64_t>(number);
	}
	template <auto function, class Number>
	void call_with_number([[maybe_unused]] text t, [[maybe_unused]] Number number,
		[[maybe_unused]] where at) const noexcept
	{
		if constexpr (detail::is_compiled)
			function(at.handle, at.level, id_, t.bytes, t.size, t.cache, number);
	}

	std::uint64_t id_;
};

inline constexpr task here{WEFT_TASK_CURRENT}; /* the thread's current task, whichever it is */
inline constexpr task none{WEFT_TASK_NONE};

/* The id of the thread's current task; `none` if there is none or recording is off. */
[[nodiscard]] inline task current() noexcept
{
	if constexpr (detail::is_compiled)
		return task(weft_ffi_current());
	else
		return none;
}

/* The task runs on this thread from now on; `none`: the thread is idle. */
inline void switch_to([[maybe_unused]] task t) noexcept
{
	if constexpr (detail::is_compiled)
		weft_ffi_switch(t.id());
}

/* ---- Scopes ---- */

/* The task runs until the end of the scope; then the one that ran before. */
class activation
{
  public:
	[[nodiscard]] explicit activation([[maybe_unused]] task t) noexcept
	{
		if constexpr (detail::is_compiled)
			weft_ffi_enter(t.id());
	}
	~activation()
	{
		if constexpr (detail::is_compiled)
			weft_ffi_leave();
	}
	activation(const activation &) = delete;
	activation &operator=(const activation &) = delete;
};

/* A named part of what the task does, until the end of the scope. */
class span
{
  public:
	[[nodiscard]] explicit span(
		[[maybe_unused]] text name, [[maybe_unused]] where at = {}, task t = here) noexcept
		: task_(t)
	{
		if constexpr (detail::is_compiled)
			has_begun_ =
				weft_ffi_begin(at.handle, at.level, t.id(), name.bytes, name.size, name.cache);
	}
	~span()
	{
		if constexpr (detail::is_compiled)
			if (has_begun_)
				weft_ffi_end(task_.id());
	}
	span(const span &) = delete;
	span &operator=(const span &) = delete;

  private:
	task task_;
	bool has_begun_ = false;
};

/* A span that another clock measured, on a track. `clock`: enum weft_clock_number. */
inline void given_span([[maybe_unused]] text track, [[maybe_unused]] unsigned clock,
	[[maybe_unused]] text name, [[maybe_unused]] std::uint64_t begin,
	[[maybe_unused]] std::uint64_t end, [[maybe_unused]] where at = {}) noexcept
{
	if constexpr (detail::is_compiled) {
		const weft_given_span given{track.bytes, name.bytes, track.size, name.size, track.cache,
			name.cache, begin, end, clock, 0};
		weft_ffi_span(at.handle, at.level, &given);
	}
}

/* The value of this process's counter of that name, rounded towards 0, also while nothing is
 * recorded; 0 if there is none. */
[[nodiscard]] inline std::int64_t counter_read([[maybe_unused]] text counter) noexcept
{
	if constexpr (detail::is_compiled)
		return weft_ffi_counter_read(counter.bytes, counter.size);
	else
		return 0;
}

/* Events of this thread in the scope share one stamp. Moments do not nest. */
class moment
{
  public:
	[[nodiscard]] moment() noexcept
	{
		if constexpr (detail::is_compiled)
			weft_ffi_moment_begin();
	}
	~moment()
	{
		if constexpr (detail::is_compiled)
			weft_ffi_moment_end();
	}
	moment(const moment &) = delete;
	moment &operator=(const moment &) = delete;
};

/* A period of the whole thread. The reason must stay valid until the end of the scope. */
class band
{
  public:
	[[nodiscard]] explicit band(weft_band kind, text reason = "") noexcept
		: kind_(static_cast<unsigned>(kind)), reason_(reason)
	{
		if constexpr (detail::is_compiled)
			weft_ffi_band_begin(kind_, reason_.bytes, reason_.size, reason_.cache);
	}
	~band()
	{
		if constexpr (detail::is_compiled)
			weft_ffi_band_end(kind_, reason_.bytes, reason_.size, reason_.cache);
	}
	band(const band &) = delete;
	band &operator=(const band &) = delete;

  private:
	unsigned kind_;
	text reason_;
};

} /* namespace weft */

#endif
