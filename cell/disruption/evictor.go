// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package disruption

import (
	"context"
	"fmt"
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
)

// Results of evictions.
const (
	evicted = "evicted"
	held    = "held"
	failed  = "failed"
)

// Options configure an Evictor.
type Options struct {
	// Config is the credential of the agent.
	Config *rest.Config
	// HTTPClient sends the requests.
	HTTPClient *http.Client
	// Scheme has policy/v1.
	Scheme *runtime.Scheme
	// Registerer gets the metric.
	Registerer prometheus.Registerer
}

// Evictor evicts Pods. Create it with NewEvictor. It is safe for concurrent use.
type Evictor struct {
	pods  rest.Interface
	count *prometheus.CounterVec
}

// NewEvictor returns an Evictor and registers its metric.
func NewEvictor(o Options) (*Evictor, error) {
	// The client of controller-runtime repeats a refused eviction by itself, after as many seconds as the answer says.
	pods, err := apiutil.RESTClientForGVK(corev1.SchemeGroupVersion.WithKind("Pod"), false, false, o.Config,
		serializer.NewCodecFactory(o.Scheme), o.HTTPClient)
	if err != nil {
		return nil, fmt.Errorf("create a client for evictions: %w", err)
	}
	count := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "karmada_compute_cell_evictions_total",
		Help: "Evictions that the agent has requested for Instances with a disruption budget, by result: evicted, held (by the " +
			"budget) or failed.",
	}, []string{"result"})
	o.Registerer.MustRegister(count)
	// A counter that begins with its first event hides it from rates.
	for _, result := range []string{evicted, held, failed} {
		count.WithLabelValues(result)
	}
	return &Evictor{pods: pods, count: count}, nil
}

// Evict evicts a Pod and reports whether it did, or whether the Pod does not exist any more. It returns false if a
// disruption budget does not allow the eviction now, or if another Pod has the name.
func (e *Evictor) Evict(ctx context.Context, pod *corev1.Pod) (bool, error) {
	eviction := &policyv1.Eviction{
		ObjectMeta:    metav1.ObjectMeta{Namespace: pod.Namespace, Name: pod.Name},
		DeleteOptions: &metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &pod.UID}},
	}
	err := e.pods.Post().Namespace(pod.Namespace).Resource("pods").Name(pod.Name).SubResource("eviction").
		MaxRetries(0).Body(eviction).Do(ctx).Error()
	switch {
	case err == nil, apierrors.IsNotFound(err):
		e.count.WithLabelValues(evicted).Inc()
		return true, nil
	case apierrors.IsTooManyRequests(err), apierrors.IsConflict(err):
		e.count.WithLabelValues(held).Inc()
		return false, nil
	}
	e.count.WithLabelValues(failed).Inc()
	return false, fmt.Errorf("evict Pod %s: %w", client.ObjectKeyFromObject(pod), err)
}
