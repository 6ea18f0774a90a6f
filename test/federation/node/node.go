// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package node

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"time"

	vklog "github.com/virtual-kubelet/virtual-kubelet/log"
	vkslog "github.com/virtual-kubelet/virtual-kubelet/log/slog"
	vknode "github.com/virtual-kubelet/virtual-kubelet/node"
	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	corev1listers "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/record"
	"k8s.io/client-go/util/workqueue"
)

const (
	// workers is the number of Pods that are started and reported at the same time.
	workers = 10
	// endGrace is how long processes may take to end when the node ends, unless their Pods set a shorter grace period.
	endGrace       = 10 * time.Second
	requestTimeout = 10 * time.Second
	// retryDelay bounds the delay before a status is reported again after an outage of the API server.
	retryDelay = 2 * time.Second
	leaseLife  = 8
)

// Options configure a node.
type Options struct {
	// Name of the Node.
	Name string
	// Config is an administrator's configuration of the API server. Pods get its server and CA.
	Config *rest.Config
	// Images are paths of binaries by image: a full reference, or the last element of a repository.
	Images map[string]string
	// Folder contains the volumes and working directories of Pods. Files of an earlier node are removed.
	Folder string
	// Logs is the folder of the containers' logs, <node>_<namespace>_<Pod>_<container>.log. Empty: Folder/log.
	Logs string
	// Taint repels Pods that do not tolerate TaintKey.
	Taint bool
	// Capacity of the Node: cpu, memory, pods. Missing values have defaults: 4, 4Gi, 50.
	Capacity corev1.ResourceList
	// InitialBackoff is the delay before the second restart of a container; the first restart is immediate, and each
	// further delay doubles, up to MaxBackoff. Zero: 10 s and 5 min, as in kubelet.
	InitialBackoff, MaxBackoff time.Duration
	// Log receives the node's log. Nil: nothing is logged.
	Log *slog.Logger
}

func (o *Options) complete() error {
	if o.Name == "" || o.Folder == "" || o.Config == nil {
		return errors.New("a node needs a name, a folder and the configuration of an API server")
	}
	var err error
	if o.Folder, err = filepath.Abs(o.Folder); err != nil {
		return err
	}
	o.Logs = cmp.Or(o.Logs, filepath.Join(o.Folder, "log"))
	if o.Logs, err = filepath.Abs(o.Logs); err != nil {
		return err
	}
	capacity := corev1.ResourceList{
		corev1.ResourceCPU: resource.MustParse("4"), corev1.ResourceMemory: resource.MustParse("4Gi"),
		corev1.ResourcePods: resource.MustParse("50"),
	}
	maps.Copy(capacity, o.Capacity)
	o.Capacity = capacity
	o.InitialBackoff = cmp.Or(o.InitialBackoff, 10*time.Second)
	o.MaxBackoff = cmp.Or(o.MaxBackoff, 5*time.Minute)
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return errors.Join(os.MkdirAll(o.Folder, 0o700), os.MkdirAll(o.Logs, 0o700))
}

// node runs the Pods of one Node.
type node struct {
	options  Options
	server   *url.URL // of the API server
	client   kubernetes.Interface
	pods     corev1listers.PodLister
	recorder record.EventRecorder
	starter  *starter
	running  sync.WaitGroup

	mu     sync.Mutex // guards the fields below
	known  map[types.UID]*pod
	notify func(*corev1.Pod)
	ending bool
}

func (n *node) podsFolder() string { return filepath.Join(n.options.Folder, "pods") }

// warn emits an event about a Pod.
func (n *node) warn(object *corev1.Pod, reason, message string) {
	n.recorder.Event(object, corev1.EventTypeWarning, reason, message)
}

