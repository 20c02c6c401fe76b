#!/usr/bin/env bash
# Builds the image of `Dockerfile` with docker, podman or buildah, whichever can build images here, and tries it.
#
#   packaging/image.sh TARGET
#
# Only the last stage is built. The program of packaging/archive.sh in TARGET replaces the first stage, which would
# compile it again.
set -euo pipefail
cd "$(dirname "$0")/.."
target=$(realpath "$1")
stage=$target/image
rm -rf "$stage" && mkdir -p "$stage"
cp "$target"/archive/*/destage "$stage/destage"
for engine in docker podman buildah; do
    command -v $engine >/dev/null && $engine info >/dev/null 2>&1 || continue
    case $engine in
        docker) docker buildx build --quiet --build-context build="$stage" --load -t destage:trial . >/dev/null ;;
        podman) podman build --quiet --build-context build="$stage" -t destage:trial . >/dev/null ;;
        buildah) buildah build --quiet --isolation chroot --build-context build="$stage" -t destage:trial . >/dev/null ;;
    esac
    if [ $engine = buildah ]; then
        container=$(buildah from destage:trial)
        trap 'buildah rm "$container" >/dev/null; buildah rmi destage:trial >/dev/null' EXIT
        mounted=$(buildah mount "$container")
        files=$(cd "$mounted" && find . -type f)
        [ "$files" = ./destage ] || { echo "packaging/image.sh: the image holds $files; expected ./destage alone"; exit 1; }
        buildah run --isolation chroot "$container" /destage run --workload zipf:requests=2000 --json | grep '"host.requests": 2000' >/dev/null
        size=$(du -k "$mounted/destage" | cut -f1)
    else
        $engine run --rm destage:trial run --workload zipf:requests=2000 --json | grep '"host.requests": 2000' >/dev/null
        size=$(($($engine image inspect --format '{{.Size}}' destage:trial) / 1024))
        $engine rmi destage:trial >/dev/null
    fi
    echo "image: built by $engine, $size KiB, runs"
    exit
done
echo "image: skipped: neither docker, podman nor buildah can build images here"
