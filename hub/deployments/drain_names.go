// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package deployments

import (
	"context"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/hub/projects"
)

// namesPatience is how long Instances wait at most for names that cannot be written: names that are broken must not keep
// a Workload from being deleted.
const namesPatience = 2 * time.Minute

// namesInterval is the interval in which the names are read until they have lost a city.
const namesInterval = time.Second

// Names reads the DNS names of Workloads.
type Names interface {
	// Answers returns the addresses that are stored for the names of a Workload of a project. It reads past every cache.
	Answers(ctx context.Context, of projects.Origin, workload types.UID) ([]string, error)
}

// namesLeave is whether the names have lost the city of a deployment.
type namesLeave struct {
	// known: they have, since at. record: that is not recorded yet.
	known, record bool
	at            time.Time
}

// namesLeft finds when the names have lost the addresses of a deployment whose traffic leaves since a time. Resolvers
// use an answer from then on for its TTL.
func (s *scope) namesLeft(ctx context.Context, leaving *v1alpha.WorkloadDeployment, since time.Time) namesLeave {
	if s.Names == nil {
		return namesLeave{known: true, at: since}
	}
	now := s.Clock.Now()
	at, err := time.Parse(time.RFC3339, leaving.Annotations[v1alpha.AnnotationNamesLeft])
	if err == nil && !at.After(now) && !at.Before(since.Truncate(time.Second)) {
		return namesLeave{known: true, at: at}
	}
	answers, err := s.Names.Answers(ctx, s.project.Origin(s.request.Namespace), s.workload.UID)
	if err != nil {
		// Names that are not known hold the Instances, for namesPatience.
		log.FromContext(ctx).Error(err, "Failed to read the names of a Workload whose traffic leaves; its Instances wait", "workload", s.request)
		return namesLeave{}
	}
	if s.answered(leaving, answers) {
		return namesLeave{}
	}
	return namesLeave{known: true, record: true, at: now}
}

// answered reports whether answers still have an address of a deployment that no other deployment offers. If all
// cities of a name leave, the name keeps its last answer and the drain does not wait for it.
func (s *scope) answered(leaving *v1alpha.WorkloadDeployment, answers []string) bool {
	kept := s.keptBeside(leaving)
	named := s.workload.DeletionTimestamp.IsZero() && s.workload.Spec.Service.Exposed() && !s.ends(leaving)
	if named && !slices.ContainsFunc(kept, func(e v1alpha.CityEndpoint) bool { return e.Serving && len(e.Addresses) > 0 }) {
		return false
	}
	for i := range leaving.Status.Endpoints {
		for _, address := range notOffered(kept, &leaving.Status.Endpoints[i]) {
			if slices.Contains(answers, address.Value) {
				return true
			}
		}
	}
	return false
}
