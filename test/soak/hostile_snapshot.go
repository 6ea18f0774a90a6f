// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package soak

import (
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/reasons"
)

// snapshot holds the objects that must not change, by plane, kind and name.
type snapshot map[string]kept

// kept is an object without transient fields. Its status may change while the machine is busy, and must be the same at
// the end.
type kept struct{ fixed, status fields }

// Kinds of which all objects in a namespace are compared.
var (
	bindingKind   = schema.GroupVersionKind{Group: "work.karmada.io", Version: "v1alpha2", Kind: "ResourceBinding"}
	workKind      = schema.GroupVersionKind{Group: "work.karmada.io", Version: "v1alpha1", Kind: "Work"}
	policyKind    = schema.GroupVersionKind{Group: "policy.karmada.io", Version: "v1alpha1", Kind: "PropagationPolicy"}
	networkPolicy = schema.GroupVersionKind{Group: "networking.k8s.io", Version: "v1", Kind: "NetworkPolicy"}

	keptInProject = []schema.GroupVersionKind{workloadKind, deploymentKind, instanceKind, configMapKind, secretKind}
	keptOnHub     = []schema.GroupVersionKind{deploymentKind, sliceKind, configMapKind, secretKind, policyKind, bindingKind}
	keptInCell    = []schema.GroupVersionKind{deploymentKind, sliceKind, instanceKind, podKind, configMapKind, secretKind, networkPolicy}
)

// systemNamespaces are not compared: other components write there.
var systemNamespaces = []string{"default", "kube-system", "karmada-system"}

// snapshot reads the objects that must not change: for a hostile consumer all objects of its victim and of the
// bystander; for a hostile cell all objects of both projects except the cell's own objects and reports.
func (h *Hostile) snapshot(ctx context.Context) (snapshot, error) {
	s := snapshot{}
	projects := []string{h.Victim}
	if !h.Party.ownsProject() {
		projects = h.Projects
	}
	for _, plane := range h.planes {
		kinds, namespaces := keptInCell, []string{h.bystander()}
		switch {
		case plane == "cell/"+h.Cell && h.Party == PartyCell:
			continue
		case plane == hubPlane:
			kinds = keptOnHub
		case strings.HasPrefix(plane, "project/"):
			kinds, namespaces = keptInProject, nil
			if slices.Contains(projects, strings.TrimPrefix(plane, "project/")) {
				namespaces = []string{h.namespaceIn(strings.TrimPrefix(plane, "project/"))}
			}
		}
		if !strings.HasPrefix(plane, "project/") {
			for _, project := range projects {
				namespaces = append(namespaces, h.collector.hubNamespaces[project])
			}
			for _, name := range systemNamespaces {
				if err := h.keep(ctx, s, plane, name, nil); err != nil {
					return nil, err
				}
			}
		}
		for _, namespace := range namespaces {
			if err := h.keep(ctx, s, plane, namespace, kinds); err != nil {
				return nil, err
			}
		}
	}
	return s, h.keepWorks(ctx, s, projects)
}

// keep adds a namespace and its objects.
func (h *Hostile) keep(ctx context.Context, s snapshot, plane, namespace string, kinds []schema.GroupVersionKind) error {
	c := h.collector.planes[plane]
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(namespaceKind)
	switch err := c.Get(ctx, client.ObjectKey{Name: namespace}, object); {
	case apierrors.IsNotFound(err):
		return nil
	case err != nil:
		return fmt.Errorf("read namespace %s of %s: %w", namespace, plane, err)
	}
	h.add(s, plane, object)
	for _, kind := range kinds {
		list := &unstructured.UnstructuredList{}
		list.SetGroupVersionKind(kind)
		if err := c.List(ctx, list, client.InNamespace(namespace)); err != nil {
			return fmt.Errorf("list %s in %s of %s: %w", kind.Kind, namespace, plane, err)
		}
		for i := range list.Items {
			h.add(s, plane, &list.Items[i])
		}
	}
	return nil
}

// keepWorks adds the Works of the projects' objects in cells that are not hostile.
func (h *Hostile) keepWorks(ctx context.Context, s snapshot, projects []string) error {
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(workKind)
	if err := h.collector.planes[hubPlane].List(ctx, list); err != nil {
		return fmt.Errorf("list Works: %w", err)
	}
	for i := range list.Items {
		work := &list.Items[i]
		if h.Party == PartyCell && work.GetNamespace() == "karmada-es-"+h.Cell {
			continue
		}
		if slices.ContainsFunc(projects, func(p string) bool { return carries(work, h.collector.hubNamespaces[p]) }) {
			h.add(s, hubPlane, work)
		}
	}
	return nil
}

// carries reports whether a Work has a manifest of a namespace, or of an object in it. Manifests of others may name the
// namespace, for example in a label that the hostile consumer has set.
func carries(work *unstructured.Unstructured, namespace string) bool {
	manifests, _, _ := unstructured.NestedSlice(work.Object, "spec", "workload", "manifests") // a Work without manifests carries nothing
	return slices.ContainsFunc(manifests, func(item any) bool {
		manifest, _ := item.(fields)
		object := &unstructured.Unstructured{Object: manifest}
		return object.GetNamespace() == namespace || object.GetNamespace() == "" && object.GetName() == namespace
	})
}

