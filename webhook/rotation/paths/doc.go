// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package paths creates unguessable paths of webhooks, which identify callers without credentials: a caller that knows
// the path has read it in a webhook configuration. The path of each webhook ends in a secret, which is derived from a
// key; a webhook's secret reveals neither the key nor the secrets of other webhooks. The replicas keep the keys in one
// Secret on the hub and rotate them without losing a request (package rotation): when every replica has had the time to
// read the next key, it becomes the current one, and the webhook configurations get its paths. The former key is
// accepted until API servers have observed the new paths.
//
// An API server shows the path to a consumer in the error of a call that fails. Such an exposure causes a rotation.
//
// Secrets are in no log, error or metric.
package paths
