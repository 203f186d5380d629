/* SPDX-License-Identifier: ISC
 *
 * The labels of a series, as the database has them: a JSON object of texts.
 */
#ifndef WEFT_AGENT_LABELS_H
#define WEFT_AGENT_LABELS_H

#include <stdbool.h>

/* Takes the next label, from the object's start on. Longer texts are cut. False at the end, and
 * where the text is no such object. */
bool weft__agent_labels_next(const char **at, char ret_key[256], char ret_value[256]);

#endif
