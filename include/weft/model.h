/* SPDX-License-Identifier: ISC
 *
 * The meaning of a trace: tasks, activations, edges, notes, counters, bands, losses.
 *
 * A model is built once from events (weft_model_builder_*) and read-only afterwards: any number of
 * threads may read it. Everything is held in columns with dense indices: a task, an edge or a
 * string is a uint32_t index, and WEFT_NONE means "none". Times are ns on the trace's own clock.
 * Rows, pixels, colours and selections are not part of a model. docs/model.md has the rules.
 */
#ifndef WEFT_MODEL_H
#define WEFT_MODEL_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include <weft/diagnostic.h>
#include <weft/event.h>
#include <weft/trace.h>

#ifdef __cplusplus
extern "C" {
#endif

#define WEFT_NONE UINT32_MAX

/* The kind of a task without a create event in the trace. */
#define WEFT_KIND_PREEXISTING UINT16_MAX

enum weft_edge_type {
	WEFT_EDGE_CREATE,   /* from parent to child; at most one for each task */
	WEFT_EDGE_READ,     /* from the reader to the source it read */
	WEFT_EDGE_TRY_READ, /* from the reader to the source it waits for */
	WEFT_EDGE_RESOLVE,  /* from the resolver to the target */
	WEFT_EDGE_SIGNAL,   /* from the sender to the receiver */
	WEFT_EDGE_BECOME,   /* from the task to what it became */
	WEFT_EDGE_WAIT_ANY, /* from the reader to one of several sources: it waits for the first of them
						   that is done. Those of one wait are consecutive edges of the reader, with
						   one time */
	WEFT_EDGE_RECEIVE,  /* from the sender to the receiver, perhaps in another process; at the time
						   at which it is received */
	WEFT_EDGE_TYPES,
	/* Only in a live model: no edge any more, because a read answered a try_read. */
	WEFT_EDGE_DROPPED = WEFT_EDGE_TYPES
};

/* "create" and so on. */
const char *weft_edge_name(enum weft_edge_type type);

/* How a task ended, or that it has not. */
enum weft_outcome {
#define OUTCOME(id, key, name, flags) WEFT_OUTCOME_##id,
#include <weft/outcomes.def>
#undef OUTCOME
	WEFT_OUTCOMES
};

/* "never resolved" and so on; as a key in output, "never_resolved". */
const char *weft_outcome_name(enum weft_outcome outcome);
const char *weft_outcome_key(enum weft_outcome outcome);

enum weft_task_flags {
	WEFT_TASK_RESOLVED = 1 << 0, /* it has ended, in any way */
	WEFT_TASK_FAILED = 1 << 1,   /* has a message */
	WEFT_TASK_EXPECTED = 1 << 2,
	WEFT_TASK_NEVER_RESOLVED = 1 << 3, /* expected, but did not end; FAILED is set too */
	WEFT_TASK_CREATED = 1 << 4,        /* the trace has its create event */
	WEFT_TASK_NOTED = 1 << 5,          /* a label or note came before its first edge */
	WEFT_TASK_FROM_RUNDOWN = 1 << 6,   /* its kind comes from an alive event */
	WEFT_TASK_STOPPED = 1 << 7,        /* cancelled, closed or timed out; RESOLVED is set too */
};

/* Tasks, in the order of first mention. */
struct weft_tasks {
	uint32_t count;
	const weft_task_id *id;
	const uint32_t *buffer; /* the buffer's number in the trace: ids are unique within one */
	const uint64_t *start;  /* ns */
	const uint64_t *end;    /* ns; exclusive */
#define TASK_COLUMN(name, type, first) const type *name;
#include <weft/task_columns.def>
#undef TASK_COLUMN
	/* Where a task's entries are in other columns: task t has [first[t], end[t]). In a live model,
	 * the columns have unused elements between the entries of two tasks, which must not be read. */
	const uint32_t *first_edge, *end_edge;             /* into edges.by_actor */
	const uint32_t *first_note, *end_note;             /* into notes */
	const uint32_t *first_activation, *end_activation; /* into activations */
};

/* When a task was created that has no create event in the trace, but an alive event. In the
 * order of tasks. The time may be before the trace. */
struct weft_creation {
	uint32_t task;
	uint64_t time; /* ns */
};

/* Edges, in time order, without those that the rules drop; but see WEFT_EDGE_DROPPED. */
struct weft_edges {
	uint32_t count;
	const uint64_t *time;
	const uint32_t *from; /* task; WEFT_NONE: unknown */
	const uint32_t *to;   /* task */
	const uint8_t *type;  /* enum weft_edge_type */
	/* read, try_read, wait_any, resolve and signal edges grouped by `from`, in time order within a
	 * task. (Creates and becomes are in the task's own columns.) */
	uint32_t by_actor_count;
	const uint32_t *by_actor;
	/* When each message was sent whose edge is a receive, in the order of these edges. 0 elements
	 * in the model of a trace that grows. */
	uint32_t sent_count;
	const uint64_t *sent;
};

/* Activations, grouped by task, in time order within a task. None is empty. */
struct weft_activations {
	uint32_t count;
	const uint64_t *start, *end;
	const uint32_t *thread;
};

enum weft_note_type {
	WEFT_NOTE_LABEL,  /* the first is the task's name */
	WEFT_NOTE_TEXT,   /* a note, or a tag without a value */
	WEFT_NOTE_VALUE,  /* a tag with a value: text is the tag */
	WEFT_NOTE_MARK,   /* a mark: text is its name. See weft_model_attribute */
	WEFT_NOTE_CHANGE, /* change of a counter: text is its name, value the change */
	WEFT_NOTE_SET,    /* set of a counter: text is its name, value the new value */
	/* The same with a floating-point number: value has the bits of a double. */
	WEFT_NOTE_REAL_CHANGE,
	WEFT_NOTE_REAL_SET,
};

/* Where in the code tasks were when they began to wait, in time order. */
struct weft_stacks {
	uint32_t count;
	const uint64_t *time;
	const uint32_t *task;
	const uint32_t
		*text; /* string: "say_hello (hello.c:12) ← main (hello.c:20)", the innermost first */
};

/* A thread was found to run a function, by a sample of what threads run. */
struct weft_code_sample {
	uint64_t time;        /* ns */
	uint64_t interval_ns; /* of processor time: the sample stands for so much of it */
	uint32_t buffer;
	uint32_t thread;   /* WEFT_NONE: it recorded nothing */
	uint32_t task;     /* the one that it ran; WEFT_NONE: none is known */
	uint32_t function; /* string: "say_hello"; WEFT_NONE: unknown */
	uint32_t calls;    /* string: with those that called it, and lines, as of weft_stacks */
};

/* Notes, grouped by task, in time order within a task. */
struct weft_notes {
	uint32_t count;
	const uint64_t *time;
	const uint32_t *text; /* string */
	const int64_t *value; /* of LABEL and TEXT 0; of MARK which attributes it has */
	const uint8_t *type;  /* enum weft_note_type */
};

/* The fields of marks. Read them by weft_model_attribute. */
struct weft_attributes {
	uint32_t count;
	const uint64_t *value; /* its bits; of a text the string */
	const uint32_t *name;  /* string */
	const uint8_t *type;   /* enum weft_field_type */
};

/* A value of a counter. */
struct weft_number {
	double real;     /* if it is an integer: the nearest double */
	int64_t integer; /* unless is_real */
	bool is_real;
};

/* A counter is real from its first floating-point number on. */
struct weft_counter {
	uint32_t name;               /* string */
	uint32_t buffer;             /* names are unique within one */
	uint32_t first, count;       /* its samples, in time order */
	uint32_t integers;           /* its first samples, which are integers; the others are real */
	struct weft_number min, max; /* over its samples */
	uint32_t sets;               /* samples that set it; the others changed it */
	bool
		begins_set; /* it has no value before the first sample. Else that is `start`, or unknown: */
	bool begins_at_0;  /* the program said so, of the begin of its record */
	bool begins_total; /* its first sample is no change: it is the value before the trace */
	bool lacks_past;   /* the trace is a part, and changes before it may be missing */
	bool is_relative;  /* values count from one that is unknown, as changes of it are missing */
	struct weft_number start; /* before the first sample; 0 unless the program said otherwise */
	bool is_end_known;        /* of a relative one: the program said its value after all samples */
	struct weft_number end;   /* that value */
};

/* How often a metric (weft/metrics.h) had a value of each size until the end of the record: all of
 * it, or one level of its labels, whose values the levels above it have, too. */
struct weft_histogram {
	uint32_t name, unit; /* strings; unit: "seconds", "bytes" or what the program says; or "" */
	uint32_t labels;     /* string: {"pool":"eu","customer":"acme"}, from the widest level on */
	uint32_t buffer;
	uint32_t first_bucket, bucket_count;
	uint64_t values; /* how many */
	double sum;      /* of the values, in the unit */
};

/* Values that are larger than those of the buckets before it. Only sizes that occurred have one. */
struct weft_bucket {
	double up_to; /* in the histogram's unit; infinite: no limit */
	uint64_t count;
};

struct weft_samples {
	uint32_t count;
	const uint64_t *time;
	const int64_t *value; /* after the change; saturates. See weft_counter_value */
	const uint32_t *task; /* the task that changed it, or WEFT_NONE */
};

#define WEFT_SPAN_DEPTH_MAX 127
#define WEFT_SPAN_AT_MOST   128 /* in the column of depths */

/* A part of what a task did, with a name. It may last over waits of the task. */
struct weft_span {
	uint64_t start, end;
	uint32_t name;   /* string */
	uint8_t depth;   /* the number of spans around it; 127 or more is WEFT_SPAN_DEPTH_MAX */
	bool is_open;    /* only in a live model: it has not ended */
	bool is_at_most; /* it has ended by then, at an unknown time */
};

/* Spans of tasks, grouped by task, in the order of their ends and the inner ones first; none begins
 * after its task's end. Use weft_model_span_count and weft_model_span, which also find open ones.
 */
struct weft_spans {
	uint32_t count;
	const uint64_t *start, *end;
	const uint32_t *name;
	const uint8_t *depth; /* plus WEFT_SPAN_AT_MOST */
	/* By task: its rows are [first[t], last[t]). NULL if the trace has no spans of tasks. */
	const uint32_t *first, *last;
	/* Only in a live model: those that have not ended, by task and the inner ones first. */
	uint32_t open_count;
	const struct weft_open_span *open;
};

/* Times in which a thread had no processor though a task ran on it, grouped by task, in time order.
 * Each is somewhere in [start, end), a part of one activation; parts of a thread do not overlap.
 * Only programs that measure it have any. */
struct weft_off_cpu {
	uint32_t count;
	const uint64_t *start, *end, *ns;
	const uint32_t *thread;
	/* By task: its rows are [first[t], last[t]). NULL if there are none. */
	const uint32_t *first, *last;
};

struct weft_open_span {
	struct weft_span span;
	uint32_t task;
};

struct weft_band_period {
	uint64_t start, end;
	uint32_t thread;
	uint32_t reason; /* string, or WEFT_NONE */
	uint8_t kind;    /* enum weft_band */
};

/* Spans that have ids (weft/context.h), and the traces that these are of. */
struct weft_context_sums {
	uint64_t spans, traces;
	uint64_t begun; /* of the traces: those whose first span is one of the spans */
};

struct weft_model_summary {
	uint32_t preexisting; /* tasks that are known to have existed before the trace */
	uint64_t events;
	uint64_t by_event[WEFT_EVENT_TYPES];
	uint64_t withdrawn;   /* of the send events: those of no task, which send nothing */
	uint64_t raised;      /* of the others: those to any port of a domain, see weft/xen.h */
	uint64_t handled;     /* of the raised ones: those that a receive was joined with */
	uint64_t joined;      /* messages of which both sides are in the trace */
	uint64_t start, last; /* times of the first and last event, ns; 0 and 0 without events */
	uint64_t end;         /* when the last of the programs ended, or `last` if that is unknown */
	/* If only a part of the trace was read: [read_start, read_end). The trace lasts from `start` to
	 * `end`, or longer. 0 and 0: all of it was read. */
	uint64_t read_start, read_end;
	bool live; /* a model snapshot: `end` is now, and tasks that have not ended reach it */
	uint32_t by_outcome[WEFT_OUTCOMES]; /* of tasks that are no lines of tracks */
	uint32_t tracks; /* lines of tracks; the number of tasks is the sum of these and the outcomes */
	struct weft_context_sums contexts; /* only of a model that is a summary alone */
};

/* The time in which a thread is known to exist: from its first activation or band to the end of its
 * last one. */
struct weft_presence {
	uint64_t start, end; /* ns; start > end: it has neither */
};

/* Why nothing is known of a buffer for some time. */
enum weft_dark_reason {
	WEFT_DARK_LOST,   /* events are missing there */
	WEFT_DARK_BEFORE, /* a thread's events before its first one were overwritten */
	WEFT_DARK_AFTER,  /* the program's record has ended, the trace goes on */
	WEFT_DARK_UNREAD, /* only a part of the trace was read: see weft_decoder_build_range() */
	WEFT_DARK_REASONS
};

/* "lost" and so on. */
const char *weft_dark_name(enum weft_dark_reason reason);

/* Dark time: events of the buffer may be missing, so that nothing can be concluded from their
 * absence. */
struct weft_dark {
	uint64_t start, end; /* ns; equal: it is unknown between which events of that time */
	uint32_t buffer;
	uint8_t reason; /* enum weft_dark_reason */
};

struct weft_model {
	struct weft_model_summary summary;
	struct weft_clock clock;
	struct weft_tasks tasks;
	struct weft_edges edges;
	struct weft_activations activations;
	struct weft_notes notes;
	struct weft_attributes attributes;
	struct weft_samples samples;
	struct weft_spans spans;
	struct weft_off_cpu off_cpu;
	struct weft_stacks stacks;
	const struct weft_code_sample *code_samples; /* in time order; none in a live model */
	uint32_t code_sample_count;
	const struct weft_counter *counters; /* in order of first change */
	uint32_t counter_count;
	const struct weft_histogram *histograms; /* by buffer; none in a live model */
	uint32_t histogram_count;
	const struct weft_bucket *buckets;
	uint32_t bucket_count;
	const struct weft_band_period *bands; /* in order of start */
	uint32_t band_count;
	const struct weft_trace_thread *threads; /* copies: the names belong to the model */
	const struct weft_presence *presences;   /* one for each thread */
	uint32_t thread_count;
	uint32_t
		buffer_count; /* a task's or thread's buffer may lie beyond: see weft_trace_buffer_at */
	const struct weft_trace_buffer *buffers; /* copies, too */
	const struct weft_creation *creations;
	uint32_t creation_count;
	const uint32_t *kinds; /* strings: see weft_model_kind_name */
	uint32_t kind_count;
	const uint32_t *categories; /* strings, by the number of the category less 1 */
	uint32_t category_count;
	uint64_t losses[WEFT_LOSS_CAUSES];
	const struct weft_loss_period *loss_periods; /* within the trace; in order of start */
	uint32_t loss_period_count;
	const struct weft_dark *dark; /* by buffer, reason and start; those of one reason are apart */
	uint32_t dark_count;
};

struct weft_model_builder;

int weft_model_builder_create(struct weft_model_builder **ret_builder);
void weft_model_builder_destroy(struct weft_model_builder *builder);

/* A part of a larger trace, in ns on the trace's clock. */
struct weft_model_part {
	uint64_t trace_start_ns, trace_end_ns; /* of the first and the last event of the trace */
	uint64_t start_ns, end_ns;             /* [start_ns, end_ns) is read */
};

/* Says that the events are a part of a larger trace, such as weft_cut_create() makes: the rest of
 * its time is dark. Call it before the first event is added. */
void weft_model_builder_set_part(
	struct weft_model_builder *builder, const struct weft_model_part *part);

/* Adds the next event in time order. An event that breaks the rules (a second create, a second
 * become, …) is counted in `diagnostics` with its offset, and otherwise ignored. */
int weft_model_builder_add(struct weft_model_builder *builder, const struct weft_event *event,
	struct weft_diagnostics *diagnostics);

/* Applies the rules for the end of a trace and returns the model; the builder is then empty and
 * can only be destroyed. `description` is the decoder's at the end. */
int weft_model_builder_finish(struct weft_model_builder *builder,
	const struct weft_trace_description *description, struct weft_model **ret_model);

/* Makes a snapshot: a model of the events so far, while the builder goes on. The rules for the
 * end of a trace are not applied: unended tasks, running tasks and idle bands reach `now_ns`,
 * or the last event if that is later, and no task counts as never resolved. Tasks and
 * edges keep their index in later snapshots of this builder, tasks also in its finished model. The
 * cost is in proportion to the events since the last snapshot, if the one before that was
 * destroyed. Snapshots share memory with the builder; any thread may read and destroy them while
 * the builder goes on. 0, WEFT_ERROR_MEMORY or WEFT_ERROR_LIMIT. */
int weft_model_builder_snapshot(struct weft_model_builder *builder,
	const struct weft_trace_description *description, uint64_t now_ns,
	struct weft_model **ret_model);

void weft_model_destroy(struct weft_model *model);

/* The number of strings; all smaller numbers are valid. */
uint32_t weft_model_string_count(const struct weft_model *model);

/* A string of the model; a NUL follows its bytes. WEFT_NONE gives "". */
struct weft_slice weft_model_string(const struct weft_model *model, uint32_t string);

/* The value of a counter's sample, which is an index of model->samples. */
struct weft_number weft_counter_number(
	const struct weft_model *model, const struct weft_counter *counter, uint32_t sample);

/* The same as the nearest double. */
static inline double weft_counter_value(
	const struct weft_model *model, const struct weft_counter *counter, uint32_t sample)
{
	int64_t value = model->samples.value[sample];
	double real;
	if (sample - counter->first < counter->integers)
		return (double)value;
	memcpy(&real, &value, sizeof(real));
	return real;
}

/* Writes a value of a counter for people: "7", or "+7" if it is relative. Else like
 * weft_number_format(). */
size_t weft_counter_format(
	const struct weft_counter *counter, struct weft_number number, char *buffer, size_t size);

/* Writes a number for people: "7", "3.5". Writes at most `size` bytes with the NUL, returns the
 * full length without it. */
size_t weft_number_format(struct weft_number number, char *buffer, size_t size);

/* "bind", "preexisting", or the name that a program gave to a kind; NULL if it has none. Names of
 * programs may contain any bytes. */
const char *weft_model_kind_name(const struct weft_model *model, unsigned kind);

/* The number of the category "program", which the list of categories does not have. */
#define WEFT_CATEGORY_PROGRAM 255

/* The number of a task's category: the part of the program that created it. 0: the trace does not
 * say, like traces of other formats. A model numbers 254 categories besides "program". */
uint32_t weft_model_category(const struct weft_model *model, uint32_t task);
/* NULL for 0 and for other numbers without a category. Names may contain any bytes. */
const char *weft_model_category_name(const struct weft_model *model, uint32_t category);

/* How many attributes, values with names, a note has: a mark has its fields, a tag with a value has
 * one, whose name is the tag. Other notes have none. */
uint32_t weft_model_attribute_count(const struct weft_model *model, uint32_t note);
/* One of them, by its number from 0 on. Its texts are the model's; a NUL follows their bytes. */
struct weft_field weft_model_attribute(
	const struct weft_model *model, uint32_t note, uint32_t number);

/* For which trace a task works, or a span: see weft/context.h. Texts are the model's, ids
 * lower-case hexadecimal digits. */
struct weft_trace_context {
	const char *trace_id, *span_id;
	const char *parent_span_id; /* NULL: it is the first span of its trace */
	const char *state;          /* NULL: none */
	uint64_t time_ns;           /* when the program said so */
	uint8_t flags;              /* enum weft_context_flag, and others */
	bool is_of_span;            /* it is that of the task's innermost span at that time */
};

/* The context that a note says. False: it says none. */
bool weft_model_note_context(
	const struct weft_model *model, uint32_t note, struct weft_trace_context *ret_context);

/* The context that a task was given last. False if it has none of its own: then it works for that
 * of the task that created it. */
bool weft_model_context(
	const struct weft_model *model, uint32_t task, struct weft_trace_context *ret_context);
/* The same of one of its spans. */
bool weft_model_span_context(const struct weft_model *model, uint32_t task,
	const struct weft_span *span, struct weft_trace_context *ret_context);

/* Writes the text of a note for people: "after-chn-1", "bytes+5", "load=0.7", "queue=7", of a mark
 * with its attributes "sent bytes=7". Writes at most `size` bytes with the NUL, returns the full
 * length without it. */
size_t weft_model_format_note(
	const struct weft_model *model, uint32_t note, char *buffer, size_t size);

/* Writes a task's name: its label, or its id in decimal. At most `size` bytes with the NUL;
 * returns the full length without it. */
size_t weft_model_format_name(
	const struct weft_model *model, uint32_t task, char *buffer, size_t size);

/* The index of the last task with that id, or WEFT_NONE. */
uint32_t weft_model_find_task(const struct weft_model *model, uint32_t buffer, weft_task_id id);

/* When an alert of one of the model's buffers fired; in the trace, though the alert may have come
 * after its last event. */
uint64_t weft_model_alert_time(
	const struct weft_model *model, const struct weft_trace_alert *alert);

/* When a task was created; false if that was before the trace and unknown. */
bool weft_model_creation(const struct weft_model *model, uint32_t task, uint64_t *ret_ns);

/* How long a task ran in all: the sum of its activations. */
uint64_t weft_model_running_ns(const struct weft_model *model, uint32_t task);

/* For how long of that its threads had no processor, as far as the program measured it. */
uint64_t weft_model_off_cpu_ns(const struct weft_model *model, uint32_t task);
/* The same for its activations on a thread, of [start_ns, end_ns] at least. */
uint64_t weft_model_off_cpu_between(const struct weft_model *model, uint32_t task, uint32_t thread,
	uint64_t start_ns, uint64_t end_ns);
/* The same for all tasks on a thread. Examines all losses of the trace. */
uint64_t weft_model_thread_off_cpu(
	const struct weft_model *model, uint32_t thread, uint64_t start_ns, uint64_t end_ns);
/* The calls in which the task began to wait at exactly that time; of several waits, those of the
 * last one. "" if the trace does not say. */
struct weft_slice weft_model_stack_at(
	const struct weft_model *model, uint32_t task, uint64_t time_ns);
/* The first row of model->off_cpu for the task that ends after a time; its last row + 1 if there is
 * none. */
uint32_t weft_model_off_cpu_after(const struct weft_model *model, uint32_t task, uint64_t time_ns);

/* The spans of a task: the number of them, and one by its number, in the order of their ends, the
 * inner ones first. */
uint32_t weft_model_span_count(const struct weft_model *model, uint32_t task);
struct weft_span weft_model_span(const struct weft_model *model, uint32_t task, uint32_t number);
/* The thread whose own spans the task has, which began while the thread ran no task; WEFT_NONE if
 * it is no such track. */
uint32_t weft_model_track_thread(const struct weft_model *model, uint32_t task);
/* The innermost span of a task at a time; false if there is none. */
bool weft_model_span_at(
	const struct weft_model *model, uint32_t task, uint64_t time_ns, struct weft_span *ret_span);
/* The number of the first span of a task that ends after a time, or the number of all. */
uint32_t weft_model_span_after(const struct weft_model *model, uint32_t task, uint64_t time_ns);

/* A dark period of a buffer (WEFT_NONE: of any) that touches [start_ns, end_ns]; NULL if there is
 * none. Of several of one buffer it is one of lost time, if there is one, and the first of these.
 */
const struct weft_dark *weft_model_dark(
	const struct weft_model *model, uint32_t buffer, uint64_t start_ns, uint64_t end_ns);

/* The task that `task` finally became: the end of its chain of becomes, or itself. */
uint32_t weft_model_resolve_become(const struct weft_model *model, uint32_t task);

#ifdef __cplusplus
}
#endif
#endif
