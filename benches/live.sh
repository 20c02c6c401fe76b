#!/usr/bin/env bash
# Compares the live device with nbdkit's memory plugin. fio first fills 1 GiB in order. Then it writes and reads 4 KiB at
# random addresses with queue depth 32. The buffer of the live device has 8 MiB. The two servers are measured
# alternately, so that other load on the machine affects both of them.
# usage: live.sh DESTAGE [ROUNDS [SECONDS]]
set -euo pipefail
DESTAGE=$(realpath "$1")
ROUNDS=${2:-3}
TIME=${3:-4}
for tool in fio nbdkit python3; do
	command -v "$tool" >/dev/null || { echo "live: skipped: $tool is not installed (make tools)"; exit 0; }
done
FOLDER=$(mktemp -d)
SERVER=
finish() {
	if [ -n "$SERVER" ]; then kill "$SERVER" 2>/dev/null || true; fi
	rm -rf "$FOLDER"
}
trap finish EXIT
cd "$FOLDER"
URI="nbd+unix:///?socket=$FOLDER/live.sock"

fio_at() {
	fio --name=live --ioengine=nbd --uri="$URI" --size=1G "$@"
}

# measure WHO: for each operation, appends a line `who operation iops p99_us` to the file `all`
measure() {
	if [ "$1" = nbdkit ]; then
		nbdkit --foreground --unix live.sock memory 1G &
	else
		"$DESTAGE" serve --unix live.sock --capacity 1GiB --size 8MiB --buffer "$1" --quiet >/dev/null &
	fi
	SERVER=$!
	until [ -S live.sock ]; do sleep 0.05; done
	fio_at --rw=write --bs=256k --iodepth=8 --output=/dev/null
	local operation
	for operation in write read; do
		fio_at --rw=rand$operation --bs=4k --iodepth=32 --runtime="$TIME" --time_based --output-format=json --output=fio.json
		python3 - "$1" $operation <<'PY'
import json, sys
who, operation = sys.argv[1:]
text = open("fio.json").read()
job = json.loads(text[text.index("{"):])["jobs"][0][operation]
print(who, operation, job["iops"], job["clat_ns"]["percentile"]["99.000000"] / 1000)
PY
	done >>all
	kill $SERVER && wait $SERVER || true
	SERVER=
	rm -f live.sock
}

echo "4 KiB at random, depth 32, 1 GiB filled in order, buffer of 8 MiB: medians of $ROUNDS turns of $TIME s beside nbdkit memory"
printf '%-9s %-6s %10s %10s %7s %9s %9s %7s\n' buffer "" IOPS nbdkit ratio p99_us nbdkit ratio
for buffer in nocache lru epo fab bpac apu-lru bplru; do
	: >all
	for _ in $(seq "$ROUNDS"); do
		measure nbdkit
		measure "$buffer"
	done
	python3 - "$buffer" <<'PY'
import statistics, sys
buffer = sys.argv[1]
rows = [line.split() for line in open("all")]
for operation in ("write", "read"):
    def median(who, column):
        return statistics.median(float(row[column]) for row in rows if row[:2] == [who, operation])
    iops, other = median(buffer, 2), median("nbdkit", 2)
    p99, other_p99 = median(buffer, 3), median("nbdkit", 3)
    print(f"{buffer:9} {operation:6} {iops:10,.0f} {other:10,.0f} {iops / other:7.2f} {p99:9,.0f} {other_p99:9,.0f} {p99 / other_p99:7.2f}")
PY
done
