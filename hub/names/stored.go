// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package names

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/hub/projects"
)

// Stored reads the DNSEndpoints that the hub has stored. It reads past every cache: Instances are stopped by its answer.
type Stored struct {
	// APIReader reads the hub, and Namespace has the DNSEndpoints.
	APIReader client.Reader
	Namespace string
}

// Answers returns the addresses in the DNSEndpoints of a Workload. A hub that does not serve the kind is no answer: the names resolve
// while no controller can change them.
func (s *Stored) Answers(ctx context.Context, origin projects.Origin, workload types.UID) ([]string, error) {
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(Kind.GroupVersion().WithKind(Kind.Kind + "List"))
	err := s.APIReader.List(ctx, list, client.InNamespace(s.Namespace), client.MatchingLabels{
		v1alpha.LabelProjectUID: string(origin.ProjectUID), v1alpha.LabelWorkloadUID: string(workload),
	})
	if err != nil {
		return nil, fmt.Errorf("list the DNSEndpoints of Workload %s: %w", workload, err)
	}
	var answers []string
	for i := range list.Items {
		for _, record := range specOf(&list.Items[i]).Endpoints {
			answers = append(answers, record.Targets...)
		}
	}
	return answers, nil
}
