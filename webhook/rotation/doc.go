// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package rotation keeps state that all replicas share in one Secret on the hub, and replaces it without losing a
// request. Its two kinds are the CAs of the webhooks (certificates) and the keys of their paths (paths).
//
// A rotation has three steps. Each is one optimistic update of the Secret, by any replica:
//
//  1. The next item is created beside the current one.
//  2. It becomes the current item, and the former one the previous item.
//  3. The previous item is deleted.
//
// One of the two pauses between them waits for callers: until every webhook configuration has been changed, and then
// for Delay, because API servers observe the change later. A kind that callers must know ahead of its use, as a CA, has
// this pause before step 2. A kind that callers use as soon as they know it, as a path, has it before step 3. The other
// pause has a fixed length, Phases.Settle.
//
// The clocks of the replicas must differ by much less than Delay.
package rotation
