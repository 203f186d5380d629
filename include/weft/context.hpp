/* SPDX-License-Identifier: ISC
 *
 * Trace contexts in C++17: a scope is a span of the trace for which the task works.
 *
 *     weft_context_parse(header.data(), header.size(), &remote);
 *     weft::traced_span request{"request", remote};      a child of what was received
 *     {
 *         weft::traced_span query{"query"};              a child of `request`
 *         send(query.header());
 *     }                                                  `request` is current again
 *
 * context.h says what a context is, and weft.hpp how texts and levels are given. A coroutine that
 * is recorded as a task (coroutine.hpp) takes its context along, on whichever thread it continues.
 */
#ifndef WEFT_CONTEXT_HPP
#define WEFT_CONTEXT_HPP

#include <string_view>

#include <weft/context.h>
#include <weft/weft.hpp>

namespace weft
{

/* The context for which the thread's current task works; its members are 0 without one. */
[[nodiscard]] inline weft_context current_context() noexcept
{
	weft_context current{};
	(void)weft_context_current(&current);
	return current;
}

/* A named part of what the current task does, until the end of the scope, with a context of its
 * own, which is current until then. */
class traced_span
{
  public:
	[[nodiscard]] explicit traced_span(text name, where at = {}) noexcept
		: traced_span(name, current_context(), at)
	{
	}
	/* A child of `parent`; if that has no ids, the first span of a trace. */
	[[nodiscard]] traced_span([[maybe_unused]] text name, const weft_context &parent,
		[[maybe_unused]] where at = {}) noexcept
		: outer_(current_context()), own_(parent)
	{
#ifndef WEFT_DISABLED
		has_begun_ =
			weft_ffi_begin(at.handle, at.level, here.id(), name.bytes, name.size, name.cache);
		if (has_begun_)
			weft_ffi_context_begin(at.handle, at.level, &parent, &own_);
		else
			weft_context_set(&own_);
#endif
		weft_context_print(&own_, header_);
	}
	~traced_span()
	{
#ifndef WEFT_DISABLED
		if (has_begun_)
			weft_ffi_end(here.id());
#endif
		weft_context_set(&outer_);
	}
	traced_span(const traced_span &) = delete;
	traced_span &operator=(const traced_span &) = delete;

	[[nodiscard]] const weft_context &context() const noexcept
	{
		return own_;
	}
	/* A `traceparent`, for a request to another program; empty without a context. */
	[[nodiscard]] std::string_view header() const noexcept
	{
		return header_;
	}

  private:
	weft_context outer_, own_;
	[[maybe_unused]] bool has_begun_ = false;
	char header_[WEFT_CONTEXT_TEXT];
};

} // namespace weft

#endif
