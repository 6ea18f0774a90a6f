// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package quota

import (
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/naming"
	"github.com/karmada-compute/karmada-compute/internal/wire"
	"github.com/karmada-compute/karmada-compute/milo/quota"
	"github.com/karmada-compute/karmada-compute/testenv/planes"
)

func asQuantity(s string) *resource.Quantity { return new(resource.MustParse(s)) }

// TestGranted: every Instance gets a claim that Milo does not sweep, and the grants reach the copy. Then nothing is
// written.
func TestGranted(t *testing.T) {
	f := newFixture(t, 0, 1)
	f.allow(t, 5)
	f.becomes(t, []int{0, 1}, "", nil)
	if size := f.copied(t).Spec.Quota.InstanceSize; size == nil || *size != (v1alpha.QuotaSize{VCPUs: 1000, Memory: 1024}) {
		t.Errorf("the granted size is %+v", size)
	}
	claim := planes.Get(t, f.Planes, f.Namespace.Name, "instance-web-1", &quota.ResourceClaim{})
	if len(claim.OwnerReferences) != 1 || claim.OwnerReferences[0].UID != f.original.UID || claim.Labels[v1alpha.LabelInstanceIndex] != "1" ||
		claim.Spec.ConsumerRef.Name != string(planes.ProjectName) || claim.Spec.ResourceRef.Name != "web-1" || len(claim.Spec.Requests) != 3 {
		t.Errorf("the claim is %+v", claim)
	}
	f.Hub.Calls()
	f.Project.Calls()
	for range 3 {
		if err := f.reconcile(t); err != nil {
			t.Fatal(err)
		}
	}
	if writes := append(f.Hub.Writes(), f.Project.Writes()...); len(writes) > 0 {
		t.Errorf("when all is granted, it writes %v", writes)
	}
}

// TestPartlyDenied: as many Instances as fit are granted, the lowest first; the others are claimed again when the quota
// is raised, although Milo never reconsiders a denial.
func TestPartlyDenied(t *testing.T) {
	f := newFixture(t, 0, 1, 2)
	f.allow(t, 2)
	f.becomes(t, []int{0, 1}, v1alpha.ReasonQuotaExceeded, []int{2})
	if message := f.copied(t).Spec.Quota.Withheld[0].Message; !strings.Contains(message,
		"compute.datumapis.com/vcpus: an Instance needs 1000 thousandths of a CPU, 0 of 2000 are left") {
		t.Errorf("the message is %q", message)
	}
	f.awaitEvent(t, v1alpha.ReasonQuotaExceeded, "Deployment web: 1 Instance does not start: ")
	f.allow(t, 3)
	f.becomes(t, []int{0, 1, 2}, "", nil)
	f.awaitEvent(t, v1alpha.ReasonQuotaAvailable, "Deployment web: the quota of all Instances is granted")
	if waited := measured(t, f.reconciler.waits.seconds).GetSampleCount(); waited != 3 {
		t.Errorf("of 3 Instances, the waiting time of %d is measured", waited)
	}
}

// awaitEvent waits for one Event on the Workload: Events are written in the background, and repeated ones are counted
// in one.
func (f *fixture) awaitEvent(t *testing.T, reason, note string) {
	t.Helper()
	f.until(t, func() bool {
		var list corev1.EventList
		if err := f.Client.List(t.Context(), &list, client.InNamespace(f.Namespace.Name)); err != nil {
			t.Fatal(err)
		}
		return slices.ContainsFunc(list.Items, func(e corev1.Event) bool {
			return e.Reason == reason && e.InvolvedObject.Kind == v1alpha.KindWorkload &&
				e.InvolvedObject.Name == f.original.Spec.WorkloadRef.Name &&
				strings.HasPrefix(e.Message, note)
		})
	})
}

// TestNoBudget: a claim from before the first grant is denied permanently, and is recreated.
func TestNoBudget(t *testing.T) {
	f := newFixture(t, 0, 1)
	f.becomes(t, nil, v1alpha.ReasonQuotaNoBudget, []int{0, 1})
	f.allow(t, 2)
	f.becomes(t, []int{0, 1}, "", nil)
}

