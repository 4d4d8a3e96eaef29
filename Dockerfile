# The image of Frontdesk: one static binary and no other program.
#   docker build -t frontdesk . && docker run --rm -p 8080:8080 frontdesk
FROM --platform=$BUILDPLATFORM golang:1.26 AS golang

FROM golang AS build
WORKDIR /src
# The modules have their own layer, because they change less often than the code.
COPY go.mod go.sum ./
RUN go mod download
COPY . .
ARG VERSION= TARGETOS TARGETARCH
RUN CGO_ENABLED=0 GOOS=${TARGETOS} GOARCH=${TARGETARCH} \
    go build -trimpath -ldflags "-s -w -X frontdesk/cmd.version=${VERSION}" -o /frontdesk .

FROM scratch AS image
ARG VERSION=
LABEL org.opencontainers.image.title="frontdesk" \
      org.opencontainers.image.description="The back end of a fitness club's signup. Without configuration, it runs as its own mock." \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="${VERSION}"
COPY --from=golang /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/ca-certificates.crt
# A numeric user, because orchestrators cannot tell from a name that it is unprivileged.
USER 65532:65532
EXPOSE 8080
HEALTHCHECK --interval=10s --timeout=5s --start-period=5s CMD ["/frontdesk", "health"]
ENTRYPOINT ["/frontdesk"]

# The image of a release has the binary that goreleaser built for its platform.
FROM image AS released
ARG TARGETPLATFORM
COPY ${TARGETPLATFORM}/frontdesk /frontdesk

FROM image
COPY --from=build /frontdesk /frontdesk
