// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package crds has the CustomResourceDefinitions of the API.
package crds

import _ "embed"

// Workloads is the CustomResourceDefinition of Workloads, in YAML.
//
//go:embed compute.datumapis.com_workloads.yaml
var Workloads []byte
