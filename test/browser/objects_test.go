// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package browser

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/naming"
	"github.com/karmada-compute/karmada-compute/internal/reasons"
	"github.com/karmada-compute/karmada-compute/internal/templates"
	"github.com/karmada-compute/karmada-compute/testenv"
)

func TestMain(m *testing.M) {
	log.SetLogger(logr.Discard())
	os.Exit(testenv.Main(m, testenv.Options{}))
}

// project is a namespace with the objects that the add-on's controllers write.
type project struct {
	*testing.T
	client.Client
	namespace string
}

func newProject(t *testing.T) *project {
	t.Helper()
	chromium(t)
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, v1alpha.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	config := rest.CopyConfig(testenv.Config(t))
	config.QPS = -1
	c, err := client.New(config, client.Options{Scheme: scheme})
	if err != nil {
		t.Fatal(err)
	}
	return &project{T: t, Client: c, namespace: testenv.Namespace(t, c, "shop").Name}
}

func (p *project) must(err error) {
	p.Helper()
	if err != nil {
		p.Fatal(err)
	}
}

// is returns a condition that is hours old: minutes pass on a busy machine.
func is(conditionType string, status metav1.ConditionStatus, reason, message string) metav1.Condition {
	return metav1.Condition{
		Type: conditionType, Status: status, Reason: reason, Message: message,
		LastTransitionTime: metav1.NewTime(time.Now().Add(-5 * time.Hour)),
	}
}

func template(image string) v1alpha.InstanceTemplateSpec {
	t := v1alpha.InstanceTemplateSpec{}
	t.Spec.Runtime.Sandbox = &v1alpha.SandboxRuntime{Containers: []v1alpha.SandboxContainer{{Name: "web", Image: image}}}
	return t
}

// workload creates a Workload in cities.
func (p *project) workload(name string, perCity int32, cities ...string) *v1alpha.Workload {
	p.Helper()
	minimum := intstr.FromInt32(int32(len(cities))*perCity - 1)
	w := &v1alpha.Workload{
		ObjectMeta: metav1.ObjectMeta{Namespace: p.namespace, Name: name},
		Spec: v1alpha.WorkloadSpec{
			Template: template("docker.io/library/nginx:1.27"), Disruption: &v1alpha.WorkloadDisruption{MinAvailable: &minimum},
			Placements: []v1alpha.WorkloadPlacement{{
				Name: "main", CityCodes: cities, ScaleSettings: v1alpha.HorizontalScaleSettings{MinReplicas: perCity},
			}},
		},
	}
	p.must(p.Create(p.Context(), w))
	return w
}

// deployment creates the deployment of a Workload in a city.
func (p *project) deployment(w *v1alpha.Workload, city string) *v1alpha.WorkloadDeployment {
	p.Helper()
	d := &v1alpha.WorkloadDeployment{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: w.Namespace, Name: naming.DeploymentName(w.Name, "main", city),
			Labels: map[string]string{v1alpha.LabelWorkloadUID: string(w.UID)}, OwnerReferences: []metav1.OwnerReference{w.ControllerReference()},
		},
		Spec: v1alpha.WorkloadDeploymentSpec{
			WorkloadRef: v1alpha.WorkloadReference{Name: w.Name, UID: w.UID}, PlacementName: "main", CityCode: city,
			Template: w.Spec.Template, ScaleSettings: w.Spec.Placements[0].ScaleSettings,
		},
	}
	p.must(p.Create(p.Context(), d))
	return d
}

// hash returns the hash of a template.
func (p *project) hash(t *v1alpha.InstanceTemplateSpec) string {
	p.Helper()
	version, err := templates.VersionOf(t)
	p.must(err)
	return version.Hash
}

