/* SPDX-License-Identifier: ISC
 *
 * Records the coroutines of C++20. A promise type is wrapped where it is named:
 *
 *     struct job {
 *         struct promise { ... };                                  as it was
 *         using promise_type = weft::traced_promise<promise>;
 *     };
 *
 * or, for a type of a library that cannot be edited, before its first coroutine:
 *
 *     template <class T, class... Arguments>
 *     struct std::coroutine_traits<library::job<T>, Arguments...> {
 *         using promise_type = weft::traced_promise<typename library::job<T>::promise_type>;
 *     };
 *
 * A coroutine is a task, made by the task that calls it, and has the function's name. It runs from
 * each resumption until it is suspended, and ends with its return, with its exception, or cancelled
 * if it is destroyed before. Awaiting a coroutine that begins then, or that resumes its waiter when
 * it ends, is a wait for its task. For anything else that suspends the coroutine a task of the kind
 * "await" is made, which ends when the coroutine is resumed; it is named by the awaited type and
 * the line: "sleep (kitchen.cpp:37)". co_yield suspends without a wait.
 *
 * Handles may still be of the type std::coroutine_handle<promise>: the wrapped promise has the same
 * address. The category is "coroutine". With WEFT_DISABLED, traced_promise<promise> is promise.
 */
#ifndef WEFT_COROUTINE_HPP
#define WEFT_COROUTINE_HPP

#include <weft/weft.h>

#ifdef WEFT_DISABLED

namespace weft
{
template <class Promise> using traced_promise = Promise;
}

#else

#include <coroutine>
#include <cstdint>
#include <cstring>
#include <exception>
#include <string_view>
#include <type_traits>
#include <utility>

namespace weft
{
namespace coroutine_tracking
{

inline weft_category *category() noexcept
{
	static weft_category *const it = weft_ffi_category("coroutine", 9, "coroutines of C++", 17);
	return it;
}

/* ---- What a thread does next ---- */

/* A coroutine of this thread suspends itself, and may thereby resume another one. */
struct transfer {
	const void *frame = nullptr;           /* of that other one; nullptr: it is not known which */
	std::uint64_t waiter = WEFT_TASK_NONE; /* waits for it, if it begins */
	std::uint64_t *source = nullptr;       /* where the waiter keeps what it waits for */
	std::uint64_t ended = WEFT_TASK_NONE;  /* has ended, and therefore resumes it */
};

inline transfer &latest() noexcept
{
	static thread_local transfer it;
	return it;
}

/* The transfer, if it has resumed this frame. It is over with the first resumption. */
inline transfer take_transfer(const void *frame) noexcept
{
	transfer it = std::exchange(latest(), transfer());
	return !it.frame || it.frame == frame ? it : transfer();
}

/* ---- A coroutine's task ---- */

class task
{
  public:
	task() noexcept = default;
	task(const task &) = delete;
	task &operator=(const task &) = delete;
	~task()
	{
		if (id_ != WEFT_TASK_NONE) /* destroyed while it waited */
			weft_ffi_cancel(category(), 0, WEFT_TASK_CURRENT, id_);
	}

	void create(const char *function) noexcept
	{
		static std::uint64_t cache;
		if (!weft_ffi_is_enabled(category(), WEFT_LEVEL_INFO))
			return;
		weft_ffi_moment_begin();
		id_ = weft_ffi_create(
			category(), 0, WEFT_TASK_CURRENT, weft_ffi_kind("coroutine", 9, &cache));
		weft_ffi_label(category(), 0, id_, function, std::strlen(function), nullptr);
		weft_ffi_moment_end();
	}

	std::uint64_t id() const noexcept
	{
		return id_;
	}
	/* Not in pairs: where one expression awaits several times, gcc calls await_resume only when all
	 * of them are done. */
	void enter() noexcept
	{
		if (id_ != WEFT_TASK_NONE && !std::exchange(is_running_, true))
			weft_ffi_enter(id_);
	}
	void leave() noexcept
	{
		if (std::exchange(is_running_, false))
			weft_ffi_leave();
	}

