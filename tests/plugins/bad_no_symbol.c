/* SPDX-License-Identifier: MIT
 *
 * bad_no_symbol.c - a shared object, but no plugin.
 */
int pkrun_plugim;