// Run registers a Node and runs the Pods that are bound to it until ctx ends. Then it ends their processes and keeps
// their objects: a restarted node runs them again.
func Run(ctx context.Context, o Options) error {
	if err := o.complete(); err != nil {
		return err
	}
	unlock, err := lockFile(filepath.Join(o.Folder, ".lock"))
	if err != nil {
		return fmt.Errorf("folder %s of node %s: %w", o.Folder, o.Name, err)
	}
	defer unlock()
	client, err := kubernetes.NewForConfig(o.Config)
	if err != nil {
		return err
	}
	server, _, err := rest.DefaultServerUrlFor(o.Config)
	if err != nil {
		return fmt.Errorf("address of the API server: %w", err)
	}
	n := &node{options: o, server: server, client: client, known: map[types.UID]*pod{}}
	// Processes of an earlier node ended with it.
	if err := os.RemoveAll(n.podsFolder()); err != nil {
		return err
	}
	starting, stopStarting := context.WithCancel(context.WithoutCancel(ctx))
	defer stopStarting()
	n.starter = newStarter(starting)
	events := record.NewBroadcaster()
	defer events.Shutdown()
	events.StartRecordingToSink(&corev1client.EventSinkImpl{Interface: client.CoreV1().Events("")})
	n.recorder = events.NewRecorder(scheme.Scheme, corev1.EventSource{Component: "federation-node", Host: o.Name})
	err = n.serve(vklog.WithLogger(ctx, vkslog.FromSlog(o.Log)))
	n.endAll()
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// serve runs the controllers of the Node and of its Pods until ctx ends or one of them fails.
func (n *node) serve(ctx context.Context) error {
	factory := informers.NewSharedInformerFactoryWithOptions(n.client, 0, informers.WithTweakListOptions(func(o *metav1.ListOptions) {
		o.FieldSelector = fields.OneTermEqualSelector("spec.nodeName", n.options.Name).String()
	}))
	n.pods = factory.Core().V1().Pods().Lister()
	if _, err := factory.Core().V1().Pods().Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		UpdateFunc: func(_, changed any) { n.correct(changed) },
	}); err != nil {
		return err
	}
	// The controller requires listers for variables, but this package resolves the variables itself: these informers never
	// start.
	unused := informers.NewSharedInformerFactory(n.client, 0).Core().V1()
	pods, err := vknode.NewPodController(vknode.PodControllerConfig{
		PodClient: patientPods{n}, PodInformer: factory.Core().V1().Pods(), EventRecorder: n.recorder, Provider: n,
		ConfigMapInformer: unused.ConfigMaps(), SecretInformer: unused.Secrets(), ServiceInformer: unused.Services(),
		SkipDownwardAPIResolution:         true,
		SyncPodsFromKubernetesRateLimiter: limiter(), SyncPodsFromKubernetesShouldRetryFunc: retry,
		DeletePodsFromKubernetesRateLimiter: limiter(), DeletePodsFromKubernetesShouldRetryFunc: retry,
		SyncPodStatusFromProviderRateLimiter: limiter(), SyncPodStatusFromProviderShouldRetryFunc: retry,
	})
	if err != nil {
		return err
	}
	nodes, err := vknode.NewNodeController(vknode.NaiveNodeProvider{}, n.object(), nodesClient{n.client.CoreV1().Nodes()},
		vknode.WithNodeEnableLeaseV1(n.client.CoordinationV1().Leases(corev1.NamespaceNodeLease), leaseLife),
		vknode.WithNodeStatusUpdateErrorHandler(n.registerAgain))
	if err != nil {
		return err
	}
	group, ctx := errgroup.WithContext(ctx)
	factory.Start(ctx.Done())
	group.Go(func() error { return pods.Run(ctx, workers) })
	group.Go(func() error { return n.register(ctx, nodes) })
	return group.Wait()
}

// limiter delays repeated attempts at one Pod, by less than the default: a federation's API server is expected to
// return soon after an outage.
func limiter() workqueue.TypedRateLimiter[any] {
	return workqueue.NewTypedItemExponentialFailureRateLimiter[any](5*time.Millisecond, retryDelay)
}

// retry retries without a limit.
func retry(context.Context, string, int, time.Time, error) (*time.Duration, error) { return nil, nil }

// endAll ends all processes and waits until they have ended.
func (n *node) endAll() {
	n.mu.Lock()
	n.ending = true
	for _, p := range n.known {
		p.end(min(endGrace, p.grace()))
	}
	n.mu.Unlock()
	n.running.Wait()
}
