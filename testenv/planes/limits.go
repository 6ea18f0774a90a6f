// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package planes

import (
	"context"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/charts"
)

// AddOn is the user of the controllers on the hub, in an installation with the defaults of the chart.
const AddOn = "system:serviceaccount:karmada-system:karmada-compute"

// limited installs the chart's policy for the writes of the add-on, and returns a client that it applies to: what the
// policy refuses in production, it refuses in the tests of each controller. The client has every right of RBAC, which
// depends on the order of Reconcile calls (see RestrictHub).
func (s *connection) limited(config *rest.Config) (client.WithWatch, error) {
	config = rest.CopyConfig(config)
	config.Impersonate = rest.ImpersonationConfig{UserName: AddOn, Groups: []string{"system:masters"}}
	c, err := client.NewWithWatch(config, client.Options{Scheme: s.client.Scheme(), Mapper: s.client.RESTMapper()})
	if err != nil {
		return nil, err
	}
	if err := s.installLimits(); err != nil {
		return nil, err
	}
	return c, awaitLimits(c)
}

// LiftLimits gives the controller every right on the hub, in tests whose namespace plays karmada-system, which
// the policy names.
func (p *Planes) LiftLimits() {
	for _, plane := range []**Plane{&p.Hub, &p.HubAPI} {
		indexes := (*plane).indexes
		*plane = newPlane(p.Client)
		(*plane).indexes = indexes
	}
}

func (s *connection) installLimits() error {
	objects, err := charts.Render(map[string]any{
		"hub": map[string]any{"enabled": true}, "host": map[string]any{"enabled": false},
	}, charts.Release{})
	if err != nil {
		return err
	}
	for _, object := range objects {
		if !strings.HasPrefix(object.GetKind(), "ValidatingAdmissionPolicy") || object.GetName() != charts.Name {
			continue
		}
		if err := s.client.Create(context.Background(), object); err != nil {
			return fmt.Errorf("install the limits of the add-on: %w", err)
		}
	}
	return nil
}

// awaitLimits waits until the API server has loaded the policy: until a request that only the policy refuses fails.
func awaitLimits(c client.Client) error {
	foreign := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceDefault, Name: "foreign"}}
	err := wait.PollUntilContextTimeout(context.Background(), 50*time.Millisecond, crdPatience, true,
		func(ctx context.Context) (bool, error) {
			return apierrors.IsForbidden(c.Create(ctx, foreign.DeepCopy(), client.DryRunAll)), nil
		})
	if err != nil {
		return fmt.Errorf("the limits of the add-on do not come into force: %w", err)
	}
	return nil
}
