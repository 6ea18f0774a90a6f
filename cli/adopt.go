// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/cli/command"
	"github.com/karmada-compute/karmada-compute/cli/terminal"
	"github.com/karmada-compute/karmada-compute/cli/view"
	"github.com/karmada-compute/karmada-compute/internal/wire"
)

func (c *commands) adoptCommand() *cobra.Command {
	var (
		isConfirmed bool
		earlierHub  string
		kubeconfigs map[string]string
	)
	cmd := &cobra.Command{
		Use:   "adopt",
		Short: "List what cells run for an earlier hub, and let the projects of this hub take it over",
		Long: "List the deployments that cells run for an earlier hub, whose storage is lost. Run it with the kubeconfig of the new hub,\n" +
			"after the cells have joined it and before the Workloads of the projects are applied.\n\n" +
			"Projects of Milo take over what they ran by themselves. Without Milo, each project is another one to the cells, and everything\n" +
			"would run twice. With --yes, the command creates the namespace of each listed project, and notes in its annotation\n" +
			v1alpha.AnnotationAdopted + " which UIDs the project and its Workloads had. A Workload that is applied there with\n" +
			"its earlier name then continues its Instances.\n\n" +
			"The cells report the list: confirm it only if you trust each cell that it names. The command needs the right to read\n" +
			"WorkloadDeployments in the cells, through Karmada's proxy or with --cell-kubeconfig, and for --yes to update\n" +
			"ValidatingAdmissionPolicies on the hub.",
		Example:           "  karmadactl compute adopt\n  karmadactl compute adopt --project shop --yes",
		Args:              cobra.NoArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	cmd.Flags().BoolVar(&isConfirmed, "yes", false, "Let the listed projects take over what they ran. Without it, nothing is written.")
	cmd.Flags().StringVar(&earlierHub, "hub", "", "The UID of the earlier hub. It is needed for --yes if cells have deployments of several.")
	cmd.Flags().StringToStringVar(&kubeconfigs, "cell-kubeconfig", nil, "The kubeconfig of a cell, as <cell>=<path>, if Karmada's proxy "+
		"does not reach the cell for you, as in pull mode. It can be repeated.")
	cmd.RunE = c.Run(func(ctx context.Context, _ []string) error {
		s, err := c.Connect()
		if err != nil {
			return err
		}
		found, err := view.ReadEarlier(ctx, s.Hub.Client)
		if err != nil {
			return err
		}
		var unread error
		for _, cell := range found.Cells {
			reader, err := c.readerOf(s, cell, kubeconfigs[cell])
			if err == nil {
				err = found.AddCell(ctx, reader, cell, earlierHub)
			}
			if err != nil {
				unread = errors.Join(unread, fmt.Errorf("cell %s was not read; repair it, use --cell-kubeconfig, or delete it: %w", cell, err))
			}
		}
		if err := errors.Join(found.Judge(ctx, s.Hub.Client, s.ProjectName), c.printEarlier(found), unread); err != nil || !isConfirmed {
			return err
		}
		return c.adoptAll(ctx, s.Hub.Client, found)
	})
	return cmd
}

// readerOf returns a client for a cell, by a kubeconfig or, without one, through Karmada's proxy.
func (c *commands) readerOf(s *command.Session, cell, kubeconfig string) (client.Reader, error) {
	config, err := c.cellConfig(s.Hub.Config, cell), error(nil)
	if kubeconfig != "" {
		config, err = clientcmd.BuildConfigFromFlags("", kubeconfig)
	}
	if err != nil {
		return nil, err
	}
	plane, err := command.PlaneOf(config)
	if err != nil {
		return nil, err
	}
	return plane.Client, nil
}

func (c *commands) printEarlier(found *view.Earlier) error {
	if len(found.Rows) == 0 {
		_, err := fmt.Fprintln(c.Streams.Out, "No cell that was read runs a deployment of an earlier hub.")
		return err
	}
	rows := [][]string{{"PROJECT", "WORKLOAD", "CITY", "CELL", "NAMESPACE", "READY", "EARLIER HUB", "STATE"}}
	for _, row := range found.Rows {
		rows = append(rows, []string{
			row.Project, row.Workload, row.City, row.Cell, row.Namespace, fmt.Sprintf("%d/%d", row.Ready, row.Desired), row.Hub, row.State,
		})
	}
	lines := terminal.Align(rows)
	for _, project := range found.Projects {
		if project.Problem != "" {
			lines = append(lines, "", fmt.Sprintf("project %s is not adopted: %s", project.Name, project.Problem))
		}
	}
	_, err := fmt.Fprintln(c.Streams.Out, strings.Join(lines, "\n"))
	return err
}

// adoptAll writes the records of the projects that can take over what they ran.
func (c *commands) adoptAll(ctx context.Context, hub client.Client, found *view.Earlier) (failed error) {
	if len(found.Hubs) > 1 {
		return fmt.Errorf("cells have deployments of the earlier hubs %s: name one with --hub", strings.Join(found.Hubs, ", "))
	}
	for _, project := range found.Projects {
		switch err := recordAdoption(ctx, hub, project); {
		case project.IsAdopted:
		case project.Problem != "" || err != nil:
			failed = errors.Join(failed, fmt.Errorf("project %s is not adopted: %s", project.Name, cmp.Or(project.Problem, fmt.Sprint(err))))
		default:
			names := slices.Sorted(maps.Keys(project.Workloads))
			_, err := fmt.Fprintf(c.Streams.Out, "project %s adopted: apply its Workloads %s\n", project.Name, strings.Join(names, ", "))
			failed = errors.Join(failed, err)
		}
	}
	return failed
}

// recordAdoption writes the record of a project on its namespace, which it creates. The record and the label that turns the
// namespace into a project are one write: there is no moment in which it is another project.
func recordAdoption(ctx context.Context, hub client.Client, project *view.EarlierProject) error {
	if project.IsAdopted || project.Problem != "" {
		return nil
	}
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: project.Name}}
	err := hub.Get(ctx, client.ObjectKeyFromObject(namespace), namespace)
	if apierrors.IsNotFound(err) {
		err = hub.Create(ctx, namespace)
	}
	if err != nil {
		return fmt.Errorf("create namespace %s on the hub: %w", project.Name, err)
	}
	record, err := json.Marshal(wire.Adoption{Namespace: namespace.UID, Project: project.UID, Workloads: project.Workloads})
	if err != nil {
		return err
	}
	before := namespace.DeepCopy()
	metav1.SetMetaDataAnnotation(&namespace.ObjectMeta, v1alpha.AnnotationAdopted, string(record))
	if _, isLabelled := namespace.Labels[v1alpha.LabelNamespaceProject]; !isLabelled {
		metav1.SetMetaDataLabel(&namespace.ObjectMeta, v1alpha.LabelNamespaceProject, v1alpha.NamespaceProject)
	}
	if err := hub.Patch(ctx, namespace, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})); err != nil {
		return fmt.Errorf("note on namespace %s of the hub what it takes over: %w", project.Name, err)
	}
	return nil
}
