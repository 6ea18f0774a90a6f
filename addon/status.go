// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package addon

import (
	"context"
	"fmt"
	"strings"

	addonsinit "github.com/karmada-io/karmada/pkg/karmadactl/addons/init"
	"github.com/karmada-io/karmada/pkg/karmadactl/util/apiclient"
	appsv1 "k8s.io/api/apps/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

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
	reasons, err := troubles(ctx, host, hub, known)
	if err != nil {
		return addonsinit.AddonUnknownStatus, err
	}
	if len(reasons) > 0 {
		return addonsinit.AddonUnhealthyStatus + ": " + strings.Join(reasons, "; "), nil
	}
	return addonsinit.AddonEnabledStatus, nil
}

// troubles returns the reasons why an enabled addon is not healthy.
func troubles(ctx context.Context, host, hub *plane, known inventory) ([]string, error) {
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
		reasons = append(reasons, "only what runs was kept when it was disabled")
	}
	missing, err := missingAgents(ctx, hub)
	if err != nil {
		return nil, err
	}
	if missing != "" {
		reasons = append(reasons, missing)
	}
	return reasons, nil
}
