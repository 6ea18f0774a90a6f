// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package namespaces has the projects of a hub without Milo: labelled namespaces of the hub itself. It is the second
// implementation of milo.Planes, beside Milo's: a project's control plane is a view of one namespace, over one client
// and one cache of the hub that all projects share.
package namespaces