// TestScaleDown: a claim is released when the cell has reported that the Instance is gone, and not before.
func TestScaleDown(t *testing.T) {
	f := newFixture(t, 0, 1)
	f.allow(t, 5)
	f.becomes(t, []int{0, 1}, "", nil)
	planes.Change(t, f.Planes, f.copied(t), func(d *v1alpha.WorkloadDeployment) {
		d.Spec.Assignment, d.Spec.ScaleSettings.MinReplicas = assignment(0), 1
	})
	f.becomes(t, []int{0, 1}, "", nil)
	planes.ChangeReports(t, f.Planes, f.copied(t), func(d *v1alpha.WorkloadDeployment) {
		d.Status.ObservedGeneration = d.Generation
		planes.SetReport(t, d, "dfw", wire.Instance{Name: "web-0"})
	})
	f.becomes(t, []int{0}, "", nil)
}

// TestAGrantEditedByHand is corrected.
func TestAGrantEditedByHand(t *testing.T) {
	f := newFixture(t, 0, 1)
	f.allow(t, 1)
	f.becomes(t, []int{0}, v1alpha.ReasonQuotaExceeded, []int{1})
	planes.Change(t, f.Planes, f.copied(t), func(d *v1alpha.WorkloadDeployment) {
		d.Spec.Quota = &v1alpha.WorkloadDeploymentQuota{Granted: naming.Ranges([]int{0, 1, 7})}
	})
	if err := f.reconcile(t); err != nil {
		t.Fatal(err)
	}
	if got := f.copied(t).Spec.Quota; !slices.Equal(naming.OfRanges(got.Granted), []int{0}) || got.InstanceSize == nil {
		t.Errorf("after one reconcile the quota is %+v", got)
	}
}

// TestAConsumerWritesClaims: claims that a consumer edits start no Instance without quota.
func TestAConsumerWritesClaims(t *testing.T) {
	tests := map[string]func(*testing.T, *fixture, *quota.ResourceClaim){
		"it asks for less": func(t *testing.T, f *fixture, claim *quota.ResourceClaim) {
			planes.Change(t, f.Planes, claim, func(c *quota.ResourceClaim) { c.Spec.Requests[0].Amount = 7 })
		},
		"it is for another object": func(t *testing.T, f *fixture, claim *quota.ResourceClaim) {
			planes.Change(t, f.Planes, claim, func(c *quota.ResourceClaim) { c.Spec.ResourceRef.Name = "other" })
		},
		"it is deleted": func(t *testing.T, f *fixture, claim *quota.ResourceClaim) { planes.Delete(t, f.Planes, claim) },
		"it is made anew for next to nothing": func(t *testing.T, f *fixture, claim *quota.ResourceClaim) {
			planes.Delete(t, f.Planes, claim)
			cheap := &quota.ResourceClaim{ObjectMeta: metav1.ObjectMeta{Namespace: claim.Namespace, Name: claim.Name, Labels: claim.Labels}}
			cheap.Spec = *claim.Spec.DeepCopy()
			cheap.Spec.Requests = cheap.Spec.Requests[:1]
			planes.Create(t, f.Planes, cheap)
			f.count(t)
		},
	}
	for name, tamper := range tests {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, 0)
			f.allow(t, 1)
			f.becomes(t, []int{0}, "", nil)
			f.run(t, "web-0")
			claim := planes.Get(t, f.Planes, f.Namespace.Name, "instance-web-0", &quota.ResourceClaim{})
			before := claim.UID
			tamper(t, f, claim)
			// The cache may not have the edit yet, nor Milo's answer to it.
			f.until(t, func() bool {
				f.count(t)
				made := &quota.ResourceClaim{}
				err := f.Client.Get(t.Context(), client.ObjectKeyFromObject(claim), made)
				return err == nil && made.UID != before && covers(allocated(made), asks)
			})
			f.becomes(t, []int{0}, "", nil)
		})
	}
	t.Run("one of the consumer's own is in the way", func(t *testing.T) {
		f := newFixture(t, 0)
		f.allow(t, 5)
		own := &quota.ResourceClaim{ObjectMeta: metav1.ObjectMeta{Namespace: f.Namespace.Name, Name: "instance-web-0"}}
		own.Spec = quota.ResourceClaimSpec{
			ConsumerRef: quota.ConsumerRef{Kind: "Project", Name: "north"}, Requests: asks,
			ResourceRef: quota.ObjectReference{Kind: "Instance", Name: "web-0"},
		}
		planes.Create(t, f.Planes, own)
		f.becomesWithClaims(t, nil, v1alpha.ReasonQuotaValidationFailed, []int{0}, []string{"instance-web-0"})
		planes.Delete(t, f.Planes, own)
		f.becomes(t, []int{0}, "", nil)
	})
	t.Run("it has no owner any more", func(t *testing.T) {
		f := newFixture(t, 0)
		f.allow(t, 5)
		f.becomes(t, []int{0}, "", nil)
		claim := planes.Get(t, f.Planes, f.Namespace.Name, "instance-web-0", &quota.ResourceClaim{})
		planes.Change(t, f.Planes, claim, func(c *quota.ResourceClaim) { c.OwnerReferences = nil })
		f.until(t, func() bool {
			planes.Get(t, f.Planes, f.Namespace.Name, "instance-web-0", claim)
			return len(claim.OwnerReferences) == 1
		})
	})
}

