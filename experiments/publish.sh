#!/bin/sh
# Puts what `destage reproduce` wrote into RESULTS where readers look for it: one README of all papers, its table between
# the marks of the project's README, figures' tables in docs/ between `<!-- table PAPER: HEADING -->` and `<!-- /table -->`,
# and a README in the folder of each paper. A table that stands in docs/ stands there alone: the README links to it.
#   sh experiments/publish.sh RESULTS
set -eu
results=$1
here=$(dirname "$0")
new=$(mktemp)
placed=$(mktemp)
trap 'rm -f "$new" "$placed"' EXIT
cp "$results/README.md" "$here/README.md"
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
    awk -v results="$results" -v placed="$placed" -v name="$(basename "$page")" '
        /^#+ / {
            anchor = tolower($0)
            sub(/^#+ /, "", anchor)
            gsub(/[^a-z0-9 _-]/, "", anchor)
            gsub(/ /, "-", anchor)
        }
        /^<!-- table .* -->$/ {
            print
            paper = $3
            sub(/:$/, "", paper)
            heading = $0
            sub(/^<!-- table [^:]*: /, "", heading)
            sub(/ -->$/, "", heading)
            print paper "\t" heading "\t" name "#" anchor >> placed
            file = results "/" paper "/README.md"
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

for paper in "$here"/*/paper.toml; do
    name=$(basename "$(dirname "$paper")")
    awk -v paper="$name" -v placed="$placed" '
        BEGIN {
            FS = "\t"
            while ((getline < placed) > 0) if ($1 == paper) place["### " $2] = $3
            FS = " "
        }
        /^#/ {
            skipping = ($0 in place)
            if (skipping) {
                page = place[$0]
                sub(/#.*/, "", page)
                print $0 "\n\nThis table stands in [docs/" page "](../../docs/" place[$0] ").\n"
            }
        }
        !skipping { print }
    ' "$results/$name/README.md" > "$here/$name/README.md"
done
