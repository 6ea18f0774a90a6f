// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/hub/instancetypes"
	"github.com/karmada-compute/karmada-compute/internal/cities"
	"github.com/karmada-compute/karmada-compute/internal/templates"
	"github.com/karmada-compute/karmada-compute/milo"
	"github.com/karmada-compute/karmada-compute/webhook"
)

// admissionProjects implements webhook.Projects with a Lookup.
type admissionProjects struct {
	lookup *milo.Lookup
	// onlyReady treats a project that is not Ready as gone: it is a namespace without the label.
	onlyReady bool
	// metered matches the labels of projects whose Instances need quota.
	metered labels.Selector
}

// Project looks up a project.
func (p *admissionProjects) Project(ctx context.Context, name string) (webhook.Project, error) {
	return p.admitted(p.lookup.Project(ctx, name))
}

// FreshProject looks up a project, bypassing the cache.
func (p *admissionProjects) FreshProject(ctx context.Context, name string) (webhook.Project, error) {
	return p.admitted(p.lookup.FreshProject(ctx, name))
}

// admitted is the state of a looked-up project that admission uses.
func (p *admissionProjects) admitted(project *milo.Project, err error) (webhook.Project, error) {
	if errors.Is(err, milo.ErrProjectNotFound) || err == nil && p.onlyReady && !project.IsReady() {
		return webhook.Project{}, webhook.ErrProjectNotFound
	}
	if err != nil {
		return webhook.Project{}, err
	}
	return webhook.Project{
		Name: project.Name, UID: project.UID, Deleting: project.IsDeleting(), Suspended: project.IsSuspended(), Ready: project.IsReady(),
		Metered: p.metered.Matches(labels.Set(project.Labels)),
	}, nil
}

// Locations reads the locations of a project.
func (p *admissionProjects) Locations(
	ctx context.Context, project webhook.Project,
) (locations []cities.Location, age time.Duration, err error) {
	return p.lookup.Locations(ctx, known(project))
}

// FreshLocations reads the locations, bypassing the cache.
func (p *admissionProjects) FreshLocations(ctx context.Context, project webhook.Project) ([]cities.Location, error) {
	return p.lookup.FreshLocations(ctx, known(project))
}

// Review sends a SubjectAccessReview to the project.
func (p *admissionProjects) Review(
	ctx context.Context, project webhook.Project, review authorizationv1.SubjectAccessReviewSpec,
) (bool, string, error) {
	return p.lookup.Review(ctx, known(project), review)
}

// MayWrite sends a SubjectAccessReview to the project.
func (p *admissionProjects) MayWrite(
	ctx context.Context, project webhook.Project, review authorizationv1.SubjectAccessReviewSpec,
) (bool, error) {
	return p.lookup.MayWrite(ctx, known(project), review)
}

// Reserve counts what the Workloads of a project ask for.
func (p *admissionProjects) Reserve(
	ctx context.Context, project webhook.Project, reservation templates.Reservation,
) (templates.Demand, error) {
	return p.lookup.Reserve(ctx, known(project), reservation)
}

// InstanceAllowance reads the project's quota.
func (p *admissionProjects) InstanceAllowance(ctx context.Context, project webhook.Project) (int64, bool, error) {
	return p.lookup.InstanceAllowance(ctx, known(project))
}

func known(project webhook.Project) *milo.Project {
	return &milo.Project{ObjectMeta: metav1.ObjectMeta{Name: project.Name, UID: project.UID}}
}

// addOnUsers are the users that the add-on's controllers are where the projects are.
type addOnUsers struct {
	lookup *milo.Lookup
	// known is nil until Milo has answered. It is not guarded by a lock: no request may wait for another that Milo does
	// not answer.
	known atomic.Pointer[[]string]
	// own is the user that this process is.
	own atomic.Pointer[string]
}

func (u *addOnUsers) set(users []string, lookup *milo.Lookup) {
	u.lookup = lookup
	if len(users) > 0 {
		u.known.Store(&users)
	}
}

// get returns the users of the flag or, if it is not set, the user that this process is.
func (u *addOnUsers) get(ctx context.Context) ([]string, error) {
	if users := u.known.Load(); users != nil {
		return *users, nil
	}
	self, err := u.self(ctx)
	if err != nil {
		return nil, fmt.Errorf("ask for the user that the add-on is, see --add-on-users: %w", err)
	}
	users := []string{self}
	u.known.Store(&users)
	return users, nil
}

// self returns the user that this process is.
func (u *addOnUsers) self(ctx context.Context) (string, error) {
	if self := u.own.Load(); self != nil {
		return *self, nil
	}
	self, err := u.lookup.WhoAmI(ctx)
	if err != nil {
		return "", err
	}
	u.own.Store(&self)
	return self, nil
}

func newCatalogue(hub *rest.Config, scheme *runtime.Scheme, grace time.Duration) (*instancetypes.Catalogue, error) {
	reader, err := client.New(hub, client.Options{Scheme: scheme})
	if err != nil {
		return nil, fmt.Errorf("make a client for the hub: %w", err)
	}
	return instancetypes.NewCatalogue(instancetypes.CatalogueOptions{
		Hub: reader, Clock: clock.RealClock{}, Registerer: metrics.Registry, Log: ctrl.Log.WithName("instancetypes"), Grace: grace,
	}), nil
}

// admissionTypes implements webhook.InstanceTypes with a Catalogue.
type admissionTypes struct {
	catalogue *instancetypes.Catalogue
	byDefault string
}

// Types are the types that the hub has confirmed lately.
func (t *admissionTypes) Types(ctx context.Context) ([]v1alpha.InstanceType, bool, error) {
	return checkable(t.catalogue.Confirmed(ctx, instancetypes.ConfirmedWithin))
}

// FreshTypes are the types of now.
func (t *admissionTypes) FreshTypes(ctx context.Context) ([]v1alpha.InstanceType, bool, error) {
	return checkable(t.catalogue.Fresh(ctx))
}

// Default is the type of Workloads that name none.
func (t *admissionTypes) Default() string { return t.byDefault }

// Grace is how long after its deprecation a type may be named by new Workloads, and the time of now.
func (t *admissionTypes) Grace() (time.Duration, time.Time) { return t.catalogue.Grace() }

// checkable reports that nothing is checked if the hub does not serve the kind.
func checkable(types []v1alpha.InstanceType, err error) ([]v1alpha.InstanceType, bool, error) {
	if errors.Is(err, instancetypes.ErrNotServed) {
		return nil, false, nil
	}
	return types, err == nil, err
}
