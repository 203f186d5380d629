# SPDX-License-Identifier: ISC
"""One-line bugs, each with the tests that should see it: Mutant(file, old text, new text, tests).

The old text must be in the file exactly once. A test is the name of a unit test, or `e2e/NAME`. Quick tests come
first. If a change makes a mutant meaningless, replace it by another in the same folder. One that cannot change what
the program does stays out of the count, with the reason in `equivalent`.
"""
from collections import namedtuple

Mutant = namedtuple('Mutant', 'file old new tests equivalent', defaults=(None,))


def in_file(file, *bugs):
    """Several bugs of one file: (old, new, tests, [why it is equivalent])."""
    return [Mutant(file, bug[0], bug[1], bug[2].split(), *bug[3:]) for bug in bugs]


MUTANTS = [
    # ---- base ----
    *in_file(
        'src/base/sort.c',
        ('if (kept == 0 || values[kept - 1] != values[i])', 'if (kept <= 1 || values[kept - 1] != values[i])',
         'base layout'),
        ('for (unsigned shift = low_bit; shift < 64; shift += d->bits)',
         'for (unsigned shift = low_bit; shift < 53; shift += d->bits)', 'base'),
    ),
    *in_file(
        'src/base/search.h',
        ('((const uint64_t *)keys)[row] < key;', '((const uint64_t *)keys)[row] <= key;', 'base layout render')),
    *in_file(
        'src/base/hash.c',
        ('weft__hash_word(&hash, word | last);', 'weft__hash_word(&hash, word);', 'base model story')),
    *in_file(
        'src/base/duration.c',
        ('while (unit < 3 && value >= 999.5) {', 'while (unit < 3 && value > 1000) {', 'render'),
        ('value < 9.9995 ? 1 :', 'value < 99.9995 ? 1 :', 'render')),
    *in_file(
        'src/base/parse.c',
        ('number <= UINT64_MAX >> 4;', 'number <= UINT64_MAX >> 3;', 'number'),
        ('fits = fits && !__builtin_mul_overflow', 'fits = !__builtin_mul_overflow', 'number')),
    *in_file(
        'src/base/field.h',
        ('|| number > most)', '|| number >= most)', 'base'),
        ('for (; index; index--) {', 'for (; index > 1; index--) {', 'base')),
    *in_file(
        'src/base/utf8.c',
        ("byte == 0xed ? 0x9f : 0xbf", "byte == 0xed ? 0xbf : 0xbf", 'text'),
        ('if (byte < 0xc2)', 'if (byte < 0xc0)', 'text'),
        ('(c >= 0x2066 && c <= 0x2069)', '(c >= 0x2066 && c < 0x2069)', 'text')),
    *in_file(
        'src/base/text.c',
        ('if (number >= 10)', 'if (number > 10)', 'text')),
    # ---- agent ----
    *in_file(
        'src/agent/rollup.c',
        ('return count == 1 ? above : NONE;', 'return above;', 'rollup'),
        ('row->is_left_out = level->is_left_out;', '', 'rollup'),
        ('row->label[row->counter.label_count - 1] = own;', '', 'rollup'),
        ('return text && row->label &&', 'return row->label ||', 'rollup')),
    *in_file(
        'src/agent/labels.c',
        ('0x10000 + ((character', '((character', 'agent')),
    *in_file(
        'src/agent/webhook.c',
        ('sqlite3_column_type(row, 3) != SQLITE_TEXT || ', '', 'e2e/agent_http')),
    *in_file(
        'apps/weft/serve/tokens.c',
        ('token->label_count ? NULL :', 'token ? NULL :', 'e2e/agent_attack')),
    *in_file(
        'apps/weft/agent/http.c',
        ('if (*ret_bound && ', 'if (!is_post && *ret_bound && ', 'e2e/agent_attack')),
    # ---- metrics ----
    *in_file(
        'src/metrics/levels.c',
        ('links[above].has_below = true;', 'links[i].has_below = true;',
         'exposition'),
        ('samples[i].counter->label_count <= depth', 'samples[i].counter->label_count < depth',
         'exposition')),
    *in_file(
        'src/metrics/names.c',
        ('!is_digit(at[3]) && !is_letter(at[3]);', "at[3] == '_';",
         'exposition'),
        ('if (is_digit(*name)) /* may', "if (*name == '0') /* may",
         'exposition')),
    *in_file(
        'src/metrics/families.c',
        ('else if (!is_first && strcmp(last.labels, it.labels) == 0)', 'else if (!is_first && last.labels == it.labels)',
         'exposition'),
        ('bool is_unknown[2] = {lc->type == WEFT__RUNS_UNKNOWN, rc->type == WEFT__RUNS_UNKNOWN};', 'bool is_unknown[2] = {lc->type != WEFT__RUNS_UNKNOWN, rc->type != WEFT__RUNS_UNKNOWN};',
         'exposition')),
    *in_file(
        'src/metrics/value.c',
        ('if (!has_label(sample, labels[i]))', 'if (i && !has_label(sample, labels[i]))', 'rollup'),
        ('rest || at >= point;', 'rest || at > point;',
         'exposition'),
        ('if (below >= part * all)', 'if (below > part * all)',
         'exposition')),
    *in_file(
        'src/metrics/accept.c',
        ('it.quality > welcome->quality', 'it.quality < welcome->quality',
         'exposition')),
    *in_file(
        'src/metrics/exposition.c',
        ('i % CELLS_PER_BUCKET != 0 || i + 1 >= histogram->cell_count', 'i % CELLS_PER_BUCKET != 0',
         'exposition')),
    # ---- format ----
    *in_file(
        'src/format/weft/follow/incoming.c',
        ('if (header->state == 0 || weft__format_packet_state(header) == WEFT_ABI_PACKET_OPENING)', 'if (header->state == 0)',
         'chunks'),
        ('header->committed <= chunk->bytes', 'header->committed <= chunk->bytes + 8', 'chunks'),
        ('if (losses[WEFT_LOSS_STALLED] > stalled)', 'if (losses[WEFT_LOSS_STALLED] < stalled)', 'incoming chunks'),
        ('	b->names_bytes = bytes;\n', '	(void)bytes;\n', 'chunks'),
        ('if (seen.list[i].offset == HEADER_AT(clock_hz))', 'if (false)', 'chunks')),
    *in_file(
        'src/format/weft/saved.c',
        ('		weft__format_queue_settle(&f->queue);\n', '', 'chunks'),
        ('weft__ns_add(order.list[first].time_ns, WEFT__SPAN_NS)', 'weft__ns_add(order.list[0].time_ns, WEFT__SPAN_NS)',
         'chunks'),
        ('if (last > first && last - first > WEFT__SPAN_NS)', 'if (last > first && last - first > WEFT__SPAN_NS / 2)',
         'chunks', 'packets of half the span are all found to be in it')),
    *in_file(
        'src/format/weft/stream.c',
        ('chunk->at <= s->texts[s->text_count - 1].number', 'chunk->at < s->texts[s->text_count - 1].number', 'chunks'),
        ('weft__load_u64(chunk->content) > chunk->bytes - sizeof(uint64_t)', 'weft__load_u64(chunk->content) > chunk->bytes',
         'chunks'),
        ('if (!weft__format_chunk_begins(bytes, size) || chunk.bytes % 8)', 'if (!weft__format_chunk_begins(bytes, size))', 'chunks')),
    *in_file(
        'src/format/weft/drain/packets.c',
        ('h->number = h->lost = 0;', 'h->number = 0;', 'stream'),
        ('else if (memcmp(p->header.name, header->name, sizeof(header->name)) != 0)', 'else if (false)', 'stream')),
    *in_file(
        'src/format/weft/fetch.c',
        ('return p->is_begun ? WEFT_OK : fetch_added(f, p);', 'return fetch_added(f, p);', 'memory')),
    *in_file(
        'src/format/weft/follow/look.c',
        ('p->sure_end = is_same ? committed : p->cursor.end;', 'p->sure_end = UINT32_MAX;', 'follow')),
    # ---- layout ----
    *in_file(
        'src/layout/simplify.c',
        ('edges->time[edge] < tried[to])', 'edges->time[edge] <= tried[to])', 'layout',
         'the same time is stored again'),
        ('s->tried[task] <= time[read];', 's->tried[task] < time[read];', 'layout e2e/agree'),
        ('time > tasks->end[task])', 'time >= tasks->end[task])', 'layout e2e/agree'),
        ('if (parent != WEFT_NONE && tasks->becomes[parent] == task)', 'if (parent == task)', 'layout e2e/agree')),
    *in_file(
        'src/layout/rows.c',
        ('tasks.becomes[above] == task || end_of(p, above) <= start)',
         'tasks.becomes[above] == task || end_of(p, above) < start)', 'layout e2e/agree'),
        ('|| at >= end_of(p, task) ||', '|| at > end_of(p, task) ||', 'layout e2e/agree'),
        ('p->model->activations.start[i] < time', 'p->model->activations.start[i] <= time', 'layout e2e/agree'),
        ('end > start ? end : start + 1);', 'end > start ? end : start);', 'layout e2e/agree',
         'a range of no ranks is widened to one later'),
        ('i > 0 && s->sorted[i - 1] > s->others[j - 1]', 'i > 0 && s->sorted[i - 1] < s->others[j - 1]',
         'layout e2e/agree')),
    *in_file(
        'src/layout/occupancy.c',
        ('if (time <= starts[0])', 'if (time < starts[0])', 'layout',
         'the first start is also the lower bound of itself'),
        ('ranks.begin >> shift, ((ranks.end - 1) >> shift) + 1', 'ranks.begin >> shift, ranks.end >> shift',
         'layout layout_options layout_growth')),
    *in_file(
        'src/layout/folds.c',
        ('longest = OUTLIER * (half ? half : 1);', 'longest = OUTLIER * half;', 'layout_options'),
        ('return sorted[(count - 1) / 2];', 'return sorted[count / 2];', 'layout_options'),
        ('overlapping * SIDE_BY_SIDE > count)', 'overlapping * SIDE_BY_SIDE >= count)', 'layout_options'),
        ('if (size > 1 + MOST_BELOW ||', 'if (size > MOST_BELOW ||', 'layout_options'),
        ('return label << 20 | (uint64_t)tasks->kind[task] << 4 | tasks->outcome[task];',
         'return label << 20 | (uint64_t)tasks->kind[task] << 4;', 'layout_options'),
        ('overlapping += list->start[i] < end;', 'overlapping += list->start[i] <= end;', 'layout_options')),
    # ---- canvas ----
    *in_file(
        'src/canvas/number.c',
        ('if (hundredths < 0) {', 'if (hundredths <= 0) {', 'canvas'),
        ('rest % 10 ? 3 : 2', '3', 'canvas')),
    *in_file(
        'src/canvas/svg.c',
        ('a->dash == b->dash &&', '', 'canvas'),
        ('((a->color & 255) == 255 || a->type == WEFT_CANVAS_RECT)', 'true', 'canvas'),
        ('if (op->back == svg->halo)', 'if (op->back != svg->halo)', 'canvas')),
    # ---- render ----
    *in_file(
        'src/render/ruler.c',
        ('(fraction || digit * 10 > step)', '(fraction || digit * 10 >= step)', 'render'),
        ('while (index < 3 && (ns >= unit * 1000', 'while (index < 3 && (ns > unit * 1000', 'render'),
        ('used -= used > 0 && text[used - 1] == \'.\';', '', 'render')),
    *in_file(
        'src/model/dark.c',
        ('if (d->end > seen_ns || d->start == d->end)', 'if (d->end > seen_ns)', 'dark'),
        ('if (i == last || losses->list[i].start >= end)', 'if (i < last || losses->list[i].start >= end)', 'dark'),
        ('return loss->cause == WEFT_LOSS_OVERWRITTEN && loss->start <= start;', 'return loss->start <= start;', 'dark')),
    *in_file(
        'src/story/problems/queues.c',
        ('if (runs && model->activations.start[first + runs - 1] < time)',
         'if (runs && model->activations.start[first + runs - 1] <= time)', 'problems_many'),
        ('while (q->ends[ended] <= q->starts[i]) {', 'while (q->ends[ended] < q->starts[i]) {', 'problems_many'),
        ('if (q->got_of[task] == group && task != turn->waiter &&', 'if (q->got_of[task] == group &&', 'problems_many')),
    *in_file(
        'src/story/problems/bursts.c',
        ('ended = begun; /*', 'ended += 0; /*', 'problems_many'),
        ('fit <= burst->fit)', 'fit < burst->fit)', 'problems_many')),
    *in_file(
        'src/story/problems/backlogs.c',
        ('while (b->ends[ended] <= b->starts[i])', 'while (b->ends[ended] < b->starts[i])', 'problems_backlogs'),
        ('if (end > t->end[b->listener])', 'if (false)', 'problems_backlogs'),
        ('const bool hangs = b->left &&', 'const bool hangs =', 'problems_backlogs')),
    *in_file(
        'src/format/xentrace/stays.c',
        ('s->vcpus[number].since = 0; /*', '(void)0; /*', 'xentrace_stays')),
    *in_file(
        'src/story/problems/dark.c',
        ('is_touched || has_lost(model, buffer)', 'is_touched', 'dark')),
    *in_file(
        'src/render/losses.c',
        ('if (is_hatch(hatch) && next->x > hatch->x2 + JOINED)', 'if (is_hatch(hatch) && next->x > hatch->x2)',
         'losses render'),
        ('hatch->count = add_saturated(hatch->count, next->count);', 'hatch->count = next->count;', 'losses render'),
        ('if (i > 0 && (length - i) % 3 == 0)', 'if ((length - i) % 3 == 0)', 'losses render')),
    *in_file(
        'src/render/edges/heat.c',
        ('return count <= 4 * GROUP ? 1 : count <= 32 * GROUP ? 2 : SHADES;',
         'return count < 4 * GROUP ? 1 : count <= 32 * GROUP ? 2 : SHADES;', 'heat'),
        ('return p->theme->try_read;', 'return p->theme->read;', 'heat')),
    # ---- export ----
    *in_file(
        'src/export/cut.c',
        ('if (change->time_ns >= cut->range.end_ns)', 'if (false)', 'cut e2e/levels'),
        ('return period->start < cut->range.end_ns &&', 'return period->start <= cut->range.end_ns &&', 'cut cut_random'),
        ('(period->end > cut->range.start_ns || !cut->has_past);', '(period->end >= cut->range.start_ns || !cut->has_past);',
         'cut cut_random'),
        ('if (event->time_ns < cut->range.start_ns) {', 'if (event->time_ns <= cut->range.start_ns) {', 'cut e2e/agree'),
        ('known < total ? inside + (total - known) : inside;', 'inside;', 'cut cut_random')),
    *in_file(
        'src/export/cut_packets.c',
        ('time.ns == p->last_ns && t->sequence < p->last_sequence;', 'false;', 'cut e2e/agree'),
        ('if (time.ticks - t->base_ticks > UINT32_MAX) {', 'if (time.ticks - t->base_ticks > (uint64_t)UINT32_MAX + 1) {',
         'cut e2e/cut'),
        ('bytes = ((size_t)words->count + 2) * sizeof(uint64_t);', 'bytes = ((size_t)words->count + 1) * sizeof(uint64_t);',
         'cut e2e/cut')),
    *in_file(
        'src/export/cut_clock.c',
        ('return is_known ? event->ticks : weft__export_cut_ticks(trace, event->time_ns);', 'return weft__export_cut_ticks(trace, event->time_ns);',
         'cut e2e/cut'),
        ('span.now_ticks = ticks[0];', 'span.now_ticks = ticks[0] + 4;', 'cut e2e/cut'),
        ('	header->comparison_count = whole.comparison_count;\n', '', 'cut e2e/cut'),
        ('	header->second.monotonic_ns = trace->ticks->last_monotonic_ns;\n', '', 'cut e2e/cut')),
    *in_file(
        'src/export/cut_rundown.c',
        ('? write_switch(w, index, thread->interrupted, thread->interrupted_reason)',
         '? write_switch(w, index, thread->interrupted, thread->reason)', 'cut e2e/agree')),
    *in_file(
        'src/export/ctf_event.c',
        ('weft__bytes_put_u8(bytes, event->is_set);', 'weft__bytes_put_u8(bytes, !event->is_set);', 'export_ctf e2e/export_ctf'),
        ('event->has_value ? (uint64_t)event->value : 0);', '(uint64_t)event->value);', 'export_ctf',
         'without a value it is 0 already')),
    # ---- source ----
    *in_file(
        'src/source/expand.c',
        ('if (out.pos > max_bytes - total)', 'if (out.pos >= max_bytes - total)', 'source e2e/limits'),
        ('return total ? 0 : WEFT_ERROR_DAMAGED;', 'return 0;', 'source e2e/stream')),
    *in_file(
        'src/source/file.c',
        ('if (source->size > most)', 'if (source->size >= most)', 'input source e2e/limits'),
        ('lseek(fd, 0, SEEK_CUR) != 0)', 'false)', 'source e2e/cli')),
    # ---- record ----
    *in_file(
        'src/record/room.c',
        ('words + 2, base_high', 'words + 1, base_high', 'record record_threads e2e/agree'),
        ('if (ticks >= until)', 'if (ticks > until)', 'watch'),
        ('if (until == WEFT_ABI_HOLD_STOP)', 'if (false)', 'watch e2e/attach'),
        ('weft__store(&slot->refuse, WEFT__LOOK_INTERVAL - 1);', 'weft__store(&slot->refuse, 0);',
         'record_threads', 'it only saves looks for a packet that cannot be had')),
    *in_file(
        'src/record/name.c',
        ('if (name->size > WEFT_ABI_NAME_MAX_BYTES || !region', 'if (name->size >= WEFT_ABI_NAME_MAX_BYTES || !region',
         'record'),
        ('bytes > room - used)', 'bytes >= room - used)', 'record record_levels'),
        ('if (id == 0 || at > room || ', 'if (id == 0 || ', 'record_hostile'),
        ('if ((known ^ hash) >> 16 == 0 && is_same', 'if (is_same', 'record',
         'the upper half of the hash only saves a comparison')),
    *in_file(
        'src/record/compose.c',
        ("while (kept > 0 && ((unsigned char)text[kept] & 0xc0) == 0x80)", 'while (false)', 'record'),
        ('if (draft->count + 1 + words_of(size) > WEFT_ABI_WORDS_MAX)', 'if (draft->count + words_of(size) > WEFT_ABI_WORDS_MAX)', 'record',
         'the joined names have 1024 bytes at most, which always fit'),
        ('if (size > room) {', 'if (size >= room) {', 'record')),
    *in_file(
        'src/record/values.c',
        ('if (length == room)', 'if (length > room)', 'record')),
    *in_file(
        'src/record/packet.c',
        ('if (++passed->open_in_row < 2 || ', 'if (',
         'record_taken'),
        ('state >> 2 >= sequence)', 'state >> 2 > sequence)', 'record_threads',
         'no packet has the sequence of a claim before the claim succeeds')),
    *in_file(
        'src/record/text.c',
        ('weft__record_count_loss(self->slot, WEFT_ABI_LOSS_TOO_BIG);', '(void)self;', 'record'),
        ('		weft__fetch_add(cell, value);\n	else', '		weft__record_commit(&room, 2), weft__fetch_add(cell, value);\n	else', 'last_values')),
    *in_file(
        'src/record/counters.c',
        ('cause != WEFT_ABI_LOSS_OVERWRITTEN && ', 'cause == WEFT_ABI_LOSS_OVERWRITTEN && ', 'last_values')),
    *in_file(
        'src/format/weft/last_values.c',
        ('slot.offset >= packet.committed)', 'slot.offset > packet.committed)', 'last_values'),
        ('row.is_unsure || ', '', 'last_values'),
        ('ending == WEFT_ENDING_STOP', 'false', 'last_values'),
        ('ns <= f->last_ns', 'true', 'last_values')),
    # ---- trigger ----
    *in_file(
        'src/trigger/words.c',
        ("for (; p->at < p->size && p->text[p->at] >= '0'", "for (; p->at <= p->size && p->text[p->at] >= '0'",
         'trigger')),
    *in_file(
        'src/trigger/tests.c',
        ('value.integer > rule->limit : value.integer < rule->limit;',
         'value.integer > rule->limit : value.integer <= rule->limit;', 'trigger'),
        ('rule->or_equal && value.real == rule->real', 'value.real == rule->real', 'trigger'),
        ('if (rule->type > RULE_BELOW || rule->counter != name)', 'if (rule->type > RULE_BELOW)', 'trigger')),
    *in_file(
        'src/trigger/trigger.c',
        ('t->wants_tasks |= added->type >= RULE_RUNS;', 't->wants_tasks = added->type >= RULE_RUNS;', 'trigger')),
    *in_file(
        'src/trigger/waiters.c',
        ('waiter->after = WEFT_NONE;', '', 'trigger')),
    # ---- follow ----
    *in_file(
        'src/follow/control.c',
        ('if (!all)', 'if (true)', 'live')),
    *in_file(
        'src/follow/stream.c',
        ('stream->open_ns = now + stream->open_interval_ns;', 'stream->open_ns = now;', 'live'),
        ('at += chunk.bytes;', 'at += (off_t)sizeof(chunk);', 'live e2e/stream')),
    # ---- runs ----
    *in_file(
        'src/runs/saving/snapshots.c',
        ('w->quiet_until_ns = now_ns() + SECOND_NS;', 'w->quiet_until_ns = now_ns();', 'run_snapshots'),
        ('return s->taken >= s->options->limit ||', 'return s->taken > s->options->limit ||', 'run_snapshots')),
    *in_file(
        'src/runs/stream/stream_file.c',
        ('if (number && number + keep <= file->number)', 'if (number && number + keep < file->number)', 'run_files'),
        ('file->bytes + bytes > most;', 'file->bytes + bytes >= most;', 'run_files')),
    *in_file(
        'src/runs/directory/rings.c',
        ('return left->program > right->program ? 1 : -1;', 'return left->program < right->program ? 1 : -1;', 'run_rings')),
    *in_file(
        'src/runs/directory/expire.c',
        ('time(NULL) - status.st_mtime > KEPT_S;', 'time(NULL) - status.st_mtime > 0;', 'run_rings')),
    # ---- refresh, input, pattern ----
    *in_file(
        'src/refresh/refresh.c',
        ('for (uint32_t i = 0; i < most; i++) {', 'for (uint32_t i = 0; i <= most; i++) {', 'refresh')),
    *in_file(
        'src/input/input.c',
        ('weft_source_open_checked(path, known.max_bytes, may', 'weft_source_open_checked(path, 0, may', 'input')),
    *in_file(
        'src/pattern/parse.c',
        ('if (ranges[i].first > ranges[kept].last + 1)', 'if (ranges[i].first > ranges[kept].last)', 'pattern')),
    *in_file(
        'src/pattern/pattern.c',
        ('if (character < ASCII) {', 'if (character <= ASCII) {', 'pattern')),
    # ---- viewer ----
    *in_file(
        'src/viewer/commands/tasks.c',
        ('weft__viewer_go_problem(viewer, number - 1);', 'weft__viewer_go_problem(viewer, number);',
         'viewer_steps')),
    *in_file(
        'src/viewer/commands/window.c',
        ('(unsigned)(viewer->theme + 1) % WEFT_THEMES', '(unsigned)(viewer->theme + 2) % WEFT_THEMES', 'viewer_steps')),
    *in_file(
        'src/viewer/history.c',
        ('history->count = history->at + 1;', 'history->count = history->at;', 'viewer_steps viewer')),
    # ---- incoming streams, state, lines ----
    *in_file(
        'src/format/weft/follow/incoming.c',
        ('if (header->committed >= sizeof(*header) &&', 'if (header->committed > sizeof(*header) &&', 'incoming_chunks'),
        ('b->names_bytes = WEFT_ABI_NAMES_MAX_BYTES;', '', 'incoming_chunks'),
        ('bool is_end = w->size - size < CHUNK_BYTES;', 'bool is_end = w->size - size <= CHUNK_BYTES;', 'incoming_chunks')),
    *in_file(
        'src/model/state.c',
        ('if (!is_known)\n\t\treturn on_try_read(s, m);', 'return on_try_read(s, m);', 'model'),
        ('& (WEFT__TASK_WAITS | WEFT_TASK_RESOLVED))', '& WEFT_TASK_RESOLVED)', 'trigger')),
    *in_file(
        'src/export/lines.c',
        ('else if (event->type == WEFT_EVENT_BAND)', 'else', 'lines')),
    *in_file(
        'src/export/cut_names.c',
        ('chunks->bytes += size;', 'chunks->bytes = size;', 'cut cut_random')),
    # ---- view, format, model, story ----
    *in_file(
        'src/view/time.c',
        ('if (weft_view_x(view, low) >= x)', 'if (weft_view_x(view, low) > x)', 'view')),
    *in_file(
        'src/format/order.c',
        ('count_strays(order) > order->count / STRAY_SHARE)', 'count_strays(order) >= order->count / STRAY_SHARE)',
         'mirage_ctf sexp decoder'),
        ('if (last - first + 1 > most) {', 'if (last - first + 1 >= most) {', 'mirage_ctf sexp decoder')),
    *in_file(
        'src/format/weft/follow/gaps.c',
        ('if (packet->lost <= thread->lost)', 'if (packet->lost < thread->lost)', 'losses')),
    *in_file(
        'src/model/freeze.c',
        ('period.thread < m->thread_count && period.cause', 'period.cause', 'losses'),
        ('if (e->type[i] == WEFT_EDGE_DROPPED)', 'if (false)', 'model e2e/agree')),
    *in_file(
        'src/model/periods.c',
        ('(b->is_summary && (b->state.tasks.flags[task] & WEFT_TASK_RESOLVED))', 'b->is_summary', 'model_summary')),
    *in_file(
        'src/model/finish.c',
        ('t->outcome[task] = WEFT_OUTCOME_NEVER_RESOLVED;', 't->outcome[task] = WEFT_OUTCOME_FAILED;',
         'model e2e/oracle')),
    *in_file(
        'src/story/filter.c',
        ('return text[at] == sign && escapes % 2 == 0;', 'return text[at] == sign && escapes == 0;', 'filter'),
        ('if (length == 0 || length >= size)', 'if (length == 0 || length > size)', 'filter')),
    # ---- view, viewer, story, cairo and worker: limits ----
    *in_file(
        'src/view/rows.c',
        ('fmax(size, WEFT_VIEW_ROW_HEIGHT / 2));', 'size);', 'view'),
        ('room_above = height - need_below;', 'room_above = half;', 'view'),
        ('.top_y = margin(view) + (half - view->focus) * size,', '.top_y = margin(view) + (view->focus - half) * size,',
         'view')),
    *in_file(
        'src/viewer/input/pointer.c',
        ('viewer->now_ms - p->click_ms <= DOUBLE_MS', 'viewer->now_ms - p->click_ms < DOUBLE_MS', 'viewer_pointer'),
        ('if (viewer->now_ms - p->moved_ms < LET_GO_MS)', 'if (viewer->now_ms - p->moved_ms <= LET_GO_MS)',
         'viewer_pointer')),
    *in_file(
        'src/viewer/input/hit.c',
        ('viewer->pointer.is_touch ? TOUCHED : HANDLE;', 'HANDLE;', 'viewer_hits')),
    *in_file(
        'src/viewer/input/range.c',
        ('		try_time(search, model->activations.end[i]);\n', '', 'viewer_hits')),
    *in_file(
        'src/viewer/drawing/draw.c',
        ('used = x + FLAG + 9 + width;', 'used = x;', 'viewer_drawn')),
    *in_file(
        'src/story/related.c',
        ('i < by.count && by.count <= EDGES_MAX', 'i < by.count && by.count < EDGES_MAX', 'story_words')),
    *in_file(
        'src/story/lines.c',
        ('if (runs.count >= RUNS_FROM) {', 'if (runs.count > RUNS_FROM) {', 'story_words'),
        ('if (shown < WEFT_STORY_LINES_MAX) {', 'if (shown <= WEFT_STORY_LINES_MAX) {', 'story_words')),
    *in_file(
        'src/story/problems/contention.c',
        ('if (c->holds.count < HOLDS_MIN)', 'if (c->holds.count <= HOLDS_MIN)', 'problems_limits')),
    *in_file(
        'src/story/problems/idle.c',
        ('if (length / FAR_LONGER < gaps->usual_ns)', 'if (length / FAR_LONGER <= gaps->usual_ns)', 'problems_limits')),
    *in_file(
        'src/story/problems/incidents.c',
        ('a->start[next] - end <= (end - start) / SOON_PART', 'true', 'incidents'),
        ('a->thread[next] != thread ||', 'false ||', 'incidents')),
    *in_file(
        'src/story/problems/slow.c',
        ('life / OF_TENTH >= group->p90_ns &&', '', 'problems_limits'),
        ('life / OF_99 >= group->p99_ns)', 'true)', 'problems_limits'),
        ('if (band->kind == WEFT_BAND_GC && end > start)', 'if (band->kind == WEFT_BAND_GC)', 'problems_limits')),
    *in_file(
        'src/story/problems/growth.c',
        ('full >= FULL_MIN', 'true', 'problems_limits')),
    *in_file(
        'src/cairo/font.c',
        ('if (g_hash_table_size(font->words) >= WORDS_MAX)', 'if (g_hash_table_size(font->words) > WORDS_MAX)', 'cairo')),
    *in_file(
        'src/cairo/draw.c',
        ('x = floor(x * device + 0.5) / device;', 'x = floor(x * device + 0.5);', 'cairo')),
    *in_file(
        'src/worker/worker.c',
        ('	pthread_join(worker->thread, NULL);\n', '', 'worker'),
        ('	pthread_sigmask(SIG_SETMASK, &before, NULL);\n', '', 'worker'),
        ('CPU_COUNT(&set) < 2;', 'CPU_COUNT(&set) < 1;', 'worker')),
    # ---- follow, source, input, runs and trigger: waits, owners, order, limits ----
    *in_file(
        'src/source/process.c',
        ('return errno != ENOENT;', 'return false;', 'process')),
    *in_file(
        'src/follow/process.c',
        ('process->due_ns = now + INTERVAL_NS;', 'process->due_ns = now;', 'process')),
    *in_file(
        'src/follow/live.c',
        ('uint32_t wish = hand + claims ? hand + claims : 1;', 'uint32_t wish = hand + claims;', 'follow_waits'),
        ('live->clock = header->clock;', '', 'follow_waits')),
    *in_file(
        'src/follow/stream.c',
        ('uint64_t ns = stream->live.page ? INTERVAL_MAX_NS : stream->interval_ns;', 'uint64_t ns = stream->interval_ns;',
         'follow_waits'),
        ('return now - stream->stopped_ns > STOPPED_HOLD_NS;', 'return now - stream->stopped_ns >= STOPPED_HOLD_NS;',
         'follow_waits')),
    *in_file(
        'src/follow/watch.c',
        ('if (number >= WEFT_ABI_RULES || ', 'if (', 'watch')),
    *in_file(
        'src/xen/references.c',
        ('if (number > UINT32_MAX)', 'if (number == 0)', 'xen'),
        ('if (sorted[i] == sorted[i - 1])', 'if (false)', 'xen')),
    *in_file(
        'src/xen/guest.c',
        ('if (guest->state == WEFT_GUEST_OPEN && !is_alive(guest))', 'if (false)', 'xen'),
        ('return is_alive(guest) ? 0 :', 'return true ? 0 :', 'xen')),
    *in_file(
        'src/xen/hypervisor.c',
        ('return control->found == domain ?', 'return true ?', 'xen'),
        ('if (result == 0 || errno != EACCES)', 'if (result == 0)', 'xen')),
    *in_file(
        'src/format/weft/guest_facts.c',
        ('} else if (claims_host || ', '} else if (claims_host && ', 'xen')),
    *in_file(
        'src/format/weft/clock/host_clock.c',
        ('bool is_between = i > 0 && i < count;', 'bool is_between = false;', 'buffer_header')),
    *in_file(
        'src/runs/guests/guests.c',
        ('a->mark == b->mark && ', '', 'run_guests'),
        ('guests->once = options->once || is_number(guests->domain);', 'guests->once = options->once && is_number(guests->domain);', 'run_guests')),
    *in_file(
        'src/source/ring.c',
        ('for (int i = 0; i < 4; i++)', 'for (int i = 0; i < 3; i++)', 'source_ring'),
        ('if (check->has_process || is_older(status, pid))', 'if (check->has_process)', 'source_ring'),
        ('size - allocated <= HOLES_MAX', 'size - allocated < HOLES_MAX', 'source_ring')),
    *in_file(
        'src/source/mapping.c',
        ('if (atomic_compare_exchange_strong(&mappings[i].start, &expected, 0))', 'if (false)', 'source')),
    *in_file(
        'src/input/choose.c',
        ('own_end > other_end : i < k', 'own_end < other_end : i < k', 'input_files'),
        ('same += are_of_one_boot(&list[i], &list[k]);', 'same++;', 'input_files')),
    *in_file(
        'src/input/files.c',
        ('weft__format_share_readings(identities, count, &input->hosts[host].readings)', '(int)(count & 0)', 'input_files')),
    *in_file(
        'src/input/clock_fit.c',
        ('(b->is_most ? bend : -bend)', '(b->is_most ? -bend : bend)', 'input_clocks'),
        ('+ ret->bend_ns + 1;', ';', 'input_clocks'),
        ('return is_most ? -difference : difference;', 'return difference;', 'input_clocks')),
    *in_file(
        'src/input/messages.c',
        ('(!list->is_context && count != 2)', 'false', 'input_clocks')),
    *in_file(
        'src/runs/stream/stream_ring.c',
        ('r->has_failed = r->ring.is_ours;', 'r->has_failed = true;', 'run_streams'),
        ('	r->whole_bytes = r->file.bytes;\n', '', 'run_streams')),
    *in_file(
        'src/runs/stream/stream_limit.c',
        ('uint64_t part = whole / 8;', 'uint64_t part = whole / 4;', 'run_streams')),
    *in_file(
        'src/runs/saving/save.c',
        ('now.tv_sec - saving->since_s < 2', 'now.tv_sec - saving->since_s < 0', 'run_saves')),
    *in_file(
        'src/runs/saving/save_all.c',
        ('if (ring->is_failure)', 'if (false)', 'run_saves')),
    *in_file(
        'src/runs/directory/find.c',
        ('(!found || is_newer(&rings.list[i].ring, &found->ring))', '!found', 'run_find')),
    *in_file(
        'src/runs/directory/directory.c',
        ('!(status.st_mode & 022);', 'true;', 'run_find'),
        ('noted.st_dev == asked.st_dev && noted.st_ino == asked.st_ino;', 'noted.st_dev == asked.st_dev;', 'run_rings')),
    *in_file(
        'src/runs/file.c',
        ('	if (!weft__runs_file_create(path, &trial))\n		return false;', '	if (!weft__runs_file_create(path, &trial))\n		return true;',
         'run_files')),
    *in_file(
        'src/runs/program/libraries.c',
        ('WIFEXITED(status) && WEXITSTATUS(status) == 0;', 'WIFEXITED(status);', 'run_executable')),
    *in_file(
        'src/layout/grow.c',
        ('placed->group != WEFT_NONE && g->columns->group_of[task] != placed->group)', 'placed->group == WEFT_NONE - 1)',
         'layout_growth'),
        ('		c->has_shifted |= c->groups[i].first_row != row;\n', '', 'layout_growth scene_growth'),
        ('		c->groups[i].row_count = placed.rows + 1;\n', '', 'layout_growth')),
    *in_file(
        'src/layout/groups.c',
        ('				   ? 0\n				   : WEFT_NONE;\n', '				   ? 0\n				   : 0;\n', 'layout_growth'),
        ('		c->groups[i].row_count = former->groups[i].row_count;\n', '', 'layout_growth'),
        ('		if (buffer != buffer_of(&model->tasks, task)) {\n', '		if (buffer == WEFT_NONE) {\n', 'layout_growth')),
    *in_file(
        'src/format/merge.c',
        ('event.time_ns < m->limit_ns);', 'event.time_ns <= m->limit_ns);', 'merge_live'),
        ('	if (mark_ns < m->limit_ns)\n		m->limit_ns = mark_ns;\n', '	m->limit_ns = mark_ns;\n', 'merge_live'),
        ('	m->limit_ns = UINT64_MAX;\n', '', 'merge_live merge'),
        ('	part->is_kept = false;\n', '', 'merge_live'),
        ('	int error = keep_events(m);\n', '	int error = 0;\n', 'merge_live'),
        ('has_new && m->count > 1 ? share_readings(m) : 0', '0', 'merge_live'),
        ('		if (status == WEFT_AGAIN)\n			all = WEFT_AGAIN;\n', '', 'merge_live')),
    *in_file(
        'src/format/decoder.c',
        ('	return decoder->is_held ? 0 : finish(decoder);\n', '	return finish(decoder);\n', 'merge_live')),
    *in_file(
        'src/format/weft/drain/packets.c',
        ('- marked >= IDLE_NS;', '- marked > IDLE_NS;', 'stream'),
        ('!(d->needs_mark || was_idle(d)))', '!d->needs_mark)', 'stream')),
    *in_file(
        'src/format/merge_tables.c',
        ('		change.buffer += part->first_buffer;\n', '', 'merge'),
        ('if (row && end_ns < buffers[category.buffer].end_ns)', 'if (row && end_ns > buffers[category.buffer].end_ns)', 'merge')),
    *in_file(
        'src/model/forget.c',
        ('			keep_one(s, new_index, tasks[j]);\n', '', 'model_state')),
    *in_file(
        'src/trigger/words.c',
        ("&& c != '\\x7f' ", '', 'trigger'),
        ('if (digits + unit.size > sizeof(text))', 'if (digits + unit.size >= sizeof(text))', 'trigger')),
    *in_file(
        'src/trigger/tests.c',
        ('*tested |= (uint64_t)1 << i;', '*tested |= (uint64_t)1;', 'trigger')),
    *in_file(
        'src/base/strings.c',
        ('if (strings->count + (size_t)2 > strings->start_capacity) {',
         'if (strings->count + (size_t)1 > strings->start_capacity) {', 'strings'),
        ('error = own_bytes(strings);', 'error = 0;', 'strings')),
    *in_file(
        'src/base/array.c',
        ('return next < need ? need : next;', 'return next;', 'base')),
    *in_file(
        'src/format/weft/summary.c',
        ('steps[step < WEFT_ABI_STEPS ? step : 0]', 'steps[step % WEFT_ABI_STEPS]', 'buffer_header')),
    *in_file(
        'src/format/weft/identity.c',
        ('!(agrees(&clock, &own->first) && agrees(&clock, &own->last))', '!agrees(&clock, &own->last)', 'buffer_header')),
    # ---- layout, canvas, render, model, platform: once more ----
    *in_file(
        'src/layout/occupancy.c',
        ('raise(&covers[left++], row + 1);', 'left++;', 'occupancy'),
        ('return shift ? COARSE_SHIFT + shift - 1 : 0;', 'return shift ? COARSE_SHIFT + shift : 0;', 'occupancy')),
    *in_file(
        'src/layout/grow.c',
        ('	weft__sort_u64(roots, links.scratch, links.root_count);\n', '', 'layout_growth')),
    *in_file(
        'src/canvas/svg.c',
        ("put_step(svg, 'V', p[1]);", "put_step(svg, 'V', p[0]);", 'canvas'),
        ('half ? -2 * r : 2 * r', '2 * r', 'canvas'),
        ('	if (on == 0)\n		return;\n', '', 'canvas')),
    *in_file(
        'src/render/text/lettering.c',
        ("		*fitted = '\\0';\n", '', 'density')),
    *in_file(
        'src/render/things.c',
        ('floor(pieces[first - 1].x) >= column)', 'floor(pieces[first - 1].x) > column)', 'things')),
    *in_file(
        'src/render/tasks/tasks.c',
        ('			drawn = piece->x2;\n', '', 'things')),
    *in_file(
        'src/render/frame.c',
        ('height >= STATUS_FROM ?', 'height > STATUS_FROM ?', 'render')),
    *in_file(
        'src/model/notes.c',
        ('	put(w, "=");\n', '', 'model')),
    *in_file(
        'src/model/buffers.c',
        ('return strcmp(a->host, b->host) == 0;', 'return strcmp(a->host, b->host) != 0;', 'model')),
    *in_file(
        'src/model/counters.c',
        ('return b > 0 ? INT64_MAX : INT64_MIN;', 'return INT64_MAX;', 'model')),
    *in_file(
        'src/platform/total.c',
        ('entry <= room->left;', 'entry < room->left;', 'platform')),
    *in_file(
        'src/platform/autostart.c',
        ('append_program(text, attempt - 1);', 'append_program(text, attempt);', 'platform')),
    *in_file(
        'src/platform/levels.c',
        ('	if (level < 0)\n', '	if (level < 1)\n', 'platform')),
    *in_file(
        'src/platform/ring.c',
        ('	if (error)\n		weft__kernel_unlink(ring->path);\n', '', 'platform')),
    *in_file(
        'src/record/ffi.c',
        ('	if (is_on(category, level, WAIT_ANY))\n		weft_wait_any_as', '	if (true)\n		weft_wait_any_as', 'ffi')),
    *in_file(
        'src/record/name.c',
        ('for (uint32_t at = 0; at < name->size; at += 8)\n		if', 'for (uint32_t at = name->size; at < name->size; at += 8)\n		if', 'record')),
    *in_file(
        'src/runs/saving/snapshots.c',
        ('if (strcmp(s->list[i].ring.name, name) == 0)', 'if (true)', 'run_snapshots'),
        ('		if (error)\n			return error;\n	}\n	/* Before', '		return error;\n	}\n	/* Before', 'run_snapshots')),
    *in_file(
        'src/runs/directory/mapped.c',
        ('return stat(path, &status) == 0 && status.st_ino == inode;', 'return stat(path, &status) == 0;', 'run_find'),
        ('&size) || summary.is_stopped)', '&size))', 'run_find')),
    *in_file(
        'src/runs/attach/page.c',
        ('file.stx_size <= kind->most;', 'true;', 'run_attach'),
        ('file.stx_ino != mapping->inode || ', '', 'run_attach')),
    *in_file(
        'src/runs/attach/answered.c',
        ('status.st_uid == user &&', 'true &&', 'run_attach'),
        ('user != geteuid() || count_names(at) <= 2 ? O_NOFOLLOW : 0', '0', 'run_attach'),
        ('unlinkat(pinned.folder, pinned.name, AT_REMOVEDIR);', 'rmdir(directory);', 'run_attach')),
    *in_file(
        'src/platform/memory.c',
        ('bytes, MADV_DONTFORK', 'bytes, MADV_NORMAL', 'e2e/attach'),
        ('int low = weft__kernel_open(path, O_RDONLY | O_CLOEXEC', 'int low = weft__kernel_open(path, O_RDWR | O_CLOEXEC', 'e2e/attach')),
    *in_file(
        'src/record/metrics.c',
        ('above < highest - lowest + 1 ?', 'above < highest - lowest ?', 'metrics'),
        ('+ (rest > 0) +', '+ true +', 'metrics')),
    *in_file(
        'src/record/metric_children.c',
        ('weft__load(&it->sequence) == weft__load(&child->below_sequence) ? it : NULL', 'it', 'metrics'),
        ('weft__store(&shared->base, weft__load(&shared->cell));', '', 'metrics'),
        ('metric & WEFT__METRIC_INSTEAD ? NULL :', 'false ? NULL :', 'metrics')),
    *in_file(
        'src/record/limit.c',
        ('given += shard != own && next > here ? next - here : 0;', 'given += 0;', 'metrics'),
        (' && !weft__load(&m->row[row].has_levels));', ');', 'metrics')),
    *in_file(
        'src/runs/attach/attach.c',
        ('		STORE(fd, until_unix_ns, unix_ns() + LEASE_NS);\n', '', 'run_attach'),
        ("page->reason[sizeof(page->reason) - 1] = '\\0';", '', 'run_attach'),
        ('	ret_detached->packets_offset = header.packets_offset;\n', '', 'run_rings')),
    *in_file(
        'src/runs/stream/compress.c',
        ('ZSTD_c_checksumFlag, 1', 'ZSTD_c_checksumFlag, 0', 'run_streams')),
    *in_file(
        'src/runs/directory/traces.c',
        ('	if (count < 0) {', '	if (false) {', 'run_saves')),
    *in_file(
        'src/runs/directory/unfound.c',
        ('while (!value && getdelim', 'while (getdelim', 'run_ending')),
    *in_file(
        'src/export/cut_encode.c',
        ('	put(e, WEFT_ABI_TRACK(number, id, event->kind & 0xff) | pair);\n', '', 'cut cut_random')),
    *in_file(
        'src/export/cut_packets.c',
        ('	if (!error)\n		error = make_room(t, bytes);', '	error = make_room(t, bytes);', 'cut cut_random')),
    # ---- what fails seldom: refused calls, short memory, keys of hashes, halos ----
    *in_file(
        'src/record/start.c',
        ('return weft__load(&slot->moment_events) & 1;', 'return true;', 'moment'),
        ('	error = weft__platform_prepare(region, platform);\n	if (error)\n		return error;\n',
         '	(void)weft__platform_prepare(region, platform);\n', 'record_fork')),
    *in_file(
        'src/guest/unikernel.c',
        ('		header->start.ticks = header->start.monotonic_ns;\n', '', 'guest')),
    *in_file(
        'src/guest/publish.c',
        ('char text[PATH_BYTES + ID_BYTES_MAX];', 'char text[PATH_BYTES - ID_BYTES_MAX];', 'guest')),
    *in_file(
        'src/xen/announced.c',
        ('"ring-ref", &size);\n	if (!value)\n		return WEFT__XEN_ABSENT;', '"ring-ref", &size);\n	if (!value)\n		return WEFT__XEN_INVALID;',
         'xen')),
    *in_file(
        'src/source/seed.c',
        ('	weft_seed_hashes(key);\n', '', 'source')),
    *in_file(
        'src/render/scene/overview_growth.c',
        ('uint64_t length = scene->end - scene->start;', 'uint64_t length = scene->end;', 'scene_growth')),
    *in_file(
        'src/render/edges/links.c',
        ('		draw_become(p, &become, drawn);\n', '		(void)become;\n', 'arrows')),
    *in_file(
        'src/cairo/draw.c',
        ('	cairo_set_line_width(cairo, WEFT__CAIRO_HALO);\n', '', 'cairo'),
        ('y = floor(y * device + 0.5) / device;', 'y = floor(y * device + 0.5);', 'cairo')),
    *in_file(
        'src/input/files.c',
        ('		file->decoder = NULL;\n		error = 0;\n	}\n	return error;', '		file->decoder = NULL;\n		error = 0;\n	}\n	return 0;',
         'input_files')),
    *in_file(
        'src/trigger/trigger.c',
        ('		error = weft__model_state_forget(&t->state, &new_index);\n	if (error)\n		return error;\n',
         '		error = weft__model_state_forget(&t->state, &new_index);\n', 'trigger')),
    *in_file(
        'src/stats/spans.c',
        ('if (error || !is_alive(m, span) ||', 'if (!is_alive(m, span) ||', 'memory')),
    *in_file(
        'src/stats/times.c',
        ('	free(runs.scratch);\n	return error;', '	free(runs.scratch);\n	return 0;', 'memory')),
    *in_file(
        'src/export/cut_alive.c',
        ('a->message_count + (size_t)1);\n	if (error)\n		return error;', 'a->message_count + (size_t)1);\n	if (error)\n		return 0;',
         'memory')),
    # ---- ties, second instances, renamed tasks, a failure after a success, ends that coincide ----
    *in_file(
        'src/xen/guest.c',
        ('if (guest->state == WEFT_GUEST_OPEN && !is_alive(guest))', 'if (!is_alive(guest))', 'xen')),
    *in_file(
        'src/runs/program/executable.c',
        (' && (status.st_mode & S_IXGRP)', '', 'run_executable')),
    *in_file(
        'src/runs/saving/early.c',
        (' && !ring->is_link', '', 'run_early')),
    *in_file(
        'src/runs/saving/name.c',
        ("	if (suffix && strchr(suffix, '/'))\n		suffix = NULL;\n", '', 'run_files')),
    *in_file(
        'src/runs/stream/stream_limit.c',
        ('status.f_bavail', 'status.f_blocks', 'run_streams')),
    *in_file(
        'src/stats/spans.c',
        ('|| span->end < m->to);', '|| span->end <= m->to);', 'stats')),
    *in_file(
        'src/story/chain.c',
        ('weft__story_edges_until(model, to, wait->until)', 'to.count', 'story_ties',
         'a later signal is a hop, and then the chain does not end at the condition')),
    *in_file(
        'src/story/hop.c',
        ('if (a->end[first + i - 1] > at_ns)', 'if (a->end[first + i - 1] >= at_ns)', 'story_ties')),
    *in_file(
        'src/story/flame.c',
        ('	f->nodes[node].start = span->start; /* the earliest comes last */\n', '', 'story_ties')),
    *in_file(
        'src/story/holders.c',
        (': !weft__model_holders_has(holders, e->from[edge]);', ': false;', 'story_ties')),
    *in_file(
        'src/story/wake.c',
        ('last_to(a->story, source, true, time[read])', 'last_to(a->story, source, true, UINT64_MAX)', 'story_ties')),
    *in_file(
        'src/format/merge.c',
        ('if (ret_event->time_ns < m->given_ns)', 'if (false)', 'merge_live', 'no decoder gives an event before its own mark')),
    *in_file(
        'src/format/merge_tables.c',
        ('from.end_ns >= to->end_ns', 'true', 'merge')),
    *in_file(
        'src/format/weft/follow/incoming.c',
        ('	if (mark_ns > f->mark_ns)\n', '', 'merge_live')),
    *in_file(
        'src/format/weft/identity.c',
        ('identities[i].guest_clock.error_ns < shared', 'identities[i].guest_clock.error_ns > shared', 'buffer_header')),
    *in_file(
        'src/format/xentrace/contexts.c',
        ('.domain == domain;', '.domain <= WEFT_XENTRACE_IDLE;', 'xentrace_contexts'),
        (' && vcpu->is_hvm_op', '', 'xentrace_contexts'),
        (' && vcpu->shows_switches', '', 'xentrace_contexts'),
        (' || op == OP_SET_SEGMENT_BASE', '', 'xentrace_contexts'),
        ('if (i != cpu && ', 'if (', 'xentrace_contexts')),
    *in_file(
        'src/format/xentrace/processes.c',
        ('if (vcpu->has_new_stack && record->id', 'if (record->id', 'xentrace_processes'),
        (' && record->id != WEFT__XENTRACE_SUBCALL', '', 'xentrace_processes'),
        ('uint32_t wanted = vcpu->is_on ? vcpu->process : 0;', 'uint32_t wanted = vcpu->process;', 'xentrace_processes'),
        ('levels = vcpu->open;', 'levels.depth = 0;', 'xentrace_processes'),
        (' && !p->list[*slot].has_ended', '', 'xentrace_processes'),
        (' || !m->has_begun)', ')', 'xentrace_processes')),
    *in_file(
        'src/format/xentrace/moments.c',
        ('return first->order < second->order ? -1 : 1;', 'return first->order < second->order ? 1 : -1;', 'xentrace_processes'),
        ('if (list[*first].has_ended)', 'if (false)', 'xentrace_processes')),
    *in_file(
        'src/format/ftrace/page.c',
        ('page->time >> STAMP_BITS << STAMP_BITS', 'UINT64_C(0)', 'ftrace'),
        ('#define STATE_ENDED 0x30u', '#define STATE_ENDED 0x20u', 'ftrace'),
        ('length > rest || length < head', 'length > rest', 'ftrace')),
    *in_file(
        'src/format/xentrace/raises.c',
        (' && m->senders == 1;', ';', 'xentrace_model')),
    *in_file(
        'adapters/thread/held.c',
        ('if (holds && it->wait.waiter', 'if (it->wait.waiter', 'e2e/adapters_thread')),
    *in_file(
        'adapters/hooks/environment.c',
        ('(strcmp(out, own) == 0 && ', '(', 'e2e/adapters_rough')),
    *in_file(
        'adapters/hooks/thread.c',
        ('	weft__hooks_thread.inside = 0;\n	weft__hooks_waits_no_longer();', '	weft__hooks_waits_no_longer();', 'e2e/adapters_uv')),
    *in_file(
        'apps/weft/why/answer.c',
        ('	task = choose(a, task);\n', '', 'e2e/why')),
    # ---- the same kinds in what changed lately: tables, adapters, rings of a second program ----
    *in_file(
        'src/tables/tables.c',
        ('	if (value <= INT64_MAX)\n', '	if (value < INT64_MAX)\n', 'tables'),
        ('value >= owner_count(tables, table))', 'value > owner_count(tables, table))', 'tables'),
        ('[WEFT_NOTE_REAL_SET] = "set"', '[WEFT_NOTE_REAL_SET] = "change"', 'tables')),
    *in_file(
        'apps/weft/query/rows.c',
        ('p->widths[i] = width > p->widths[i] ? width : p->widths[i];', 'p->widths[i] = width;', 'e2e/query'),
        ('p->is_number[i] = p->is_number[i] && type != SQLITE_TEXT', 'p->is_number[i] = type != SQLITE_TEXT', 'e2e/query')),
    *in_file(
        'apps/weft/query/functions.c',
        ('double rank = ceil(', 'double rank = floor(', 'e2e/query')),
    *in_file(
        'apps/weft/query/database.c',
        ('} else if (number >= 0 && number < rows) {', '} else if (number >= 0 && number <= rows) {', 'e2e/query')),
    *in_file(
        'apps/weft/query/run.c',
        ('while (*sql && status == CLI_DONE)', 'while (*sql)', 'e2e/query')),
    *in_file(
        'src/record/compose.c',
        ('(WEFT_ABI_WORDS_MAX - draft->count - following) / (following + 1)', '(WEFT_ABI_WORDS_MAX - draft->count) / (following + 1)',
         'record', 'a mark has too few values for the last ones to find no room')),
    *in_file(
        'src/record/code.c',
        ('(struct weft__name_part){"", i > 0 && i + 1 < count};', '(struct weft__name_part){"", i + 1 < count};', 'unseen'),
        ('< room - room / 4;', '<= room;', 'unseen')),
    *in_file(
        'src/record/thread.c',
        ('	weft__store(&slot->lost, 0);\n', '', 'record_threads'),
        ('if (cause == WEFT_ABI_LOSS_NESTED || !weft__record_is_quiet(weft__record_header()))', 'if (true)', 'record_threads')),
    *in_file(
        'src/record/request.c',
        ('		if (weft__load(&snapshots->rules[i]) == name)\n			return;\n', '', 'record_requests')),
    *in_file(
        'src/platform/children.c',
        ('	refused_seen = 0;\n', '', 'platform')),
    *in_file(
        'src/story/problems/wakes.c',
        ('return l->type < r->type ? -1 : 1;', 'return l->type < r->type ? 1 : -1;', 'problems'),
        ('w->model->edges.time[list.edges[i]] <= to; i++)', 'w->model->edges.time[list.edges[i]] < to; i++)', 'problems'),
        ('	if (missed->count++ && weft__story_missed_ns(w->model, since, until) <=\n',
         '	if (missed->count++ && weft__story_missed_ns(w->model, since, until) <\n', 'problems')),
    *in_file(
        'src/story/problems/missed.c',
        ('model->activations.start[runs > 1 ? activation - 1 : activation];', 'model->activations.start[activation];', 'problems_limits'),
        ('(type == WEFT_EDGE_TRY_READ || type == WEFT_EDGE_READ) && from', 'type == WEFT_EDGE_TRY_READ && from', 'problems_limits')),
    *in_file(
        'src/story/hop.c',
        ('e->time[to.edges[i - 1]] >= wait->since;', 'e->time[to.edges[i - 1]] > wait->since;', 'story_ties'),
        ('(own != WEFT_NONE && e->time[own] > e->time[edge])', '(own != WEFT_NONE && e->time[own] >= e->time[edge])', 'story_ties')),
    *in_file(
        'src/story/chain.c',
        ('if (next.wait.until < c->public.at ||', 'if (next.wait.until <= c->public.at ||', 'story_ties'),
        ('	if (is_resolved && t->end[task] < chain->end.until)\n', '	if (is_resolved)\n', 'chains_random')),
    *in_file(
        'src/format/merge_tables.c',
        ('		thread.number && thread.buffer <', '		thread.buffer <', 'merge'),
        ('return l->end < r->end ? -1 : l->end > r->end;', 'return l->end < r->end ? 1 : -(l->end > r->end);', 'merge')),
    *in_file(
        'src/format/weft/identity.c',
        ('for (size_t i = count; i-- > 0;)', 'for (size_t i = 0; i < count; i++)', 'buffer_header')),
    *in_file(
        'src/format/weft/drain/packets.c',
        ('		h->number += words.is_counted;\n', '', 'incoming')),
    *in_file(
        'src/runs/saving/early.c',
        ('if (rings->list[index - 1].pid == pid && !rings->list[index - 1].is_failure)', 'if (rings->list[index - 1].pid == pid)', 'run_early')),
    *in_file(
        'src/source/expand.c',
        ('content > max_bytes;', 'content >= max_bytes;', 'source'),
        ('e->is_full = out.pos == out.size;', 'e->is_full = false;', 'source')),
    *in_file(
        'src/stats/spans.c',
        ('return span->start < m->to && span->end >= m->from;', 'return span->start < m->to && span->end > m->from;', 'stats')),
    *in_file(
        'src/xen/guest.c',
        ('		if (now < guest->store_due_ns)\n			return WEFT_GUEST_OPEN;\n', '', 'xen'),
        ('	return only ? 0 : error;\n', '	return error;\n', 'xen')),
    *in_file(
        'adapters/thread/signals.c',
        ('count > NAMED ? "any signal" : "signal"', 'count >= NAMED ? "any signal" : "signal"', 'e2e/adapters_thread')),
    *in_file(
        'adapters/thread/sleep.c',
        ('	int result = NEXT(nanosleep)(duration, left);\n	end_wait(&wait, result == 0);',
         '	int result = NEXT(nanosleep)(duration, left);\n	end_wait(&wait, true);', 'e2e/adapters_thread')),
    *in_file(
        'adapters/thread/condition.c',
        ('	int error = ORIGINAL(pthread_cond_timedwait)(condition, mutex, until);\n	end_wait(&it, error == 0);',
         '	int error = ORIGINAL(pthread_cond_timedwait)(condition, mutex, until);\n	end_wait(&it, true);', 'e2e/adapters_thread')),
    *in_file(
        'adapters/thread/semaphore.c',
        ('	int result = NEXT(sem_timedwait)(semaphore, until);\n	end_wait(&it, result == 0);',
         '	int result = NEXT(sem_timedwait)(semaphore, until);\n	end_wait(&it, true);', 'e2e/adapters_thread')),
    *in_file(
        'adapters/hooks/thread.c',
        ('if (task == WEFT_TASK_NONE || task == weft__hooks_main_task())', 'if (task == WEFT_TASK_NONE)', 'e2e/adapters_thread')),
    *in_file(
        'adapters/io/queue.c',
        ('weft__io_channel_end(&(it)->wait, weft__result >= 0);', 'weft__io_channel_end(&(it)->wait, weft__result > 0);', 'e2e/adapters_io')),
    *in_file(
        'adapters/io/epoll.c',
        ('	if (operation != EPOLL_CTL_DEL)\n', '	if (operation == EPOLL_CTL_ADD)\n', 'e2e/adapters_io')),
    *in_file(
        'adapters/io/descriptors.c',
        ('fd <= last && fd < WEFT__IO_DESCRIPTORS', 'fd < last && fd < WEFT__IO_DESCRIPTORS', 'e2e/adapters_io')),
    # ---- second instances and ties that no test saw: clocks of hosts, spans for others, profiles, losses ----
    *in_file(
        'src/input/messages.c',
        ('(!list->is_context && count != 2))', '(!list->is_context && count > 3))', 'input_clocks'),
        ('		list[effect].host != list[count - 1].host || list[0].host == list[effect].host ||',
         '		list[0].host == list[effect].host ||', 'input_clocks'),
        ('list[0].time_ns, list[effect].time_ns, list[0].host', 'list[effect - 1].time_ns, list[effect].time_ns, list[0].host', 'input_clocks'),
        ('if (event->is_rundown || !trace ||', 'if (!trace ||', 'input_clocks')),
    *in_file(
        'src/input/hosts.c',
        ('		if (other->error_ns > most)\n', '', 'input_hosts'),
        ('without.has_least && without.has_most && without.bend_ns', 'without.bend_ns', 'input_hosts'),
        ('list[count / 2].offset_ns', 'list[0].offset_ns', 'input_hosts')),
    *in_file(
        'src/input/choose.c',
        ('i < count && most <= count - i;', 'i < count && most < count - i;', 'input_files')),
    *in_file(
        'src/otlp/contexts.c',
        ('	return a->buffer < b->buffer ? -1 : a->buffer > b->buffer;', '	return 0;', 'otlp'),
        ('		contexts->count--;\n', '		return 0;\n', 'otlp')),
    *in_file(
        'src/otlp/ids.c',
        ('add_word(id + SALT_AGAIN, tasks->start[task])', 'id + SALT_AGAIN', 'otlp')),
    *in_file(
        'src/otlp/stream_fold.c',
        ('		other->is_awaited = true;', '		(void)0;', 'otlp_stream'),
        ('parent && parent->serves && !who->is_awaited', 'parent && !who->is_awaited', 'otlp_stream'),
        ('left->above == right->span || right->above == left->span', 'left->above == right->span', 'otlp_stream')),
    *in_file(
        'src/otlp/metrics.c',
        ('		   l->is_monotonic == r->is_monotonic && strcmp', '		   strcmp', 'otlp'),
        ('	return l->buffer == r->buffer && data_of', '	return data_of', 'otlp')),
    *in_file(
        'src/otlp/plan.c',
        ('from == WEFT_NONE || from == found ||', 'from == WEFT_NONE ||', 'otlp'),
        ('tasks->start[from] >= tasks->start[task]', 'tasks->start[from] > tasks->start[task]', 'otlp'),
        ('above == actor || above == shown_above(plan, actor)', 'above == actor', 'otlp')),
    *in_file(
        'src/otlp/stream_ids.c',
        ('		return a->id < b->id ? -1 : 1;\n	return (a->buffer > b->buffer) - (a->buffer < b->buffer);',
         '		return a->id < b->id ? -1 : 1;\n	return 0;', 'otlp_stream')),
    *in_file(
        'src/otlp/spans.c',
        ('inner->number[depth] && inner->start[depth] == span.start;', 'inner->number[depth];', 'otlp_stream')),
    *in_file(
        'src/otlp/zipkin.c',
        ('end > start ? end - start : 1);', 'end >= start ? end - start : 1);', 'otlp')),
    *in_file(
        'src/profile/tree.c',
        ('	return l->node < r->node ? -1 : l->node > r->node;', '	return l->node < r->node ? 1 : -(l->node > r->node);', 'profile'),
        ('node->has_frames = node->has_frames || node->frame', 'node->has_frames = node->frame', 'profile')),
    *in_file(
        'src/profile/pprof.c',
        ('return a->function == b->function && a->file == b->file;', 'return a->function == b->function;', 'profile')),
    *in_file(
        'src/profile/profile.c',
        (' other->file == frame->file &&\n			other->line == frame->line)', ' other->file == frame->file)', 'profile')),
    *in_file(
        'src/profile/collapsed.c',
        ("memchr(name.bytes + at, ';', name.size - at);", "memchr(name.bytes + at, ';', at ? 0 : name.size);", 'profile')),
    *in_file(
        'src/stats/diff.c',
        ('return l->number < r->number ? -1 : l->number > r->number;', 'return l->number > r->number ? -1 : l->number < r->number;', 'stats'),
        ('if (pair->a->ended != pair->b->ended)', 'if (pair->a->ended < pair->b->ended)', 'stats')),
    *in_file(
        'src/stats/counters.c',
        ('found.before = weft_counter_number(model, c, from++);', 'found.before = weft_counter_number(model, c, from);', 'stats')),
    *in_file(
        'src/stats/times.c',
        ('if (delay > row->max_delay_ns)', 'if (delay && delay >= row->max_delay_ns)', 'stats')),
    *in_file(
        'src/stats/waits.c',
        ('wait->start >= m->to || wait->end < m->from)', 'wait->start >= m->to || wait->end <= m->from)', 'stats')),
    *in_file(
        'src/runs/memory/core.c',
        ('is_virtual = is_virtual || (weft', 'is_virtual = (weft', 'run_memory')),
    *in_file(
        'src/runs/memory/image.c',
        ('return (l->size > r->size) - (l->size < r->size);', 'return (l->size < r->size) - (l->size > r->size);', 'run_memory')),
    *in_file(
        'src/runs/memory/operand.c',
        ('strncmp(at, "@0x", 3) != 0 || access(operand->name, F_OK) == 0 ||', 'strncmp(at, "@0x", 3) != 0 ||', 'run_memory')),
    *in_file(
        'src/symbols/demangle.c',
        ("it->name[0] == 'h' && digits == 16", 'digits == 16', 'demangle'),
        ('		last = it;\n', '		last = last.size ? last : it;\n', 'demangle')),
    *in_file(
        'src/symbols/demangle_rust.c',
        ('	p->is_silent = was_silent;\n', '	p->is_silent = false;\n	(void)was_silent;\n', 'demangle')),
    *in_file(
        'src/model/dark.c',
        ('time_ns > from &&', 'time_ns >= from &&', 'totals'),
        ('found.lost < found.other && found.lost->start <= end)', 'found.lost < found.other && found.lost->start < end)', 'dark'),
        ('next->start > last->end)', 'next->start >= last->end)', 'dark'),
        ('		if (by.list[i - 2].thread == by.list[i - 1].thread &&\n			by.list', '		if (by.list', 'dark')),
    *in_file(
        'src/model/ends.c',
        ('lifetimes[i].first >= lifetimes[buffer].last;', 'lifetimes[i].first > lifetimes[buffer].last;', 'ends')),
    *in_file(
        'src/model/off_cpu.c',
        ('if (end <= start || ns <= now - end)', 'if (end <= start || ns < now - end)', 'off_cpu')),
    *in_file(
        'src/model/span_columns.c',
        ('		if (span.start <= span.end)\n', '		if (span.start < span.end)\n', 'model')),
    *in_file(
        'src/model/contexts.c',
        ('innermost.start == span->start &&\n		   innermost.depth == span->depth;', 'innermost.start == span->start;', 'otlp')),
    *in_file(
        'src/model/running.c',
        ('	if (begin && !thread->in_gc_band) {', '	if (begin) {', 'model'),
        ('	thread->measured_until = s->now;\n	if (task == WEFT_NONE', '	if (task == WEFT_NONE', 'off_cpu')),
    *in_file(
        'src/model/counters.c',
        ('if (c->name[counter] == name && c->buffer[counter] == buffer)', 'if (c->name[counter] == name)', 'model')),
    *in_file(
        'src/model/idle.c',
        ('loading->since == UINT64_MAX && e->time[i]', 'e->time[i]', 'idle'),
        ('presence->start < loadings[buffer].until)', 'presence->start <= loadings[buffer].until || true)', 'idle')),
    *in_file(
        'src/model/code_samples.c',
        ('l->thread < r->thread ? -1 : l->thread > r->thread;\n}\n\nint', '0;\n}\n\nint', 'ran'),
        ('known && known->buffer == buffer && known->tid == tid', 'known && known->tid == tid', 'ran')),
    *in_file(
        'src/story/problems/late.c',
        ('if (timer.late_ns <= latest.late_ns)', 'if (timer.late_ns < latest.late_ns)', 'problems_timers'),
        ('return only != WEFT_NONE ? only : thread_of(model, timer_task);',
         '(void)only, (void)thread_of;\n	return 0;', 'problems_timers')),
    *in_file(
        'src/story/problems/pauses.c',
        ('pauses->longest = band;\n', 'pauses->longest = pauses->longest ? pauses->longest : band;\n', 'problems_stretches')),
    *in_file(
        'src/story/problems/ran.c',
        ('it->count <= c->of / 2)', 'it->count < c->of / 2)', 'problems_stretches')),
    *in_file(
        'src/story/any.c',
        ('			first = last + 1;', '			first = last;', 'story_ties')),
    *in_file(
        'src/story/comparison.c',
        ('			if (holds(comparison->relation, compare(comparison, &field)))\n				return true;',
         '			return holds(comparison->relation, compare(comparison, &field));', 'filter')),
    *in_file(
        'src/metrics/levels.c',
        ('order = order ? order : (l->pid > r->pid) - (l->pid < r->pid);', '', 'exposition'),
        ('strcmp(level->program, below->program) != 0 || level->pid != below->pid ||', 'strcmp(level->program, below->program) != 0 ||', 'exposition'),
        ('from->sum -= below->sum < from->sum ? below->sum : from->sum;', 'from->sum -= below->sum;', 'exposition')),
    *in_file(
        'src/metrics/families.c',
        ('		   strcmp(left->unit.name, right->unit.name) == 0;', '		   left->unit.name != NULL;', 'exposition'),
        ('		last = it;\n', '		if (is_first)\n			last = it;\n', 'exposition')),
    *in_file(
        'apps/weft/export/push/push.c',
        ('	if (!push->lost)\n		memcpy(push->loss',
         '	memcpy(push->loss', 'e2e/otlp_push')),
    *in_file(
        'apps/weft/export/push/spool.c',
        ('spool->last = message.number > spool->last ? message.number : spool->last;',
         'spool->last = message.number;', 'e2e/otlp_push')),
    *in_file(
        'src/outside/contexts.c',
        (' || record.valid != 1', '', 'e2e/outside_contexts')),
    *in_file(
        'src/outside/stuck.c',
        ('if (!other->is_stuck || (tid && other->tid != tid))',
         'if (!other->is_stuck)', 'e2e/outside')),
    *in_file(
        'src/outside/file_lock.c',
        ('			if (last && strcmp(kind, "OFDLCK") == 0) {',
         '			if (last && strcmp(kind, "FLOCK") == 0) {', 'e2e/outside')),
    *in_file(
        'src/outside/child.c',
        ('if (!wanted || weft__outside_inner((pid_t)number) == wanted)',
         'if (wanted || weft__outside_inner((pid_t)number) != wanted)', 'e2e/outside')),
    *in_file(
        'src/story/other_end.c',
        ('*exit = end > *exit ? end : *exit;', '*exit = end < *exit || !*exit ? end : *exit;',
         'other_end'),
        ('list->exit_ns[buffer] <= at;', 'list->exit_ns[buffer] < at;',
         'other_end'),
        ('\treturn l->writes - r->writes;', '\treturn 0;',
         'other_end'),
        ('start <= at && start > last)', 'start > last)',
         'other_end'),
        ('(e->type[edge] == WEFT_EDGE_READ || e->type[edge] == WEFT_EDGE_TRY_READ) &&', 'e->type[edge] == WEFT_EDGE_READ &&',
         'other_end'),
        ('if (!count++ || has_sent)', 'if (!count++)',
         'other_end')),
    *in_file(
        'src/story/suspended.c',
        ('found = i; /* after', 'found = found == WEFT_NONE ? i : found; /* after',
         'suspended'),
        ('a->end[last] < model->tasks.end[task]', 'a->end[last] <= model->tasks.end[task]',
         'suspended')),
    *in_file(
        'src/story/elsewhere.c',
        ('\t\t\tlatest = t->end[task];\n', '',
         'elsewhere'),
        ('e->time[to.edges[i - 1]] >= from', 'e->time[to.edges[i - 1]] > from',
         'elsewhere')),
    *in_file(
        'src/story/signallers.c',
        ('if (task != WEFT_NONE && found != WEFT_NONE && task != found)', 'if (false)',
         'signallers'),
        ('e->from[read], time - 1, &wait)', 'e->from[read], time, &wait)',
         'signallers')),
    *in_file(
        'src/story/problems/kept.c',
        ('length_of(wait) <= length_of(longest)))', 'length_of(wait) < length_of(longest)))',
         'kept'),
        ('earlier(other->end, wait->end) > later(', 'earlier(other->end, wait->end) >= later(',
         'kept'),
        ('if (until - since <= reason->length)', 'if (until - since < reason->length)',
         'kept'),
        ('waiters > 2 ? "wait" : "waits"', 'waiters > 1 ? "wait" : "waits"',
         'kept')),
    *in_file(
        'src/story/problems/runner.c',
        ('if (ns <= *ret_ns)', 'if (ns < *ret_ns)',
         'kept')),
    *in_file(
        'src/story/problems/lengths.c',
        ('if (value_of(c, i) > value_of(c, c->peak))', 'if (value_of(c, i) >= value_of(c, c->peak))',
         'lengths'),
        ('c->taker == task[i] ? 1 : -1u;', '1;',
         'lengths'),
        ('if (floor <= before)', 'if (floor < before)',
         'lengths'),
        ('(task[i] == WEFT_NONE || takes[task[i]])', '(task[i] != WEFT_NONE && takes[task[i]])',
         'lengths')),
    *in_file(
        'src/model/totals.c',
        ('sample == w->counter->begins_set;', 'sample == 0;',
         'totals')),
    *in_file(
        'src/growing/frames.c',
        ('\tpart->feeds = 0;\n', '',
         'growing')),
    *in_file(
        'src/growing/pull.c',
        ('part->size < other->size;', 'part->size > other->size;',
         'growing_files')),
    *in_file(
        'src/format/weft/last_values.c',
        ('latest = change.ticks > latest ? change.ticks : latest;', 'latest = change.ticks ? change.ticks : latest;',
         'last_values')),
    *in_file(
        'src/layout/waits.c',
        ('tasks->end[task] <= ran->start[next] &&', 'tasks->end[task] < ran->start[next] &&',
         'layout_waits'),
        ('tasks->end[task] >= ran->end[next - 1] &&', 'tasks->end[task] > ran->end[next - 1] &&',
         'layout_waits')),
    *in_file(
        'src/story/problems/global_lock.c',
        ('h.longest > kept.longest', 'h.longest >= kept.longest',
         'problems_many'),
        ('h->waits >= WAITED_MIN &&', 'h->waits > WAITED_MIN &&',
         'problems_many'),
        ('if (starved.ns && starved.task != kept.task)', 'if (starved.ns)',
         'problems_many')),
    *in_file(
        'src/story/problems/ignored.c',
        ('e->time[edge] >= it->time + LONG_NS)', 'e->time[edge] > it->time + LONG_NS)',
         'problems_many')),
    *in_file(
        'src/story/problems/overlaps.c',
        ('o->ends[ended] <= o->starts[i]', 'o->ends[ended] < o->starts[i]',
         'problems_many'),
        ('o.last_ns / LONGER >= o.first_ns', 'o.last_ns / LONGER > o.first_ns',
         'problems_many'),
        ('|| firing == fired ||', '||',
         'problems_many')),
    *in_file(
        'src/story/problems/unsignalled.c',
        ('most && most->waits >= it->waits', 'most && most->waits > it->waits',
         'problems_vain'),
        ('if (it->waits < TIMES_MIN)', 'if (it->waits < 1)',
         'problems_vain'),
        ('e->type[edge] == WEFT_EDGE_SIGNAL || e->type[edge] == WEFT_EDGE_READ', 'e->type[edge] == WEFT_EDGE_SIGNAL',
         'problems_vain')),
    *in_file(
        'src/story/problems/displaced.c',
        ('if (hold->end <= middle)', 'if (hold->end < middle)',
         'problems_vain'),
        ('if (!d.longest.wait || length > d.longest', 'if (!d.longest.wait || length >= d.longest',
         'problems_vain'),
        ('if (label[hold->task] == label[wait->task] ||', 'if (',
         'problems_vain')),
    *in_file(
        'src/story/problems/consumers.c',
        ('it->since = it->count ? it->since : e->time[edge];', 'it->since = e->time[edge];',
         'problems_vain'),
        ('end = ended > end ? ended : end;', 'end = ended;',
         'problems_vain'),
        ('it->is_emptied = it->is_emptied && (c->model', 'it->is_emptied = (c->model',
         'problems_vain')),
    *in_file(
        'src/render/counters/histograms.c',
        ('below < (double)it->values * percent / 100)', 'below <= (double)it->values * percent / 100)',
         'pictures')),
    *in_file(
        'src/format/weft/ran_live.c',
        ('if (row.time < start)', 'if (row.time <= start)',
         'ran')),
    # ---- seen since a second computation stands beside random traces, and another process beside each made one ----
    *in_file(
        'src/model/resume.c',
        ('now - thread->resumed_at > WEFT__GOES_ON_NS', 'now - thread->resumed_at >= WEFT__GOES_ON_NS', 'waiting')),
    *in_file(
        'src/model/state.c',
        ('end < s->start', 'end <= s->start', 'model')),
    *in_file(
        'src/model/messages.c',
        ('has_raise && !has_other', 'has_raise', 'model_messages'),
        ('.handled = s->handled', '.handled = 0', 'model_messages'),
        ('second->time_ns - first->time_ns <= WEFT_KEY_ONCE_NS', 'second->time_ns - first->time_ns < WEFT_KEY_ONCE_NS', 'model_messages')),
    *in_file(
        'src/story/edges.c',
        ('model->tasks.end[to] == model->edges.time[edge]', 'true', 'story_random'),
        ('!has_end(model, to) || end > time', '!has_end(model, to) || end >= time', 'story_random')),
    *in_file(
        'src/story/awaited.c',
        ('t->start[task] <= start', 't->start[task] < start', 'story_random')),
    *in_file(
        'src/story/blocking.c',
        ('span.start >= start && span.end <= end', 'span.start >= start && span.end < end', 'story_random')),
    *in_file(
        'src/story/timer.c',
        ('ran_at(model, task, set);', 'ran_at(model, task, 0);', 'story_random')),
    *in_file(
        'src/story/problems/errors.c',
        ('|| time < problem->start', '', 'story_random')),
    *in_file(
        'src/story/problems/hogs.c',
        ('weft__story_only_thread(model, task) != WEFT_NONE', 'model->thread_count <= 1', 'problems_limits')),
    *in_file(
        'src/story/problems/growth.c',
        ('p->ended[process_of(p->model, task)] += ', 'p->ended[0] += ', 'problems_limits')),
    *in_file(
        'src/export/chrome_lines.c',
        ('thread->tid == 0 || has_tid(lines, process, thread->tid)', 'thread->tid == 0', 'export_chrome')),
    *in_file(
        'src/viewer/history.c',
        ('history->count = history->at + 1;',
         'history->count = history->count > history->at ? history->count : history->at + 1;', 'viewer_state')),
    *in_file(
        'src/viewer/knowledge/find.c',
        ('viewer->search.has_before = false;', '', 'viewer_find')),
    *in_file(
        'src/render/alerts.c',
        ('weft__strip *strip)\n{\n\tfor (uint32_t i = 0; i < p->model->buffer_count;',
         'weft__strip *strip)\n{\n\tfor (uint32_t i = 0; i < 1 && i < p->model->buffer_count;', 'strip')),
    *in_file(
        'src/agent/history.c',
        ('left->type == right->type && ', '', 'agent')),
    *in_file(
        'src/runs/saving/left_out.c',
        ('return before || event->key', 'return event->key', 'run_helper')),
    *in_file(
        'src/format/spans/view.c',
        ('number == 2', 'number >= 1', 'e2e/spans')),
    *in_file(
        'adapters/io/epoll.c',
        ('weft__hooks_copy(copies, events + i,', 'weft__hooks_copy(copies, events,', 'e2e/adapters_io')),
    *in_file(
        'adapters/io/record_lock.c',
        ('!find_file(fd, &file) || find_entry(&file)', '!find_file(fd, &file)', 'e2e/culprits_io')),
    # ---- calls that wait, transfers, readers and writers at their bounds: what random and tabled tests see ----
    *in_file(
        'adapters/io/read.c',
        ('weft__io_read_end(&call, result == 0 ? (int64_t)sizeof(*count) : -1, sizeof(*count), 0);',
         'weft__io_read_end(&call, result, sizeof(*count), 0);', 'e2e/adapters_counts')),
    *in_file(
        'adapters/io/transfer.c',
        ('count(from, WEFT__IO_TRAFFIC_IN, put, 0);', 'count(call->fd, WEFT__IO_TRAFFIC_IN, put, 0);', 'e2e/adapters_counts')),
    *in_file(
        'adapters/io/call.c',
        ('errno == EAGAIN || errno == EINTR || errno', 'errno == EAGAIN || errno', 'e2e/outcomes')),
    *in_file(
        'adapters/io/channel.c',
        ('add(object, (uint64_t)name->part));', 'object);', 'e2e/outcomes')),
    *in_file(
        'adapters/io/queue.c',
        ('it.takes && may_wait(time), EAGAIN', 'it.takes, EAGAIN', 'e2e/outcomes'),
        ('			errno = weft__saved;                                          \\\n', '			                                          \\\n', 'e2e/outcomes')),
    *in_file(
        'adapters/thread/mutex.c',
        ('return error == 0 || error == EOWNERDEAD;', 'return error == 0;', 'e2e/outcomes')),
    *in_file(
        'adapters/thread/rwlock.c',
        ('is_writer &&error == 0', 'is_writer', 'e2e/outcomes')),
    *in_file(
        'adapters/thread/semaphore.c',
        ('	int result = NEXT(sem_clockwait)(semaphore, clock, until);\n	end_wait(&it, result == 0);',
         '	int result = NEXT(sem_clockwait)(semaphore, clock, until);\n	end_wait(&it, true);', 'e2e/outcomes')),
    *in_file(
        'adapters/thread/sleep.c',
        ('	int result = NEXT(usleep)(us);\n	end_wait(&wait, result == 0);',
         '	int result = NEXT(usleep)(us);\n	end_wait(&wait, true);', 'e2e/outcomes')),
    *in_file(
        'src/metrics/levels.c',
        ('		from->real -= below->real;\n', '', 'exposition')),
    *in_file(
        'src/metrics/exposition.c',
        ('value > above && value <= bound', 'value >= above && value < bound', 'exposition')),
    *in_file(
        'src/metrics/accept.c',
        ('of_openmetrics.quality >= of_text.quality', 'of_openmetrics.quality > of_text.quality', 'exposition')),
    *in_file(
        'src/export/lines.c',
        ('		if (seconds < bound)\n			put', '		if (seconds <= bound)\n			put', 'lines')),
    *in_file(
        'src/format/ocaml/eio.c',
        ('for (size_t i = eio->context_count; i-- > least;) {', 'for (size_t i = least; i < eio->context_count; i++) {', 'eio'),
        ('set(event, WEFT_EVENT_SIGNAL, id, fiber);', 'set(event, WEFT_EVENT_SIGNAL, fiber, id);', 'eio')),
    *in_file(
        'src/format/ocaml/ring.c',
        ('words > ring->tail - ring->at ||', 'words > layout->ring_words ||', 'ocaml_events')),
    *in_file(
        'src/format/chrome/asyncs.c',
        ('	async->is_open = false;\n', '', 'e2e/chrome')),
    *in_file(
        'src/format/chrome/reader.c',
        (' &&\n					  !(list[end].offset & IS_EDGE);', ';', 'e2e/chrome')),
    *in_file(
        'src/format/spans/table.c',
        ('return time_ns > there ? time_ns : there;', 'return time_ns;', 'e2e/spans'),
        ('found != WEFT__SPANS_NONE ? found : find_row(t, trace, id, true);', 'found;', 'e2e/spans')),
]
