// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha

import "k8s.io/apimachinery/pkg/api/resource"

// Quantity is a resource.Quantity under a name of our own, so that validation markers can be put on it.
type Quantity = resource.Quantity
