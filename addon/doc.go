// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package addon is karmada-compute as an addon of karmadactl: `addons enable`, `disable` and `list` render the chart and
// apply it to the host, the hub and Milo's root.
//
// Everything that enable creates is listed in an inventory on the host before it is created. So enable can be interrupted
// and run again, a second enable removes what it no longer renders, and disable deletes exactly what enable created.
package addon
