// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"log/slog"
	"os"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/karmada-compute/karmada-compute/test/federation"
)

const (
	// consumer is the user that writes Workloads, with a consumer's permissions in the project only.
	consumer = federation.Consumer
	// namespace is where soak and hostile have their Workloads.
	namespace = "default"
	// replicas is the number of replicas of the add-on.
	replicas = 2
	// setupTimeout is how long projects and the access to them may take.
	setupTimeout = 2 * time.Minute
)

// logTo sends the logs of the Kubernetes client libraries to a file: on the screen they would be between other lines.
func logTo(path string) (io.Closer, error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the log: %w", err)
	}
	log := slog.New(slog.NewTextHandler(file, nil))
	klog.SetSlogLogger(log)
	ctrl.SetLogger(logr.FromSlogHandler(log.Handler()))
	return file, nil
}

// citiesOf are the cities of a federation's cells.
func citiesOf(f *federation.Federation) []string {
	cities := sets.New[string]()
	for _, cell := range f.Cells() {
		cities.Insert(cell.City)
	}
	return sets.List(cities)
}
