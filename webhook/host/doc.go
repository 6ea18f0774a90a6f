// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package host runs controllers and webhooks in one process, or either alone: it serves webhooks over TLS 1.3 to
// callers that it has authenticated and authorized, tells when it is ready, and stops without losing a request.
package host
