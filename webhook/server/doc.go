// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package server runs controllers and webhooks in one process, or either alone: it serves webhooks over TLS 1.3 to
// callers that it has authenticated and authorized, or that know an unguessable path; it reports readiness, and stops
// without losing a request.
package server
