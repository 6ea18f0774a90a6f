// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package deployments

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/apply"
)

// inProject is the default of --project-concurrency: how many objects of one project are written at once.
const inProject = 4

// BenchmarkStorm measures the loss of a city in which all Workloads of a project run, which have candidates. The clocks of all of them are
// due at once. The floor, in the same run, is the same writes without a controller: by as many clients as the controller reconciles objects
// of a project at once.
func BenchmarkStorm(b *testing.B) {
	log.SetLogger(logr.Discard())
	for _, workloads := range []int{1, 100, 1000} {
		b.Run(fmt.Sprintf("workloads=%d", workloads), func(b *testing.B) {
			for b.Loop() {
				s := newStorm(b, workloads)
				s.settle(b)
				noticed := s.during(b, s.lose)
				moved := s.during(b, s.move)
				s.end()
				floor := s.floor(b)
				each := float64(workloads)
				b.ReportMetric(float64(noticed.sum())/each, "writes-to-notice/workload")
				b.ReportMetric(float64(moved.sum())/each, "writes-to-move/workload")
				b.ReportMetric(float64(noticed.reconciles)/each, "reconciles-to-notice/workload")
				b.ReportMetric(float64(moved.reconciles)/each, "reconciles-to-move/workload")
				b.ReportMetric(s.took.Seconds(), "s-until-replaced")
				b.ReportMetric(s.took.Seconds()/floor.Seconds(), "x-floor")
				b.Logf("%d Workloads: to notice %v; to move %v; until replaced %v; floor %s", workloads, noticed, moved, s.atEnd, floor)
			}
			b.ReportMetric(0, "ns/op") // a round has no length of interest
		})
	}
}

// floor makes the writes that the controller and the cities have made until the last city was replaced, on objects like theirs, and
// returns how long that takes.
func (s *storm) floor(b *testing.B) time.Duration {
	b.Helper()
	var workloads v1alpha.WorkloadList
	var deployments v1alpha.WorkloadDeploymentList
	for _, list := range []client.ObjectList{&workloads, &deployments} {
		if err := s.Client.List(b.Context(), list, client.InNamespace(s.Namespace.Name)); err != nil {
			b.Fatal(err)
		}
	}
	var writes []func() error
	for request, count := range s.atEnd.writes {
		for i := range count {
			w, d := &workloads.Items[i%len(workloads.Items)], &deployments.Items[i%len(deployments.Items)]
			switch request {
			case "PATCH workloads/status":
				writes = append(writes, func() error { return s.writeStatus(b, w, i) })
			case "PATCH workloaddeployments":
				writes = append(writes, func() error { return s.writeDeployment(b, d, i) })
			case "POST events":
				writes = append(writes, func() error { return s.Client.Create(b.Context(), s.event(w, i)) })
			case "PUT workloaddeployments/status":
				writes = append(writes, func() error {
					changed := d.DeepCopy()
					changed.Status.AssignedReplicas = int32(i)
					return s.Client.Status().Patch(b.Context(), changed, client.MergeFrom(d))
				})
			default:
				b.Fatalf("the floor has no %s", request)
			}
		}
	}
	begun := time.Now()
	if err := inParallel(writes); err != nil {
		b.Fatal(err)
	}
	return time.Since(begun)
}

func (s *storm) writeStatus(b *testing.B, stored *v1alpha.Workload, number int) error {
	changed := stored.DeepCopy()
	changed.ResourceVersion = ""
	changed.Status.Placements[0].Cities[0].Since = &metav1.Time{Time: testBegin.Add(time.Duration(number) * time.Second)}
	return apply.Status(b.Context(), s.Client, FieldManager, changed)
}

func (s *storm) writeDeployment(b *testing.B, like *v1alpha.WorkloadDeployment, number int) error {
	_, err := apply.Object(b.Context(), s.Client, FieldManager, &v1alpha.WorkloadDeployment{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: like.Namespace, Name: fmt.Sprintf("floor-%d", number), Labels: like.Labels, Annotations: like.Annotations,
			OwnerReferences: like.OwnerReferences, Finalizers: like.Finalizers,
		},
		Spec: *like.Spec.DeepCopy(),
	})
	return err
}

func (s *storm) event(about *v1alpha.Workload, number int) *corev1.Event {
	return &corev1.Event{
		ObjectMeta: metav1.ObjectMeta{Namespace: about.Namespace, Name: fmt.Sprintf("floor-%d", number)},
		InvolvedObject: corev1.ObjectReference{
			APIVersion: v1alpha.GroupVersion.String(), Kind: v1alpha.KindWorkload, Namespace: about.Namespace, Name: about.Name, UID: about.UID,
		},
		Type: corev1.EventTypeWarning, Reason: "CityReplaced", Message: strings.Repeat("x", 120), Count: 1,
	}
}

// inParallel makes writes by as many clients as the controller has.
func inParallel(writes []func() error) (first error) {
	queue, group, once := make(chan func() error), sync.WaitGroup{}, sync.Once{}
	for range inProject {
		group.Go(func() {
			for write := range queue {
				if err := write(); err != nil {
					once.Do(func() { first = err })
				}
			}
		})
	}
	for _, write := range writes {
		queue <- write
	}
	close(queue)
	group.Wait()
	return first
}
