#!/usr/bin/env bash
# Tests `destage serve` with NBD clients of other projects. Parts whose tools are missing are listed as skipped, with
# the reason.
# usage: live.sh DESTAGE
#
# DESTAGE_LIVE_BYTES is the size of the image that is copied to the server and back (default: 4 GiB). IOTESTS names the
# folder tests/qemu-iotests of qemu's sources.
set -uo pipefail
DESTAGE=$(realpath "$1")
ROOT=$(cd "$(dirname "$0")/.." && pwd)
BYTES=${DESTAGE_LIVE_BYTES:-4294967296}
FOLDER=$(mktemp -d)
SERVER=
FAILED=()
SKIPPED=()
cd "$FOLDER" || exit 1

finish() {
	if [ -n "$SERVER" ]; then kill "$SERVER" 2>/dev/null; fi
	rm -rf "$FOLDER"
}
trap finish EXIT

# serve OPTIONS: starts a server that listens on live.sock
serve() {
	: >serve.out
	"$DESTAGE" serve --unix live.sock --control live.ctl --quiet "$@" >serve.out 2>serve.err &
	SERVER=$!
	until grep -q ^ready serve.out; do
		kill -0 "$SERVER" 2>/dev/null || { cat serve.err; return 1; }
		sleep 0.05
	done
	URI='nbd+unix:///?socket='$FOLDER/live.sock
}

# Stops the server, which must exit with 0 and print no error.
stop() {
	kill "$SERVER"
	wait "$SERVER"
	local status=$?
	SERVER=
	[ $status = 0 ] && [ ! -s serve.err ] || { echo "the server ended with $status"; cat serve.err; return 1; }
}

# part NAME "TOOLS" FUNCTION: runs one part of the tests, if the tools of this part are installed
part() {
	local name=$1 tool
	for tool in $2; do
		if ! command -v "$tool" >/dev/null; then
			SKIPPED+=("$name: $tool is not installed (make tools)")
			return
		fi
	done
	printf '%-60s ' "$name"
	local began=$SECONDS
	if "$3" >part.out 2>&1; then
		echo "ok, $((SECONDS - began)) s"
	else
		echo FAILED
		FAILED+=("$name")
		tail -40 part.out
		if [ -n "$SERVER" ]; then kill "$SERVER" 2>/dev/null; wait "$SERVER" 2>/dev/null; SERVER=; fi
	fi
}

info() {
	serve --capacity 64MiB --export disk || return
	nbdinfo --json "nbd+unix:///disk?socket=$FOLDER/live.sock" | tee info.json
	grep -q '"can_multi_conn": true' info.json || return
	grep -q '"can_fast_zero": true' info.json || return
	grep -q '"block_size_minimum": 512' info.json || return
	nbdinfo --list "$URI" | grep -q 'export="disk"' || return
	nbdinfo --map "$URI" | grep -q 'hole,zero' || return
	stop
}

copy() {
	head -c $((BYTES / 4)) /dev/urandom >there.img && truncate -s "$BYTES" there.img || return
	serve --capacity "$BYTES" --buffer lru || return
	nbdcopy --connections=4 there.img "$URI" && nbdcopy --connections=4 "$URI" back.img || return
	cmp there.img back.img && rm -f there.img back.img || return
	stop
}

img() {
	head -c 48M /dev/urandom >there.img
	serve --capacity 64MiB --buffer bplru --ftl bast || return
	qemu-img info "$URI" && qemu-img convert -n -f raw -O raw there.img "$URI" || return
	qemu-img convert -f raw -O raw "$URI" back.img || return
	cmp -n 50331648 there.img back.img || return
	qemu-img compare -f raw -F raw "$URI" back.img || return
	qemu-img map -f raw --output=json "$URI" | grep -q '"zero": true' || return
	qemu-img bench -f raw -w -c 20000 -d 16 "$URI" || return
	stop
}

