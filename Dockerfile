# The command as an image without shell and package manager: docs/how-to/container.md.
FROM node:24.11.1-bookworm AS build
WORKDIR /source
COPY . .
RUN node scripts/image-files.mjs /image

FROM gcr.io/distroless/nodejs24-debian12:nonroot@sha256:14d42e2511532589a7c7e01a753667a74fcc96266e137e8125006b87b0c32d0a
COPY --from=build /image /app
WORKDIR /project
USER 65532:65532
ENTRYPOINT ["/nodejs/bin/node", "/app/dist/trueup.cjs"]
