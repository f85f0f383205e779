/* SPDX-License-Identifier: MIT
 *
 * version.h - which pkrun this is.
 */
#ifndef PKRUN_VERSION_H
#define PKRUN_VERSION_H

/* "0.1.0" */
const char *version_text(void);
/* The commit it was built from, "529cd4930c5e" or "529cd4930c5e-dirty"; NULL where that is unknown. */
const char *version_git(void);

#endif