io() {
	serve --capacity 64MiB --buffer fab || return
	local out
	out=$(qemu-io -f raw \
		-c 'write -P 1 0 1M' -c 'write -P 2 -f 1M 4k' -c 'writev -P 3 2M 1k 2k 512' -c 'write -z 64k 64k' \
		-c 'flush' -c 'discard 128k 64k' -c 'aio_write -P 4 4M 1M' -c 'aio_read 0 4k' -c 'aio_flush' \
		-c 'read -P 1 0 64k' -c 'read -P 0 64k 64k' -c 'read -P 0 128k 64k' -c 'read -P 2 1M 4k' -c 'read -P 3 2M 3584' \
		-c 'read -P 4 4M 1M' "$URI" 2>&1)
	echo "$out"
	! grep -qiE 'fail|error' <<<"$out" || return
	out=$(qemu-io -f raw -c 'write -P 1 1G 4k' "$URI" 2>&1)
	! grep -q 'wrote 4096' <<<"$out" || return
	stop
	serve --capacity 64MiB --read-only || return
	! qemu-io -f raw -c 'write 0 4k' "$URI" || return
	qemu-io -r -f raw -c 'read -P 0 0 4k' "$URI" || return
	stop
}

# job DEPTH JOBS: random writes that fio reads back and verifies
job() {
	fio --name=verify --ioengine=nbd --uri="$URI" --rw=randwrite --bsrange=4k-64k --iodepth="$1" \
		--numjobs="$2" --size=24M --offset_increment=24M --verify=crc32c --verify_fatal=1 --do_verify=1 \
		--fsync=64 --randrepeat=1 --group_reporting --output=fio.out || { cat fio.out; return 1; }
}

# asks COMMANDS...: runs qemu-io; fails if its output has an error.
asks() {
	local options=() command out
	for command in "$@"; do options+=(-c "$command"); done
	out=$(qemu-io -f raw "${options[@]}" "$URI" 2>&1)
	echo "$out"
	! grep -qiE 'fail|error|verif' <<<"$out"
}

# Tests the subjects of qemu's own block tests without using these tests: whole devices, the end of the device, vectored
# requests, small write-zeroes requests, and many requests at once.
patterns() {
	local scheme many=() at
	for scheme in nocache bplru epo; do
		serve --capacity 64MiB --buffer "$scheme" --size 1MiB || return
		asks 'read -P 0 0 64M' 'write -P 0xa5 0 64M' 'read -P 0xa5 0 64M' || return
		# The last sector, and requests that do not cover whole pages. Requests beyond the end must fail.
		asks 'write -P 1 67108352 512' 'read -P 1 67108352 512' 'read -P 0xa5 67104768 3584' || return
		asks 'write -P 2 1536 9216' 'read -P 0xa5 0 1536' 'read -P 2 1536 9216' 'read -P 0xa5 10752 5632' || return
		! asks 'read 1T 512' || return
		! asks 'write 1T 512' || return
		asks 'read -P 0xa5 1M 64k' || return
		asks 'writev -P 3 2M 512 4k 8k 1k' 'readv -P 3 2M 8k 5632' 'read -P 2 2111 1' || return
		# Write-zeroes requests for a part of a page and for many pages, with and without a hole, over data.
		# Then data are written over the zeroes.
		asks 'write -z 3M 512' 'write -z -u 3147776 1M' 'read -P 0 3M 512' 'read -P 0xa5 3146240 1536' 'read -P 0 3147776 1M' \
			'write -P 4 3147776 64k' 'read -P 4 3147776 64k' 'read -P 0 3213312 64k' || return
		# Requests in flight together: to adjacent and overlapping ranges, and within one page. Then qemu-io
		# closes the connection while requests are in flight.
		many=()
		for at in $(seq 0 4096 262144); do many+=("aio_write -P 5 $((at + 8388608)) 4096" "aio_write -P 6 $((at + 16777216 + 512)) 1024"); done
		asks "${many[@]}" aio_flush 'read -P 5 8M 256k' 'read -P 6 16777728 1k' 'read -P 0xa5 16778752 2560' || return
		asks 'aio_write -P 7 32M 8M' 'aio_read 32M 8M' 'aio_write -P 7 40M 8M' || return
		asks flush 'read -P 7 32M 16M' 'discard 32M 8M' 'read -P 0 32M 8M' 'read -P 7 40M 8M' || return
		# A qcow2 image on the device, as for the disk of a virtual machine.
		qemu-img create -f qcow2 "$URI" 32M && qemu-io -f qcow2 -c 'write -P 8 1M 4M' -c 'read -P 8 1M 4M' "$URI" &&
			qemu-img check -f qcow2 "$URI" || return
		stop || return
	done
}

