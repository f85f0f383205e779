/* SPDX-License-Identifier: MIT
 *
 * protocol.c - what came from a worker's pipe, made safe to look at.  A plugin
 * lives in the same process and can write there what it likes.
 */
#include <string.h>
#include "protocol.h"

/* Of the messages that are a struct, by type; 0: any size. */
static size_t payload_size(uint32_t type)
{
	switch (type) {
	case PROTOCOL_PHASE:
		return sizeof(struct protocol_phase);
	case PROTOCOL_METRIC:
		return sizeof(struct protocol_metric);
	case PROTOCOL_GRID:
		return sizeof(struct protocol_grid);
	case PROTOCOL_WANT_REFERENCE:
		return sizeof(struct protocol_want);
	case PROTOCOL_TRIAL:
		return sizeof(struct protocol_trial);
	case PROTOCOL_CALIBRATED:
		return sizeof(struct protocol_calibrated);
	case PROTOCOL_PROGRESS:
		return sizeof(struct protocol_progress);
	case PROTOCOL_END:
		return sizeof(struct protocol_end);
	default:
		return 0;
	}
}

#define END_TEXT(array) ((array)[sizeof(array) - 1] = '\0')

static void end_texts(uint32_t type, union protocol_payload *u)
{
	switch (type) {
	case PROTOCOL_PHASE:
		END_TEXT(u->phase.name);
		break;
	case PROTOCOL_METRIC:
		END_TEXT(u->metric.name);
		END_TEXT(u->metric.unit);
		break;
	case PROTOCOL_WANT_REFERENCE:
		END_TEXT(u->want.input);
		break;
	case PROTOCOL_TRIAL:
		END_TEXT(u->trial.kind);
		END_TEXT(u->trial.hash);
		END_TEXT(u->trial.flags);
		break;
	case PROTOCOL_END:
		END_TEXT(u->end.status);
		END_TEXT(u->end.reason);
		break;
	}
}

static int is_kind(const char *kind)
{
	static const char *const kinds[] = { "first", "odd", "warmup", "timed" };
	size_t i;

	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (strcmp(kind, kinds[i]) == 0)
			return 1;
	return 0;
}

int protocol_take(const struct message *m, union protocol_payload *u)
{
	size_t size = payload_size(m->type);

	if (!size)
		return 0;
	if (m->size != size)
		return -1;
	memcpy(u, m->data, size);
	end_texts(m->type, u);
	return m->type != PROTOCOL_TRIAL || is_kind(u->trial.kind) ? 0 : -1;
}
