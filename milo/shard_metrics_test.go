// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package milo

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/karmada-compute/karmada-compute/testenv"
)

// TestShardMetrics: a shard counts from when this replica owns it until it has lost it.
func TestShardMetrics(t *testing.T) {
	t.Parallel()
	scheme := runtime.NewScheme()
	if err := AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	provider, err := NewProvider(ProviderOptions{Root: testenv.Config(t), Scheme: scheme, Shards: testShards})
	if err != nil {
		t.Fatal(err)
	}
	registry := prometheus.NewPedanticRegistry()
	provider.RegisterMetrics(registry)
	says := func(owned string) error {
		return testutil.GatherAndCompare(registry, strings.NewReader(`
# HELP karmada_compute_shards Shards into which the projects are divided.
# TYPE karmada_compute_shards gauge
karmada_compute_shards 6
# HELP karmada_compute_shards_owned Shards that this replica owns. Projects in a shard that no replica owns are not reconciled.
# TYPE karmada_compute_shards_owned gauge
karmada_compute_shards_owned `+owned+"\n"), "karmada_compute_shards", "karmada_compute_shards_owned")
	}
	if err := says("0"); err != nil {
		t.Error(err)
	}
	lost, lose := context.WithCancel(t.Context())
	provider.own(lost, 1)
	provider.own(t.Context(), 4)
	if err := says("2"); err != nil {
		t.Error(err)
	}
	lose()
	// The end of a context is noticed in a goroutine.
	var wrong error
	if err := wait.PollUntilContextTimeout(t.Context(), time.Millisecond, 10*time.Second, true, func(context.Context) (bool, error) {
		wrong = says("1")
		return wrong == nil, nil
	}); err != nil {
		t.Error(wrong)
	}
}