qemu_tests() {
	bash "$ROOT/tests/qemu_iotests.sh" "$DESTAGE" "$IOTESTS"
}

verify_each_depth() {
	local buffer depth
	for buffer in nocache lru epo fab bpac apu-lru bplru; do
		serve --capacity 256MiB --buffer "$buffer" || return
		for depth in 1 4 16 64; do
			job $depth 1 || { echo "$buffer at depth $depth"; return 1; }
		done
		job 16 8 || { echo "$buffer with 8 connections"; return 1; }
		stop || return
	done
}

verify_paced() {
	serve --capacity 256MiB --pace model --set flash.program_us=20 --set flash.read_us=5 --set host.bus_ns_per_sector=0 || return
	job 32 1 && job 8 8 || return
	stop
}

# lasting BUFFER OPTIONS...: tests that data persist with --image and --backing. Copies data to a server, kills this
# server with -9, reads the data back from a second server, and verifies the second server with fio.
lasting() {
	rm -f kept.img there.img back.img
	head -c 16M /dev/urandom >there.img
	serve --capacity 64MiB --buffer "$1" "${@:2}" || return
	nbdcopy --flush there.img "$URI" || return
	kill -9 "$SERVER"
	wait "$SERVER"
	serve --capacity 64MiB --buffer bplru "${@:2}" || return
	nbdcopy "$URI" back.img && cmp -n 16777216 there.img back.img || return
	rm -f there.img back.img
	job 16 2 || return
	stop
}
on_image() { lasting fab --image kept.img --ftl fast; }
in_a_cache() { lasting lru --image kept.img --ftl pslc --set flash.bits_per_cell=3; }
in_zones() { lasting lru --image kept.img --ftl zns; }
on_file() { lasting lru --backing kept.img; }

on_loop_device() {
	truncate -s 64M kept.img
	local loop status=0
	loop=$(losetup --show -f kept.img) || return
	lasting lru --backing "$loop" || status=1
	losetup -d "$loop"
	return $status
}

# full OPTION: fills the file system in which the server stores its data. Flushes must then fail, and data flushed
# before must remain. When there is room again, a server must work again.
full() {
	mkdir -p small && mount -t tmpfs -o size=8m tmpfs small || return
	local status=0
	full_in "$1" || status=1
	if [ -n "$SERVER" ]; then kill "$SERVER"; wait "$SERVER"; SERVER=; fi
	umount small
	return $status
}
full_in() {
	local out
	serve --capacity 32MiB --buffer lru --size 1MiB "$1" small/disk || return
	qemu-io -f raw -c 'write -P 1 0 2M' -c flush "$URI" || return
	head -c 16M /dev/zero >small/filler
	out=$(qemu-io -f raw -c 'write -P 2 4M 4M' -c flush "$URI" 2>&1)
	echo "$out"
	grep -q 'No space left on device' <<<"$out" || return
	if [ "$1" = --backing ]; then
		rm small/filler
		qemu-io -f raw -c 'write -P 3 4M 2M' -c flush -c 'read -P 3 4M 2M' "$URI" || return
		stop || return
	else
		kill "$SERVER"
		wait "$SERVER"
		[ $? = 2 ] && grep -q 'no room left' serve.err || return
		rm small/filler
	fi
	serve --capacity 32MiB "$1" small/disk || return
	out=$(qemu-io -f raw -c 'read -P 1 0 2M' "$URI" 2>&1)
	echo "$out"
	! grep -q 'Pattern verification failed' <<<"$out" || return
	stop
}
full_file() { full --backing; }
full_image() { full --image; }

