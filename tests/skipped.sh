#!/bin/sh
# Lists the ignored tests in FILE with the reasons. FILE has the output of `cargo test`. Ignored tests do not
# count as passed.
# usage: skipped.sh FILE
set -eu
awk -v shared="${DESTAGE_SHARED:-../shared}" '
    /^test .* \.\.\. ignored/ {
        line = $0
        sub(/^test /, "", line)
        name = line; sub(/ \.\.\. ignored.*/, "", name)
        reason = line; sub(/.* \.\.\. ignored,? */, "", reason)
        if (!(name in seen)) { seen[name] = 1; names[++count] = name; reasons[count] = reason }
    }
    END {
        if (!count) { print "skipped: none"; exit }
        printf "skipped: %d, not counted as passed; outside data are looked for in %s, another folder is named by DESTAGE_SHARED\n", count, shared
        for (i = 1; i <= count; i++) printf "  %s: %s\n", names[i], reasons[i]
    }' "$1"
