// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package federation

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"strconv"
	"sync/atomic"

	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	discoverylisters "k8s.io/client-go/listers/discovery/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/ptr"

	"github.com/karmada-compute/karmada-compute/test/federation/node"
)

// Service is a Service whose Pods run as processes of this machine, or as containers on it. As kube-proxy does, a Balancer gives new
// connections only to its ready endpoints; the connections of a removed endpoint are left to end by themselves.
type Service struct {
	// Config is a client configuration for the Service's cluster.
	Config *rest.Config
	// Namespace and Name of the Service. It may be created later.
	Namespace, Name string
	// Port is the name of a port of the Service, which its EndpointSlices have, too.
	Port string
	// Routed: its Pods are containers on nodes to whose addresses this machine has routes.
	Routed bool
	Log    *slog.Logger

	slices discoverylisters.EndpointSliceLister
	ready  atomic.Pointer[[]string]
}

// watch follows the Service until ctx ends. It returns when its endpoints are
// known.
func (s *Service) watch(ctx context.Context) error {
	client, err := kubernetes.NewForConfig(s.Config)
	if err != nil {
		return err
	}
	factory := informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithNamespace(s.Namespace),
		informers.WithTweakListOptions(func(o *metav1.ListOptions) {
			o.LabelSelector = labels.Set{discoveryv1.LabelServiceName: s.Name}.String()
		}))
	endpoints := factory.Discovery().V1().EndpointSlices()
	s.slices = endpoints.Lister()
	if _, err := endpoints.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: func(any) { s.update() }, UpdateFunc: func(any, any) { s.update() }, DeleteFunc: func(any) { s.update() },
	}); err != nil {
		return err
	}
	factory.Start(ctx.Done())
	context.AfterFunc(ctx, factory.Shutdown)
	if !cache.WaitForCacheSync(ctx.Done(), endpoints.Informer().HasSynced) {
		return fmt.Errorf("read the endpoints of Service %s/%s: %w", s.Namespace, s.Name, context.Cause(ctx))
	}
	s.update()
	return nil
}

// addresses returns the addresses of the ready endpoints.
func (s *Service) addresses() []string {
	if ready := s.ready.Load(); ready != nil {
		return *ready
	}
	return nil
}

// update stores the ready endpoints.
func (s *Service) update() {
	ready := s.endpoints()
	if old := s.ready.Swap(&ready); old == nil || !slices.Equal(*old, ready) {
		s.Log.Info("ready endpoints of the Service", "service", s.Namespace+"/"+s.Name, "endpoints", ready)
	}
}

// endpoints returns the addresses of processes behind the Service, in order.
func (s *Service) endpoints() []string {
	found, _ := s.slices.EndpointSlices(s.Namespace).List(labels.Everything()) // a cache has no errors
	var addresses []string
	for _, slice := range found {
		i := slices.IndexFunc(slice.Ports, func(p discoveryv1.EndpointPort) bool {
			return p.Port != nil && ptr.Deref(p.Name, "") == s.Port
		})
		if i < 0 {
			continue
		}
		for _, endpoint := range slice.Endpoints {
			if ready := endpoint.Conditions.Ready; ready != nil && !*ready || len(endpoint.Addresses) == 0 {
				continue
			}
			local, err := s.reached(endpoint.Addresses[0])
			if err != nil {
				s.Log.Warn("an endpoint is left out", "error", err)
				continue
			}
			addresses = append(addresses, net.JoinHostPort(local, strconv.Itoa(int(*slice.Ports[i].Port))))
		}
	}
	slices.Sort(addresses)
	return slices.Compact(addresses)
}

// reached returns the address at which this machine reaches a Pod.
func (s *Service) reached(pod string) (string, error) {
	if s.Routed {
		return pod, nil
	}
	return node.Local(pod)
}
