// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package commands

import (
	"bytes"
	"context"
	"fmt"

	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/kubectl/pkg/cmd/wait"

	"github.com/karmada-compute/karmada-compute/test/steps/world"
)

func addKubectlSteps(sc world.Sentences) {
	sc.Step(`^kubectl waits for condition ([A-Za-z]+) of ([a-z]+) "([^"]*)"$`, func(ctx context.Context, condition, kind, name string) error {
		return from(ctx).kubectlWait(ctx, condition, kind+"/"+name)
	})
}

// kubectlWait runs kubectl's own code, which ignores a condition of an earlier generation.
func (s Steps) kubectlWait(_ context.Context, condition, object string) error {
	path, err := s.Federation.Kubeconfig("project/"+s.Project, world.Consumer)
	if err != nil {
		return err
	}
	config := genericclioptions.NewConfigFlags(false)
	config.KubeConfig, config.Namespace = &path, &s.Namespace
	var output bytes.Buffer
	flags := wait.NewWaitFlags(config, genericiooptions.IOStreams{In: &bytes.Buffer{}, Out: &output, ErrOut: &output})
	flags.ForCondition, flags.Timeout = "condition="+condition, world.Patience
	options, err := flags.ToOptions([]string{object})
	if err != nil {
		return err
	}
	if err := options.RunWait(); err != nil {
		return fmt.Errorf("kubectl wait: %w: %s", err, output.String())
	}
	if want := " condition met"; !bytes.Contains(output.Bytes(), []byte(want)) {
		return fmt.Errorf("kubectl wait says %q", output.String())
	}
	return nil
}
