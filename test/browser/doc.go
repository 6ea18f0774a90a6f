// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package browser tests the page of `kubectl compute ui` in Chromium, against a real kube-apiserver. The tests write the
// objects that the add-on's controllers write. UPDATE=1 takes the pictures of the documentation.
package browser
