// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package ledger is a stand-in for Milo's quota in one project: it answers ResourceClaims from the amounts of
// ResourceGrants, and counts in AllowanceBuckets. Like Milo, it never evaluates a denied claim again, lets a partly
// denied claim keep its granted amounts, writes denials with a transition time of 1970, answers no claim while
// namespace milo-system is missing, and sweeps granted claims without an owner whose object does not exist.
package ledger

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/clock"
)

// Resources of quota.miloapis.com.
var (
	groupVersion = schema.GroupVersion{Group: "quota.miloapis.com", Version: "v1alpha1"}
	// Claims are the ResourceClaims.
	Claims = groupVersion.WithResource("resourceclaims")
	// Grants are the ResourceGrants.
	Grants = groupVersion.WithResource("resourcegrants")
	// Buckets are the AllowanceBuckets.
	Buckets = groupVersion.WithResource("allowancebuckets")
	// Registrations are the ResourceRegistrations.
	Registrations = groupVersion.WithResource("resourceregistrations")

	namespaces = schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}
)

const (
	systemNamespace = "milo-system"
	fieldManager    = "milo-stand-in"
	// sweepAfter is how long a claim without an owner is kept if its object does not exist.
	sweepAfter = 30 * time.Second
	// retry is the delay before a failed pass is repeated.
	retry = 500 * time.Millisecond
)

// Ledger answers the claims of one project.
type Ledger struct {
	// Objects is a client of the project's control plane.
	Objects dynamic.Interface
	// Project is the name of the project.
	Project string
	// Clock determines when a claim is swept.
	Clock clock.WithTicker
	// Log gets failures.
	Log *slog.Logger
}

// claim holds the fields of a ResourceClaim that the ledger reads.
type claim struct {
	metav1.ObjectMeta `json:"metadata"`
	Spec              struct {
		Requests    []request `json:"requests"`
		ResourceRef struct {
			APIGroup  string `json:"apiGroup"`
			Kind      string `json:"kind"`
			Name      string `json:"name"`
			Namespace string `json:"namespace"`
		} `json:"resourceRef"`
	} `json:"spec"`
	Status struct {
		Allocations []allocation       `json:"allocations"`
		Conditions  []metav1.Condition `json:"conditions"`
	} `json:"status"`
}

type request struct {
	ResourceType string `json:"resourceType"`
	Amount       int64  `json:"amount"`
}

type allocation struct {
	ResourceType       string      `json:"resourceType"`
	Status             string      `json:"status"`
	Reason             string      `json:"reason,omitempty"`
	Message            string      `json:"message,omitempty"`
	AllocatedAmount    int64       `json:"allocatedAmount,omitempty"`
	LastTransitionTime metav1.Time `json:"lastTransitionTime"`
}

// granted returns the condition Granted of an answered claim, or nil.
func (c *claim) granted() *metav1.Condition {
	for i := range c.Status.Conditions {
		if condition := &c.Status.Conditions[i]; condition.Type == "Granted" && condition.Reason != "PendingEvaluation" {
			return condition
		}
	}
	return nil
}

// account holds the limit and the allocated amount of a resource type.
type account struct{ limit, allocated int64 }

// Run answers claims until ctx ends.
func (l *Ledger) Run(ctx context.Context) {
	wake := make(chan struct{}, 1)
	changed := func(any) {
		select {
		case wake <- struct{}{}:
		default:
		}
	}
	factory := dynamicinformer.NewDynamicSharedInformerFactory(l.Objects, 0)
	for _, resource := range []schema.GroupVersionResource{Claims, Grants} {
		if _, err := factory.ForResource(resource).Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
			AddFunc: changed, UpdateFunc: func(_, object any) { changed(object) }, DeleteFunc: changed,
		}); err != nil {
			l.Log.Error("claims are not answered", "project", l.Project, "error", err)
			return
		}
	}
	factory.Start(ctx.Done())
	defer factory.Shutdown()
	for {
		select {
		case <-ctx.Done():
			return
		case <-wake:
		}
		again, err := l.Pass(ctx)
		if err != nil && ctx.Err() == nil {
			l.Log.Warn("claims are answered later", "project", l.Project, "error", err)
			again = retry
		}
		if again > 0 {
			timer := l.Clock.NewTimer(again)
			go func() {
				defer timer.Stop()
				select {
				case <-ctx.Done():
				case <-timer.C():
					changed(nil)
				}
			}()
		}
	}
}

