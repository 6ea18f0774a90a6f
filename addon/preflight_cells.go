// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package addon

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/charts"
	"github.com/karmada-compute/karmada-compute/internal/wire"
)

// checkCellUsers names the cells in which Karmada is a user whom the policy in the cells refuses. Only of a cell in
// push mode does the hub have the credential.
func (s *session) checkCellUsers(ctx context.Context, f *findings, clusters []unstructured.Unstructured) {
	subjects, err := s.karmadaInCells()
	if err != nil {
		f.fail("%w", err)
		return
	}
	for i := range clusters {
		cluster := &clusters[i]
		if cluster.GetLabels()[cityLabel] == "" || subjects == nil {
			continue
		}
		if user := s.userIn(ctx, cluster); user != "" &&
			!slices.ContainsFunc(subjects, func(subject map[string]any) bool { return isSubject(subject, user) }) {
			f.warn("Karmada is %s in cell %s, whom agents.protection.karmada of the values does not name: add the user, or "+
				"Karmada cannot change deployments there",
				user, cluster.GetName())
		}
	}
}

// karmadaInCells returns the subjects of RBAC that the policy in the cells takes for Karmada or lets write, nil without
// a policy.
func (s *session) karmadaInCells() ([]map[string]any, error) {
	chart, err := charts.Load()
	if err != nil {
		return nil, err
	}
	values := map[string]any{}
	merge(values, chart.Values)
	merge(values, s.values)
	protection, _, err := unstructured.NestedMap(values, "agents", "protection")
	if err != nil || !isOn(protection, "enabled") {
		return nil, err
	}
	subjects := []map[string]any{}
	for _, list := range []string{"karmada", "writers"} {
		entries, _, err := unstructured.NestedSlice(protection, list)
		if err != nil {
			return nil, fmt.Errorf("agents.protection.%s of the values: %w", list, err)
		}
		for _, entry := range entries {
			if subject, ok := entry.(map[string]any); ok {
				subjects = append(subjects, subject)
			}
		}
	}
	return subjects, nil
}

// userIn returns the ServiceAccount that Karmada is in a cluster, "" if that is not known.
func (s *session) userIn(ctx context.Context, cluster *unstructured.Unstructured) string {
	namespace, _, _ := unstructured.NestedString(cluster.Object, "spec", "secretRef", "namespace")
	name, _, _ := unstructured.NestedString(cluster.Object, "spec", "secretRef", "name")
	if mode, _, _ := unstructured.NestedString(cluster.Object, "spec", "syncMode"); mode != "Push" || name == "" {
		return ""
	}
	secret := &corev1.Secret{}
	if err := s.hub.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, secret); err != nil {
		return "" // An administrator of the add-on need not be one of the cells.
	}
	token, err := wire.ReadToken(secret.Data["token"])
	if err != nil {
		return "" // Another kind of credential.
	}
	return token.User()
}

// isSubject reports whether a ServiceAccount is a subject, or in it.
func isSubject(subject map[string]any, account string) bool {
	name, _ := subject["name"].(string)
	namespace, _ := subject["namespace"].(string)
	own, _, _ := strings.Cut(strings.TrimPrefix(account, wire.ServiceAccountPrefix), ":")
	switch subject["kind"] {
	case "Group":
		return slices.Contains([]string{"system:serviceaccounts:" + own, "system:serviceaccounts", "system:authenticated"}, name)
	case "ServiceAccount":
		return account == wire.ServiceAccountPrefix+namespace+":"+name
	}
	return account == name
}

// cellTimeout is how long the Cells in all cells may take to go.
const cellTimeout = 30 * time.Second

// removeCells deletes the Works that carry a Cell to every cell, and waits until Karmada has removed the Cell there:
// for that, the hub must still have the kind. An unreachable cell does not block the removal elsewhere.
func (s *session) removeCells(ctx context.Context) error {
	if s.options.workloads == workloadsKeep {
		return nil // The agents stay, and report to whoever enables the add-on again.
	}
	works, err := s.hub.list(ctx, "work.karmada.io/v1alpha1", "Work", client.HasLabels{v1alpha.LabelInventory})
	if err != nil {
		return err
	}
	for i := range works {
		if err := s.hub.remove(ctx, referenceOf(&works[i])); err != nil {
			return err
		}
	}
	var left []unstructured.Unstructured
	err = wait.PollUntilContextTimeout(ctx, pollInterval, min(cellTimeout, s.options.karmada.timeout), true,
		func(ctx context.Context) (bool, error) {
			found, err := s.hub.list(ctx, "work.karmada.io/v1alpha1", "Work", client.HasLabels{v1alpha.LabelInventory})
			if err != nil {
				return false, nil //nolint:nilerr // it is asked again until the timeout
			}
			left = found
			return len(left) == 0, nil
		})
	if err != nil && ctx.Err() != nil {
		return err
	}
	for i := range left {
		s.say("%s stays on the hub, since Karmada does not reach the cell; when the cell is gone for good, remove the finalizer",
			describe(&left[i]))
	}
	return nil
}
