// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package owned

import (
	"maps"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/naming"
	"github.com/karmada-compute/karmada-compute/internal/templates"
)

// Templates are the templates of a deployment by the hashes that its Instances have. An override policy may have changed
// a template for the cell: the hash of an Instance then has two parts, the template that the hub has sent and
// the one that runs (templates.NameOf). The cell replaces Instances by the whole hash, and reports the first part.
type Templates struct {
	// Hash is the hash of new Instances, and Earlier the hash of new ones that the partition keeps; "" without a partition.
	Hash, Earlier string
	// Sent and SentEarlier are the hashes of the same templates as the hub has sent them.
	Sent, SentEarlier string
	// Held: Instances that need a turn keep their template until the turn of the cell. AtOnce is how many of them the turn
	// lets be replaced at once; 0: the hub gives no turns.
	Held   bool
	AtOnce int

	// turns: the hub gives turns.
	turns bool

	version, earlier templates.Version
}

// TemplatesOf returns the templates of a deployment with these Instances. An override policy names the path of one
// template, most often of the deployment's: Instances below the partition keep the overridden template that others of
// the cell have. So it changes the partition of the deployment, which must not be shared.
func TemplatesOf(deployment *v1alpha.WorkloadDeployment, instances []v1alpha.Instance) (*Templates, error) {
	existing := make(map[string]bool, len(instances))
	for i := range instances {
		existing[instances[i].TemplateHash()] = true
	}
	t, err := &Templates{}, error(nil)
	t.Sent, t.SentEarlier = templates.IntendedHashes(deployment)
	if t.version, err = templates.VersionOf(&deployment.Spec.Template); err != nil {
		return nil, err
	}
	t.Hash = t.version.NameOf(t.Sent, existing)
	if t.Sent == "" {
		// An earlier version of the hub has not written it.
		t.Sent = templates.Sent(t.Hash)
	}
	t.readTurn(deployment)
	partition := deployment.Spec.Partition
	if partition == nil {
		return t, nil
	}
	if kept := t.keptBelow(deployment, instances); kept != nil {
		partition.Template = v1alpha.InstanceTemplateSpec{ObjectMeta: partition.Template.ObjectMeta, Spec: *kept.Spec.DeepCopy()}
		partition.Template.Labels, partition.Template.Annotations = kept.Labels, maps.Clone(kept.Annotations)
		delete(partition.Template.Annotations, v1alpha.AnnotationRefused)
		delete(partition.Template.Annotations, v1alpha.AnnotationSentAs)
		partition.Template.Spec.Location, partition.Template.Spec.Controller = nil, nil
		t.Earlier, t.earlier = kept.TemplateHash(), templates.Version{Hash: templates.Content(kept.TemplateHash())}
		return t, nil
	}
	if t.earlier, err = templates.VersionOf(&partition.Template); err != nil {
		return nil, err
	}
	t.Earlier = t.earlier.NameOf(t.SentEarlier, existing)
	if t.SentEarlier == "" {
		t.SentEarlier = templates.Sent(t.Earlier)
	}
	return t, nil
}

// keptBelow returns the Instance with the lowest index that has the partition's template as an override policy has
// changed it; nil if the partition's template itself is overridden, or the deployment's is not.
func (t *Templates) keptBelow(deployment *v1alpha.WorkloadDeployment, instances []v1alpha.Instance) *v1alpha.Instance {
	if t.version.Is(t.Sent) || t.SentEarlier == "" {
		return nil
	}
	given, err := templates.Hash(&deployment.Spec.Partition.Template)
	if err != nil || given != t.SentEarlier {
		return nil
	}
	var kept *v1alpha.Instance
	lowest := naming.MaxIndex + 1
	for i := range instances {
		hash := instances[i].TemplateHash()
		index, ok := naming.InstanceIndex(deployment.Name, instances[i].Name)
		if ok && index < lowest && templates.IsOverridden(hash) && templates.Sent(hash) == t.SentEarlier {
			kept, lowest = &instances[i], index
		}
	}
	return kept
}

// HashAt is the hash of new Instances at an index.
func (t *Templates) HashAt(deployment *v1alpha.WorkloadDeployment, index int) string {
	if deployment.Spec.Partition.Keeps(index) {
		return t.Earlier
	}
	return t.Hash
}

// Reported returns, for the hash of an Instance, the hash of its template as the hub has sent it.
func (t *Templates) Reported(hash string) string {
	switch {
	case hash == "":
		return ""
	case t.version.Is(hash):
		return t.Sent
	case t.SentEarlier != "" && t.earlier.Is(hash):
		return t.SentEarlier
	}
	return templates.Sent(hash)
}