// add adds an object.
func (h *Hostile) add(s snapshot, plane string, object *unstructured.Unstructured) {
	k := kept{fixed: asFields(object.Object), status: fields{}}
	if status, ok := k.fixed["status"].(fields); ok {
		k.status = status
	}
	delete(k.fixed, "status")
	dropPassing(k.status)
	dropPassing(k.fixed["spec"])
	if spec, ok := k.fixed["spec"].(fields); ok && spec["suspendDispatching"] == false {
		// The collector repairs a Work by setting or removing this value, and both mean the same.
		delete(spec, "suspendDispatching")
	}
	metadata, _ := k.fixed["metadata"].(fields)
	for _, passing := range []string{"resourceVersion", "managedFields", "generation"} {
		delete(metadata, passing)
	}
	if annotations, ok := metadata["annotations"].(fields); ok {
		delete(annotations, v1alpha.AnnotationRepairedAt)
	}
	if h.Party == PartyCell && !strings.HasPrefix(plane, "cell/") {
		if h.reportedByHostile(object) {
			return
		}
		if h.sharedWithHostile(object) {
			k.status = fields{}
		}
	}
	s[strings.Trim(fmt.Sprintf("%s %s %s/%s", plane, object.GetKind(), object.GetNamespace(), object.GetName()), "/")] = k
}

// reportedByHostile reports whether an object exists only because a cell of the hostile cell's city reports it.
func (h *Hostile) reportedByHostile(object *unstructured.Unstructured) bool {
	return (object.GetKind() == "Instance" || object.GetKind() == "InstanceSlice") && h.sharedWithHostile(object)
}

// sharedWithHostile reports whether the hostile cell reports on an object, or on something that the object counts.
func (h *Hostile) sharedWithHostile(object *unstructured.Unstructured) bool {
	return object.GetKind() == "Workload" || slices.ContainsFunc(h.sent(),
		func(sent types.NamespacedName) bool { return strings.HasPrefix(object.GetName(), sent.Name) })
}

// passing reports whether a field is a time, or the part of the work that the hub has assigned to a cell.
func passing(name string) bool {
	return strings.HasSuffix(name, "Time") || strings.HasSuffix(name, "At") || strings.HasSuffix(name, "Generation") ||
		slices.Contains([]string{"since", "assignment", "slices", "resourceVersion"}, name)
}

func dropPassing(value any) {
	switch value := value.(type) {
	case fields:
		maps.DeleteFunc(value, func(name string, _ any) bool { return passing(name) })
		for _, inner := range value {
			dropPassing(inner)
		}
	case []any:
		for _, inner := range value {
			dropPassing(inner)
		}
	}
}

// checkUntouched compares the objects that must not change, except their status.
func (h *Hostile) checkUntouched(ctx context.Context) error {
	return h.compareWithBefore(ctx, func(k kept) fields { return k.fixed }, h.find)
}

// checkRestored waits until the status has its former value, too.
func (h *Hostile) checkRestored(ctx context.Context) error {
	if err := h.checkUntouched(ctx); err != nil {
		return err
	}
	begin := h.Clock.Now()
	for {
		left := map[string]bool{}
		err := h.compareWithBefore(ctx, func(k kept) fields { return k.status }, func(_, what string) { left[what] = true })
		if err != nil || len(left) == 0 {
			return err
		}
		if h.Clock.Since(begin) > h.Patience {
			for what := range left {
				h.find("the status of another one is not as before", what)
			}
			return nil
		}
		if !sleepUntil(ctx, h.Clock, h.Clock.Now().Add(checkInterval)) {
			return context.Cause(ctx)
		}
	}
}

// compareWithBefore calls found for each difference.
func (h *Hostile) compareWithBefore(ctx context.Context, part func(kept) fields, found func(kind, what string)) error {
	now, err := h.snapshot(ctx)
	if err != nil {
		return err
	}
	for key, before := range h.before {
		if after, ok := now[key]; !ok {
			found("what is not the hostile party's is gone", key)
		} else if d := difference("", part(before), part(after)); d != "" {
			found("what is not the hostile party's has changed", key+d)
		}
	}
	for key := range now {
		if _, ok := h.before[key]; !ok {
			found("there is something new that is not the hostile party's", key)
		}
	}
	return nil
}

// difference describes the first difference of two values; "" if they are equal.
func difference(path string, before, after any) string {
	one, isFields := before.(fields)
	other, areFields := after.(fields)
	if !isFields || !areFields {
		if reflect.DeepEqual(before, after) {
			return ""
		}
		return reasons.Shorten(fmt.Sprintf("%s: %v was %v", path, after, before), 400)
	}
	keys := slices.Sorted(maps.Keys(one))
	for key := range other {
		if _, ok := one[key]; !ok {
			keys = append(keys, key)
		}
	}
	for _, key := range keys {
		if d := difference(path+"."+key, one[key], other[key]); d != "" {
			return d
		}
	}
	return ""
}
