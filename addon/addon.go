// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package addon is karmada-compute as an addon of karmadactl: `addons enable`, `disable` and `list` render the chart
// and apply it to the host, the hub and Milo's root.
//
// Everything that enable creates is listed in an inventory on the host before it is created. So enable can be
// interrupted and run again, a second enable removes what it no longer renders, and disable deletes exactly what enable
// created.
package addon

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	addonsinit "github.com/karmada-io/karmada/pkg/karmadactl/addons/init"
	"github.com/karmada-io/karmada/pkg/karmadactl/util/apiclient"
	"github.com/spf13/cobra"
	appsv1 "k8s.io/api/apps/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Name is the addon's name in karmadactl.
const Name = "karmada-compute"

// defaultTimeout is the timeout of one step, as for karmadactl's --pod-timeout.
const defaultTimeout = 2 * time.Minute

// Register adds the addon and its flags to the `addons` command below root.
func Register(root *cobra.Command) error {
	commands := map[string]*cobra.Command{}
	for _, name := range []string{"enable", "disable", "list"} {
		command, _, err := root.Find([]string{"addons", name})
		if err != nil || command.Name() != name {
			return fmt.Errorf("karmadactl has no command `addons %s`: %w", name, err)
		}
		commands[name] = command
	}
	o := &options{}
	o.addFlags(commands["enable"].Flags())
	o.addDisableFlags(commands["disable"].Flags())
	if err := errors.Join(
		completion(commands["enable"], "compute-interpreter-mode", interpreterModes),
		completion(commands["disable"], "compute-workloads", []string{workloadsRefuse, workloadsKeep, workloadsDelete}),
	); err != nil {
		return err
	}
	addonsinit.Addons[Name] = &addonsinit.Addon{
		Name:    Name,
		Status:  func(list *addonsinit.CommandAddonsListOption) (string, error) { return status(list) },
		Enable:  func(*addonsinit.CommandAddonsEnableOption) error { return o.enableHost() },
		Disable: func(*addonsinit.CommandAddonsDisableOption) error { return o.disable() },
	}
	for _, command := range commands {
		command.ValidArgsFunction = completeAddons
	}
	wrap(commands["enable"], o.beforeEnable)
	wrap(commands["disable"], o.beforeDisable)
	commands["enable"].Example += fmt.Sprintf(enableExample, commands["enable"].CommandPath())
	return nil
}

const enableExample = `

  # Enable karmada-compute
  %[1]s karmada-compute --milo-kubeconfig milo.kubeconfig

  # Print what would be applied
  %[1]s karmada-compute --milo-kubeconfig milo.kubeconfig --dry-run`

// wrap runs a step before a command when it is about this addon. The step may end the command without an error.
func wrap(command *cobra.Command, before func(*cobra.Command) (end bool, err error)) {
	run := command.RunE
	command.RunE = func(command *cobra.Command, args []string) error {
		if slices.Contains(args, Name) || slices.Contains(args, "all") {
			end, err := before(command)
			if end || err != nil {
				return err
			}
		}
		return run(command, args)
	}
}

// completeAddons completes the names of addons.
func completeAddons(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	var names []string
	for name := range addonsinit.Addons {
		if !slices.Contains(args, name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names, cobra.ShellCompDirectiveNoFileComp
}

// interruptible is a context that ends with the first Ctrl-C. Completed steps are kept: the next run continues.
func interruptible() (context.Context, context.CancelFunc) {
	return signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
}

// resumable explains what to do after an interruption.
func resumable(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil {
		return fmt.Errorf("interrupted; run the same command again to continue: %w", err)
	}
	return err
}

// status returns the status of the addon for `addons list`: disabled, enabled, or unhealthy with the reasons.
func status(list *addonsinit.CommandAddonsListOption) (string, error) {
	ctx := context.Background()
	config, err := apiclient.RestConfig(list.Context, list.KubeConfig)
	if err != nil {
		return addonsinit.AddonUnknownStatus, err
	}
	host, err := planeOf("the host", config)
	if err != nil {
		return addonsinit.AddonUnknownStatus, err
	}
	hub, err := planeOf("the hub", list.KarmadaRestConfig)
	if err != nil {
		return addonsinit.AddonUnknownStatus, err
	}
	known, err := readInventory(ctx, host, list.Namespace)
	if err != nil {
		return addonsinit.AddonUnknownStatus, err
	}
	if known == nil {
		return addonsinit.AddonDisabledStatus, nil
	}
	reasons, err := troubles(ctx, host, hub, list.Namespace, known)
	if err != nil {
		return addonsinit.AddonUnknownStatus, err
	}
	if len(reasons) > 0 {
		return addonsinit.AddonUnhealthyStatus + ": " + strings.Join(reasons, "; "), nil
	}
	return addonsinit.AddonEnabledStatus, nil
}

// troubles returns the reasons why an enabled addon is not healthy.
func troubles(ctx context.Context, host, hub *plane, namespace string, known inventory) ([]string, error) {
	var reasons []string
	for _, r := range known[onHost] {
		if r.Kind != "Deployment" {
			continue
		}
		deployment := &appsv1.Deployment{}
		if err := client.IgnoreNotFound(host.Get(ctx, client.ObjectKey{Namespace: r.Namespace, Name: r.Name}, deployment)); err != nil {
			return nil, fmt.Errorf("read %s: %w", describe(r.object()), err)
		}
		if deployment.Name == "" {
			reasons = append(reasons, fmt.Sprintf("Deployment %s is gone; enable the addon again", r.Name))
		} else if missing := rollout(deployment); missing != "" {
			reasons = append(reasons, fmt.Sprintf("Deployment %s: %s", r.Name, missing))
		}
	}
	if len(known[onHost]) == 0 {
		reasons = append(reasons, "disabled with --compute-workloads=keep")
	}
	overdue, err := overdueTokens(ctx, host, namespace)
	if err != nil {
		return nil, err
	}
	reasons = append(reasons, overdue...)
	missing, err := missingAgents(ctx, hub)
	if err != nil {
		return nil, err
	}
	if missing != "" {
		reasons = append(reasons, missing)
	}
	return reasons, nil
}
