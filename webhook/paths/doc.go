// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package paths makes the paths of webhooks unguessable, so that callers without credentials can be told from others: who
// knows the path has read it in a webhook configuration. The path of each webhook ends in a secret, which is derived from a
// key; a webhook's secret reveals neither the key nor the secrets of other webhooks. The replicas keep the keys in one Secret
// on the hub and rotate them without losing a request.
//
// A rotation takes these steps. Each is one optimistic update of the Secret, by any replica:
//
//  1. The next key is created beside the current one. Nothing is registered with it yet.
//  2. When every replica has had the time to read it, it becomes the current key, and the webhook configurations get its
//     paths. The former key is accepted as the previous one.
//  3. When every webhook configuration has the paths of the current key, the time is stamped.
//  4. Delay later, when the API servers have observed the changed configurations, the previous key is dropped.
//
// Secrets are in no log, error or metric. The clocks of the replicas must differ by much less than Delay.
package paths
