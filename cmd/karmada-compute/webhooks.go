// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/karmada-compute/karmada-compute/milo"
	"github.com/karmada-compute/karmada-compute/webhook"
)

// admissionProjects tells admission of projects what it wants to know.
type admissionProjects struct{ lookup *milo.Lookup }

var states = map[milo.ProjectState]webhook.ProjectState{
	milo.ProjectActive:    webhook.ProjectActive,
	milo.ProjectDeleting:  webhook.ProjectDeleting,
	milo.ProjectSuspended: webhook.ProjectSuspended,
	milo.ProjectNotReady:  webhook.ProjectNotReady,
}

// Project looks a project up.
func (p *admissionProjects) Project(ctx context.Context, name string) (webhook.Project, error) {
	project, err := p.lookup.Project(ctx, name)
	if errors.Is(err, milo.ErrProjectNotFound) {
		return webhook.Project{}, webhook.ErrProjectNotFound
	}
	if err != nil {
		return webhook.Project{}, err
	}
	return webhook.Project{Name: project.Name, UID: project.UID, State: states[project.State()]}, nil
}

// CityCodes reads the cities that a project may use.
func (p *admissionProjects) CityCodes(ctx context.Context, project webhook.Project) ([]string, error) {
	return p.lookup.CityCodes(ctx, known(project))
}

// FreshCityCodes reads them past the cache.
func (p *admissionProjects) FreshCityCodes(ctx context.Context, project webhook.Project) ([]string, error) {
	return p.lookup.FreshCityCodes(ctx, known(project))
}

// Review asks the project's authorizer.
func (p *admissionProjects) Review(ctx context.Context, project webhook.Project, review authorizationv1.SubjectAccessReviewSpec) (bool, string, error) {
	return p.lookup.Review(ctx, known(project), review)
}

// InstanceAllowance reads the project's quota.
func (p *admissionProjects) InstanceAllowance(ctx context.Context, project webhook.Project) (int64, bool, error) {
	return p.lookup.InstanceAllowance(ctx, known(project))
}

func known(project webhook.Project) *milo.Project {
	return &milo.Project{ObjectMeta: metav1.ObjectMeta{Name: project.Name, UID: project.UID}}
}

// addOnUsers are who the add-on's controllers are at Milo.
type addOnUsers struct {
	root *rest.Config
	// known is nil until Milo has answered. Nobody waits for another's question: Milo may hang.
	known atomic.Pointer[[]string]
}

// selfTimeout bounds the question who this process is.
const selfTimeout = 5 * time.Second

func (u *addOnUsers) set(users []string, root *rest.Config) {
	u.root = root
	if len(users) > 0 {
		u.known.Store(&users)
	}
}

// get returns the users that were named, or asks Milo, once, who this process is.
func (u *addOnUsers) get(ctx context.Context) ([]string, error) {
	if users := u.known.Load(); users != nil {
		return *users, nil
	}
	ctx, cancel := context.WithTimeout(ctx, selfTimeout)
	defer cancel()
	client, err := kubernetes.NewForConfig(u.root)
	if err != nil {
		return nil, fmt.Errorf("make a client for Milo's root: %w", err)
	}
	self, err := client.AuthenticationV1().SelfSubjectReviews().Create(ctx, &authenticationv1.SelfSubjectReview{}, metav1.CreateOptions{})
	if err != nil {
		return nil, fmt.Errorf("ask Milo who the add-on is, or name it by --add-on-users: %w", err)
	}
	users := []string{self.Status.UserInfo.Username}
	u.known.Store(&users)
	return users, nil
}