// instance creates an Instance of a deployment, with a condition.
func (p *project) instance(d *v1alpha.WorkloadDeployment, index int, state metav1.Condition) error {
	spec := *d.Spec.Template.Spec.DeepCopy()
	version, err := templates.VersionOf(&d.Spec.Template)
	if err != nil {
		return err
	}
	spec.Controller = &v1alpha.InstanceController{TemplateHash: version.Hash}
	i := &v1alpha.Instance{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: d.Namespace, Name: naming.InstanceName(d.Name, index), Labels: naming.InstanceLabels(d, index),
			OwnerReferences: []metav1.OwnerReference{d.ControllerReference()},
		},
		Spec: spec,
	}
	if err := p.Create(p.Context(), i); err != nil {
		return err
	}
	return p.report(i, state)
}

// report writes the state of an Instance.
func (p *project) report(i *v1alpha.Instance, state metav1.Condition) error {
	meta.SetStatusCondition(&i.Status.Conditions, state)
	index := 0
	_, _ = fmt.Sscanf(i.Labels[v1alpha.LabelInstanceIndex], "%d", &index)
	address := fmt.Sprintf("10.0.%d.%d", index/250, index%250+1)
	i.Status.NetworkInterfaces = []v1alpha.InstanceNetworkInterfaceStatus{
		{Assignments: v1alpha.InstanceNetworkAssignments{NetworkIP: &address}},
	}
	return p.Status().Update(p.Context(), i)
}

// instances creates the first Instances of a deployment.
func (p *project) instances(d *v1alpha.WorkloadDeployment, count int, state func(index int) metav1.Condition) {
	p.Helper()
	var group errgroup.Group
	group.SetLimit(16)
	for index := range count {
		group.Go(func() error { return p.instance(d, index, state(index)) })
	}
	p.must(group.Wait())
}

// sumUp writes the status of a deployment from its Instances, and of its Workload, as the hub does.
func (p *project) sumUp(w *v1alpha.Workload, d *v1alpha.WorkloadDeployment, conditions ...metav1.Condition) {
	p.Helper()
	p.must(p.Get(p.Context(), client.ObjectKeyFromObject(d), d))
	found := &v1alpha.InstanceList{}
	p.must(p.List(p.Context(), found, client.InNamespace(p.namespace), client.MatchingLabels{v1alpha.LabelDeploymentName: d.Name}))
	hash := p.hash(&d.Spec.Template)
	var existing, available, current []int
	cause := is(v1alpha.ConditionReplicasReady, metav1.ConditionFalse, v1alpha.ReasonInstancesProvisioning, "Instances start")
	for i := range found.Items {
		index, _ := naming.InstanceIndex(d.Name, found.Items[i].Name)
		existing = append(existing, index)
		switch ready := meta.FindStatusCondition(found.Items[i].Status.Conditions, v1alpha.ConditionReady); {
		case ready != nil && ready.Status == metav1.ConditionTrue:
			available = append(available, index)
		case ready != nil && reasons.IsCause(v1alpha.ConditionReady, ready.Reason):
			cause.Reason, cause.Message = ready.Reason, ready.Message
		}
		if found.Items[i].TemplateHash() == hash {
			current = append(current, index)
		}
	}
	for _, indices := range [][]int{existing, available, current} {
		slices.Sort(indices)
	}

	desired, ready := d.Spec.DesiredReplicas(), int32(len(available))
	d.Status.ReplicaCounts = v1alpha.ReplicaCounts{
		Replicas: int32(len(existing)), DesiredReplicas: desired, CurrentReplicas: int32(len(current)),
		ReadyReplicas: ready, AvailableReplicas: ready,
	}
	d.Status.FloorAvailable, d.Status.AssignedReplicas, d.Status.ObservedGeneration = ready, desired, d.Generation
	d.Status.Indices = []v1alpha.CellIndices{{
		Cell: strings.ToLower(d.Spec.CityCode), TemplateHash: hash, Existing: naming.Format(existing), Ready: naming.Format(available),
		AvailableIndices: naming.Format(available), Current: naming.Format(current),
	}}
	for _, condition := range append(conditions, replicasReady(ready, desired, cause), isAvailable(ready)) {
		meta.SetStatusCondition(&d.Status.Conditions, condition)
	}
	p.must(p.Status().Update(p.Context(), d))
	p.sum(w)
}