	/* It has returned, or has thrown an exception with that text. */
	void end(const char *error) noexcept
	{
		std::uint64_t id = std::exchange(id_, WEFT_TASK_NONE);
		if (id == WEFT_TASK_NONE)
			return;
		ended_ = id;
		weft_ffi_moment_begin();
		if (error)
			weft_ffi_fail(category(), 0, WEFT_TASK_CURRENT, id, error, std::strlen(error));
		else
			weft_ffi_resolve(category(), 0, WEFT_TASK_CURRENT, id);
		leave();
		weft_ffi_moment_end();
	}
	std::uint64_t ended() const noexcept
	{
		return ended_;
	}

	/* Its first resumption, perhaps by a coroutine that awaits it. */
	void begin(const void *frame) noexcept
	{
		const transfer from = take_transfer(frame);
		weft_ffi_moment_begin();
		if (from.source && from.waiter != WEFT_TASK_NONE && id_ != WEFT_TASK_NONE) {
			*from.source = id_;
			weft_ffi_try_read(category(), 0, from.waiter, id_);
		}
		enter();
		weft_ffi_moment_end();
	}

  private:
	std::uint64_t id_ = WEFT_TASK_NONE;
	std::uint64_t ended_ = WEFT_TASK_NONE;
	bool is_running_ = false;
};

/* ---- Names ---- */

/* "sleep" of "kitchen::sleep<int>". */
template <class T> constexpr std::string_view name_of() noexcept
{
	std::string_view name = __PRETTY_FUNCTION__;
	name.remove_prefix(name.find("T = ") + 4);
	name = name.substr(0, name.find_first_of("<;]>"));
	return name.substr(name.find_last_of(": ") + 1);
}

/* Where a coroutine awaits something. */
struct location {
	const char *file;
	unsigned line;
};

/* The thing that a coroutine awaits, if that is no coroutine. */
template <class T> std::uint64_t create_awaited(std::uint64_t waiter, location at) noexcept
{
	static std::uint64_t kind_cache, format_cache;
	static constexpr std::string_view format = "%s (%s:%u)", name = name_of<T>();
	const char *slash = std::strrchr(at.file, '/');
	const char *file = slash ? slash + 1 : at.file;
	weft_value values[3] = {};
	values[0].type = values[1].type = WEFT_VALUE_TEXT;
	values[0].size = static_cast<std::uint32_t>(name.size());
	values[0].is.text = name.data();
	values[1].size = static_cast<std::uint32_t>(std::strlen(file));
	values[1].is.text = file;
	values[2].type = WEFT_VALUE_U64;
	values[2].is.u64 = at.line;
	weft_ffi_moment_begin();
	std::uint64_t id =
		weft_ffi_create(category(), 0, waiter, weft_ffi_kind("await", 5, &kind_cache));
	weft_ffi_labelf(category(), 0, id, format.data(), format.size(), &format_cache, 3, values);
	weft_ffi_try_read(category(), 0, waiter, id);
	weft_ffi_moment_end();
	return id;
}

/* ---- Awaiting ---- */

template <class T> decltype(auto) awaiter_of(T &&it)
{
	if constexpr (requires { static_cast<T &&>(it).operator co_await(); })
		return static_cast<T &&>(it).operator co_await();
	else if constexpr (requires { operator co_await(static_cast<T &&>(it)); })
		return operator co_await(static_cast<T &&>(it));
	else
		return static_cast<T &&>(it);
}

/* True for types of coroutines that are recorded themselves. */
template <class T>
concept is_traced = requires
{
	typename std::coroutine_traits<std::remove_cvref_t<T>>::promise_type::weft_promise;
};

/* Calls await_suspend as without us: it may take a handle of the program's own promise. */
template <class Awaiter, class Promise>
auto suspend(Awaiter &awaiter, std::coroutine_handle<Promise> handle)
{
	using own = std::coroutine_handle<typename Promise::weft_promise>;
	if constexpr (requires { awaiter.await_suspend(own()); })
		return awaiter.await_suspend(own::from_address(handle.address()));
	else
		return awaiter.await_suspend(handle);
}

/* The same, and says what the thread does next. Until it returns, the awaiter may resume any
 * coroutine by itself. */
template <class Awaiter, class Promise>
auto suspend_to(Awaiter &awaiter, std::coroutine_handle<Promise> handle, const transfer &next)
{
	using result = decltype(suspend(awaiter, handle));
	latest() = next;
	if constexpr (std::is_void_v<result>) {
		suspend(awaiter, handle);
		latest() = transfer();
	} else if constexpr (std::is_same_v<result, bool>) {
		bool is_suspended = suspend(awaiter, handle);
		latest() = transfer();
		return is_suspended;
	} else {
		auto to = suspend(awaiter, handle);
		latest() = next;
		latest().frame = to.address();
		return to;
	}
}

enum class reason {
	awaits,
	yields
};

/* Where a coroutine may be suspended. `Awaitable` is a value or a reference. */
template <reason Reason, class Awaitable> class suspension_point
{
	static constexpr bool has_source = Reason == reason::awaits;
	static constexpr bool makes_source = has_source && !is_traced<Awaitable>;
	using awaiter = decltype(awaiter_of(std::declval<Awaitable>()));

  public:
	template <class Make>
	suspension_point(task &running, Make make, location at)
		: task_(running), at_(at), awaitable_(make()),
		  awaiter_(awaiter_of(static_cast<Awaitable &&>(awaitable_)))
	{
	}
	suspension_point(const suspension_point &) = delete;
	suspension_point &operator=(const suspension_point &) = delete;

	bool await_ready()
	{
		return static_cast<bool>(awaiter_.await_ready());
	}

	/* Another thread may resume and destroy the coroutine before the awaiter's function returns. So
	 * nothing of this object is used after it, unless it throws: then the coroutine goes on. */
	template <class Promise> auto await_suspend(std::coroutine_handle<Promise> handle)
	{
		const std::uint64_t waiter = task_.id();
		frame_ = handle.address();
		is_suspended_ = true;
		if (makes_source && waiter != WEFT_TASK_NONE)
			source_ = create_awaited<std::remove_cvref_t<Awaitable>>(waiter, at_);
		task_.leave();
		const unsuspended guard{this, std::uncaught_exceptions()};
		const bool may_begin = has_source && !makes_source;
		return suspend_to(awaiter_, handle,
			transfer{nullptr, may_begin ? waiter : WEFT_TASK_NONE, may_begin ? &source_ : nullptr,
				WEFT_TASK_NONE});
	}

	decltype(auto) await_resume()
	{
		if (is_suspended_)
			resume();
		return awaiter_.await_resume();
	}

  private:
	struct unsuspended {
		suspension_point *point;
		int exceptions;
		~unsuspended()
		{
			if (std::uncaught_exceptions() > exceptions)
				point->abandon();
		}
	};

	void abandon() noexcept
	{
		latest() = transfer();
		if (source_ != WEFT_TASK_NONE)
			weft_ffi_cancel(category(), 0, WEFT_TASK_CURRENT, source_);
		task_.enter();
	}

	void resume() noexcept
	{
		const transfer from = take_transfer(frame_);
		weft_ffi_moment_begin();
		if (makes_source && source_ != WEFT_TASK_NONE)
			weft_ffi_resolve(category(), 0, WEFT_TASK_CURRENT, source_);
		else if (has_source && source_ == WEFT_TASK_NONE)
			source_ = from.ended;
		task_.enter();
		if (source_ != WEFT_TASK_NONE && task_.id() != WEFT_TASK_NONE)
			weft_ffi_read_later(category(), 0, WEFT_TASK_CURRENT, source_);
		weft_ffi_moment_end();
	}

	task &task_;
	location at_;
	const void *frame_ = nullptr;
	std::uint64_t source_ = WEFT_TASK_NONE;
	bool is_suspended_ = false;
	Awaitable awaitable_;
	awaiter awaiter_;
};

/* Before a coroutine's body. */
template <class Awaiter> struct initial_point {
	task &task_;
	Awaiter awaiter;
	const void *frame = nullptr;

	bool await_ready()
	{
		return static_cast<bool>(awaiter.await_ready());
	}
	template <class Promise> auto await_suspend(std::coroutine_handle<Promise> handle)
	{
		frame = handle.address();
		return suspend(awaiter, handle);
	}
	void await_resume()
	{
		task_.begin(frame);
		awaiter.await_resume();
	}
};

/* After it: the task has ended. */
template <class Awaiter> struct final_point {
	std::uint64_t ended;
	Awaiter awaiter;

	bool await_ready() noexcept
	{
		return static_cast<bool>(awaiter.await_ready());
	}
	template <class Promise> auto await_suspend(std::coroutine_handle<Promise> handle) noexcept
	{
		return suspend_to(awaiter, handle, transfer{nullptr, WEFT_TASK_NONE, nullptr, ended});
	}
	void await_resume() noexcept
	{
		awaiter.await_resume();
	}
};

} /* namespace coroutine_tracking */

template <class Promise> class traced_promise : public Promise
{
	template <class Make>
	using point_of = coroutine_tracking::suspension_point<coroutine_tracking::reason::awaits,
		decltype(std::declval<Make>()())>;

  public:
	using weft_promise = Promise;
	using Promise::Promise;

	auto initial_suspend(const char *function = __builtin_FUNCTION())
	{
		/* A handle finds the promise at the same offset behind the two pointers of a frame. */
		static_assert(alignof(traced_promise) == alignof(Promise) ||
						  alignof(traced_promise) <= 2 * sizeof(void *),
			"the promise is aligned to more than two pointers");
		task_.create(function);
		using awaiter =
			decltype(coroutine_tracking::awaiter_of(std::declval<Promise &>().initial_suspend()));
		return coroutine_tracking::initial_point<std::remove_reference_t<awaiter>>{
			task_, coroutine_tracking::awaiter_of(Promise::initial_suspend())};
	}

	auto final_suspend() noexcept
	{
		task_.end(nullptr);
		using awaiter =
			decltype(coroutine_tracking::awaiter_of(std::declval<Promise &>().final_suspend()));
		return coroutine_tracking::final_point<std::remove_reference_t<awaiter>>{
			task_.ended(), coroutine_tracking::awaiter_of(Promise::final_suspend())};
	}

#ifdef __cpp_exceptions
	void unhandled_exception()
	{
		try {
			throw;
		} catch (const std::exception &thrown) {
			task_.end(thrown.what());
		} catch (...) {
			task_.end("exception");
		}
		Promise::unhandled_exception();
	}
#endif

	template <class T>
	auto await_transform(
		T &&it, const char *file = __builtin_FILE(), unsigned line = __builtin_LINE())
	{
		auto make = [this, &it]() -> decltype(auto) {
			if constexpr (requires(Promise & promise) {
							  promise.await_transform(static_cast<T &&>(it));
						  })
				return Promise::await_transform(static_cast<T &&>(it));
			else
				return static_cast<T &&>(it);
		};
		return point_of<decltype(make)>(task_, make, {file, line});
	}

	template <class T>
	requires requires(Promise &promise, T &&it)
	{
		promise.yield_value(static_cast<T &&>(it));
	}
	auto yield_value(T &&it)
	{
		auto make = [this, &it]() -> decltype(auto) {
			return Promise::yield_value(static_cast<T &&>(it));
		};
		return coroutine_tracking::suspension_point<coroutine_tracking::reason::yields,
			decltype(make())>(task_, make, {"", 0});
	}

  private:
	coroutine_tracking::task task_;
};

} /* namespace weft */

#endif
#endif
