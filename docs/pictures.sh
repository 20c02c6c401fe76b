#!/usr/bin/env bash
# The pictures of README and of the site's front page, of pages that are made now: docs/pictures/*.png.
#
#   docs/pictures.sh PROGRAM
#
# Needs Chromium or Chrome; `make tools` installs it.
set -euo pipefail
program=$(realpath "$1")
here=$(cd "$(dirname "$0")" && pwd)
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome || command -v google-chrome-stable) || {
    echo "docs/pictures.sh: no browser; expected chromium or google-chrome on the path"
    exit 1
}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
"$program" compare --quiet --workload mixed:requests=60000,mean_interarrival_ms=5 --profile tlc --sizes 16MiB..128MiB --buffers nocache,lru,fab,bplru,epo,bpac \
    --set flash.blocks_per_plane=16 --set sim.precondition=random_fill:1 -o compare.html >/dev/null
"$program" run --quiet --workload mixed:requests=600,footprint_pages=2048,random_pages=256,max_pages=4 --buffer bplru --size 256KiB --ftl bast \
    --set flash.dies=2 --set flash.pages_per_block=16 --set flash.summary_page=false --watch watch.html >/dev/null
mkdir -p "$here/pictures"
picture() { # PAGE NAME WIDTH HEIGHT
    "$browser" --headless --no-sandbox --disable-gpu --hide-scrollbars --window-size="$3,$4" --virtual-time-budget=8000 \
        --screenshot="$here/pictures/$2.png" "file://$work/$1" 2>/dev/null
    echo "docs/pictures/$2.png"
}
picture compare.html compare 1200 905
picture "watch.html#500" watch 1200 760
