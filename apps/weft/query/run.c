/* SPDX-License-Identifier: ISC
 *
 * Runs statements: those of the command line, or of standard input.
 */
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "query.h"

static int fail(sqlite3 *database)
{
	const char *message = sqlite3_errmsg(database);
	bool is_unknown = strstr(message, "no such table") || strstr(message, "no such column");
	if (sqlite3_errcode(database) != SQLITE_INTERRUPT)
		cli_error("%s%s", message, is_unknown ? "; `weft query --tables` lists them" : "");
	return CLI_NO;
}

/* Runs the first statement of the text; `ret_rest` is what follows it. */
static int run_first(
	sqlite3 *database, const char *sql, enum query_format format, const char **ret_rest)
{
	sqlite3_stmt *statement = NULL;
	bool written = true;
	int result = sqlite3_prepare_v2(database, sql, -1, &statement, ret_rest);
	if (result)
		return fail(database);
	if (statement) /* else a comment, or nothing */
		result = query_print_rows(statement, format, &written);
	int status = !written ? CLI_NO : result && result != SQLITE_DONE ? fail(database) : CLI_DONE;
	sqlite3_finalize(statement);
	return status;
}

int query_run(sqlite3 *database, const char *sql, enum query_format format)
{
	int status = CLI_DONE;
	while (*sql && status == CLI_DONE)
		status = run_first(database, sql, format, &sql);
	return status;
}

/* ---- Standard input ---- */

static bool is_command(const char *line, const char *name)
{
	size_t size = strlen(name);
	return strncmp(line, name, size) == 0 && line[size + strspn(line + size, " \t\r\n;")] == '\0';
}

static const char help[] = "A statement of SQL ends with a semicolon. `.tables` lists the tables\n"
						   "and their columns, `.quit` or Ctrl-D ends.\n";

/* Handles a line that is no SQL. False to end. */
static bool take_command(const char *line)
{
	if (is_command(line, ".quit") || is_command(line, ".exit"))
		return false;
	if (is_command(line, ".tables") || is_command(line, ".schema"))
		query_list_tables();
	else
		fputs(help, stdout);
	fflush(stdout);
	return true;
}

/* Takes a line: a command, or a part of a statement, which is run when it is complete. False to
 * end. */
static bool take_line(
	sqlite3 *database, const char *line, struct weft_text *sql, enum query_format format)
{
	if (!sql->size && line[0] == '.')
		return take_command(line);
	weft_text_add_string(sql, line);
	weft_text_add(sql, "", 1);
	if (sql->error)
		return false;
	if (sqlite3_complete(sql->bytes)) {
		query_run(database, sql->bytes, format); /* a mistake was printed */
		sql->size = 0;
	} else {
		sql->size--; /* the NUL */
	}
	fflush(stdout);
	return true;
}

/* Waits until there is a line to read. False if the user interrupts, also right before the wait. */
static bool wait_for_line(void)
{
	struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
	sigset_t interrupt, before;
	sigemptyset(&interrupt);
	sigaddset(&interrupt, SIGINT);
	sigprocmask(SIG_BLOCK, &interrupt, &before);
	bool is_there = cli_progress_step(0) && ppoll(&input, 1, NULL, &before) > 0;
	sigprocmask(SIG_SETMASK, &before, NULL);
	return is_there;
}

/* Ctrl-C stops the statement that runs or is being typed, as in other shells of databases. */
static int run_prompt(sqlite3 *database, enum query_format format)
{
	struct weft_text sql = {0};
	char *line = NULL;
	size_t room = 0;
	setvbuf(stdin, NULL, _IONBF, 0); /* what was read ahead would not be waited for */
	fputs(help, stdout);
	for (bool goes_on = true; goes_on;) {
		fputs(sql.size ? "  ...> " : "weft> ", stdout);
		fflush(stdout);
		goes_on = wait_for_line() && getline(&line, &room, stdin) >= 0 &&
				  take_line(database, line, &sql, format);
		if (!cli_progress_step(0)) {
			cli_progress_resume();
			clearerr(stdin); /* the signal may have ended a read or a write */
			clearerr(stdout);
			fputs("\n", stdout);
			sql.size = 0;
			goes_on = true;
		}
	}
	free(line);
	weft_text_finish(&sql);
	fputs("\n", stdout);
	return CLI_DONE;
}

int query_run_input(sqlite3 *database, enum query_format format)
{
	struct weft_text sql = {0};
	char block[4096];
	if (isatty(STDIN_FILENO) && isatty(STDOUT_FILENO))
		return run_prompt(database, format);
	for (size_t size; (size = fread(block, 1, sizeof(block), stdin)) > 0;)
		weft_text_add(&sql, block, size);
	weft_text_add(&sql, "", 1);
	int status = sql.error ? CLI_NO : query_run(database, sql.bytes, format);
	weft_text_finish(&sql);
	return status;
}
