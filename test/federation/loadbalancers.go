// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package federation

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/karmada-compute/karmada-compute/test/federation/containers"
	"github.com/karmada-compute/karmada-compute/test/federation/node"
)

// resyncInterval is the interval in which the load balancers check all Services again, in case a write has failed.
const resyncInterval = 5 * time.Second

// AnnotationWithheld on a Service leaves its status without the address of its load balancer, which continues to answer.
const AnnotationWithheld = "federation.karmada-compute.dev/withheld"

// LoadBalancers stands for the load balancer of a cloud: each Service of type LoadBalancer of a cell gets an address,
// and connections to it go to the Service's ready endpoints. The processes listen on node.Local of the address.
type LoadBalancers struct {
	// Config is a client configuration for the cell.
	Config *rest.Config
	// Port is reserved for these load balancers: it determines their range of addresses.
	Port int
	// Routed: the cell has nodes of containers, as Service.Routed says.
	Routed bool
	// Reachable: this machine gets a route, so that the addresses themselves answer on it, too. That needs root.
	Reachable bool
	Log       *slog.Logger

	client   kubernetes.Interface
	services func() ([]*corev1.Service, error)

	mu     sync.Mutex
	served map[types.UID]*balanced
}

// balanced is a Service with an address.
type balanced struct {
	address string
	ports   []corev1.ServicePort
	stop    context.CancelFunc
	stopped *sync.WaitGroup
}

// LoadBalancerRange returns the addresses of the load balancers with a reserved port.
func LoadBalancerRange(port int) netip.Prefix {
	// Pods of processes have 10.1 to 10.95, Services 10.96, and nodes of containers 10.213.
	const second = 130
	n := port - lowestPort
	return netip.PrefixFrom(netip.AddrFrom4([4]byte{10, byte(second + n>>8), byte(n), 0}), 24) //nolint:gosec // below 256
}

// Serve serves the Services until ctx ends. It accepts connections on Port as soon as it knows them.
func (l *LoadBalancers) Serve(ctx context.Context) (err error) {
	if l.client, err = kubernetes.NewForConfig(l.Config); err != nil {
		return err
	}
	// Services that exist already are served as soon as the informer starts.
	if err := l.route(ctx, "replace"); err != nil {
		return fmt.Errorf("load balancers: %w", err)
	}
	defer func() { err = errors.Join(err, l.route(context.WithoutCancel(ctx), "delete")) }()
	l.served = map[types.UID]*balanced{}
	factory := informers.NewSharedInformerFactory(l.client, resyncInterval)
	services := factory.Core().V1().Services()
	l.services = func() ([]*corev1.Service, error) { return services.Lister().List(labels.Everything()) }
	changed := func() { l.sync(ctx) }
	if _, err := services.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: func(any) { changed() }, UpdateFunc: func(any, any) { changed() }, DeleteFunc: func(any) { changed() },
	}); err != nil {
		return err
	}
	factory.Start(ctx.Done())
	defer factory.Shutdown()
	if !cache.WaitForCacheSync(ctx.Done(), services.Informer().HasSynced) {
		return fmt.Errorf("read the Services: %w", context.Cause(ctx))
	}
	ready, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address(l.Port))
	if err != nil {
		return fmt.Errorf("load balancers: %w", err)
	}
	<-ctx.Done()
	return ready.Close()
}

// route changes the route to the addresses, if they are Reachable.
func (l *LoadBalancers) route(ctx context.Context, change string) error {
	if !l.Reachable {
		return nil
	}
	return containers.IP(ctx, "route", change, "local", LoadBalancerRange(l.Port).String(), "dev", "lo")
}

// sync gives each Service its address, and frees the addresses of deleted Services.
func (l *LoadBalancers) sync(ctx context.Context) {
	l.mu.Lock()
	defer l.mu.Unlock()
	services, err := l.services()
	errs := []error{err}
	wanted := map[types.UID]bool{}
	for _, service := range services {
		if service.Spec.Type == corev1.ServiceTypeLoadBalancer && service.DeletionTimestamp.IsZero() {
			wanted[service.UID] = true
			errs = append(errs, l.serve(ctx, service))
		}
	}
	maps.DeleteFunc(l.served, func(uid types.UID, one *balanced) bool {
		if !wanted[uid] {
			one.end()
		}
		return !wanted[uid]
	})
	if err := errors.Join(errs...); err != nil {
		l.Log.Warn("some Services have no load balancer", "error", err)
	}
}

// serve listens on the address of a Service, and reports the address in its status. l.mu is held.
func (l *LoadBalancers) serve(ctx context.Context, service *corev1.Service) error {
	one, has := l.served[service.UID]
	if has && !slices.Equal(one.ports, service.Spec.Ports) {
		one.end()
	}
	if !has || !slices.Equal(one.ports, service.Spec.Ports) {
		free := ""
		if has {
			free = one.address
		} else if free = l.free(); free == "" {
			return fmt.Errorf("no address is free for Service %s/%s", service.Namespace, service.Name)
		}
		one = l.listen(ctx, service, free)
		l.served[service.UID] = one
	}
	var ingress []corev1.LoadBalancerIngress
	if service.Annotations[AnnotationWithheld] == "" {
		ingress = []corev1.LoadBalancerIngress{{IP: one.address}}
	}
	if slices.EqualFunc(service.Status.LoadBalancer.Ingress, ingress, func(a, b corev1.LoadBalancerIngress) bool { return a.IP == b.IP }) {
		return nil
	}
	patch, err := json.Marshal(map[string]any{"status": map[string]any{"loadBalancer": map[string]any{"ingress": ingress}}})
	if err != nil {
		return err
	}
	services := l.client.CoreV1().Services(service.Namespace)
	_, err = services.Patch(ctx, service.Name, types.MergePatchType, patch, metav1.PatchOptions{}, "status")
	return err
}

// free returns an address that no Service has, or "".
func (l *LoadBalancers) free() string {
	taken := map[string]bool{}
	for _, one := range l.served {
		taken[one.address] = true
	}
	within := LoadBalancerRange(l.Port)
	for at := within.Addr().Next(); within.Contains(at.Next()); at = at.Next() {
		if !taken[at.String()] {
			return at.String()
		}
	}
	return ""
}

// listen forwards the connections to the TCP ports of an address to the ready endpoints of a Service.
func (l *LoadBalancers) listen(ctx context.Context, service *corev1.Service, at string) *balanced {
	ctx, cancel := context.WithCancel(ctx)
	one := &balanced{address: at, ports: slices.Clone(service.Spec.Ports), stop: cancel, stopped: &sync.WaitGroup{}}
	local, err := node.Local(at)
	if err != nil {
		l.Log.Error("an address is not of this machine", "error", err)
		return one
	}
	for _, port := range service.Spec.Ports {
		if port.Protocol != corev1.ProtocolTCP {
			continue
		}
		number := strconv.Itoa(int(port.Port))
		balancer := &Balancer{
			Listen: net.JoinHostPort(local, number), Log: l.Log,
			Service: &Service{
				Config: l.Config, Namespace: service.Namespace, Name: service.Name, Port: port.Name, Routed: l.Routed, Log: l.Log,
			},
		}
		if l.Reachable {
			balancer.Also = []string{net.JoinHostPort(at, number)}
		}
		one.stopped.Go(func() {
			if err := balancer.Serve(ctx); err != nil {
				l.Log.Error("a load balancer has ended", "service", service.Namespace+"/"+service.Name, "error", err)
			}
		})
	}
	return one
}

// end closes the connections, and returns when its ports are free.
func (b *balanced) end() {
	b.stop()
	b.stopped.Wait()
}
