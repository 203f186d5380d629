/* SPDX-License-Identifier: ISC
 *
 * Records the handlers of asio and of Boost.Asio. The program is only compiled again:
 *
 *     c++ -DASIO_CUSTOM_HANDLER_TRACKING='"weft/asio.hpp"' server.cpp -lweft
 *     c++ -DBOOST_ASIO_CUSTOM_HANDLER_TRACKING='"weft/asio.hpp"' server.cpp -lweft
 *
 * All files of a program need the same option, because it adds members to asio's classes: also the
 * file that includes asio/impl/src.hpp.
 *
 * Each operation that a handler will end is a task, created by the handler that starts it:
 * async_read_some, async_accept, async_wait of a timer, post. The task runs while its handler runs,
 * ends when the handler returns, and fails with the message of the handler's error_code. Between
 * handlers the thread is idle, unless it runs a task of the program that called io_context::run().
 * Coroutines of asio::awaitable are chains of such tasks: each operation that a coroutine awaits
 * continues the one before.
 *
 * The category is "asio". A hook whose category is off costs a function call, two loads and a
 * branch. With WEFT_DISABLED, asio's hooks compile to nothing.
 */
#ifndef WEFT_ASIO_HPP
#define WEFT_ASIO_HPP

#include <weft/weft.h>