// replicasReady is the condition of a deployment. It has the cause of its Instances.
func replicasReady(ready, desired int32, cause metav1.Condition) metav1.Condition {
	if ready < desired {
		return cause
	}
	return is(v1alpha.ConditionReplicasReady, metav1.ConditionTrue, v1alpha.ReasonStableInstanceFound, "")
}

func isAvailable(ready int32) metav1.Condition {
	if ready == 0 {
		return is(v1alpha.ConditionAvailable, metav1.ConditionFalse, v1alpha.ReasonInstancesProvisioning, "Instances start")
	}
	return is(v1alpha.ConditionAvailable, metav1.ConditionTrue, v1alpha.ReasonStableInstanceFound, "")
}

// sum writes the status of a Workload.
func (p *project) sum(w *v1alpha.Workload) {
	p.Helper()
	all := &v1alpha.WorkloadDeploymentList{}
	p.must(p.List(p.Context(), all, client.InNamespace(p.namespace), client.MatchingLabels{v1alpha.LabelWorkloadUID: string(w.UID)}))
	p.must(p.Get(p.Context(), client.ObjectKeyFromObject(w), w))
	w.Status.ReplicaCounts = v1alpha.ReplicaCounts{}
	for i := range all.Items {
		w.Status.ReplicaCounts = w.Status.Add(all.Items[i].Status.ReplicaCounts)
	}
	available := is(v1alpha.ConditionAvailable, metav1.ConditionTrue, v1alpha.ReasonAvailablePlacementFound, "")
	if w.Status.ReadyReplicas == 0 {
		available = is(v1alpha.ConditionAvailable, metav1.ConditionFalse, v1alpha.ReasonNoAvailablePlacements, "no placement is available")
	}
	meta.SetStatusCondition(&w.Status.Conditions, available)
	p.must(p.Status().Update(p.Context(), w))
}

// rolls writes the status of a rollout to the template of the Workload.
func (p *project) rolls(w *v1alpha.Workload, phase v1alpha.RolloutPhase, city, message string) {
	p.Helper()
	hash := p.hash(&w.Spec.Template)
	before := hash
	if w.Status.Rollout != nil {
		before = w.Status.Rollout.CompleteTemplateHash
	}
	w.Status.Rollout = &v1alpha.WorkloadRolloutStatus{
		Phase: phase, City: city, Message: message, Revision: 2, TemplateHash: hash, CompleteTemplateHash: before,
	}
	p.must(p.Status().Update(p.Context(), w))
}

// event writes an event about a Workload.
func (p *project) event(w *v1alpha.Workload, kind, reason, message string) {
	p.Helper()
	p.must(p.Create(p.Context(), &corev1.Event{
		ObjectMeta:     metav1.ObjectMeta{Namespace: p.namespace, GenerateName: w.Name + "."},
		InvolvedObject: corev1.ObjectReference{Kind: v1alpha.KindWorkload, Namespace: p.namespace, Name: w.Name, UID: w.UID},
		Type:           kind, Reason: reason, Message: message, LastTimestamp: metav1.Now(),
		Source: corev1.EventSource{Component: "karmada-compute"},
	}))
}

var ready = is(v1alpha.ConditionReady, metav1.ConditionTrue, v1alpha.ReasonAvailable, "")

func allReady(int) metav1.Condition { return ready }

// running creates a Workload whose Instances are all Ready.
func (p *project) running(name string, perCity int, cities ...string) (*v1alpha.Workload, []*v1alpha.WorkloadDeployment) {
	p.Helper()
	w := p.workload(name, int32(perCity), cities...)
	var deployments []*v1alpha.WorkloadDeployment
	for _, city := range cities {
		d := p.deployment(w, city)
		p.instances(d, perCity, allReady)
		p.sumUp(w, d)
		deployments = append(deployments, d)
	}
	p.rolls(w, v1alpha.RolloutComplete, "", "")
	return w, deployments
}
