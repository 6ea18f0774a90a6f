// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Package registration applies the add-on's webhook configurations, with the address of the webhooks and the CAs that
// callers must trust, and keeps them up to date.
package registration

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/go-logr/logr"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// fieldManager is the field manager of the configurations.
const fieldManager = client.FieldOwner("karmada-compute-webhooks")

// Target is a control plane whose API server, or Karmada, calls webhooks.
type Target struct {
	// Name of the control plane in errors.
	Name string
	// Client writes, and reads without a cache.
	Client client.Client
	// Configurations are applied there. Each clientConfig names a Service. Configurations without webhooks are applied
	// unchanged.
	Configurations []*unstructured.Unstructured
	// Superseded are the configurations of another mode of the add-on. They are deleted after Configurations were applied.
	Superseded []*unstructured.Unstructured
}

// Paths creates unguessable paths of webhooks.
type Paths interface {
	// Ensure updates the paths: an old path would undo a rotation.
	Ensure(ctx context.Context) error
	// Path is the path at which the webhook with a plain path is called.
	Path(plain string) string
}

// Registration keeps the webhook configurations of its targets up to date. It is safe for concurrent use.
type Registration struct {
	// Targets get the configurations.
	Targets []Target
	// URL replaces the Services of the configurations, for callers outside of the webhooks' cluster. Paths are appended.
	// Empty: the Services stay.
	URL string
	// Bundle returns the CAs that callers must trust, in PEM. It must be current: an old bundle would undo a rotation.
	Bundle func(context.Context) ([]byte, error)
	// Paths creates unguessable paths of webhooks. Nil: the plain paths are used.
	Paths Paths
	// Changed receives a value when the bundle changed. May be nil.
	Changed <-chan struct{}
	// FailurePolicy replaces failure policy Fail. Empty: it stays. A webhook with policy Ignore only prevents mistakes,
	// and always keeps it.
	FailurePolicy admissionregistrationv1.FailurePolicyType
	// NamespaceSelector selects the namespaces in which webhooks are called. Nil: all.
	NamespaceSelector *metav1.LabelSelector
	// Users returns the users of the add-on's controllers at Milo. Their writes are not reviewed.
	Users func(context.Context) ([]string, error)
	// Condition is the name of the match condition that exempts the users.
	Condition string
	// Interval is the resync period.
	Interval time.Duration
	// Clock is for timers.
	Clock clock.Clock
	// Log gets the written configurations.
	Log logr.Logger

	mu sync.Mutex
	// written are the configurations that this process has applied. The first apply is done even if nothing differs: it
	// removes fields that an earlier process set and this one does not.
	written map[string]bool
}

func (r *Registration) wrote(configuration string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.written[configuration]
}

func (r *Registration) noteWritten(configuration string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.written == nil {
		r.written = map[string]bool{}
	}
	r.written[configuration] = true
}

// Decode reads configurations from a YAML stream.
func Decode(content []byte) ([]*unstructured.Unstructured, error) {
	var configurations []*unstructured.Unstructured
	decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(content), 4096)
	for {
		var document runtime.RawExtension
		err := decoder.Decode(&document)
		if errors.Is(err, io.EOF) {
			return configurations, nil
		}
		if err != nil {
			return nil, fmt.Errorf("decode the webhook configurations: %w", err)
		}
		configuration := &unstructured.Unstructured{}
		if err := configuration.UnmarshalJSON(document.Raw); err != nil {
			return nil, fmt.Errorf("decode the webhook configurations: %w", err)
		}
		configurations = append(configurations, configuration)
	}
}

// Start calls Register at each interval and whenever the bundle changes, until ctx ends. Errors are logged and retried.
func (r *Registration) Start(ctx context.Context) error {
	patience := wait.Backoff{Duration: 200 * time.Millisecond, Factor: 2, Steps: 10, Cap: r.Interval}
	retry := patience
	for ctx.Err() == nil {
		next := r.Interval
		if err := r.Register(ctx); err != nil && ctx.Err() == nil {
			r.Log.Error(err, "Webhooks are not all registered; retrying")
			next = retry.Step()
		} else {
			retry = patience
		}
		select {
		case <-ctx.Done():
		case <-r.Changed:
		case <-r.Clock.After(next):
		}
	}
	return nil
}

