// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package rights

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/cucumber/godog"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/karmada-compute/karmada-compute/test/federation"
	"github.com/karmada-compute/karmada-compute/test/steps/world"
)

// addStolenSteps are the sentences about what a credential of the add-on can do in the wrong hands.
func addStolenSteps(sc world.Sentences) {
	sc.Step(`^a user with the add-on's credential for the hub is (refused|allowed) to$`,
		func(ctx context.Context, answer string, table *godog.Table) error {
			s := from(ctx)
			c, err := s.stolenFromPods(ctx)
			if err != nil {
				return err
			}
			var problems []error
			for _, row := range world.Rows(table) {
				err := s.trySteal(ctx, c, row["verb"], row["object"])
				switch {
				case answer == "allowed" && err != nil:
					problems = append(problems, fmt.Errorf("%s %s: %w", row["verb"], row["object"], err))
				case answer == "refused" && (!apierrors.IsForbidden(err) || row["because"] != "" && !strings.Contains(err.Error(), row["because"])):
					problems = append(problems, fmt.Errorf("%s %s: got %w", row["verb"], row["object"], err))
				}
			}
			return errors.Join(problems...)
		})
}

// stolenFromPods is a client with the kubeconfig that the Pods of the add-on mount. Its writes are dry runs.
func (s Steps) stolenFromPods(ctx context.Context) (client.Client, error) {
	secret := &corev1.Secret{}
	if err := s.Client("host", world.Admin).Get(ctx,
		client.ObjectKey{Namespace: "karmada-system", Name: "karmada-compute-config"}, secret); err != nil {
		return nil, err
	}
	stolen, err := clientcmd.RESTConfigFromKubeConfig(secret.Data["karmada.config"])
	if err != nil {
		return nil, err
	}
	c := s.ChangedClient("hub", world.Admin, func(config *rest.Config) {
		*config = *stolen
		config.QPS, config.WarningHandler, config.UserAgent = -1, rest.NoWarnings{}, federation.Attacker
	})
	return client.NewDryRunClient(c), nil
}

// trySteal makes a request for an object as YAML.
func (s Steps) trySteal(ctx context.Context, c client.Client, verb, text string) error {
	object := &unstructured.Unstructured{}
	content, err := yaml.YAMLToJSON([]byte(s.Expand(text)))
	if err != nil {
		return fmt.Errorf("read %s: %w", text, err)
	}
	if err := object.UnmarshalJSON(content); err != nil {
		return fmt.Errorf("read %s: %w", text, err)
	}
	switch verb {
	case "get":
		return c.Get(ctx, client.ObjectKeyFromObject(object), object)
	case "list":
		list := &unstructured.UnstructuredList{}
		list.SetGroupVersionKind(object.GroupVersionKind())
		return c.List(ctx, list, client.InNamespace(object.GetNamespace()))
	case "create":
		return c.Create(ctx, object)
	case "patch":
		return c.Patch(ctx, object, client.RawPatch(types.MergePatchType, content))
	case "delete":
		return c.Delete(ctx, object)
	}
	return fmt.Errorf("no step tries to %s", verb)
}
