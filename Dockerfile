# Copyright The karmada-compute Authors.
# SPDX-License-Identifier: Apache-2.0
#
# For those who build with an engine; `make images` needs none, and its images have an SBOM and the same bytes each time.
# One target for each image:
#
#   docker build --target karmada-compute      -t karmada-compute      --build-arg VERSION=v1.2.3 .
#   docker build --target karmada-compute-cell -t karmada-compute-cell --build-arg VERSION=v1.2.3 .
ARG GO=1.26

FROM --platform=$BUILDPLATFORM golang:${GO} AS build
ARG TARGETOS=linux
ARG TARGETARCH=amd64
ARG VERSION=v0.0.0-devel
ARG COMMIT=unknown
ARG DATE=1970-01-01T00:00:00Z
WORKDIR /src
COPY go.mod go.sum ./
COPY api/go.mod api/go.sum ./api/
RUN go mod download
COPY . .
RUN CGO_ENABLED=0 GOOS=${TARGETOS} GOARCH=${TARGETARCH} go build -mod=readonly -buildvcs=false -trimpath \
    -ldflags "-s -w -X github.com/karmada-compute/karmada-compute/cmd/internal/component.version=${VERSION} -X github.com/karmada-compute/karmada-compute/cmd/internal/component.commit=${COMMIT} -X github.com/karmada-compute/karmada-compute/cmd/internal/component.date=${DATE}" \
    -o /out/ ./cmd/karmada-compute ./cmd/karmada-compute-cell

FROM gcr.io/distroless/static:nonroot AS karmada-compute
ARG VERSION=v0.0.0-devel
ARG COMMIT=unknown
ARG DATE=1970-01-01T00:00:00Z
LABEL org.opencontainers.image.title=karmada-compute \
    org.opencontainers.image.description="Runs Workloads of Milo projects on the cells of a Karmada federation: controllers, admission and interpreter." \
    org.opencontainers.image.licenses=Apache-2.0 \
    org.opencontainers.image.vendor="The karmada-compute Authors" \
    org.opencontainers.image.source=https://github.com/karmada-compute/karmada-compute \
    org.opencontainers.image.documentation=https://github.com/karmada-compute/karmada-compute \
    org.opencontainers.image.version=${VERSION} \
    org.opencontainers.image.revision=${COMMIT} \
    org.opencontainers.image.created=${DATE}
COPY --from=build /out/karmada-compute /karmada-compute
WORKDIR /
USER 65532:65532
ENTRYPOINT ["/karmada-compute"]

FROM gcr.io/distroless/static:nonroot AS karmada-compute-cell
ARG VERSION=v0.0.0-devel
ARG COMMIT=unknown
ARG DATE=1970-01-01T00:00:00Z
LABEL org.opencontainers.image.title=karmada-compute-cell \
    org.opencontainers.image.description="Runs the Instances of WorkloadDeployments in a cell of a Karmada federation." \
    org.opencontainers.image.licenses=Apache-2.0 \
    org.opencontainers.image.vendor="The karmada-compute Authors" \
    org.opencontainers.image.source=https://github.com/karmada-compute/karmada-compute \
    org.opencontainers.image.documentation=https://github.com/karmada-compute/karmada-compute \
    org.opencontainers.image.version=${VERSION} \
    org.opencontainers.image.revision=${COMMIT} \
    org.opencontainers.image.created=${DATE}
COPY --from=build /out/karmada-compute-cell /karmada-compute-cell
WORKDIR /
USER 65532:65532
ENTRYPOINT ["/karmada-compute-cell"]
