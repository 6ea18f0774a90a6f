// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package paths makes the paths of webhooks unguessable, so that callers without credentials can be told from others: who
// knows the path has read it in a webhook configuration. The path of each webhook ends in a secret, which is derived from a
// key; a webhook's secret reveals neither the key nor the secrets of other webhooks. The replicas keep the keys in one Secret
// on the hub and rotate them without losing a request (package rotation): when every replica has had the time to read the next key, it
// becomes the current one, and the webhook configurations get its paths. The former key is accepted until API servers have observed that.
//
// An API server shows the path to a consumer in the error of a call that fails. Such an exposure causes a rotation.
//
// Secrets are in no log, error or metric.
package paths
