#!/bin/sh
# Puts what `destage reproduce` wrote into RESULTS where readers look for it: a README in the folder of each paper, one
# of all papers beside them, its table between the marks of the project's README, and figures' tables in docs/ between
# `<!-- table PAPER: HEADING -->` and `<!-- /table -->`.
#   sh experiments/publish.sh RESULTS
set -eu
results=$1
here=$(dirname "$0")
cp "$results/README.md" "$here/README.md"
for paper in "$here"/*/paper.toml; do
    name=$(basename "$(dirname "$paper")")
    cp "$results/$name/README.md" "$here/$name/README.md"
done
new=$(mktemp)
trap 'rm -f "$new"' EXIT
awk -v overview="$results/README.md" '
    /<!-- verdicts -->/ {
        while ((getline line < overview) > 0) {
            if (line ~ /<!-- verdicts -->/) inside = 1
            if (inside) { sub(/\]\(/, "](experiments/", line); print line }
            if (line ~ /<!-- \/verdicts -->/) inside = 0
        }
        skipping = 1
    }
    !skipping { print }
    /<!-- \/verdicts -->/ { skipping = 0 }
' "$here/../README.md" > "$new"
cat "$new" > "$here/../README.md"

for page in "$here"/../docs/*.md; do
    grep -q '^<!-- table ' "$page" || continue
    awk -v here="$here" '
        /^<!-- table .* -->$/ {
            print
            paper = $3
            sub(/:$/, "", paper)
            heading = $0
            sub(/^<!-- table [^:]*: /, "", heading)
            sub(/ -->$/, "", heading)
            file = here "/" paper "/README.md"
            inside = 0
            while ((getline line < file) > 0) {
                if (line ~ /^#/) inside = (line == "### " heading)
                else if (inside) print line
            }
            close(file)
            skipping = 1
        }
        /^<!-- \/table -->$/ { skipping = 0 }
        !skipping { print }
    ' "$page" > "$new"
    cat "$new" > "$page"
done