// Pass answers unanswered claims, in the order of creation, and counts. It returns the delay until the next pass; 0: at
// the next change.
func (l *Ledger) Pass(ctx context.Context) (time.Duration, error) {
	if _, err := l.Objects.Resource(namespaces).Get(ctx, systemNamespace, metav1.GetOptions{}); err != nil {
		if apierrors.IsNotFound(err) {
			return retry, nil
		}
		return 0, fmt.Errorf("get namespace %s: %w", systemNamespace, err)
	}
	accounts, err := l.readGrants(ctx)
	if err != nil {
		return 0, err
	}
	claims, err := l.readClaims(ctx)
	if err != nil {
		return 0, err
	}
	for i := range claims {
		for _, held := range claims[i].Status.Allocations {
			if held.Status == "Granted" {
				accounts.of(held.ResourceType).allocated += held.AllocatedAmount
			}
		}
	}
	var again time.Duration
	for i := range claims {
		rest, err := l.settle(ctx, &claims[i], accounts)
		if err != nil {
			return 0, err
		}
		if rest > 0 && (again == 0 || rest < again) {
			again = rest
		}
	}
	return again, l.writeBuckets(ctx, accounts)
}

type accounts map[string]*account

func (a accounts) of(resourceType string) *account {
	if a[resourceType] == nil {
		a[resourceType] = &account{}
	}
	return a[resourceType]
}

func (l *Ledger) readGrants(ctx context.Context) (accounts, error) {
	list, err := l.Objects.Resource(Grants).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, fmt.Errorf("list the grants: %w", err)
	}
	result := accounts{}
	for i := range list.Items {
		var grant struct {
			Spec struct {
				ConsumerRef struct {
					Name string `json:"name"`
				} `json:"consumerRef"`
				Allowances []struct {
					ResourceType string `json:"resourceType"`
					Buckets      []struct {
						Amount int64 `json:"amount"`
					} `json:"buckets"`
				} `json:"allowances"`
			} `json:"spec"`
		}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(list.Items[i].Object, &grant); err != nil {
			return nil, fmt.Errorf("decode a grant: %w", err)
		}
		if grant.Spec.ConsumerRef.Name != l.Project || list.Items[i].GetDeletionTimestamp() != nil {
			continue
		}
		for _, allowance := range grant.Spec.Allowances {
			for _, bucket := range allowance.Buckets {
				result.of(allowance.ResourceType).limit += bucket.Amount
			}
		}
	}
	return result, nil
}

func (l *Ledger) readClaims(ctx context.Context) ([]claim, error) {
	list, err := l.Objects.Resource(Claims).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, fmt.Errorf("list the claims: %w", err)
	}
	claims := make([]claim, len(list.Items))
	for i := range list.Items {
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(list.Items[i].Object, &claims[i]); err != nil {
			return nil, fmt.Errorf("decode a claim: %w", err)
		}
	}
	slices.SortStableFunc(claims, func(a, b claim) int {
		return cmp.Or(a.CreationTimestamp.Compare(b.CreationTimestamp.Time), cmp.Compare(a.Name, b.Name))
	})
	return claims, nil
}

// settle answers a claim, or sweeps it. It returns the delay until the claim must be checked again.
func (l *Ledger) settle(ctx context.Context, c *claim, accounts accounts) (time.Duration, error) {
	answered := c.granted()
	switch {
	case c.DeletionTimestamp != nil:
		return 0, nil
	case answered == nil:
		return 0, l.answer(ctx, c, accounts)
	case answered.Status != metav1.ConditionTrue || len(c.OwnerReferences) > 0:
		return 0, nil
	}
	if rest := sweepAfter - l.Clock.Since(c.CreationTimestamp.Time); rest > 0 {
		return rest, nil
	}
	return 0, l.sweep(ctx, c)
}

