/* SPDX-License-Identifier: ISC
 *
 * The calls of languages_calls.c, by weft.hpp, and what is only in C++: scopes, enumerations.
 */
#include <string>

#include <weft/weft.hpp>

inline weft::category net{"net", "connections"};
static weft::name queue{"queue"}, poll{"poll"};
static weft::mark request{"request", "bytes", "path", "ratio", "is_new"};

enum class change : short {
	down = -5
};

static void format_note()
{
	const weft_value values[] = {weft::detail::value_of(3), weft::detail::value_of("four")};
	weft_ffi_notef(net.handle(), 0, WEFT_TASK_CURRENT, "%d of %s", 8, nullptr, 2, values);
}

int main()
{
	const std::string path = "/index";
	const weft::task task = weft::here.create(WEFT_KIND_TASK, net);
	const weft::task reply = task.create(WEFT_KIND_WAIT, net);
	task.label(std::string_view("accept and more").substr(0, 6), net);
	weft::activation running{task};
	weft::here.try_read(reply, net);
	weft::here.note("not recorded", {net, weft::level::debug});
	weft::here.mark_at(net, request, change::down, path, 0.5f, true);
	format_note();
	weft::here.tag_value("retry", 2, net);
	weft::here.counter_add(queue, -1, net);
	weft::here.counter_set("load", 0.75f, net);
	if (weft::counter_read(queue) != -1)
		weft::here.note("counter_read does not give the value", net);
	{
		weft::moment together;
		weft::band waiting{WEFT_BAND_IDLE, poll};
	}
	weft::here.fail(reply, "timeout", net);
	weft::here.resolve(task, net);
}
