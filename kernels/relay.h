/* SPDX-License-Identifier: MIT
 *
 * relay.h - messages between host and device; driven by the relay_* variants.
 *
 * An iteration is one message of `words` words.  Message i carries
 * relay_word(i, k) in word k, and the device adds what it got to received[k]:
 * a message lost, done twice, overwritten or read too early changes the sum.
 */
#ifndef PKRUN_RELAY_H
#define PKRUN_RELAY_H

#include "mix.h"

#define RELAY_VERSION 1

struct relay_args {
	uint32_t  size;		/* sizeof(struct relay_args) */
	uint32_t  version;	/* RELAY_VERSION */
	uint64_t  words;
	uint64_t *received;	/* a sum a word; NULL until setup() */
	uint64_t *count;	/* messages so far */
};

PK_MIX_FN uint64_t relay_word(uint64_t i, uint64_t k)
{
	return pk_mix64(i * PK_GOLDEN + k + 1);
}

#endif
