// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package testenv gives the tests of a package a real kube-apiserver and etcd: controller-runtime's envtest with the
// binaries that the local federation runs. Only tests import it.
//
// One kube-apiserver serves all tests of a package: the first call of Config starts it, and Main stops it after the
// last test. Binaries that are not cached are built first, which takes minutes. The server starts with our kinds, from
// data in the user's cache that the first tests after a change of the kinds write. There is no kube-controller-manager:
// owned objects are not collected as garbage, and namespaces are not deleted.
package testenv
