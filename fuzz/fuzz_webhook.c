/* SPDX-License-Identifier: ISC
 *
 * The input is the body of a request to /alert: it is read, and the labels of each alert.
 */
#include <stdint.h>
#include <string.h>

#include <sqlite3.h>

#include "agent/labels.h"
#include "agent/webhook.h"
#include "reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void check(const struct weft__agent_call *call)
{
	char key[256], value[256];
	const char *at = call->labels, *const end = at + strlen(at);
	require(memchr(call->key, '\0', sizeof(call->key)) != NULL);
	for (const char *before = at; weft__agent_labels_next(&at, key, value); before = at) {
		require(before < at && at <= end);
		require(memchr(key, '\0', sizeof(key)) && memchr(value, '\0', sizeof(value)));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	static sqlite3 *database;
	struct weft__agent_calls calls;
	require(database || sqlite3_open(":memory:", &database) == SQLITE_OK);
	const char *problem = weft__agent_webhook_parse(database, (const char *)bytes, size, &calls);
	require(calls.count <= WEFT__AGENT_CALLS_MAX);
	for (size_t i = 0; i < calls.count; i++)
		check(&calls.list[i]);
	require(!problem || strlen(problem));
	weft__agent_calls_finish(&calls);
	return 0;
}