#ifndef WEFT_DISABLED

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace weft
{
namespace asio_tracking
{

inline weft_category *category()
{
	static weft_category *const it = weft_ffi_category("asio", 4, "handlers of asio", 16);
	return it;
}

inline bool is_on(unsigned level = WEFT_LEVEL_INFO)
{
	return weft_ffi_is_enabled(category(), level);
}

/* ---- Names ---- */

/* A text of bounded size, because hooks allocate nothing. */
class text
{
  public:
	void append(const char *more, std::size_t size) noexcept
	{
		if (size > sizeof(bytes_) - size_)
			size = sizeof(bytes_) - size_;
		std::memcpy(bytes_ + size_, more, size);
		size_ += size;
	}
	void append(const char *more) noexcept
	{
		append(more, std::strlen(more));
	}
	void append(std::uintmax_t number) noexcept
	{
		char digits[20];
		std::size_t at = sizeof(digits);
		do {
			digits[--at] = static_cast<char>('0' + number % 10);
			number /= 10;
		} while (number && at);
		append(digits + at, sizeof(digits) - at);
	}
	const char *bytes() const noexcept
	{
		return bytes_;
	}
	std::size_t size() const noexcept
	{
		return size_;
	}

  private:
	std::size_t size_ = 0;
	char bytes_[200];
};

/* A location that the program, or asio itself, names for the operations that are started within it.
 */
class location
{
  public:
	location(const char *file, int line, const char *function) noexcept
		: file_(file), function_(function), line_(line), outer_(innermost())
	{
		innermost() = this;
	}
	~location()
	{
		innermost() = outer_;
	}
	location(const location &) = delete;
	location &operator=(const location &) = delete;

	/* " in async_write in serve (server.cpp:37)" */
	static void append_all(text &to) noexcept
	{
		const location *it = innermost();
		for (int count = 0; it && count < 3; it = it->outer_, count++)
			it->append(to);
	}

  private:
	static const location *&innermost() noexcept
	{
		static thread_local const location *it = nullptr;
		return it;
	}

	/* Lines of asio's own headers say less than the function's name. */
	bool is_of_asio() const noexcept
	{
		return std::strstr(file_, "/asio/") && std::strstr(file_, ".hpp");
	}

	/* The name alone of a function whose type is written with it: "task<int> serve(int)". */
	void append_function(text &to) const noexcept
	{
		std::size_t end = std::strcspn(function_, "("), begin = end;
		while (begin > 0 && function_[begin - 1] != ' ')
			begin--;
		to.append(" in ");
		to.append(function_ + begin, end - begin);
	}

	void append(text &to) const noexcept
	{
		if (function_ && *function_)
			append_function(to);
		if (!file_ || is_of_asio())
			return;
		const char *slash = std::strrchr(file_, '/');
		to.append(" (");
		to.append(slash ? slash + 1 : file_);
		to.append(":");
		to.append(static_cast<std::uintmax_t>(line_));
		to.append(")");
	}

	const char *file_, *function_;
	int line_;
	const location *outer_;
};

/* Operations by their names in asio. */
struct word {
	const char *object, *operation; /* the beginnings of both names, without "async_" */
	const char *kind;               /* of the task */
	const char *counter;            /* of the bytes that are transferred, or nullptr */
	std::uint64_t kind_cache, counter_cache;
};

/* Most texts differ at their first byte, for which a call would take longer than this loop. */
inline bool begins_with(const char *text, const char *beginning) noexcept
{
	while (*beginning && *text == *beginning)
		text++, beginning++;
	return !*beginning;
}

inline word *find_word(const char *object, const char *operation) noexcept
{
	static word words[] = {
		{"", "rec", "read", "bytes read", 0, 0},
		{"", "read", "read", "bytes read", 0, 0},
		{"", "send", "write", "bytes written", 0, 0},
		{"", "write", "write", "bytes written", 0, 0},
		{"", "accept", "accept", nullptr, 0, 0},
		{"", "connect", "connect", nullptr, 0, 0},
		{"", "resolve", "lookup", nullptr, 0, 0},
		{"deadline_timer", "wait", "timer", nullptr, 0, 0},
		{"signal_set", "wait", "signal", nullptr, 0, 0},
		{"", "wait", "poll", nullptr, 0, 0},
		{"", "", "work", nullptr, 0, 0},
	};
	bool is_async = begins_with(operation, "async_");
	const char *name = is_async ? operation + 6 : "";
	word *it = words;
	while (!begins_with(name, it->operation) || !begins_with(object, it->object))
		it++;
	return it;
}

inline std::uint16_t kind_of(word *it) noexcept
{
	bool is_timer = std::strcmp(it->kind, "timer") == 0;
	return is_timer ? static_cast<std::uint16_t>(WEFT_KIND_TIMER)
					: weft_ffi_kind(it->kind, std::strlen(it->kind), &it->kind_cache);
}

/* ---- Operations ---- */

/* The base of asio's objects that wait with a handler. */
class tracked_handler
{
  public:
	/* An operation begins. It has no task while the level is off. */
	void create(const char *object, std::uintmax_t native, const char *operation)
	{
		if (!is_on())
			return;
		text label;
		word_ = find_word(object, operation);
		weft_ffi_moment_begin();
		task_ = weft_ffi_create(category(), 0, WEFT_TASK_CURRENT, kind_of(word_));
		label.append(operation);
		label.append(" ");
		label.append(object);
		if (native) {
			label.append(" ");
			label.append(native);
		}
		location::append_all(label);
		weft_ffi_label(category(), 0, task_, label.bytes(), label.size(), nullptr);
		weft_ffi_moment_end();
	}

	/* The system has done it, which another thread may see: the handler waits for a thread. */
	void complete(const char *call) const
	{
		if (task_ != WEFT_TASK_NONE)
			weft_ffi_tag(category(), WEFT_LEVEL_DEBUG, task_, call, std::strlen(call), nullptr);
	}

  protected:
	tracked_handler() noexcept
	{
	}
	~tracked_handler()
	{
	}

  private:
	friend class completion;

	std::uint64_t task_ = WEFT_TASK_NONE;
	word *word_ = nullptr;
};

/* From the time when an operation's handler may be called until it has returned. */
class completion
{
  public:
	explicit completion(const tracked_handler &handler) noexcept
		: task_(handler.task_), word_(handler.word_)
	{
	}

	/* The handler was not called, because the io_context ends, or it has thrown an exception. */
	~completion()
	{
		if (task_ == WEFT_TASK_NONE)
			return;
		if (is_running_)
			end(outcome::failed, "the handler threw an exception", 30);
		else
			weft_ffi_cancel(category(), 0, WEFT_TASK_CURRENT, task_);
	}
	completion(const completion &) = delete;
	completion &operator=(const completion &) = delete;

	void invocation_begin()
	{
		if (task_ != WEFT_TASK_NONE)
			enter();
	}

	template <class Error> void invocation_begin(const Error &error)
	{
		if (task_ == WEFT_TASK_NONE)
			return;
		enter();
		if (error)
			take_error(error);
	}

	template <class Error> void invocation_begin(const Error &error, std::size_t transferred)
	{
		if (task_ == WEFT_TASK_NONE)
			return;
		weft_ffi_moment_begin();
		invocation_begin(error);
		if (word_->counter && transferred)
			weft_ffi_counter_add(category(), 0, task_, word_->counter, std::strlen(word_->counter),
				&word_->counter_cache, static_cast<std::int64_t>(transferred));
		weft_ffi_moment_end();
	}

	template <class Error> void invocation_begin(const Error &error, int signal)
	{
		invocation_begin(error);
		if (task_ != WEFT_TASK_NONE && !error)
			weft_ffi_tag_value(category(), 0, task_, "signal", 6, nullptr, signal);
	}

	template <class Error> void invocation_begin(const Error &error, const char *)
	{
		invocation_begin(error);
	}

	void invocation_end()
	{
		if (task_ != WEFT_TASK_NONE)
			end(outcome_, message_.bytes(), message_.size());
	}

  private:
	enum class outcome {
		resolved,
		failed,
		cancelled,
		closed
	};

	void enter()
	{
		is_running_ = true;
		weft_ffi_enter(task_);
	}

	/* The end of a stream is an error for asio, but not for its reader. */
	template <class Error> void take_error(const Error &error)
	{
		const char *name = error.category().name();
		bool is_misc = std::strcmp(name, "asio.misc") == 0;
		bool is_system = std::strstr(name, "system") != nullptr;
		if (is_misc && error.value() == 2) /* asio::error::eof */
			outcome_ = outcome::closed;
		else if (is_system && error.value() == ECANCELED)
			outcome_ = outcome::cancelled;
		else {
			outcome_ = outcome::failed;
			const auto &message = error.message();
			message_.append(message.data(), message.size());
		}
	}

	void end(outcome how, const char *message, std::size_t size)
	{
		std::uint64_t task = task_;
		task_ = WEFT_TASK_NONE;
		weft_ffi_moment_begin();
		switch (how) {
		case outcome::resolved:
			weft_ffi_resolve(category(), 0, WEFT_TASK_CURRENT, task);
			break;
		case outcome::failed:
			weft_ffi_fail(category(), 0, WEFT_TASK_CURRENT, task, message, size);
			break;
		case outcome::cancelled:
			weft_ffi_cancel(category(), 0, WEFT_TASK_CURRENT, task);
			break;
		case outcome::closed:
			weft_ffi_close(category(), 0, WEFT_TASK_CURRENT, task);
			break;
		}
		weft_ffi_leave();
		weft_ffi_moment_end();
	}

	std::uint64_t task_;
	word *word_;
	bool is_running_ = false;
	outcome outcome_ = outcome::resolved;
	text message_;
};

/* ---- Hooks ---- */

/* asio passes its io_context first, and the object's address, which would make labels of alike
 * operations differ. */
template <class Context>
void creation(Context &, tracked_handler &handler, const char *object, const void *,
	std::uintmax_t native, const char *operation)
{
	handler.create(object, native, operation);
}

/* The running handler closes a socket, or cancels what it waits for. */
template <class Context>
void operation(Context &, const char *object, const void *, std::uintmax_t native, const char *name)
{
	if (!is_on(WEFT_LEVEL_DEBUG) || weft_ffi_current() == WEFT_TASK_NONE)
		return;
	text note;
	note.append(name);
	note.append(" ");
	note.append(object);
	if (native) {
		note.append(" ");
		note.append(native);
	}
	weft_ffi_note(
		category(), WEFT_LEVEL_DEBUG, WEFT_TASK_CURRENT, note.bytes(), note.size(), nullptr);
}

template <class Error>
void reactor_operation(const tracked_handler &handler, const char *name, const Error &)
{
	handler.complete(name);
}
template <class Error>
void reactor_operation(const tracked_handler &handler, const char *name, const Error &, std::size_t)
{
	handler.complete(name);
}

} /* namespace asio_tracking */
} /* namespace weft */

