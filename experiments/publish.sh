#!/bin/sh
# Puts what `destage reproduce` wrote into RESULTS where readers look for it: a README in the folder of each paper, one
# of all papers beside them, and its table between the marks of the project's README.
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
