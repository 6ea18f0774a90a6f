// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/hub/cells"
	"github.com/karmada-compute/karmada-compute/hub/deployments/rollout"
	"github.com/karmada-compute/karmada-compute/internal/cities"
	"github.com/karmada-compute/karmada-compute/internal/naming"
	"github.com/karmada-compute/karmada-compute/internal/templates"
)

// Facts are the input of a plan, as one read has found it. A plan changes none of them.
type Facts struct {
	Settings
	// Now is the time of the read.
	Now time.Time
	// Project is the name of the project.
	Project string
	// Workload as it runs: with the template that its Instances get and the exposure that its cells keep.
	Workload *v1alpha.Workload
	// Deployments are the Workload's, by name.
	Deployments map[string]*v1alpha.WorkloadDeployment
	// Taken are the deployments of others that have a name of one that the Workload wants, by name.
	Taken map[string]*v1alpha.WorkloadDeployment
	// Locations of the project. Unlocated is why they are not known.
	Locations []cities.Location
	Unlocated error
	// Cities is the health of the cities of the project, and of the ones that the Workload names, in upper case. Nil: it is not known here.
	Cities map[string]cells.Health
	// Held are the ones of these cities that no placement leaves or comes to by itself.
	Held map[string]bool
	// Room is how many Instances of the template's size the cells of these cities have free resources for. A city without an entry
	// is one whose resources are not known.
	Room map[string]int32
	// Type is the Workload's instance type.
	Type InstanceType
	// MissingNetworks are the networks that the template names and that do not exist.
	MissingNetworks []types.NamespacedName
	// Template has the hashes of the template that is written and of the one that Instances get.
	Template rollout.Template
	// Unread are the objects that the template names and whose content is part of the revision, but not read yet. NoData: there is
	// no earlier template to continue with.
	Unread []templates.DataObject
	NoData bool
	// Revision is the number of the Workload's template; 0: unknown.
	Revision int64
	// KeepsExposure are the cities of a Workload that keeps its exposure, since they lack what the wanted one needs.
	KeepsExposure []string
	// Instance returns an Instance by its name; nil: it does not exist. Few plans ask for any.
	Instance func(name string) (*v1alpha.Instance, error)
	// Answers returns the addresses that are stored for the names of the Workload; known: they were read. It is asked only while
	// traffic leaves a city. Nil: Workloads have no names.
	Answers func() (addresses []string, known bool)
}

// Settings are the operator's.
type Settings struct {
	// Drain is spec.service.drainSeconds of Workloads that do not set it, if it is more than v1alpha.DefaultDrainSeconds.
	Drain time.Duration
	// Hostnames are the rules for the names by which Gateways route to Workloads.
	Hostnames naming.Hostnames
}

// isHeld reports whether no deployment is created, and none gets another template: a network is missing, or the data of
// the first template is not read yet.
func (f *Facts) isHeld() bool { return len(f.MissingNetworks) > 0 || f.NoData }

// ChooseTemplate replaces the template of the Workload by the one that its Instances get: with the snapshots of its data, the
// earlier one while its data is not read yet, and the last complete one after a rollout that is undone. recorded returns a template
// of the history by its hash; nil: it is not recorded.
func (f *Facts) ChooseTemplate(recorded func(hash string) (*v1alpha.InstanceTemplateSpec, error)) error {
	chosen, err := rollout.TemplateOf(f.Workload)
	if err != nil {
		return err
	}
	f.Template = chosen
	started, unread := templates.StartedWith(f.Workload)
	if f.Unread = unread; len(unread) == 0 {
		f.Workload.Spec.Template = *started.DeepCopy()
		if chosen.Target == chosen.Written {
			return nil
		}
	}
	template, err := f.templateWithHash(chosen.Target, recorded)
	if err != nil {
		return err
	}
	if template == nil {
		f.NoData, f.Template.Target = len(unread) > 0, chosen.Written
		return nil
	}
	f.Workload.Spec.Template = *template.DeepCopy()
	f.Template.Target, err = templates.Hash(template)
	return err
}

// templateWithHash returns the template of a deployment or of the history; nil without one.
func (f *Facts) templateWithHash(
	hash string, recorded func(hash string) (*v1alpha.InstanceTemplateSpec, error),
) (*v1alpha.InstanceTemplateSpec, error) {
	for _, d := range f.Deployments {
		if template, _ := templates.WithHash(&d.Spec, hash); template != nil {
			return template, nil
		}
	}
	return recorded(hash)
}

// KeepExposure gives a Workload the exposure that its cells have, if all of its cities lack the needs of the wanted exposure: the
// Service would lose its addresses for nothing. It reports whether the Workload keeps it.
func KeepExposure(workload *v1alpha.Workload, deployments map[string]*v1alpha.WorkloadDeployment, lacking []string) bool {
	former := FormerExposure(workload, deployments)
	if former == "" || len(lacking) < len(CitiesOf(deployments)) {
		return false
	}
	workload.Spec.Service.Exposure = former
	return true
}

// CitiesOf are the cities of deployments that are not being deleted, sorted.
func CitiesOf(deployments map[string]*v1alpha.WorkloadDeployment) []string {
	var cities []string
	for _, d := range deployments {
		if d.DeletionTimestamp.IsZero() {
			cities = append(cities, d.Spec.CityCode)
		}
	}
	slices.Sort(cities)
	return slices.Compact(cities)
}
