/* SPDX-License-Identifier: MIT
 *
 * figure.h - figures: each is a function that writes a gnuplot script, and one
 * line in figures[] (figure.c).  draw.c turns a script into a file.
 */
#ifndef PKRUN_FIGURE_H
#define PKRUN_FIGURE_H

#include <stdio.h>
#include "results.h"

#define FIGURE_EVERY_RUN -1

struct figure_request {
	int64_t run;			/* 0: the latest; FIGURE_EVERY_RUN: of scaling alone */
	int64_t other_run;		/* compare: the run before it, unless given; else 0 */
	const char *workload, *target;	/* NULL: chosen by the figure */
	int64_t n;			/* STORE_NULL: chosen by the figure */
	const char *only;		/* of the cells those that match (results_only); NULL: all */
};

/* A figure being made. */
struct plot {
	struct store *store;
	const struct figure_request *want;
	struct results res;		/* the run */
	int borrowed;			/* res belongs to the caller */
	FILE *gp;			/* the script goes here */
	const char *workload, *target;	/* what it is of, once chosen */
	const char *shared;		/* parameters that stand in the title and in no label; NULL: none */
	int width, height;
	int drawn;			/* points, bars, lines that are in it */
	const char *hollow;		/* why it tells nothing though there is something to draw; NULL: it does */
	int dropped;			/* that have no time or cannot be drawn */
	char why[512];			/* of the first dropped, or why there is no figure */
};

struct figure {
	const char *name, *brief;
	int (*make)(struct plot *p);	/* 0, or -1 with why */
	int every_n;			/* it is over sizes, so that one cannot be chosen */
};

extern const struct figure figures[];		/* ends with a NULL name */
const struct figure *figure_find(const char *name);

/* The script of a figure in memory: 0 and *script (free it), or -1 and p->why.
 * loaded: the run if the caller has it already, else NULL. */
int figure_script(const struct figure *f, struct store *s, const struct results *loaded,
		  const struct figure_request *want, struct plot *p, char **script);
void figure_free(struct plot *p);

/* ---- for figures ---- */

/* '...' as gnuplot reads it: nothing in it is special, cut to 40 columns. */
void gp_quote(FILE *gp, const char *text);
/* The same of a whole line that is safe to print already. */
void gp_quote_long(FILE *gp, const char *text);
#define BAR_LABEL 60
/* The name of a lying bar, cut to BAR_LABEL columns, in a data row; a long one widens the figure. */
void gp_bar_label(struct plot *p, const char *text);
/* A duration as say_ns() has it, with a proper micro sign. */
const char *gp_ns(double ns, char buf[40]);
/* A colour that the colour-blind can tell from the others (Okabe and Ito), i from 0. */
const char *gp_colour(size_t i);
/* The unit for times from lo to hi: its name, and how many ns it is. */
const char *gp_unit(double lo, double hi, double *ns);
/* The frame for n bars that lie one below the other, the first at the top (height n - 1). */
void gp_lying_bars(struct plot *p, size_t n);
/* A key of n lines beside the plot, in one column: two would take the plot's room. */
void gp_key_at_the_side(struct plot *p, size_t n);
/* "series" or "series variant params", as far as needed to tell the cell from others. */
void gp_label(const struct plot *p, const struct result_cell *c, char *out, size_t size);
/* Choose workload and target: as asked, else the first in the matrix with a time and ok(). */
int plot_choose(struct plot *p, int (*ok)(const struct result_cell *c));
/* Choose n: as asked, else the one with most times, the largest of several. */
int64_t plot_choose_n(struct plot *p, int (*ok)(const struct result_cell *c));
int plot_is_chosen(const struct plot *p, const struct result_cell *c);
/* Is it of the workload, target and size that were asked for, if any were? */
int plot_is_wanted(const struct plot *p, const struct result_cell *c);
/* What was asked for, as the end of a sentence: ", workload null, n = 7", "". */
const char *plot_wanted(const struct plot *p, char *out, size_t size);
/* The cell has a time that can be drawn; else it is counted and the first reason kept. */
int plot_has_time(struct plot *p, const struct result_cell *c);
/* The device that the chosen cells ran on, NULL if none did. */
const char *plot_device(const struct plot *p);
/* What a title says of the run: " (quick run)", " (instrumented, cold caches)", "". */
const char *plot_caution(const struct plot *p);
/* set title: what, of what, where */
void plot_title(struct plot *p, const char *what, int64_t n);
/* The interval of the cell's time, or its fastest and slowest trial when there are too few blocks. */
void plot_spread(const struct result_cell *c, double *lo, double *hi);

int figure_ladder(struct plot *p);
int figure_scaling(struct plot *p);
int figure_overhead(struct plot *p);
int figure_roofline(struct plot *p);
int figure_latency(struct plot *p);
/* Histograms that variants took themselves: 1 drawn, 0 there are none, -1 error. */
int figure_messages(struct plot *p);
int figure_compare(struct plot *p);
int figure_schedule(struct plot *p);
int figure_sync(struct plot *p);

#endif
