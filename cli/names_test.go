// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"slices"
	"testing"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/cli/stream"
)

func TestBare(t *testing.T) {
	for argument, want := range map[string]string{
		"web": "web", "wl/web": "web", "workload/web": "web", "workloads/web": "web", "workload.compute.datumapis.com/web": "web",
		"inst/web-0": "web-0", "Instance/web-0": "web-0", "instance.compute.datumapis.com/web-0": "web-0",
		"pod/web": "pod/web", "workload.example/web": "workload.example/web",
	} {
		if got := bare(argument); got != want {
			t.Errorf("%s names %s, want %s", argument, got, want)
		}
	}
}

// TestTheDefaultContainer of a template is the default of logs and exec.
func TestTheDefaultContainer(t *testing.T) {
	errOut := &buffer{}
	c := &command{Options: Options{Streams: genericiooptions.IOStreams{ErrOut: errOut}}}
	instance := &v1alpha.Instance{}
	instance.Spec.Runtime.Sandbox = &v1alpha.SandboxRuntime{Containers: []v1alpha.SandboxContainer{{Name: "proxy"}, {Name: "exporter"}}}
	for annotation, want := range map[string]string{"exporter": "exporter", "": "proxy", "none": "proxy"} {
		instance.Annotations = map[string]string{stream.AnnotationDefaultContainer: annotation}
		if got, err := c.containers(instance, "", false); err != nil || !slices.Equal(got, []string{want}) {
			t.Errorf("with %q: %v, %v", annotation, got, err)
		}
	}
	instance.Annotations[stream.AnnotationDefaultContainer] = "exporter"
	if got, err := c.containers(instance, "proxy", false); err != nil || !slices.Equal(got, []string{"proxy"}) {
		t.Errorf("a named container: %v, %v", got, err)
	}
}
