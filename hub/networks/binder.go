// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package networks

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/cache"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/hub/projects"
	"github.com/karmada-compute/karmada-compute/internal/apply"
	"github.com/karmada-compute/karmada-compute/internal/cities"
	"github.com/karmada-compute/karmada-compute/internal/naming"
	"github.com/karmada-compute/karmada-compute/internal/reasons"
	"github.com/karmada-compute/karmada-compute/internal/wire"
	"github.com/karmada-compute/karmada-compute/milo/networking"
)

// FieldManager is the field manager of NetworkBindings.
const FieldManager apply.FieldManager = "karmada-compute-networks"

// BindingRetry is the delay before a binding that is not Ready is read again.
const BindingRetry = 5 * time.Second

// Answers of a project to a read of a binding, as a label of the metric.
const (
	answerReady     = "ready"
	answerWaiting   = "waiting"
	answerNotServed = "not_served"
)

// Binder connects the networks of deployments to the locations of their cities, through NetworkBindings in the project.
// It has no watch: it reads each binding, and caches that it is Ready. Create it with NewBinder. It is safe for
// concurrent use.
type Binder struct {
	locations projects.Locations
	answers   *cache.LRUExpireCache
	asked     *prometheus.CounterVec
}

// NewBinder returns a Binder, and registers its metric.
func NewBinder(locations projects.Locations, clock clock.PassiveClock, registerer prometheus.Registerer) *Binder {
	b := &Binder{
		locations: locations, answers: cache.NewLRUExpireCacheWithClock(maxAnswers, clock),
		asked: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "karmada_compute_network_bindings_total",
			Help: "Answers of projects to requests for NetworkBindings. Instances start without a NetworkBinding where the " +
				"project does not serve the kind.",
		}, []string{"answer"}),
	}
	registerer.MustRegister(b.asked)
	return b
}

// bound identifies a binding that is cached as Ready; without a name: the project does not serve the kind.
type bound struct {
	project types.UID
	binding types.NamespacedName
}

// trimmed identifies a deployment and its networks, when it has bindings for no other networks.
type trimmed struct {
	deployment types.UID
	wanted     string
}

// Bind creates the NetworkBindings of a deployment, and reports whether all are Ready. It returns nil for a project
// that does not serve the kind, which has no networks to wait for. Failed requests are errors.
func (b *Binder) Bind(
	ctx context.Context, project projects.Project, d *v1alpha.WorkloadDeployment,
) (*v1alpha.WorkloadDeploymentNetworks, error) {
	if _, known := b.answers.Get(bound{project: project.UID}); known {
		return nil, nil
	}
	wanted, err := b.wanted(ctx, project, d)
	if errors.Is(err, cities.ErrLocationsNotServed) {
		return &v1alpha.WorkloadDeploymentNetworks{Message: err.Error()}, nil
	}
	if err != nil {
		return nil, err
	}
	var waiting []string
	for _, binding := range wanted {
		message, err := b.bind(ctx, project, binding)
		switch {
		case isNotServed(err):
			b.asked.WithLabelValues(answerNotServed).Inc()
			b.answers.Add(bound{project: project.UID}, true, presentFor)
			log.FromContext(ctx).Info("Instances start without NetworkBindings: the project does not serve them, or the add-on may not write them",
				"answer", err.Error(), "again", presentFor)
			return nil, nil
		case err != nil:
			return nil, err
		case message != "":
			waiting = append(waiting, message)
		}
	}
	if len(wanted) == 0 && len(d.Spec.Template.Spec.NetworkInterfaces) > 0 {
		waiting = append(waiting, fmt.Sprintf("the project has no location in city %s", d.Spec.CityCode))
	}
	return &v1alpha.WorkloadDeploymentNetworks{
		Ready: len(waiting) == 0, Message: reasons.Shorten(strings.Join(waiting, "; "), v1alpha.MaxMessage),
	}, nil
}

// bind creates a missing binding, and returns what it waits for; "" if it is Ready.
func (b *Binder) bind(ctx context.Context, project projects.Project, wanted *networking.NetworkBinding) (string, error) {
	key := bound{project.UID, client.ObjectKeyFromObject(wanted)}
	if _, known := b.answers.Get(key); known {
		return "", nil
	}
	existing := &networking.NetworkBinding{}
	err := project.GetAPIReader().Get(ctx, key.binding, existing)
	if wire.IsMissing(err, key.binding.Name) {
		existing, err = apply.Object(ctx, project.GetClient(), FieldManager, wanted)
	}
	if err != nil {
		return "", err
	}
	if meta.IsStatusConditionTrue(existing.Status.Conditions, networking.ConditionReady) && existing.DeletionTimestamp.IsZero() {
		b.asked.WithLabelValues(answerReady).Inc()
		b.answers.Add(key, true, presentFor)
		return "", nil
	}
	b.asked.WithLabelValues(answerWaiting).Inc()
	message := fmt.Sprintf("network %s is not in location %s yet (NetworkBinding %s)", wanted.Spec.Network.Name,
		wanted.Spec.Location.Name, wanted.Name)
	if ready := meta.FindStatusCondition(existing.Status.Conditions, networking.ConditionReady); ready != nil {
		message += fmt.Sprintf(": %s: %s", ready.Reason, ready.Message)
	}
	return message, nil
}

