/* SPDX-License-Identifier: ISC
 *
 * Coroutines of C++20 that wait for each other and for timers. weft is in two lines: the include,
 * and the promise_type of `job`.
 */
#include <chrono>
#include <coroutine>
#include <cstdio>
#include <exception>
#include <map>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

#include <weft/coroutine.hpp>

using namespace std::chrono_literals;
using steady = std::chrono::steady_clock;

/* ---- A runtime of two types: sleeping, and jobs that begin when they are awaited ---- */

static std::multimap<steady::time_point, std::coroutine_handle<>> sleepers;

struct sleep_for {
	steady::duration duration;

	bool await_ready() const
	{
		return false;
	}
	void await_suspend(std::coroutine_handle<> waiter) const
	{
		sleepers.emplace(steady::now() + duration, waiter);
	}
	void await_resume() const
	{
	}
};

class job
{
  public:
	struct promise {
		std::coroutine_handle<> waiter = std::noop_coroutine();
		std::exception_ptr error;

		struct end {
			bool await_ready() const noexcept
			{
				return false;
			}
			std::coroutine_handle<> await_suspend(
				std::coroutine_handle<promise> ended) const noexcept
			{
				return ended.promise().waiter;
			}
			void await_resume() const noexcept
			{
			}
		};

		job get_return_object()
		{
			return job(std::coroutine_handle<promise>::from_promise(*this));
		}
		std::suspend_always initial_suspend() const
		{
			return {};
		}
		end final_suspend() const noexcept
		{
			return {};
		}
		void return_void() const
		{
		}
		void unhandled_exception()
		{
			error = std::current_exception();
		}
	};
	using promise_type = weft::traced_promise<promise>;

	job(job &&other) noexcept : handle_(std::exchange(other.handle_, nullptr))
	{
	}
	~job()
	{
		if (handle_)
			handle_.destroy();
	}
	void start() const
	{
		handle_.resume();
	}

	bool await_ready() const
	{
		return handle_.done();
	}
	std::coroutine_handle<> await_suspend(std::coroutine_handle<> waiter) const
	{
		handle_.promise().waiter = waiter;
		return handle_;
	}
	void await_resume() const
	{
		if (handle_.promise().error)
			std::rethrow_exception(handle_.promise().error);
	}

  private:
	explicit job(std::coroutine_handle<promise> handle) : handle_(handle)
	{
	}
	std::coroutine_handle<promise> handle_;
};

static void run()
{
	while (!sleepers.empty()) {
		auto first = sleepers.begin();
		std::this_thread::sleep_until(first->first);
		auto waiter = first->second;
		sleepers.erase(first);
		waiter.resume();
	}
}

/* ---- The program ---- */

static job boil(std::string what, steady::duration duration)
{
	co_await sleep_for{duration};
	std::printf("%s\n", what.c_str());
	if (what == "milk")
		throw std::runtime_error("it boils over");
}

static job cook(std::string what)
{
	try {
		co_await boil("water", 2ms);
		co_await boil(what, 3ms);
	} catch (const std::exception &error) {
		std::printf("%s: %s\n", what.c_str(), error.what());
	}
}

int main()
{
	job first = cook("rice"), second = cook("milk"), third = cook("nothing");
	first.start();
	second.start();
	run();
}
