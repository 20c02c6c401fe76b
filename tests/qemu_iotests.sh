#!/usr/bin/env bash
# Runs those of qemu's own block tests that can use NBD, with `destage serve` in place of qemu-nbd. The tests are not
# part of the project. They check the output of qemu-img, so the versions of the tests and of the installed qemu-img
# should be equal.
# usage: qemu_iotests.sh DESTAGE IOTESTS [TEST...]
#
# IOTESTS is the folder tests/qemu-iotests of qemu's sources, which `apt-get source qemu` downloads.
set -uo pipefail
DESTAGE=$(realpath "$1")
IOTESTS=$(realpath "$2")
shift 2
# The tests of the raw format over NBD, with these exceptions. 005 creates the file that its NBD address names. 083 and
# 147 use servers of their own. 094, 119, 143, 145, 181 and 205 need a virtual machine or its server. 104, 241 and 259
# need a server of 1000 bytes or of another exact size, but the size of a flash device is a multiple of a block, so the
# device can be larger than requested.
TESTS=(001 002 003 004 008 009 010 011 021 032 033 077 123 197 215)
if [ $# -gt 0 ]; then TESTS=("$@"); fi
# Some tests refuse folders with a dot in their name.
SCRATCH=$(mktemp -d "${TMPDIR:-/tmp}/iotestsXXXXXX")
trap 'rm -rf "$SCRATCH"' EXIT

# A server in place of qemu-nbd. It listens on the same socket, has a device of the same size, and ends on a signal.
cat >"$SCRATCH/server" <<SERVER
#!/usr/bin/env bash
while [ \$# -gt 1 ]; do
	case \$1 in
	--pid-file=*) pid=\${1#*=} ;;
	-k) shift; socket=\$1 ;;
	-f | -e | -x) shift ;;
	esac
	shift
done
echo \$\$ >"\$pid"
exec "$DESTAGE" serve --unix "\$socket" --capacity "\$(stat -c %s "\$1")" --buffer bplru --quiet
SERVER
chmod +x "$SCRATCH/server"

export TEST_DIR=$SCRATCH/tests SOCK_DIR=$SCRATCH/s QEMU_TEST_DIR=$SCRATCH/tests OUTPUT_DIR=$SCRATCH/out
export SAMPLE_IMG_DIR=$IOTESTS/sample_images PYTHON=python3
export IMGFMT=raw IMGPROTO=nbd IMGFMT_GENERIC=true IMGOPTSSYNTAX=false IMGOPTS= CACHEMODE=writeback AIOMODE=threads
export CACHEMODE_IS_DEFAULT=true QEMU_OPTIONS= QEMU_IMG_OPTIONS= QEMU_NBD_OPTIONS= QEMU_IO_OPTIONS='--cache writeback --aio threads -f raw'
export QEMU_IO_OPTIONS_NO_FMT='--cache writeback --aio threads' VALGRIND_QEMU= GDB_OPTIONS= IMGKEYSECRET=
QEMU_IMG_PROG=$(command -v qemu-img) QEMU_IO_PROG=$(command -v qemu-io) QEMU_PROG=$(command -v false)
export QEMU_IMG_PROG QEMU_IO_PROG QEMU_PROG QEMU_NBD_PROG=$SCRATCH/server QSD_PROG=$QEMU_PROG
failed=0
for name in "${TESTS[@]}"; do
	rm -rf "$TEST_DIR" "$SOCK_DIR" "$OUTPUT_DIR"
	mkdir -p "$TEST_DIR" "$SOCK_DIR" "$OUTPUT_DIR"
	expected=$IOTESTS/$name.out
	for other in "$IOTESTS/$name.out.raw" "$IOTESTS/$name.out.nbd"; do [ ! -e "$other" ] || expected=$other; done
	(cd "$IOTESTS" && timeout 120 bash "./$name") >"$SCRATCH/found" 2>&1
	status=$?
	if [ -e "$OUTPUT_DIR/$name.notrun" ] || [ -e "$TEST_DIR/$name.notrun" ]; then
		echo "$name: does not apply: $(cat "$OUTPUT_DIR/$name.notrun" "$TEST_DIR/$name.notrun" 2>/dev/null)"
	elif diff -u -w -Z "$expected" "$SCRATCH/found" >"$SCRATCH/difference" && [ $status = 0 ]; then
		echo "$name: passed"
	else
		echo "$name: FAILED, status $status"
		head -40 "$SCRATCH/difference"
		failed=1
	fi
done
exit $failed