// wanted returns the bindings of a deployment: for every network that its template names and every available location
// of its city, or every location while none is available.
func (b *Binder) wanted(
	ctx context.Context, project projects.Project, d *v1alpha.WorkloadDeployment,
) ([]*networking.NetworkBinding, error) {
	locations, err := b.locations.List(ctx, project.GetClient())
	if err != nil {
		return nil, err
	}
	locations = slices.DeleteFunc(locations, func(l cities.Location) bool { return !strings.EqualFold(l.City, d.Spec.CityCode) })
	if slices.ContainsFunc(locations, func(l cities.Location) bool { return l.Available }) {
		locations = slices.DeleteFunc(locations, func(l cities.Location) bool { return !l.Available })
	}
	var wanted []*networking.NetworkBinding
	seen := map[v1alpha.NetworkReference]bool{}
	for _, template := range d.Spec.Templates() {
		for i := range template.Spec.NetworkInterfaces {
			network := template.Spec.NetworkInterfaces[i].Network
			for j := range locations {
				if !seen[network] {
					wanted = append(wanted, bindingOf(d, networking.NetworkReference{Namespace: network.Namespace, Name: network.Name}, locations[j].Name))
				}
			}
			seen[network] = true
		}
	}
	return wanted, nil
}

// bindingOf returns the binding of one network of a deployment to one location. It is garbage-collected with the
// deployment.
func bindingOf(d *v1alpha.WorkloadDeployment, network networking.NetworkReference, location string) *networking.NetworkBinding {
	hash := fnv.New32a()
	// Writing to a hash.Hash never returns an error.
	_, _ = fmt.Fprintf(hash, "%s/%s@%s", cmp.Or(network.Namespace, d.Namespace), network.Name, location)
	return &networking.NetworkBinding{
		TypeMeta: metav1.TypeMeta{APIVersion: networking.GroupVersion.String(), Kind: networking.KindNetworkBinding},
		ObjectMeta: metav1.ObjectMeta{
			Namespace: d.Namespace, Name: naming.Shorten(d.Name + "-" + strconv.FormatUint(uint64(hash.Sum32()), 36)),
			Labels: map[string]string{v1alpha.LabelDeploymentUID: string(d.UID)},
			OwnerReferences: []metav1.OwnerReference{{
				APIVersion: v1alpha.GroupVersion.String(), Kind: v1alpha.KindWorkloadDeployment, Name: d.Name, UID: d.UID,
			}},
		},
		Spec: networking.NetworkBindingSpec{
			Network: network, Location: networking.LocationReference{Name: location},
			Consumer: &networking.Consumer{APIGroup: v1alpha.GroupVersion.Group, Kind: v1alpha.KindWorkloadDeployment, Name: d.Name},
		},
	}
}

// Trim deletes the bindings of a deployment that its template does not need any more. Call it when all Instances have
// the present template. It makes one request for each set of networks.
func (b *Binder) Trim(ctx context.Context, project projects.Project, d *v1alpha.WorkloadDeployment) error {
	wanted, err := b.wanted(ctx, project, d)
	if errors.Is(err, cities.ErrLocationsNotServed) {
		// The needed bindings are unknown: running Instances keep their networks.
		return nil
	}
	if err != nil {
		return err
	}
	var names []string
	for _, binding := range wanted {
		names = append(names, binding.Name)
	}
	key := trimmed{d.UID, strings.Join(names, ",")}
	if _, known := b.answers.Get(key); known {
		return nil
	}
	if err := b.release(ctx, project, d, names); err != nil {
		return err
	}
	b.answers.Add(key, true, presentFor)
	return nil
}

// Release deletes all bindings of a deployment.
func (b *Binder) Release(ctx context.Context, project projects.Project, d *v1alpha.WorkloadDeployment) error {
	return b.release(ctx, project, d, nil)
}

// release deletes the bindings of a deployment except the named ones. A project that does not serve the kind has none.
func (b *Binder) release(ctx context.Context, project projects.Project, d *v1alpha.WorkloadDeployment, keep []string) error {
	if _, known := b.answers.Get(bound{project: project.UID}); known {
		return nil
	}
	var bindings networking.NetworkBindingList
	err := project.GetAPIReader().List(ctx, &bindings, client.InNamespace(d.Namespace),
		client.MatchingLabels{v1alpha.LabelDeploymentUID: string(d.UID)})
	if isNotServed(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("list the NetworkBindings of the deployment: %w", err)
	}
	for i := range bindings.Items {
		if slices.Contains(keep, bindings.Items[i].Name) {
			continue
		}
		// Also if the answer of the deletion is lost.
		b.answers.Remove(bound{project.UID, client.ObjectKeyFromObject(&bindings.Items[i])})
		if err := project.GetClient().Delete(ctx, &bindings.Items[i],
			client.Preconditions{UID: &bindings.Items[i].UID}); client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("delete NetworkBinding %s: %w", bindings.Items[i].Name, err)
		}
	}
	return nil
}
