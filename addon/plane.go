// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package addon

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apiextensions-apiserver/pkg/apihelpers"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// fieldManager is the field manager of the objects that enable applies.
const fieldManager = client.FieldOwner("karmadactl-karmada-compute")

// pollInterval is the interval between polls of an awaited condition, which tests shorten.
var pollInterval = 500 * time.Millisecond

// plane is an API server that enable writes to.
type plane struct {
	// name is its name in messages.
	name   string
	config *rest.Config
	client.Client
}

// newPlane connects to the API server of a kubeconfig.
func newPlane(name, kubeconfig, kubecontext string) (*plane, error) {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = kubeconfig
	overrides := &clientcmd.ConfigOverrides{CurrentContext: kubecontext}
	config, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, overrides).ClientConfig()
	if err != nil {
		files := cmp.Or(kubeconfig, strings.Join(rules.Precedence, ", "))
		return nil, fmt.Errorf("read the kubeconfig of %s, %s: %w", name, files, err)
	}
	return planeOf(name, config)
}

func planeOf(name string, config *rest.Config) (*plane, error) {
	config = rest.CopyConfig(config)
	config.QPS = -1 // the API server limits its clients itself
	scheme := runtime.NewScheme()
	if err := errors.Join(clientgoscheme.AddToScheme(scheme), apiextensionsv1.AddToScheme(scheme)); err != nil {
		return nil, err
	}
	c, err := client.New(config, client.Options{Scheme: scheme})
	if err != nil {
		return nil, fmt.Errorf("connect to %s: %w", name, err)
	}
	return &plane{name: name, config: config, Client: c}, nil
}

// apply applies an object.
func (p *plane) apply(ctx context.Context, object *unstructured.Unstructured) error {
	err := p.Apply(ctx, client.ApplyConfigurationFromUnstructured(object.DeepCopy()), fieldManager, client.ForceOwnership)
	if err != nil {
		return fmt.Errorf("apply %s at %s: %w", describe(object), p.name, err)
	}
	return nil
}

// list lists a kind, in all namespaces unless the options name one; none for a kind of the add-on that is not served.
func (p *plane) list(ctx context.Context, apiVersion, kind string, options ...client.ListOption) ([]unstructured.Unstructured, error) {
	objects := &unstructured.UnstructuredList{}
	objects.SetAPIVersion(apiVersion)
	objects.SetKind(kind + "List")
	err := p.List(ctx, objects, options...)
	if err != nil && (apiVersion != v1alpha.GroupVersion.String() || !meta.IsNoMatchError(err) && !apierrors.IsNotFound(err)) {
		return nil, fmt.Errorf("list %ss at %s: %w", kind, p.name, err)
	}
	return objects.Items, nil
}

// exists reports whether an object exists and is not being deleted.
func (p *plane) exists(ctx context.Context, r reference) (bool, error) {
	object := r.object()
	err := p.Get(ctx, client.ObjectKeyFromObject(object), object)
	if apierrors.IsNotFound(err) || meta.IsNoMatchError(err) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("read %s at %s: %w", describe(object), p.name, err)
	}
	return object.GetDeletionTimestamp() == nil, nil
}

// remove deletes an object, if it is there and its kind is served.
func (p *plane) remove(ctx context.Context, r reference) error {
	object := r.object()
	err := p.Delete(ctx, object, client.PropagationPolicy("Background"))
	if err == nil || apierrors.IsNotFound(err) || meta.IsNoMatchError(err) {
		return nil
	}
	return fmt.Errorf("delete %s at %s: %w", describe(object), p.name, err)
}

// waitGone waits until an object is deleted.
func (p *plane) waitGone(ctx context.Context, r reference, timeout time.Duration) error {
	err := wait.PollUntilContextTimeout(ctx, pollInterval, timeout, true, func(ctx context.Context) (bool, error) {
		err := p.Get(ctx, client.ObjectKey{Namespace: r.Namespace, Name: r.Name}, r.object())
		return apierrors.IsNotFound(err) || meta.IsNoMatchError(err), nil
	})
	if err != nil {
		return fmt.Errorf("%s at %s is still there: %w", describe(r.object()), p.name, err)
	}
	return nil
}

// established waits until a CustomResourceDefinition is served.
func (p *plane) established(ctx context.Context, name string, timeout time.Duration) error {
	var reason error
	err := wait.PollUntilContextTimeout(ctx, pollInterval, timeout, true, func(ctx context.Context) (bool, error) {
		crd := &apiextensionsv1.CustomResourceDefinition{}
		if reason = p.Get(ctx, client.ObjectKey{Name: name}, crd); reason != nil {
			return false, nil //nolint:nilerr // it is asked again until the timeout
		}
		if apihelpers.IsCRDConditionTrue(crd, apiextensionsv1.Established) {
			return true, nil
		}
		for _, condition := range crd.Status.Conditions {
			if condition.Type == apiextensionsv1.NamesAccepted && condition.Status == apiextensionsv1.ConditionFalse {
				reason = errors.New(condition.Message)
			}
		}
		return false, nil
	})
	if err != nil {
		return fmt.Errorf("CustomResourceDefinition %s is not established at %s: %w", name, p.name, errors.Join(err, reason))
	}
	return nil
}

// isApplied reports whether a stored CustomResourceDefinition is served, as an earlier run applied it, and as apply would
// write it now. To apply it again would change nothing, but the API server would take seconds to check its schemas and rules.
func isApplied(stored, rendered *unstructured.Unstructured) bool {
	at := slices.IndexFunc(stored.GetManagedFields(), func(e metav1.ManagedFieldsEntry) bool {
		return e.Manager == string(fieldManager) && e.Operation == metav1.ManagedFieldsOperationApply && e.FieldsV1 != nil
	})
	if !referenceOf(rendered).isCRD() || at < 0 {
		return false
	}
	var applied struct {
		Metadata map[string]map[string]any `json:"f:metadata"`
	}
	var was, wanted apiextensionsv1.CustomResourceDefinition
	if errors.Join(json.Unmarshal(stored.GetManagedFields()[at].FieldsV1.Raw, &applied),
		runtime.DefaultUnstructuredConverter.FromUnstructured(stored.Object, &was),
		runtime.DefaultUnstructuredConverter.FromUnstructured(rendered.Object, &wanted)) != nil {
		return false
	}
	apiextensionsv1.SetDefaults_CustomResourceDefinitionSpec(&wanted.Spec)
	return apihelpers.IsCRDConditionTrue(&was, apiextensionsv1.Established) && equality.Semantic.DeepEqual(was.Spec, wanted.Spec) &&
		areApplied(was.Labels, wanted.Labels, applied.Metadata["f:labels"]) &&
		areApplied(was.Annotations, wanted.Annotations, applied.Metadata["f:annotations"])
}

// areApplied reports whether labels or annotations are stored as wanted, and whether no others were applied. Others
// have labels and annotations there too.
func areApplied(stored, wanted map[string]string, applied map[string]any) bool {
	for key := range applied {
		if _, ok := wanted[strings.TrimPrefix(key, "f:")]; !ok && key != "." {
			return false
		}
	}
	for key, value := range wanted {
		if got, ok := stored[key]; !ok || got != value || applied["f:"+key] == nil {
			return false
		}
	}
	return true
}

func describe(object *unstructured.Unstructured) string {
	name := object.GetName()
	if namespace := object.GetNamespace(); namespace != "" {
		name = namespace + "/" + name
	}
	return object.GetKind() + " " + name
}