func (l *Ledger) answer(ctx context.Context, c *claim, accounts accounts) error {
	epoch := metav1.NewTime(time.Unix(0, 0))
	condition := metav1.Condition{
		Type: "Granted", Status: metav1.ConditionTrue, Reason: "QuotaAvailable", Message: "All requests are granted",
		LastTransitionTime: metav1.NewTime(l.Clock.Now()), ObservedGeneration: c.Generation,
	}
	var allocations []any
	for _, asked := range c.Spec.Requests {
		held := accounts.of(asked.ResourceType)
		one := allocation{
			ResourceType: asked.ResourceType, Status: "Granted", Reason: "QuotaAvailable", AllocatedAmount: asked.Amount,
			LastTransitionTime: condition.LastTransitionTime,
		}
		if left := held.limit - held.allocated; left < asked.Amount {
			one = allocation{
				ResourceType: asked.ResourceType, Status: "Denied", Reason: "QuotaExceeded",
				Message: fmt.Sprintf("Insufficient quota: need %d, only %d available", asked.Amount, left), LastTransitionTime: epoch,
			}
			condition.Status, condition.Reason, condition.Message, condition.LastTransitionTime = metav1.ConditionFalse,
				"QuotaExceeded", "Claim denied", epoch
		} else {
			held.allocated += asked.Amount
		}
		encoded, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&one)
		if err != nil {
			return fmt.Errorf("encode an allocation: %w", err)
		}
		allocations = append(allocations, encoded)
	}
	encoded, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&condition)
	if err != nil {
		return fmt.Errorf("encode a condition: %w", err)
	}
	return l.writeStatus(ctx, Claims, c.Namespace, c.Name, string(c.UID), map[string]any{
		"allocations": allocations, "conditions": []any{encoded}, "observedGeneration": c.Generation,
	})
}

// sweep deletes a claim whose object does not exist. An object that exists becomes its owner.
func (l *Ledger) sweep(ctx context.Context, c *claim) error {
	ref := c.Spec.ResourceRef
	if ref.Kind == "Instance" {
		instances := schema.GroupVersionResource{Group: ref.APIGroup, Version: "v1alpha", Resource: "instances"}
		object, err := l.Objects.Resource(instances).Namespace(ref.Namespace).Get(ctx, ref.Name, metav1.GetOptions{})
		if err == nil {
			patch := fmt.Sprintf(`{"metadata":{"ownerReferences":[{"apiVersion":%q,"kind":%q,"name":%q,"uid":%q}]}}`,
				object.GetAPIVersion(), object.GetKind(), object.GetName(), object.GetUID())
			_, err = l.Objects.Resource(Claims).Namespace(c.Namespace).Patch(ctx, c.Name, "application/merge-patch+json",
				[]byte(patch), metav1.PatchOptions{FieldManager: fieldManager})
			return ignoreNotFound(err)
		}
		if !apierrors.IsNotFound(err) {
			return fmt.Errorf("get what claim %s is for: %w", c.Name, err)
		}
	}
	return ignoreNotFound(l.Objects.Resource(Claims).Namespace(c.Namespace).Delete(ctx, c.Name, metav1.DeleteOptions{
		Preconditions: &metav1.Preconditions{UID: &c.UID},
	}))
}

func (l *Ledger) writeStatus(
	ctx context.Context, resource schema.GroupVersionResource, namespace, name, uid string, status map[string]any,
) error {
	kind := "ResourceClaim"
	if resource == Buckets {
		kind = "AllowanceBucket"
	}
	object := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": groupVersion.String(), "kind": kind,
		"metadata": map[string]any{"name": name, "namespace": namespace, "uid": uid}, "status": status,
	}}
	_, err := l.Objects.Resource(resource).Namespace(namespace).ApplyStatus(ctx, name, object,
		metav1.ApplyOptions{FieldManager: fieldManager, Force: true})
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("write the status of %s %s: %w", kind, name, err)
	}
	return nil
}

func ignoreNotFound(err error) error {
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}
