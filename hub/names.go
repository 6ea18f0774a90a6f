// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package hub

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/karmada-compute/karmada-compute/hub/cells"
	"github.com/karmada-compute/karmada-compute/hub/deployments"
	"github.com/karmada-compute/karmada-compute/hub/names"
	"github.com/karmada-compute/karmada-compute/hub/names/probe"
	"github.com/karmada-compute/karmada-compute/internal/naming"
)

// setUpNames adds the controller that keeps the DNS names of Workloads.
func setUpNames(t Target, s *shared) error {
	if err := s.setCities(t); err != nil {
		return err
	}
	prober, err := s.asks(t)
	if err != nil {
		return err
	}
	local := t.Manager.GetLocalManager()
	r := &names.Reconciler{
		Settings: t.Options.Names, Projects: t.Options.Projects, Hub: local.GetClient(), APIReader: local.GetAPIReader(),
		Records: t.newRecords(),
		Owners:  t.Options.Owners, Namespaces: s.namespaces, Lacking: cells.LackingOf(s.hub(t)), Prober: prober, Clock: t.Options.Clock,
	}
	return r.Register(t.Manager, t.controller(), t.wrap)
}

// newProber adds a Prober, with its metric.
func (t Target) newProber() (*probe.Prober, error) {
	o := t.Options.Probe
	o.Clock = t.Options.Clock
	prober := probe.New(o)
	metrics.Registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "karmada_compute_names_lost_addresses",
		Help: "Addresses in the DNS names of Workloads that answered this replica, and do not answer any more.",
	}, func() float64 { return float64(prober.Lost()) }))
	return prober, t.Manager.GetLocalManager().Add(prober)
}

// newRecords returns the DNSEndpoints of the hub, with their metric.
func (t Target) newRecords() *names.Records {
	local := t.Manager.GetLocalManager()
	records := &names.Records{
		Hub: local.GetConfig(), Mapper: local.GetRESTMapper(), Namespace: t.Options.Namespace, Clock: t.Options.Clock,
	}
	metrics.Registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "karmada_compute_names_unread_records",
		Help: "DNSEndpoints that external-dns has not read for longer than three minutes, or without whose addresses the DNS server of " +
			"--names-resolver has answered for minutes. Each replica counts all.",
	}, func() float64 { return float64(records.Unread()) }))
	return records
}

// drain is how long the Instances of a city run, by default, after the city has begun to leave the names.
func (t Target) drain() time.Duration {
	if !t.Options.Names.Rules.Any() {
		return 0
	}
	return naming.DrainFor(t.Options.Names.TTL)
}

// storedNames reads the names that the hub has stored. It is nil where Workloads have no names.
func (t Target) storedNames() deployments.Names {
	if !t.Options.Names.Rules.Any() {
		return nil
	}
	return &names.Stored{APIReader: t.Manager.GetLocalManager().GetAPIReader(), Namespace: t.Options.Namespace}
}
