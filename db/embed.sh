#!/bin/sh
# SPDX-License-Identifier: MIT
#
# embed.sh - print C that holds the SQL files as strings.
#
#	sh embed.sh FOLDER	reads FOLDER/schema.sql and FOLDER/views.sql
set -eu
echo '/* made by db/embed.sh; edit schema.sql and views.sql */'
for name in schema views; do
	test -r "$1/$name.sql"
	echo "extern const char store_${name}_sql[];"
	echo "const char store_${name}_sql[] ="
	sed -e 's/\\/\\\\/g' -e 's/"/\\"/g' -e 's/^/"/' -e 's/$/\\n"/' "$1/$name.sql"
	echo ';'
done
