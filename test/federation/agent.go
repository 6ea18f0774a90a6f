// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package federation

import (
	"context"
	_ "embed" // the agent's roles
	"errors"
	"fmt"
	"os"
	"path/filepath"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// Users of karmada-agents at the hub, as karmadactl register creates them: one
// per cluster, all in one group.
const (
	agentUserPrefix = "system:karmada:agent:"
	agentGroup      = "system:karmada:agents"
)

const karmadaAgent = "karmada-agent"

// register joins a cell in pull mode to the hub: it grants the cell's
// karmada-agent its access, starts it so that it registers the Cluster, waits
// until the Cluster is Ready, and takes the access back that only the
// registration needs.
func (f *Federation) register(ctx context.Context, cell Cell) error {
	hub, err := f.plane(planeHub)
	if err != nil {
		return err
	}
	if err := hub.applyFile(ctx, "agent.yaml", map[string]string{"cluster": cell.Name}); err != nil {
		return fmt.Errorf("access of the karmada-agent of %s: %w", cell.Name, err)
	}
	if err := os.MkdirAll(filepath.Join(f.folder, agentSockets(cell)), 0o700); err != nil {
		return err
	}
	// The agent becomes ready once it has registered the Cluster.
	if err := f.startAgent(ctx, cell); err != nil {
		return err
	}
	if err := f.welcome(ctx, cell); err != nil {
		return err
	}
	return hub.restrictAgent(ctx, cell.Name)
}

// agentRestriction takes the right to create Clusters from an agent's ClusterRole, as docs/how-to/install.md does after
// the registration.
const agentRestriction = `[{"op":"test","path":"/rules/1/verbs/0","value":"create"},{"op":"remove","path":"/rules/1/verbs/0"}]`

func (p *plane) restrictAgent(ctx context.Context, cluster string) error {
	_, err := p.dynamic.Resource(clusterRoleResource).Patch(ctx, "system:karmada:"+cluster+":agent", types.JSONPatchType,
		[]byte(agentRestriction), metav1.PatchOptions{FieldManager: fieldManager})
	if err != nil {
		return fmt.Errorf("take the right to create Clusters from the agent of %s: %w", cluster, err)
	}
	return nil
}

// GrantAgent gives a user the rights of the agent of a Cluster, which need not exist, and returns the name of the user.
func (f *Federation) GrantAgent(ctx context.Context, cluster string) (string, error) {
	hub, err := f.plane(planeHub)
	if err != nil {
		return "", err
	}
	return agentUserPrefix + cluster, hub.applyFile(ctx, "agent.yaml", map[string]string{"cluster": cluster})
}

// WithdrawAgent takes the rights of GrantAgent back.
func (f *Federation) WithdrawAgent(ctx context.Context, cluster string) error {
	hub, err := f.plane(planeHub)
	if err != nil {
		return err
	}
	role, namespaces := "system:karmada:"+cluster+":agent", namespaceResource
	rbac := schema.GroupVersion{Group: "rbac.authorization.k8s.io", Version: "v1"}
	var errs []error
	for _, resource := range []string{"clusterrolebindings", "clusterroles"} {
		errs = append(errs, hub.dynamic.Resource(rbac.WithResource(resource)).Delete(ctx, role, metav1.DeleteOptions{}))
	}
	for _, resource := range []string{"rolebindings", "roles"} {
		secrets := hub.dynamic.Resource(rbac.WithResource(resource)).Namespace("karmada-cluster")
		errs = append(errs, secrets.Delete(ctx, role+"-secret", metav1.DeleteOptions{}))
	}
	return errors.Join(append(errs, hub.dynamic.Resource(namespaces).Delete(ctx, "karmada-es-"+cluster, metav1.DeleteOptions{}))...)
}

// startAgent starts the karmada-agent of a cell in a network namespace from
// which it reaches only the kube-apiservers of the hub and of its cell.
func (f *Federation) startAgent(ctx context.Context, cell Cell) error {
	plane := planeCell + cell.Name
	hubConfig, err := f.Kubeconfig(planeHub, agentUserPrefix+cell.Name)
	if err != nil {
		return err
	}
	cellConfig, err := f.Kubeconfig(plane, karmadaAgentUser)
	if err != nil {
		return err
	}
	health, metrics := address(f.port(plane+"-"+karmadaAgent)), address(f.port(plane+"-"+karmadaAgent+"-metrics"))
	isolation := &Isolation{
		// Relative to the federation's folder, in which its processes run.
		Sockets: agentSockets(cell),
		Reach:   []string{address(f.port(planeHub)), address(f.port(plane))},
		Serve:   []string{health, metrics},
		Command: append(append([]string{
			f.binary(karmadaAgent), "--karmada-kubeconfig=" + hubConfig, "--kubeconfig=" + cellConfig,
			"--cluster-name=" + cell.Name, "--cluster-api-endpoint=https://" + address(f.port(plane)),
			// Renewed every quarter of that, several times within the hub's --cluster-monitor-grace-period.
			"--cluster-lease-duration=20s",
			"--leader-elect=false", "--cluster-api-qps=1000", "--cluster-api-burst=2000",
			"--metrics-bind-address=" + metrics, "--health-probe-bind-address=" + health,
		}, apiRates...), clusterHealth...),
	}
	return f.start(ctx, Process{
		Name: agentProcess(cell), Path: f.ownBinary(), Args: isolation.args(false),
		Ready: httpReady(plainClient, "http://"+health+"/healthz"), stage: stageController,
	})
}

// AgentReaches reports whether an address accepts connections from the network
// namespace of the karmada-agent of a cell in pull mode.
func (f *Federation) AgentReaches(ctx context.Context, cell, address string) (bool, error) {
	found, err := f.cell(cell)
	if err != nil {
		return false, err
	}
	if !found.Pull {
		return false, fmt.Errorf("cell %s has no karmada-agent, it is not in pull mode", cell)
	}
	return probe(ctx, filepath.Join(f.folder, agentSockets(found)), address)
}

func agentSockets(cell Cell) string { return filepath.Join("agents", cell.Name) }

func agentProcess(cell Cell) string { return planeName(planeCell+cell.Name) + "-" + karmadaAgent }
