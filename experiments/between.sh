#!/bin/sh
# Puts what a recipe measured into a page: TABLES takes the place of what stands between `<!-- measured -->` and
# `<!-- /measured -->` in PAGE.
#   sh experiments/between.sh PAGE TABLES
set -eu
page=$1
tables=$2
new=$(mktemp)
trap 'rm -f "$new"' EXIT
awk -v tables="$tables" '
    /^<!-- measured -->$/ {
        print
        print ""
        while ((getline line < tables) > 0) print line
        close(tables)
        skipping = 1
    }
    /^<!-- \/measured -->$/ { skipping = 0 }
    !skipping { print }
' "$page" > "$new"
cat "$new" > "$page"
