/* SPDX-License-Identifier: ISC
 *
 * Coroutines of several types: one that begins when it is called, a generator,
 * one whose promise transforms what it awaits; and each form of await_suspend.
 */
#include <coroutine>
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <utility>

#include <weft/coroutine.hpp>

/* ---- Awaitables ---- */

struct ready {
	bool await_ready() const
	{
		return true;
	}
	void await_suspend(std::coroutine_handle<>) const
	{
	}
	int await_resume() const
	{
		return 1;
	}
};

static std::coroutine_handle<> waiting;

struct event {
	bool await_ready() const
	{
		return false;
	}
	void await_suspend(std::coroutine_handle<> waiter) const
	{
		waiting = waiter;
	}
	int await_resume() const
	{
		return 2;
	}
};

struct not_suspended : event {
	bool await_suspend(std::coroutine_handle<>) const
	{
		return false;
	}
};

struct thrown : event {
	void await_suspend(std::coroutine_handle<>) const
	{
		throw std::runtime_error("not awaited");
	}
};

/* With an operator, and an awaiter that cannot be moved. */
template <class T> struct wrapped {
	struct awaiter : event {
		explicit awaiter(int add) : add_(add)
		{
		}
		awaiter(const awaiter &) = delete;
		int await_resume() const
		{
			return event::await_resume() + add_;
		}
		int add_;
	};
	awaiter operator co_await() &&
	{
		return awaiter(10);
	}
};

/* ---- Coroutines ---- */

struct eager {
	struct promise {
		eager get_return_object()
		{
			return {std::coroutine_handle<promise>::from_promise(*this)};
		}
		std::suspend_never initial_suspend() const
		{
			return {};
		}
		struct end : std::suspend_always {
			void await_suspend(std::coroutine_handle<promise> ended) const noexcept
			{
				if (ended.promise().waiter)
					ended.promise().waiter.resume();
			}
		};
		end final_suspend() const noexcept
		{
			return {};
		}
		void return_value(int value)
		{
			result = value;
		}
		void unhandled_exception()
		{
			error = std::current_exception();
		}
		/* A number stands for an event. */
		event await_transform(int) const
		{
			return {};
		}
		template <class T> T &&await_transform(T &&it) const
		{
			return static_cast<T &&>(it);
		}
		int result = 0;
		std::exception_ptr error;
		std::coroutine_handle<> waiter;
	};
	using promise_type = weft::traced_promise<promise>;

	bool await_ready() const
	{
		return handle.done();
	}
	void await_suspend(std::coroutine_handle<> waiter) const
	{
		handle.promise().waiter = waiter;
	}
	int await_resume() const
	{
		return handle.promise().result;
	}

	std::coroutine_handle<promise> handle;
};

struct generator {
	struct promise {
		generator get_return_object()
		{
			return {std::coroutine_handle<promise>::from_promise(*this)};
		}
		std::suspend_always initial_suspend() const
		{
			return {};
		}
		std::suspend_always final_suspend() const noexcept
		{
			return {};
		}
		std::suspend_always yield_value(int number)
		{
			value = number;
			return {};
		}
		void return_void() const
		{
		}
		void unhandled_exception()
		{
		}
		int value = 0;
	};
	using promise_type = weft::traced_promise<promise>;
	std::coroutine_handle<promise> handle;
};

static generator count()
{
	for (int i = 1;; i++)
		co_yield i;
}

static eager inner()
{
	co_return co_await wrapped<int>();
}

static eager each_form()
{
	int sum = co_await ready() + co_await event() + co_await not_suspended() + co_await 7;
	try {
		co_await thrown();
	} catch (const std::runtime_error &error) {
		std::printf("%s\n", error.what());
	}
	co_return sum;
}

static eager outer()
{
	eager awaited = inner();
	int result = co_await awaited;
	awaited.handle.destroy();
	throw result;
}

int main()
{
	eager first = each_form();
	waiting.resume();
	waiting.resume();
	std::printf("%d\n", first.handle.promise().result);
	first.handle.destroy();

	generator numbers = count();
	for (int i = 0; i < 3; i++) {
		numbers.handle.resume();
		std::printf("%d\n", numbers.handle.promise().value);
	}
	numbers.handle.destroy();

	eager second = outer();
	waiting.resume();
	try {
		std::rethrow_exception(second.handle.promise().error);
	} catch (int number) {
		std::printf("%d\n", number);
	}
	second.handle.destroy();
}
