// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package deployments

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/hub/cells"
	"github.com/karmada-compute/karmada-compute/hub/deployments/plan"
	"github.com/karmada-compute/karmada-compute/hub/instancetypes"
	"github.com/karmada-compute/karmada-compute/hub/networks"
	"github.com/karmada-compute/karmada-compute/internal/cities"
)

// behindCache is how long a reconcile waits for a cache that is behind the API server.
const behindCache = time.Second

// load reads the Workload and the deployments of Workloads of its name.
func (s *scope) load(ctx context.Context) error {
	if err := s.client.Get(ctx, s.request.NamespacedName, s.workload); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("get the Workload: %w", err)
	}
	var list v1alpha.WorkloadDeploymentList
	if err := s.client.List(ctx, &list, client.InNamespace(s.request.Namespace), byWorkload.Value(s.request.Name)); err != nil {
		return fmt.Errorf("list the Workload's deployments: %w", err)
	}
	s.deployments = make(map[string]*v1alpha.WorkloadDeployment, len(list.Items))
	for i := range list.Items {
		switch deployment := &list.Items[i]; {
		case s.workload.UID != "" && deployment.Labels[v1alpha.LabelWorkloadUID] == string(s.workload.UID):
			s.deployments[deployment.Name] = deployment
		case deployment.DeletionTimestamp.IsZero():
			s.orphans = append(s.orphans, deployment)
		}
	}
	return nil
}

// ifExists reads an object; nil: it does not exist.
func ifExists[T client.Object](ctx context.Context, reader client.Reader, key client.ObjectKey, object T) (T, error) {
	var none T
	switch err := reader.Get(ctx, key, object); {
	case apierrors.IsNotFound(err):
		return none, nil
	case err != nil:
		return none, fmt.Errorf("get %T %s: %w", object, key, err)
	}
	return object, nil
}

// facts reads the input of a plan. Of a Workload that is being deleted it is the deployments alone.
func (s *scope) facts(ctx context.Context) (*plan.Facts, error) {
	f := &plan.Facts{
		Settings: plan.Settings{Drain: s.Drain, Hostnames: s.Hostnames}, Now: s.Clock.Now(), Project: s.project.Name,
		Workload: s.workload, Deployments: s.deployments,
		Instance: func(name string) (*v1alpha.Instance, error) {
			return ifExists(ctx, s.client, client.ObjectKey{Namespace: s.request.Namespace, Name: name}, &v1alpha.Instance{})
		},
	}
	if s.Names != nil {
		f.Answers = sync.OnceValues(func() ([]string, bool) {
			addresses, err := s.Names.Answers(ctx, s.project.Origin(s.request.Namespace), s.workload.UID)
			if err != nil {
				log.FromContext(ctx).Error(err, "Failed to read the names of a Workload whose traffic leaves; its Instances wait")
			}
			return addresses, err == nil
		})
	}
	if !s.workload.DeletionTimestamp.IsZero() {
		return f, nil
	}
	for _, read := range []func(context.Context, *plan.Facts) error{
		s.readExposure, s.readTemplate, s.readLocations, s.readNames, s.readType, s.readCities, s.readNetworks, s.readRevision, s.confirmNoBudget,
	} {
		if err := read(ctx, f); err != nil || s.ended {
			return nil, err
		}
	}
	return f, nil
}

// readExposure reads whether the cells have what another exposure needs.
func (s *scope) readExposure(ctx context.Context, f *plan.Facts) (err error) {
	if f.KeepsExposure, err = KeepExposure(ctx, s.Lacking, s.workload, s.deployments); len(f.KeepsExposure) > 0 {
		s.requeueAfter.AtMost(settingsInterval)
	}
	return err
}

// readTemplate finds the template that the Instances get.
func (s *scope) readTemplate(ctx context.Context, f *plan.Facts) error {
	err := f.ChooseTemplate(func(hash string) (*v1alpha.InstanceTemplateSpec, error) { return s.history.withHash(ctx, hash) })
	s.history.written = f.Template.Written
	return err
}

// readLocations reads the locations of the project. Without any, running deployments remain, and none is started.
func (s *scope) readLocations(ctx context.Context, f *plan.Facts) (err error) {
	f.Locations, err = s.Locations.List(ctx, s.client)
	if errors.Is(err, cities.ErrLocationsNotServed) {
		f.Unlocated, err = err, nil
	}
	return err
}

// readCities reads what the hub knows of the cities of the project, if the Workload replaces cities that serve nothing.
func (s *scope) readCities(ctx context.Context, f *plan.Facts) error {
	placements := s.workload.Spec.Placements
	if s.Cells == nil || !slices.ContainsFunc(placements, func(p v1alpha.WorkloadPlacement) bool {
		return p.Spread != nil && p.Spread.Failover != nil
	}) {
		return nil
	}
	all, judged, err := s.Cells(ctx)
	if err != nil || !judged {
		s.requeueAfter.AtMost(settingsInterval)
		return err
	}
	f.Cities, f.Held, f.Room = map[string]cells.Health{}, map[string]bool{}, map[string]int32{}
	size := plan.SizeOf(f)
	for i := range f.Locations {
		if city := f.Locations[i].City; city != "" {
			s.readCity(f, all, city, size)
		}
	}
	for i := range placements {
		// A city that the project may not use any more has no location.
		for _, code := range placements[i].CityCodes {
			s.readCity(f, all, strings.ToUpper(code), size)
		}
	}
	return nil
}

