// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// countable reports whether a quantity can be compared and added in reasonable time. 1e1000000000 cannot: comparing it
// writes out all of its digits. Do no arithmetic with a quantity that is not countable.
func countable(quantity resource.Quantity) bool {
	const scale, bits = 40, 256
	decimal := quantity.DeepCopy()
	value := decimal.AsDec()
	return value.Scale() >= -scale && value.Scale() <= scale && value.UnscaledBig().BitLen() <= bits
}

// counted reports a quantity that is not countable, without its value, which may be as long as a Workload.
func (p *problems) counted(at place, quantity resource.Quantity) bool {
	if countable(quantity) {
		return true
	}
	decimal := quantity.DeepCopy()
	value := decimal.AsDec()
	p.hidden(at, fmt.Sprintf("%xe%d", value.UnscaledBig(), value.Scale()), "is out of any range", "")
	return false
}

func (p *problems) quantities(at place, list corev1.ResourceList) {
	for _, name := range slices.Sorted(maps.Keys(list)) {
		item := at.entry(string(name))
		p.positive(item, list[name])
	}
}

func (p *problems) positive(at place, quantity resource.Quantity) {
	if p.counted(at, quantity) && quantity.Sign() <= 0 {
		p.invalid(at, quantity.String(), "must be positive")
	}
}
