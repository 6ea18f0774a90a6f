// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package connect

import (
	"bytes"
	"slices"
	"testing"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/cli/command"
	"github.com/karmada-compute/karmada-compute/cli/stream"
)

// TestTheDefaultContainer of a template is the default of logs and exec.
func TestTheDefaultContainer(t *testing.T) {
	errOut := &bytes.Buffer{}
	c := &commands{Command: &command.Command{Options: command.Options{Streams: genericiooptions.IOStreams{ErrOut: errOut}}}}
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
