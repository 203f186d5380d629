/* SPDX-License-Identifier: ISC
 *
 * Tasks in words.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "render/painter.h"

struct words {
	char *text;
	size_t size, used;
};

__attribute__((format(printf, 2, 3))) static void say(struct words *w, const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	int length = vsnprintf(w->text + w->used, w->size - w->used, format, arguments);
	va_end(arguments);
	if (length > 0)
		w->used += (size_t)length;
	if (w->used >= w->size)
		w->used = w->size - 1;
}

static void say_string(struct words *w, struct weft_slice string)
{
	say(w, "%.*s", string.size < 200 ? (int)string.size : 200, string.bytes);
}

static void say_duration(struct words *w, uint64_t ns)
{
	char text[32];
	weft_format_duration(ns, 3, text);
	say(w, "%s", text);
}

static void say_kind(struct words *w, unsigned kind)
{
	const char *name = kind == WEFT_KIND_PREEXISTING ? "preexisting" : weft_kind_name(kind);
	if (name)
		say(w, "%s", name);
	else
		say(w, "kind %u", kind);
}

static void say_name(struct words *w, const struct weft_model *model, uint32_t task)
{
	if (model->tasks.label[task] != WEFT_NONE) {
		say_string(w, weft_model_string(model, model->tasks.label[task]));
		return;
	}
	say_kind(w, model->tasks.kind[task]);
	say(w, " %" PRIu64, model->tasks.id[task]);
}

size_t weft__task_name(const struct weft_model *model, uint32_t task, char *text, size_t size)
{
	struct words w = {text, size, 0};
	say_name(&w, model, task);
	return w.used;
}

static void say_end(struct words *w, const struct painter *p, uint32_t task)
{
	const struct weft_tasks *tasks = &p->model->tasks;
	if (tasks->becomes[task] != WEFT_NONE) {
		say(w, "; became ");
		say_name(w, p->model, tasks->becomes[task]);
	} else if (tasks->flags[task] & WEFT_TASK_NEVER_RESOLVED) {
		say(w, "; never resolved");
	} else if (tasks->flags[task] & WEFT_TASK_FAILED) {
		say(w, "; failed at ");
		say_duration(w, tasks->end[task] - p->scene->start);
		say(w, ": ");
		say_string(w, weft_model_string(p->model, tasks->message[task]));
	} else if (!(tasks->flags[task] & WEFT_TASK_RESOLVED)) {
		say(w, "; unfinished");
	}
}

size_t weft__task_sentence(const struct painter *p, uint32_t task, char *text, size_t size)
{
	const struct weft_tasks *tasks = &p->model->tasks;
	uint32_t runs = tasks->first_activation[task + 1] - tasks->first_activation[task];
	uint32_t parent = tasks->parent[task];
	struct words w = {text, size, 0};
	say_kind(&w, tasks->kind[task]);
	say(&w, " %" PRIu64, tasks->id[task]);
	if (tasks->label[task] != WEFT_NONE) {
		say(&w, " '");
		say_name(&w, p->model, task);
		say(&w, "'");
	}
	say(&w, ": ");
	say_duration(&w, tasks->end[task] - p->layout->start[task]);
	say(&w, " from ");
	say_duration(&w, p->layout->start[task] - p->scene->start);
	if (runs) {
		say(&w, ", ran %" PRIu32 " \xc3\x97 for ", runs);
		say_duration(&w, weft_model_running_ns(p->model, task));
	}
	if (parent != WEFT_NONE) {
		say(&w, "; made by ");
		say_name(&w, p->model, parent);
	}
	say_end(&w, p, task);
	return w.used;
}