// Register applies every configuration that differs, and then removes the superseded ones.
func (r *Registration) Register(ctx context.Context) error {
	bundle, err := r.Bundle(ctx)
	if err != nil {
		return fmt.Errorf("read the CAs that callers must trust: %w", err)
	}
	if len(bundle) == 0 {
		return errors.New("there is no CA for callers to trust; see --webhook-cert-dir")
	}
	if r.Paths != nil {
		if err := r.Paths.Ensure(ctx); err != nil {
			return fmt.Errorf("read the paths that callers must use: %w", err)
		}
	}
	var failures []error
	for _, target := range r.Targets {
		for _, template := range target.Configurations {
			if err := r.register(ctx, target.Client, template, bundle); err != nil {
				failures = append(failures, fmt.Errorf("register %s %s at %s: %w", template.GetKind(), template.GetName(), target.Name, err))
			}
		}
	}
	if len(failures) > 0 {
		return errors.Join(failures...)
	}
	return r.removeSuperseded(ctx)
}

// removeSuperseded runs last, so that a configuration is registered at any time.
func (r *Registration) removeSuperseded(ctx context.Context) error {
	var failures []error
	for _, target := range r.Targets {
		for _, object := range target.Superseded {
			found, err := get(ctx, target.Client, object)
			if err == nil && found != nil {
				err = client.IgnoreNotFound(target.Client.Delete(ctx, found))
				r.Log.Info("Superseded registration removed", "kind", object.GetKind(), "name", object.GetName())
			}
			if err != nil {
				failures = append(failures, fmt.Errorf("remove %s %s at %s: %w", object.GetKind(), object.GetName(), target.Name, err))
			}
		}
	}
	return errors.Join(failures...)
}

func (r *Registration) register(ctx context.Context, c client.Client, template *unstructured.Unstructured, bundle []byte) error {
	wanted, err := r.complete(ctx, template, bundle)
	if err != nil {
		return err
	}
	found, err := get(ctx, c, template)
	if err != nil {
		return err
	}
	key := wanted.GetKind() + "/" + wanted.GetName()
	if found != nil && r.wrote(key) && covers(found.Object, wanted.Object) {
		return nil
	}
	if err := c.Apply(ctx, client.ApplyConfigurationFromUnstructured(wanted), fieldManager, client.ForceOwnership); err != nil {
		return r.redact(err, template)
	}
	r.noteWritten(key)
	r.Log.Info("Webhooks registered", "kind", wanted.GetKind(), "name", wanted.GetName())
	return nil
}

// get reads the object that a template names, nil if it does not exist.
func get(ctx context.Context, c client.Client, template *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	found := &unstructured.Unstructured{}
	found.SetGroupVersionKind(template.GroupVersionKind())
	err := c.Get(ctx, client.ObjectKeyFromObject(template), found)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	return found, err
}

// stage sets failure policy and namespace selector of an admission webhook. Other webhooks have no failure policy.
func (r *Registration) stage(webhook map[string]any) error {
	policy, isAdmission := webhook["failurePolicy"]
	if !isAdmission {
		return nil
	}
	if r.FailurePolicy != "" && policy != string(admissionregistrationv1.Ignore) {
		webhook["failurePolicy"] = string(r.FailurePolicy)
	}
	if r.NamespaceSelector == nil {
		return nil
	}
	selector, err := runtime.DefaultUnstructuredConverter.ToUnstructured(r.NamespaceSelector)
	if err != nil {
		return fmt.Errorf("encode the selector of namespaces: %w", err)
	}
	webhook["namespaceSelector"] = selector
	return nil
}

// except lists the users of the add-on in the match condition that exempts them.
func (r *Registration) except(ctx context.Context, webhook map[string]any) error {
	conditions, _, err := unstructured.NestedSlice(webhook, "matchConditions")
	if err != nil || len(conditions) == 0 {
		return err
	}
	for _, item := range conditions {
		condition, _ := item.(map[string]any)
		if condition["name"] != r.Condition {
			continue
		}
		users, err := r.Users(ctx)
		if err != nil {
			return fmt.Errorf("find the users of the add-on at Milo: %w", err)
		}
		quoted := make([]string, 0, len(users))
		for _, user := range users {
			quoted = append(quoted, celString(user))
		}
		condition["expression"] = "!(request.userInfo.username in [" + strings.Join(quoted, ", ") + "])"
	}
	return unstructured.SetNestedSlice(webhook, conditions, "matchConditions")
}

// celString is s as a string literal in CEL.
func celString(s string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`, "\n", `\n`, "\r", `\r`).Replace(s) + "'"
}

// covers reports whether found has every wanted field. It may have more: API servers set defaults.
func covers(found, wanted any) bool {
	switch wanted := wanted.(type) {
	case map[string]any:
		found, ok := found.(map[string]any)
		if !ok {
			return false
		}
		for key, value := range wanted {
			if !covers(found[key], value) {
				return false
			}
		}
		return true
	case []any:
		found, ok := found.([]any)
		if !ok || len(found) != len(wanted) {
			return false
		}
		for i := range wanted {
			if !covers(found[i], wanted[i]) {
				return false
			}
		}
		return true
	default:
		return equality.Semantic.DeepEqual(found, wanted)
	}
}
