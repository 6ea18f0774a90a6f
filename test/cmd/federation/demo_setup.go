// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	_ "embed" // the sample Workload
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/yaml"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/test/federation"
	"github.com/karmada-compute/karmada-compute/test/soak"
)

const (
	projectName = "demo"
	project     = "project/" + projectName
	// consumer is the user that creates the Workload, with a consumer's permissions in the project only.
	consumer = federation.Consumer
	// namespace is where soak and hostile have their Workloads.
	namespace = "default"
	// setupTimeout is how long the project and the access to it may take.
	setupTimeout = 2 * time.Minute
)

//go:embed sample/workload.yaml
var sampleYAML []byte

// sample is the Workload of the demo.
type sample struct {
	// containers is whether its processes run: with an image that the nodes have, and small enough for this machine.
	containers bool
}

func (s sample) workload() (*v1alpha.Workload, error) {
	workload := &v1alpha.Workload{}
	if err := yaml.UnmarshalStrict(sampleYAML, workload); err != nil {
		return nil, fmt.Errorf("read the sample Workload: %w", err)
	}
	if s.containers {
		runtime := &workload.Spec.Template.Spec.Runtime
		runtime.Resources.Requests = corev1.ResourceList{
			corev1.ResourceCPU: resource.MustParse("50m"), corev1.ResourceMemory: resource.MustParse("64Mi"),
		}
		runtime.Sandbox.Containers[0].Image = federation.TestImage
		runtime.Sandbox.Containers[0].Args = []string{"--port=80"}
	}
	return workload, nil
}

// logTo sends the logs of the Kubernetes client libraries to a file: on the screen they would break up the tree.
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

// makeProject creates the project, its locations and the consumer's access.
func (d *demo) makeProject(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, setupTimeout)
	defer cancel()
	if err := d.federation.CreateProject(ctx, projectName); err != nil {
		return err
	}
	cities := citiesOf(d.federation)
	if err := d.federation.Equip(ctx, []string{projectName}, cities); err != nil {
		return err
	}
	if d.withoutMilo {
		d.screen.Line("  every city with a cell is open: %s", strings.Join(cities, " and "))
	} else {
		d.screen.Line("  LocationBindings for %s are Available", strings.Join(cities, " and "))
	}
	d.screen.Line("  user %s may write Workloads in it", consumer)
	var err error
	d.read, err = soak.Reader(ctx, d.federation, d.federation.NamespaceIn(projectName), projectName)
	return err
}

// parts is the headline of the step that starts the federation.
func (d *demo) parts() string {
	if d.withoutMilo {
		return "Start a Karmada hub and two cells, DFW and ORD,"
	}
	return "Start a Karmada hub, two cells, DFW and ORD, and a Milo stand-in"
}

// projectHeadline is the headline of the step that creates the project.
func (d *demo) projectHeadline() string {
	if d.withoutMilo {
		return "Label namespace " + projectName + " of the hub as a project"
	}
	return "Create project " + projectName + " with locations in DFW and ORD"
}

// citiesOf are the cities of a federation's cells.
func citiesOf(f *federation.Federation) []string {
	cities := sets.New[string]()
	for _, cell := range f.Cells() {
		cities.Insert(cell.City)
	}
	return sets.List(cities)
}