#define ASIO_INHERIT_TRACKED_HANDLER        : public ::weft::asio_tracking::tracked_handler
#define ASIO_ALSO_INHERIT_TRACKED_HANDLER    , public ::weft::asio_tracking::tracked_handler
#define ASIO_HANDLER_LOCATION(args)          ::weft::asio_tracking::location tracked_location args
#define ASIO_HANDLER_CREATION(args)          ::weft::asio_tracking::creation args
#define ASIO_HANDLER_COMPLETION(args)        ::weft::asio_tracking::completion tracked_completion args
#define ASIO_HANDLER_INVOCATION_BEGIN(args)  tracked_completion.invocation_begin args
#define ASIO_HANDLER_INVOCATION_END          tracked_completion.invocation_end()
#define ASIO_HANDLER_OPERATION(args)         ::weft::asio_tracking::operation args
#define ASIO_HANDLER_REACTOR_OPERATION(args) ::weft::asio_tracking::reactor_operation args

#else /* WEFT_DISABLED */

#define ASIO_INHERIT_TRACKED_HANDLER
#define ASIO_ALSO_INHERIT_TRACKED_HANDLER
#define ASIO_HANDLER_LOCATION(args)          ((void)0)
#define ASIO_HANDLER_CREATION(args)          ((void)0)
#define ASIO_HANDLER_COMPLETION(args)        ((void)0)
#define ASIO_HANDLER_INVOCATION_BEGIN(args)  ((void)0)
#define ASIO_HANDLER_INVOCATION_END          ((void)0)
#define ASIO_HANDLER_OPERATION(args)         ((void)0)
#define ASIO_HANDLER_REACTOR_OPERATION(args) ((void)0)

