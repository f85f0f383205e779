/* SPDX-License-Identifier: MIT
 *
 * store_db.h - the connection behind a store, for the other files of db/ only.
 */
#ifndef PKRUN_STORE_DB_H
#define PKRUN_STORE_DB_H

#include <sqlite3.h>
#include "store.h"

sqlite3 *store_db(struct store *s);

#endif
