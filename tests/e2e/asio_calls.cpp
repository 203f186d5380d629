/* SPDX-License-Identifier: ISC
 *
 * Calls the macros of handler tracking as asio does, without asio: each operation ends in its own
 * way. With BOOST, by the names that Boost.Asio gives the macros.
 */
#include <cerrno>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <system_error>

#include <weft/asio.hpp>

#ifdef BOOST
#define HOOK(name) BOOST_ASIO_##name
#else
#define HOOK(name) ASIO_##name
#endif

#if HOOK(HANDLER_REACTOR_READ_EVENT) == 0 || HOOK(HANDLER_REACTOR_WRITE_EVENT) == 0 || \
	HOOK(HANDLER_REACTOR_ERROR_EVENT) == 0
#error a handler is never told of events
#endif

struct io_context {
};

struct operation HOOK(INHERIT_TRACKED_HANDLER) {
};

struct base {
};
struct other_operation : base HOOK(ALSO_INHERIT_TRACKED_HANDLER) {
};

struct misc_category : std::error_category {
	const char *name() const noexcept override
	{
		return "asio.misc";
	}
	std::string message(int) const override
	{
		return "End of file";
	}
};

static io_context context;

/* As in asio, a completion that is left without an invocation means that nobody is called. */
template <class... Arguments>
static void complete(const operation &op, const Arguments &...arguments)
{
	HOOK(HANDLER_COMPLETION((op)));
	HOOK(HANDLER_INVOCATION_BEGIN((arguments...)));
	HOOK(HANDLER_INVOCATION_END);
}

static void fail(const operation &op)
{
	HOOK(HANDLER_COMPLETION((op)));
	HOOK(HANDLER_INVOCATION_BEGIN(()));
	throw std::runtime_error("thrown by a handler");
}

static void forget(const operation &op)
{
	HOOK(HANDLER_COMPLETION((op)));
}

/* A handler that starts the next operation. */
static void chain(const operation &op, operation &next, std::uintmax_t fd)
{
	HOOK(HANDLER_COMPLETION((op)));
	HOOK(HANDLER_INVOCATION_BEGIN((std::error_code(), static_cast<std::size_t>(100))));
	HOOK(HANDLER_CREATION((context, next, "socket", &next, fd, "async_send")));
	HOOK(HANDLER_OPERATION((context, "socket", &next, fd, "close")));
	HOOK(HANDLER_INVOCATION_END);
}

static void in_asio(operation &op)
{
	HOOK(HANDLER_LOCATION(("/usr/include/asio/impl/write.hpp", 300, "async_write")));
	HOOK(HANDLER_CREATION((context, op, "deadline_timer", &op, 0, "async_wait")));
}

static void in_the_program(operation &op)
{
	HOOK(HANDLER_LOCATION(
		("/home/me/server.cpp", 37, "task<std::pair<int, int>> net::serve(socket &, int)")));
	in_asio(op);
}

int main()
{
	static const misc_category misc;
	operation read, write, timer, lookup, accept, signals, thrown, forgotten, missing;
	other_operation unused;
	HOOK(HANDLER_TRACKING_INIT);
	HOOK(HANDLER_REACTOR_REGISTRATION((context, 5, 1)));
	HOOK(HANDLER_REACTOR_EVENTS((context, 1, HOOK(HANDLER_REACTOR_READ_EVENT))));
	HOOK(HANDLER_CREATION((context, read, "socket", &read, 5, "async_receive")));
	HOOK(HANDLER_REACTOR_OPERATION((read, "non_blocking_recv", std::error_code(), 100u)));
	chain(read, write, 5);
	complete(write, std::error_code(EPIPE, std::system_category()), static_cast<std::size_t>(0));
	in_the_program(timer);
	complete(timer, std::error_code(ECANCELED, std::system_category()));
	HOOK(HANDLER_CREATION((context, accept, "socket", &accept, 3, "async_accept")));
	complete(accept, std::error_code(2, misc));
	HOOK(HANDLER_CREATION((context, lookup, "resolver", &lookup, 0, "async_resolve")));
	complete(lookup, std::error_code(), "...");
	HOOK(HANDLER_CREATION((context, signals, "signal_set", &signals, 0, "async_wait")));
	complete(signals, std::error_code(), 15);
	HOOK(HANDLER_CREATION((context, thrown, "io_context", &thrown, 0, "post")));
	try {
		fail(thrown);
	} catch (const std::runtime_error &) {
	}
	HOOK(HANDLER_CREATION((context, forgotten, "io_context", &forgotten, 0, "post")));
	forget(forgotten);
	complete(missing);
	HOOK(HANDLER_REACTOR_DEREGISTRATION((context, 5, 1)));
}
