# destage alone: the image holds one file, which needs no other. About 10 MB.
#
#   docker build -t destage .
#   docker run --rm -v "$PWD:/work" destage run my.trace --buffer lru
#   docker run --rm -p 10809:10809 destage serve --tcp 0.0.0.0:10809 --listen-anywhere
#
# Another image takes the program by `COPY --from=destage /destage /usr/local/bin/`.
FROM rust:1-bookworm AS build
WORKDIR /src
COPY . .
# The folder of recorded traces is no part of the project.
RUN packaging/archive.sh target && cp target/archive/*/destage /destage

FROM scratch
COPY --from=build /destage /destage
WORKDIR /work
ENTRYPOINT ["/destage"]
CMD ["--help"]
