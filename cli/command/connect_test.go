// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"testing"

	"k8s.io/client-go/rest"

	"github.com/karmada-compute/karmada-compute/internal/reasons"
)

// TestKindsOfOthers: the commands know each kind by which others use Karmada. A kind that they do not know is skipped like one that
// the hub does not serve, and nothing warns of its objects.
func TestKindsOfOthers(t *testing.T) {
	plane, err := PlaneOf(&rest.Config{Host: "127.0.0.1:1"})
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range reasons.ForeignKinds {
		if _, err := plane.Client.RESTMapper().RESTMapping(kind.GroupKind(), kind.Version); err != nil {
			t.Error(err)
		}
	}
}
