/* SPDX-License-Identifier: ISC
 *
 * See agents.h. The database is opened for each request: it may be made or replaced at any time.
 */
#include "agents.h"

#include <time.h>

#include "agent/command.h"
#include "agent/database.h"
#include "agent/rollup.h"

/* An agent that looked so long ago, and twice as long as it has taken between two looks, has ended.
 */
#define SILENCE_S 60

const char *serve_agents_data(void)
{
	static char file[PATH_MAX];
	return agent_find_default_file(file) ? file : NULL;
}

static bool is_looking(sqlite3 *database)
{
	int64_t last, step;
	if (weft__agent_database_ask(database, "SELECT max(stop) FROM watched", 0, &last) ||
		weft__agent_database_ask(
			database, "SELECT step FROM watched ORDER BY start DESC LIMIT 1", 0, &step))
		return false;
	const int64_t silence = (int64_t)time(NULL) - last;
	return silence <= SILENCE_S + 2 * step && silence >= -SILENCE_S;
}

enum serve_agent serve_agents_write(const char *data, const struct serve_metrics_request *request,
	void (*write)(const struct serve_metrics_request *request,
		const struct weft__metrics_sample *samples, size_t count, struct weft_text *text),
	struct weft_text *text)
{
	const struct serve_token *bound = request->bound;
	struct weft__agent_rollup rollup = {0};
	enum serve_agent state = SERVE_AGENT_GONE;
	sqlite3 *database = NULL;
	if (data && weft__agent_database_open_readonly(data, &database) == SQLITE_OK &&
		is_looking(database))
		state = weft__agent_rollup_read(database, bound ? bound->labels : NULL,
					bound ? bound->label_count : 0, &rollup) == SQLITE_OK
					? SERVE_AGENT_LOOKS
					: SERVE_AGENT_FAILED;
	if (state == SERVE_AGENT_LOOKS)
		write(request, rollup.samples, rollup.count, text);
	weft__agent_rollup_finish(&rollup);
	sqlite3_close(database);
	return state;
}