// readCity judges the cells of a city. A city whose address answers is not lost, even if the hub hears none of its cells.
func (s *scope) readCity(f *plan.Facts, all cells.Cells, city string, size corev1.ResourceList) {
	health := all.Health(city, f.Now)
	if health == cells.Lost && s.Answers != nil && s.Answers(s.request, city) {
		health = cells.InDoubt
	}
	f.Cities[city], f.Held[city] = health, s.HoldCities || all.Held(city)
	if room, known := all.Room(city, size); known {
		f.Room[city] = room
	}
}

// readNames reads the deployments that have the names of wanted ones and not the label of the Workload: they are another's, or have
// lost it.
func (s *scope) readNames(ctx context.Context, f *plan.Facts) error {
	f.Taken = map[string]*v1alpha.WorkloadDeployment{}
	for _, name := range plan.Names(f) {
		if f.Deployments[name] != nil {
			continue
		}
		other, err := ifExists(ctx, s.client, client.ObjectKey{Namespace: s.request.Namespace, Name: name}, &v1alpha.WorkloadDeployment{})
		switch {
		case err != nil:
			return err
		case other == nil:
		case other.Spec.WorkloadRef.UID == s.workload.UID:
			f.Deployments[name] = other
		default:
			f.Taken[name] = other
		}
	}
	return nil
}

// readType looks up the instance type of the Workload.
func (s *scope) readType(ctx context.Context, f *plan.Facts) error {
	spelled := s.workload.Spec.Template.Spec.Runtime.Resources.InstanceType
	f.Type = plan.InstanceType{OfDefault: spelled == "", Unchecked: s.Types == nil}
	f.Type.Name = v1alpha.InstanceTypeName(cmp.Or(spelled, s.DefaultType))
	if f.Type.Unchecked {
		return nil
	}
	f.Type.Grace, _ = s.Types.Grace()
	types, err := s.Types.Types(ctx)
	if err == nil && v1alpha.FindInstanceType(types, f.Type.Name) == nil {
		types, err = s.Types.Fresh(ctx)
	}
	f.Type.Answered(types, err, errors.Is(err, instancetypes.ErrNotServed))
	if !f.Type.Unchecked && f.Type.Err == nil && f.Type.Found != nil && plan.TakesSize(f) {
		types, err := s.Types.Confirmed(ctx, instancetypes.StartedWithin)
		f.Type.Answered(types, err, errors.Is(err, instancetypes.ErrNotServed))
	}
	return nil
}

// readNetworks finds the networks that the template names and that do not exist. While a network is missing, no
// deployment is created, and the Workload is requeued.
func (s *scope) readNetworks(ctx context.Context, f *plan.Facts) error {
	if s.Networks == nil {
		return nil
	}
	f.MissingNetworks = s.Networks.Missing(ctx, s.project, namedNetworks(s.workload))
	if len(f.MissingNetworks) > 0 {
		s.requeueAfter.AtMost(networks.Retry)
	}
	return nil
}

// namedNetworks returns the networks that the template of a Workload names.
func namedNetworks(workload *v1alpha.Workload) []types.NamespacedName {
	var named []types.NamespacedName
	interfaces := workload.Spec.Template.Spec.NetworkInterfaces
	for i := range interfaces {
		network := &interfaces[i].Network
		named = append(named, types.NamespacedName{Namespace: cmp.Or(network.Namespace, workload.Namespace), Name: network.Name})
	}
	return named
}

// readRevision records the template of the Workload in its history, if the Workload has its own template in memory, with its
// data, and reads its number.
func (s *scope) readRevision(ctx context.Context, f *plan.Facts) (err error) {
	if before := s.workload.Status.Rollout; before != nil && before.TemplateHash == f.Template.Written {
		f.Revision = before.Revision
		return nil
	}
	if f.Template.Target == f.Template.Written && len(f.Unread) == 0 {
		f.Revision, err = s.history.record(ctx, s.deployments)
	}
	return err
}

// confirmNoBudget reads the Workload past the cache before floors are removed: a replica that has not seen the budget
// yet must not.
func (s *scope) confirmNoBudget(ctx context.Context, f *plan.Facts) error {
	floors := false
	for _, deployment := range f.Deployments {
		floors = floors || deployment.Spec.Floor != nil
	}
	if s.workload.Spec.Disruption != nil || !floors {
		return nil
	}
	fresh := &v1alpha.Workload{}
	if err := s.project.GetAPIReader().Get(ctx, s.request.NamespacedName, fresh); err != nil {
		return fmt.Errorf("get the Workload before its floors are removed: %w", err)
	}
	// The event of a newer Workload requeues it when the cache has it.
	s.ended = fresh.UID != s.workload.UID || fresh.Generation != s.workload.Generation
	return nil
}

// confirm reads the Workload and its deployments from the API server. A Workload that has changed is reconciled again.
func (s *scope) confirm(ctx context.Context, f *plan.Facts) error {
	reader := s.project.GetAPIReader()
	workload := &v1alpha.Workload{}
	if err := reader.Get(ctx, s.request.NamespacedName, workload); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("get the Workload before a step of its rollout: %w", err)
	}
	if workload.UID != s.workload.UID || workload.Generation != s.workload.Generation ||
		!equality.Semantic.DeepEqual(workload.Status.Data, s.workload.Status.Data) || !plan.SameChoice(workload, s.workload) {
		s.ended = true
		s.requeueAfter.AtMost(behindCache)
		return nil
	}
	var list v1alpha.WorkloadDeploymentList
	err := reader.List(ctx, &list, client.InNamespace(s.request.Namespace),
		client.MatchingLabels{v1alpha.LabelWorkloadUID: string(s.workload.UID)})
	if err != nil {
		return fmt.Errorf("list the Workload's deployments before a step of its rollout: %w", err)
	}
	s.deployments = plan.ByName(list.Items)
	f.Deployments = s.deployments
	return nil
}