#endif

/* Hooks that nothing is recorded by. */
#define ASIO_HANDLER_TRACKING_INIT                ((void)0)
#define ASIO_HANDLER_REACTOR_REGISTRATION(args)   ((void)0)
#define ASIO_HANDLER_REACTOR_DEREGISTRATION(args) ((void)0)
#define ASIO_HANDLER_REACTOR_READ_EVENT           1
#define ASIO_HANDLER_REACTOR_WRITE_EVENT          2
#define ASIO_HANDLER_REACTOR_ERROR_EVENT          4
#define ASIO_HANDLER_REACTOR_EVENTS(args)         ((void)0)

/* The same in Boost. */
#define BOOST_ASIO_INHERIT_TRACKED_HANDLER        ASIO_INHERIT_TRACKED_HANDLER
#define BOOST_ASIO_ALSO_INHERIT_TRACKED_HANDLER   ASIO_ALSO_INHERIT_TRACKED_HANDLER
#define BOOST_ASIO_HANDLER_LOCATION               ASIO_HANDLER_LOCATION
#define BOOST_ASIO_HANDLER_CREATION               ASIO_HANDLER_CREATION
#define BOOST_ASIO_HANDLER_COMPLETION             ASIO_HANDLER_COMPLETION
#define BOOST_ASIO_HANDLER_INVOCATION_BEGIN       ASIO_HANDLER_INVOCATION_BEGIN
#define BOOST_ASIO_HANDLER_INVOCATION_END         ASIO_HANDLER_INVOCATION_END
#define BOOST_ASIO_HANDLER_OPERATION              ASIO_HANDLER_OPERATION
#define BOOST_ASIO_HANDLER_REACTOR_OPERATION      ASIO_HANDLER_REACTOR_OPERATION
#define BOOST_ASIO_HANDLER_TRACKING_INIT          ASIO_HANDLER_TRACKING_INIT
#define BOOST_ASIO_HANDLER_REACTOR_REGISTRATION   ASIO_HANDLER_REACTOR_REGISTRATION
#define BOOST_ASIO_HANDLER_REACTOR_DEREGISTRATION ASIO_HANDLER_REACTOR_DEREGISTRATION
#define BOOST_ASIO_HANDLER_REACTOR_READ_EVENT     ASIO_HANDLER_REACTOR_READ_EVENT
#define BOOST_ASIO_HANDLER_REACTOR_WRITE_EVENT    ASIO_HANDLER_REACTOR_WRITE_EVENT
#define BOOST_ASIO_HANDLER_REACTOR_ERROR_EVENT    ASIO_HANDLER_REACTOR_ERROR_EVENT
#define BOOST_ASIO_HANDLER_REACTOR_EVENTS         ASIO_HANDLER_REACTOR_EVENTS

#endif
