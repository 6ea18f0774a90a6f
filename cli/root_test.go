// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"testing"

	"github.com/spf13/pflag"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/utils/clock"
)

// TestFlagsOfTheProgram: karmadactl has its own flag --kubeconfig, which cobra adds to commands whose flags are read
// too early.
func TestFlagsOfTheProgram(t *testing.T) {
	if pflag.Lookup("kubeconfig") == nil {
		pflag.String("kubeconfig", "", "the program's own")
	}
	for _, operator := range []bool{true, false} {
		streams, _, _, _ := genericiooptions.NewTestIOStreams()
		flags := genericclioptions.NewConfigFlags(false)
		root := New(Options{Use: "compute", Flags: flags, Operator: operator, Streams: streams, Clock: clock.RealClock{}})
		for _, cmd := range root.Commands() {
			if err := cmd.ParseFlags([]string{"--kubeconfig=hub.kubeconfig"}); err != nil || *flags.KubeConfig != "hub.kubeconfig" {
				t.Errorf("operator %t, %s: --kubeconfig is %q, %v", operator, cmd.Name(), *flags.KubeConfig, err)
			}
			*flags.KubeConfig = ""
		}
	}
}
