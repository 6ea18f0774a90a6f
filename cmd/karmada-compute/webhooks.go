// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"

	"k8s.io/client-go/rest"
	ctrlwebhook "sigs.k8s.io/controller-runtime/pkg/webhook"

	"github.com/karmada-compute/karmada-compute/interpreter"
	"github.com/karmada-compute/karmada-compute/milo"
	"github.com/karmada-compute/karmada-compute/webhook"
)

// serveWebhooks puts admission and the interpreter on the server that every replica runs.
func serveWebhooks(server ctrlwebhook.Server, miloConfig *rest.Config) error {
	lookup, err := milo.NewLookup(miloConfig)
	if err != nil {
		return err
	}
	server.Register(webhook.WorkloadPath, webhook.NewHandler(admissionProjects{lookup}))
	server.Register(interpreter.Path, interpreter.NewHandler())
	return nil
}

// admissionProjects tells admission of projects what it wants to know.
type admissionProjects struct{ *milo.Lookup }

// Project looks a project up.
func (p admissionProjects) Project(ctx context.Context, name string) (webhook.Project, error) {
	project, err := p.Lookup.Project(ctx, name)
	if errors.Is(err, milo.ErrProjectNotFound) {
		return webhook.Project{}, webhook.ErrProjectNotFound
	}
	if err != nil {
		return webhook.Project{}, err
	}
	return webhook.Project{Deleting: !project.DeletionTimestamp.IsZero(), Suspended: project.Suspended()}, nil
}
