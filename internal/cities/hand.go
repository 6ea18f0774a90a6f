// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package cities

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// maxLeaving is how many items v1alpha.AnnotationLeaveCities has at most.
const maxLeaving = 48

// leaving matches an item of v1alpha.AnnotationLeaveCities.
var leaving = regexp.MustCompile(`^([A-Za-z0-9-]{1,16})(=([A-Za-z0-9-]{1,16}))?$`)

// ByHand has the decisions of a consumer about the candidates of a Workload.
type ByHand struct {
	// Leave has the cities in which no Instance should run, in upper case, each with the city that should run its Instances instead;
	// "": any candidate.
	Leave map[string]string
	// ReturnRequested is when the consumer has asked that cities which were replaced get their Instances again; zero: not.
	ReturnRequested time.Time
}

// ParseByHand reads the annotations of a Workload. An item that is not valid is left out, and named in the error.
func ParseByHand(annotations map[string]string) (ByHand, error) {
	result, wrong := ByHand{Leave: map[string]string{}}, []string(nil)
	for i, item := range strings.SplitN(annotations[v1alpha.AnnotationLeaveCities], ",", maxLeaving+1) {
		if i == maxLeaving {
			wrong = append(wrong, fmt.Sprintf("annotation %s has more than %d cities", v1alpha.AnnotationLeaveCities, maxLeaving))
			break
		}
		item = strings.TrimSpace(item)
		match := leaving.FindStringSubmatch(item)
		switch {
		case item == "":
		case match == nil || strings.EqualFold(match[1], match[3]):
			wrong = append(wrong, fmt.Sprintf("%.40q of annotation %s is not a city or CITY=CITY", item, v1alpha.AnnotationLeaveCities))
		default:
			result.Leave[strings.ToUpper(match[1])] = strings.ToUpper(match[3])
		}
	}
	if text := annotations[v1alpha.AnnotationReturnRequested]; text != "" {
		requested, err := time.Parse(time.RFC3339, text)
		if err != nil {
			wrong = append(wrong, fmt.Sprintf("%.40q of annotation %s is not a time in RFC 3339", text, v1alpha.AnnotationReturnRequested))
		}
		result.ReturnRequested = requested
	}
	if len(wrong) > 0 {
		return result, fmt.Errorf("%s", strings.Join(wrong, "; "))
	}
	return result, nil
}

// LeaveText is Leave as v1alpha.AnnotationLeaveCities has it; "": no city.
func (h ByHand) LeaveText() string {
	var items []string
	for _, city := range slices.Sorted(maps.Keys(h.Leave)) {
		if by := h.Leave[city]; by != "" {
			city += "=" + by
		}
		items = append(items, city)
	}
	return strings.Join(items, ",")
}
