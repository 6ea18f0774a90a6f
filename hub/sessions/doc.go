// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package sessions carries the streams of InstanceSessions from clients through the hub to cells. It keeps a grant for
// each stored session in a namespace of the hub, and writes the status of sessions in projects. Every replica that serves
// webhooks serves every session.
package sessions