// TestMiloRefuses: nothing starts, the reason is reported, and all is claimed when Milo accepts claims again.
func TestMiloRefuses(t *testing.T) {
	gr := schema.GroupResource{Group: "quota.miloapis.com", Resource: "resourceclaims"}
	tests := map[string]struct {
		err  error
		want string
	}{
		"no registration": {
			apierrors.NewForbidden(gr, "", errors.New("Resource type 'compute.datumapis.com/memory' is not available for quota management")),
			v1alpha.ReasonQuotaMisconfigured,
		},
		"no answer": {apierrors.NewServiceUnavailable("down"), v1alpha.ReasonQuotaBackendUnavailable},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, 0, 1)
			f.allow(t, 5)
			f.Project.Before(func(call planes.Call) error {
				if call.Verb == "create" && call.Kind == "ResourceClaim" {
					return test.err
				}
				return nil
			})
			f.becomes(t, nil, test.want, []int{0, 1})
			f.Project.Before(nil)
			f.becomes(t, []int{0, 1}, "", nil)
		})
	}
}

// neverSynced is an informer of a kind that cannot be listed.
type neverSynced struct{ cache.Informer }

// HasSynced returns false.
func (neverSynced) HasSynced() bool { return false }

// TestClaimsCannotBeRead: granted Instances remain granted, no others are, and the reconcile does not fail.
func TestClaimsCannotBeRead(t *testing.T) {
	f := newFixture(t, 0, 1)
	planes.Change(t, f.Planes, f.copied(t), func(d *v1alpha.WorkloadDeployment) {
		d.Spec.Quota = &v1alpha.WorkloadDeploymentQuota{Granted: naming.Ranges([]int{0})}
	})
	f.reconciler.claims.Of(planes.ProjectName).informer = neverSynced{}
	f.Project.Before(func(call planes.Call) error {
		if call.Kind == "ResourceClaimList" {
			return &apierrors.StatusError{
				ErrStatus: metav1.Status{Reason: metav1.StatusReasonNotFound, Code: 404, Message: "the server could not find the requested resource"},
			}
		}
		return nil
	})
	if err := f.reconcile(t); err != nil {
		t.Fatal(err)
	}
	got := f.copied(t).Spec.Quota
	if !slices.Equal(naming.OfRanges(got.Granted), []int{0}) || len(got.Withheld) != 1 ||
		got.Withheld[0].Reason != v1alpha.ReasonQuotaMisconfigured ||
		!slices.Equal(naming.OfRanges(got.Withheld[0].Indices), []int{1}) {
		t.Errorf("the quota is %+v", got)
	}
}

