// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package naming

import (
	"strconv"
	"strings"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

const (
	// InlineInstances is the number of Instances, with the lowest indices, whose entries are in the status of the
	// deployment.
	InlineInstances = 16
	// SliceInstances is how many of the others each InstanceSlice is for.
	SliceInstances = 32
	// MaxSlices is the most InstanceSlices of a deployment.
	MaxSlices = (MaxIndex + 1 - InlineInstances + SliceInstances - 1) / SliceInstances
)

// SlicesFor is how many InstanceSlices a deployment needs whose highest index is this one.
func SlicesFor(highest int) int {
	number, sliced := SliceOf(highest)
	if !sliced {
		return 0
	}
	return number + 1
}

// SliceRange are the indices of a slice of a deployment, by its number.
func SliceRange(number int) v1alpha.IndexRange {
	first := InlineInstances + number*SliceInstances
	return v1alpha.IndexRange{First: int32(first), Last: int32(first + SliceInstances - 1)} //nolint:gosec // at most MaxIndex
}

// SliceName is the name of a slice of a deployment, by its number.
func SliceName(deployment string, number int) string {
	return deployment + "-" + strconv.Itoa(int(SliceRange(number).First))
}

// ParseSliceName is the inverse of SliceName. It is false for a name that is no slice's.
func ParseSliceName(slice string) (deployment string, number int, ok bool) {
	at := strings.LastIndexByte(slice, '-')
	if at <= 0 {
		return "", 0, false
	}
	first, err := strconv.Atoi(slice[at+1:])
	if err != nil || first < InlineInstances || (first-InlineInstances)%SliceInstances != 0 {
		return "", 0, false
	}
	number = (first - InlineInstances) / SliceInstances
	return slice[:at], number, number < MaxSlices && SliceName(slice[:at], number) == slice
}

// SliceOf is the number of the slice that an Instance at an index has its entry in. It is false for one that has it in
// the status of the deployment.
func SliceOf(index int) (number int, sliced bool) {
	if index < InlineInstances {
		return 0, false
	}
	return (index - InlineInstances) / SliceInstances, true
}