# Tests a disk that refuses writes. A flush must fail, and the server must end with an error.
failing() {
	truncate -s 32M kept.img
	local loop out status=0
	loop=$(losetup --show -f kept.img) || return
	serve --backing "$loop" || { losetup -d "$loop"; return 1; }
	blockdev --setro "$loop"
	out=$(qemu-io -f raw -c 'write -P 1 0 64k' -c flush -c flush "$URI" 2>&1)
	echo "$out"
	[ "$(grep -c 'Input/output error' <<<"$out")" -ge 1 ] || status=1
	kill "$SERVER"
	wait "$SERVER"
	[ $? = 2 ] && grep -q 'the last flush' serve.err || status=1
	SERVER=
	# Otherwise the next user of this loop device would find the device read-only.
	blockdev --setrw "$loop"
	losetup -d "$loop"
	return $status
}

guide() {
	# Runs every block of docs/LIVE.md that needs tools of other projects, in one shell and one folder.
	mkdir -p guide bin && ln -sf "$DESTAGE" bin/destage || return
	awk '/^```bash$/ { inside = 1; next } /^```$/ { inside = 0 } inside' "$ROOT/docs/LIVE.md" >guide.sh
	[ -s guide.sh ] || { echo "docs/LIVE.md has no such block"; return 1; }
	(cd guide && PATH="$FOLDER/bin:$PATH" timeout 300 bash -euxo pipefail ../guide.sh)
}

file_system() {
	# The file system uses the server through FUSE and a loop device, like a disk.
	local kind=$1 loop
	serve --capacity 512MiB --buffer bplru || return
	mkdir -p fuse mnt
	nbdfuse fuse/disk "$URI" &
	local fuse=$!
	until [ -e fuse/disk ]; do kill -0 $fuse 2>/dev/null || return; sleep 0.1; done
	loop=$(losetup --show -f fuse/disk) || { fusermount3 -u fuse 2>/dev/null || umount fuse; return 1; }
	local status=0
	{
		"mkfs.$kind" -q "$loop" && mount "$loop" mnt && cp -r "$ROOT/crates" mnt/ && sync &&
			diff -r --no-dereference "$ROOT/crates" mnt/crates && umount mnt &&
			mount "$loop" mnt && diff -r --no-dereference "$ROOT/crates" mnt/crates && umount mnt &&
			case $kind in
			ext4) fsck.ext4 -fn "$loop" ;;
			xfs) xfs_repair -n "$loop" ;;
			btrfs) btrfs check --readonly "$loop" ;;
			esac
	} || status=1
	mountpoint -q mnt && umount mnt
	losetup -d "$loop"
	fusermount3 -u fuse 2>/dev/null || umount fuse
	wait $fuse
	[ $status = 0 ] || return 1
	stop
}
crash() {
	# Runs the programs and checks of docs/CRASH.md with fewer power cuts.
	awk '/^cat > .*END/ { inside = 1 } inside; /^END$/ { inside = 0 }' "$ROOT/docs/CRASH.md" >scripts.sh
	bash -eu scripts.sh && [ -s files.sh ] && [ -s rows-check.sh ] || return
	local crash="$DESTAGE crash --fs ext4 --buffer lru"
	$crash --cuts 2 --seed 5 --check "sh $FOLDER/files-check.sh" -- sh "$FOLDER/files.sh" || return
	$crash --cuts 2 --check "sh $FOLDER/rows-check.sh" -- sh "$FOLDER/rows.sh" WAL FULL || return
	# With synchronous=OFF the check must find a loss.
	$crash --cuts 3 --seed 3 --check "sh $FOLDER/rows-check.sh" -- sh "$FOLDER/rows.sh" WAL OFF
	[ $? = 3 ]
}
crash_guide() {
	# Runs the block of docs/guides/cut-the-power.md that needs root.
	mkdir -p crash-guide bin && ln -sf "$DESTAGE" bin/destage || return
	awk '/^```bash$/ { inside = 1; next } /^```$/ { inside = 0 } inside' "$ROOT/docs/guides/cut-the-power.md" >crash-guide.sh
	[ -s crash-guide.sh ] || { echo "docs/guides/cut-the-power.md has no such block"; return 1; }
	(cd crash-guide && PATH="$FOLDER/bin:$PATH" timeout 300 bash -euxo pipefail ../crash-guide.sh)
}
on_ext4() { file_system ext4; }
on_xfs() { file_system xfs; }
on_btrfs() { file_system btrfs; }