// TestALargerTemplate: a running Instance keeps its claim while a larger one does not fit, is not granted the larger
// size, and is claimed again when it fits.
func TestALargerTemplate(t *testing.T) {
	f := newFixture(t, 0)
	f.allow(t, 1)
	f.becomes(t, []int{0}, "", nil)
	claim := planes.Get(t, f.Planes, f.Namespace.Name, "instance-web-0", &quota.ResourceClaim{})
	planes.ChangeReports(t, f.Planes, f.copied(t), func(d *v1alpha.WorkloadDeployment) {
		planes.SetReport(t, d, "dfw", wire.Instance{Name: "web-0", TemplateHash: "earlier"})
	})
	planes.Change(t, f.Planes, f.copied(t), func(d *v1alpha.WorkloadDeployment) {
		d.Spec.Template.Spec.Runtime.Resources.Requests[corev1.ResourceCPU] = *asQuantity("2")
	})
	f.becomesWithClaims(t, nil, v1alpha.ReasonQuotaExceeded, []int{0}, []string{"instance-web-0"})
	if kept := planes.Get(t, f.Planes, f.Namespace.Name, "instance-web-0", &quota.ResourceClaim{}); kept.UID != claim.UID {
		t.Error("the claim of the running Instance was given up")
	}
	f.allow(t, 2)
	f.becomes(t, []int{0}, "", nil)
	if size := f.copied(t).Spec.Quota.InstanceSize; size.VCPUs != 2000 {
		t.Errorf("the granted size is %+v", size)
	}
}

// TestAnUnmeteredDeployment: an unmetered deployment, and one that is being deleted, claim nothing.
func TestAnUnmeteredDeployment(t *testing.T) {
	f := newFixture(t, 0)
	planes.Change(t, f.Planes, f.copied(t), func(d *v1alpha.WorkloadDeployment) { d.Spec.Quota = nil })
	f.Project.Calls()
	if err := f.reconcile(t); err != nil {
		t.Fatal(err)
	}
	if writes := append(f.Hub.Writes(), f.Project.Writes()...); len(writes) > 0 || f.reconciler.claims.Of(planes.ProjectName).informer != nil {
		t.Errorf("writes %v, or it watches claims", writes)
	}
}

// TestStorm: after any scaling, deletion, refusal and restart, exactly one granted claim exists for each Instance.
func TestStorm(t *testing.T) {
	seed := rand.Uint64()
	random := rand.New(rand.NewPCG(seed, 0))
	t.Logf("seed %d", seed)
	f := newFixture(t, 0)
	refusing := false
	f.Project.Before(func(call planes.Call) error {
		if refusing && (call.Kind == "ResourceClaim" || call.Kind == "AllowanceBucketList") {
			return apierrors.NewServiceUnavailable("down")
		}
		return nil
	})
	var wanted []int
	for range 40 {
		switch random.IntN(6) {
		case 0:
			f.allow(t, int64(random.IntN(8)))
		case 1:
			if claims := f.claimed(t); len(claims) > 0 {
				planes.Delete(t, f.Planes, &quota.ResourceClaim{
					ObjectMeta: metav1.ObjectMeta{Namespace: f.Namespace.Name, Name: claims[random.IntN(len(claims))]},
				})
			}
		case 2:
			refusing = !refusing
		case 3:
			// The replica is killed, and another one takes over.
			f.reconciler.memory = newMemory()
		default:
			wanted = nil
			for index := range 8 {
				if random.IntN(2) == 0 {
					wanted = append(wanted, index)
				}
			}
			f.scale(t, wanted)
		}
		// Some of these fail, as expected.
		_ = f.reconcile(t)
		f.count(t)
	}
	refusing = false
	f.scale(t, wanted)
	f.allow(t, 8)
	f.until(t, func() bool {
		f.count(t)
		f.report(t, wanted)
		var want []string
		for _, index := range wanted {
			want = append(want, claimName("web", index))
		}
		return slices.Equal(f.claimed(t), want) && slices.Equal(naming.OfRanges(f.copied(t).Spec.Quota.Granted), wanted)
	})
}

// scale plays the hub, which assigns these indices to the cell.
func (f *fixture) scale(t *testing.T, indices []int) {
	t.Helper()
	planes.Change(t, f.Planes, f.copied(t), func(d *v1alpha.WorkloadDeployment) {
		d.Spec.Assignment, d.Spec.ScaleSettings.MinReplicas = assignment(indices...), int32(max(1, len(indices)))
	})
}

// report plays the cell, which reports that it runs these indices.
func (f *fixture) report(t *testing.T, indices []int) {
	t.Helper()
	planes.ChangeReports(t, f.Planes, f.copied(t), func(d *v1alpha.WorkloadDeployment) {
		d.Status.ObservedGeneration = d.Generation
		var instances []wire.Instance
		for _, index := range indices {
			instances = append(instances, wire.Instance{Name: naming.InstanceName("web", index)})
		}
		planes.SetReport(t, d, "dfw", instances...)
	})
}
