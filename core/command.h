/* SPDX-License-Identifier: MIT
 *
 * command.h - subcommands.  To add one: `int command_NAME(int argc, char **argv)`
 * in a file of its own (tools/NAME.c when it only reads the database) and one
 * line in commands.def.  argv[0] is the subcommand's name; the return value is
 * the exit code (say.h).
 */
#ifndef PKRUN_COMMAND_H
#define PKRUN_COMMAND_H

#define COMMAND(name, brief) int command_##name(int argc, char **argv);
#include "commands.def"
#undef COMMAND

#endif
