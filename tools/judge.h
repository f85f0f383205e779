/* SPDX-License-Identifier: MIT
 *
 * judge.h - from a pair of cells to a verdict.
 *
 * Two series of one run: block by block, for the blocks of one number ran side
 * by side; Hodges-Lehmann estimate of the log ratios, exact signed-rank
 * interval and test.  Two sets of sessions: the median of each session, shift
 * of the logarithms, Mann-Whitney interval and test.  Trials are never pooled.
 */
#ifndef PKRUN_JUDGE_H
#define PKRUN_JUDGE_H

#include "../core/stats.h"
#include "pair.h"

#define JUDGE_LEVEL 0.95
#define JUDGE_BLOCKS_MIN 6   /* paired blocks */
#define JUDGE_SESSIONS_MIN 4 /* a side */
#define JUDGE_THRESHOLD 0.01 /* changes under 1 % are no change in practice */

enum verdict { FASTER, SLOWER, SAME, UNCLEAR, UNTESTABLE, DNF, MISSING, VERDICTS };
extern const char *const verdict_names[VERDICTS];

struct judgement {
	const struct pair *pair;
	enum verdict verdict;
	double a_ns, b_ns; /* median per iteration; NAN: no time */
	struct stats_interval
	        ratio;     /* b / a; estimate NAN: none, lo and hi infinite or 0: no interval */
	double p, p_holm;  /* of ratio 1; NAN: no test */
	double p_least;    /* the least p_holm that so many units could give, if all cells differed */
	double detectable; /* true relative change that is called FASTER or SLOWER 4 times of 5, of one
	                    * cell alone; NAN: unknown, or none is (p_least) */
	size_t units_a, units_b; /* sessions, or (paired) the blocks common to both, twice */
	size_t blocks_a, blocks_b;
	char reason[200]; /* of UNCLEAR, UNTESTABLE, DNF, MISSING; may be empty */
};

/* Whether a cell of this status may have a time: ok, imprecise, and pending (not finished, but
 * verified). */
int judge_good(const char *status);
/* Everything but the verdict of tested pairs.  paired: blocks of one run, else
 * sessions; why_not: no pair may be tested, for this reason (NULL: they may). */
int judge_pair(const struct pair *pair, int paired, const char *why_not, struct judgement *out);
/* Holm over all that were tested, then their verdicts.  -1: no memory. */
int judge_all(struct judgement *j, size_t n, double threshold, size_t *tests);
/* The verdict from an interval of the ratio, alone. */
enum verdict judge_interval(const struct stats_interval *ratio, double p_holm, double threshold);
/* The least p of ratio 1 that there can be: of so many paired blocks, or sessions a side. */
double judge_least_p(size_t units_a, size_t units_b, int paired);
/* Can it be called FASTER or SLOWER at all, whatever it shows?  Of a tested pair, after judge_all. */
int judge_can_differ(const struct judgement *j);
/* The fewest paired blocks, or sessions a side, with which one of `tests` cells can pass Holm. */
size_t judge_units_needed(size_t tests, int paired);

#endif