part "nbdinfo: what is offered" nbdinfo info
part "nbdcopy: $((BYTES >> 20)) MiB there and back, 4 connections" "nbdcopy cmp" copy
part "qemu-img: convert, compare, map, bench" qemu-img img
part "qemu-io: zeroes, discards, flushes, read-only" qemu-io io
part "qemu-io: what qemu's block tests look at" "qemu-io qemu-img" patterns
if [ -n "${IOTESTS:-}" ]; then
	part "qemu's block tests, the NBD subset" "qemu-io qemu-img" qemu_tests
else
	SKIPPED+=("qemu's block tests, the NBD subset: IOTESTS does not say where they are (apt-get source qemu)")
fi
part "fio: verified at depth 1 to 64 and with 8 connections" fio verify_each_depth
part "fio: the same in the time of the model" fio verify_paced
part "docs/LIVE.md: every command with these tools" "nbdinfo nbdcopy qemu-img fio" guide
part "an image: copied, killed, read back, verified" "nbdcopy cmp fio" on_image
part "an image with a pSLC cache: the same" "nbdcopy cmp fio" in_a_cache
part "an image with zones: the same" "nbdcopy cmp fio" in_zones
part "a file behind the buffer: the same" "nbdcopy cmp fio" on_file
if [ "$(id -u)" != 0 ]; then
	SKIPPED+=("disks behind the buffer, full and failing: needs root")
else
	part "a file behind the buffer whose file system is full" "qemu-io mount" full_file
	part "an image whose file system is full" "qemu-io mount" full_image
	if [ -e /dev/loop-control ]; then
		part "a block device behind the buffer" "nbdcopy cmp fio losetup" on_loop_device
		part "a block device that takes no writes" "qemu-io losetup blockdev" failing
	else
		SKIPPED+=("block devices behind the buffer: needs /dev/loop-control")
	fi
fi
# mounted KIND NAME "TOOLS" FUNCTION: runs one part that mounts a file system of KIND, if such a mount is possible
mounted() {
	if [ "$(id -u)" != 0 ]; then
		SKIPPED+=("$2: needs root")
	elif [ ! -e /dev/fuse ] || [ ! -e /dev/loop-control ]; then
		SKIPPED+=("$2: needs /dev/fuse and /dev/loop-control")
	elif ! grep -qw "$1" /proc/filesystems && ! modprobe "$1" 2>/dev/null; then
		SKIPPED+=("$2: the kernel does not have it")
	else
		part "$2" "nbdfuse losetup mkfs.$1 $3" "$4"
	fi
}
for kind in ext4 xfs btrfs; do
	mounted $kind "$kind through nbdfuse and a loop device" "" "on_$kind"
done
mounted ext4 "crash: files and SQLite on ext4, power cut" "e2fsck sqlite3" crash
mounted ext4 "docs/guides/cut-the-power.md: the program on ext4" "e2fsck" crash_guide

if [ ${#SKIPPED[@]} = 0 ]; then
	echo "skipped: none"
else
	echo "skipped: ${#SKIPPED[@]}, not counted as passed"
	printf '  %s\n' "${SKIPPED[@]}"
fi
[ ${#FAILED[@]} = 0 ]
