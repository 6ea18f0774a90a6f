// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package milo

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// ErrProjectNotFound says that Milo answered and knows no such project.
var ErrProjectNotFound = errors.New("Milo knows no such project")

// Lookup answers for any project, without a cache, a leader or a manager, over one HTTP transport for all projects.
// It is safe for concurrent use.
type Lookup struct {
	root      *rest.Config
	transport *http.Client
	options   client.Options
	projects  client.Client
}

// NewLookup makes a Lookup. It contacts nobody and leaves root as it is.
func NewLookup(root *rest.Config) (*Lookup, error) {
	root = rest.CopyConfig(root)
	// Milo's own priority and fairness is the limit. The client's default would let five users a second write.
	root.QPS = -1
	scheme := runtime.NewScheme()
	if err := AddToScheme(scheme); err != nil {
		return nil, fmt.Errorf("build the scheme: %w", err)
	}
	mapper, err := staticMapper(scheme)
	if err != nil {
		return nil, err
	}
	transport, err := rest.HTTPClientFor(root)
	if err != nil {
		return nil, fmt.Errorf("make the transport to Milo: %w", err)
	}
	l := &Lookup{root: root, transport: transport, options: client.Options{HTTPClient: transport, Scheme: scheme, Mapper: mapper}}
	if l.projects, err = client.New(root, l.options); err != nil {
		return nil, fmt.Errorf("make a client for Milo's root: %w", err)
	}
	return l, nil
}

// Project reads a Project at Milo's root. It returns ErrProjectNotFound when there is none; any other error says that
// Milo could not be asked.
func (l *Lookup) Project(ctx context.Context, name string) (*Project, error) {
	project := &Project{}
	switch err := l.projects.Get(ctx, client.ObjectKey{Name: name}, project); {
	case apierrors.IsNotFound(err):
		return nil, ErrProjectNotFound
	case err != nil:
		return nil, asked("the project", err)
	}
	return project, nil
}

// asked says why Milo gave no answer, and what is to be done when it is not a matter of time.
func asked(what string, err error) error {
	if apierrors.IsForbidden(err) || apierrors.IsUnauthorized(err) {
		return fmt.Errorf("Milo refuses the add-on %s, an administrator must grant it: %w", what, err)
	}
	return fmt.Errorf("Milo cannot be reached for %s: %w", what, err)
}

// Suspended says whether a project is suspended.
func (p *Project) Suspended() bool {
	return meta.IsStatusConditionTrue(p.Status.Conditions, ConditionSuspended)
}

// CityCodes are the cities that a project may use now: upper case, sorted, each once. Ask it only of projects that
// Project knows: touching any other makes Milo set storage aside for it. An error says that Milo could not be asked.
func (l *Lookup) CityCodes(ctx context.Context, project string) ([]string, error) {
	config, err := ProjectConfig(l.root, project)
	if err != nil {
		return nil, err
	}
	reader, err := client.New(config, l.options)
	if err != nil {
		return nil, fmt.Errorf("make a client for the project: %w", err)
	}
	codes, err := Locations{}.CityCodes(ctx, reader)
	if err != nil {
		return nil, asked("the project's locations", err)
	}
	return codes, nil
}
