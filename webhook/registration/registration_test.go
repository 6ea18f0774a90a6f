// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package registration_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-logr/logr"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/karmada-compute/karmada-compute/webhook"
	"github.com/karmada-compute/karmada-compute/webhook/registration"
)

// registered is a Registration at an API server that counts applies.
type registered struct {
	*registration.Registration
	client  client.Client
	applied atomic.Int64
	bundle  string
	user    string
	fail    error
}

func newRegistered(t *testing.T) *registered {
	t.Helper()
	configurations, err := registration.Decode(webhook.Configuration)
	if err != nil {
		t.Fatal(err)
	}
	r := &registered{bundle: "first", user: "add-on"}
	r.client = fake.NewClientBuilder().WithScheme(clientgoscheme.Scheme).WithInterceptorFuncs(interceptor.Funcs{
		Apply: func(ctx context.Context, c client.WithWatch, object runtime.ApplyConfiguration, options ...client.ApplyOption) error {
			if r.fail != nil {
				return r.fail
			}
			r.applied.Add(1)
			return c.Apply(ctx, object, options...)
		},
	}).Build()
	r.Registration = &registration.Registration{
		Targets:   []registration.Target{{Name: "root", Client: r.client, Configurations: configurations}},
		URL:       "https://webhooks.example.com:9443/",
		Bundle:    func(context.Context) ([]byte, error) { return []byte(r.bundle), nil },
		Users:     func(context.Context) ([]string, error) { return []string{r.user}, nil },
		Condition: webhook.ConditionNotAddOn,
		Interval:  time.Minute,
		Clock:     clocktesting.NewFakeClock(time.Now()),
		Log:       logr.Discard(),
	}
	return r
}

func (r *registered) validating(t *testing.T) *admissionregistrationv1.ValidatingWebhookConfiguration {
	t.Helper()
	found := &admissionregistrationv1.ValidatingWebhookConfiguration{}
	if err := r.client.Get(t.Context(), types.NamespacedName{Name: "karmada-compute"}, found); err != nil {
		t.Fatal(err)
	}
	return found
}

// TestComplete: the address, the CAs and the users are set.
func TestComplete(t *testing.T) {
	r := newRegistered(t)
	r.user = `o'brien\`
	if err := r.Register(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, hook := range r.validating(t).Webhooks {
		to := hook.ClientConfig
		if to.URL == nil || !strings.HasPrefix(*to.URL, "https://webhooks.example.com:9443/validate-") ||
			to.Service != nil || string(to.CABundle) != "first" {
			t.Errorf("%s is called at %+v", hook.Name, to)
		}
		for _, condition := range hook.MatchConditions {
			if condition.Name == webhook.ConditionNotAddOn && condition.Expression != `!(request.userInfo.username in ['o\'brien\\'])` {
				t.Errorf("condition is %s", condition.Expression)
			}
		}
	}
}

// TestRegister: only configurations that differ are applied again.
func TestRegister(t *testing.T) {
	r := newRegistered(t)
	for range 2 {
		if err := r.Register(t.Context()); err != nil || r.applied.Load() != 1 {
			t.Errorf("configurations were applied %d times, %v", r.applied.Load(), err)
		}
	}
	found := r.validating(t)
	found.Webhooks[0].ClientConfig.CABundle = []byte("somebody's")
	if err := r.client.Update(t.Context(), found); err != nil {
		t.Fatal(err)
	}
	if err := r.Register(t.Context()); err != nil || r.applied.Load() != 2 ||
		string(r.validating(t).Webhooks[0].ClientConfig.CABundle) != "first" {
		t.Errorf("what was edited is not put right: %d times, %v", r.applied.Load(), err)
	}
}

// TestStages: failure policy and namespace selector are set.
func TestStages(t *testing.T) {
	r := newRegistered(t)
	r.FailurePolicy = admissionregistrationv1.Ignore
	r.NamespaceSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"stage": "first"}}
	if err := r.Register(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, hook := range r.validating(t).Webhooks {
		if *hook.FailurePolicy != admissionregistrationv1.Ignore || hook.NamespaceSelector == nil ||
			hook.NamespaceSelector.MatchLabels["stage"] != "first" {
			t.Errorf("%s: %s in %v", hook.Name, *hook.FailurePolicy, hook.NamespaceSelector)
		}
	}
}

// TestPreventionNeverHolds: a webhook that only prevents mistakes fails no request of Milo while no replica runs.
func TestPreventionNeverHolds(t *testing.T) {
	r := &registration.Registration{FailurePolicy: admissionregistrationv1.Fail}
	for policy, want := range map[string]string{"Ignore": "Ignore", "Fail": "Fail"} {
		webhook := map[string]any{"failurePolicy": policy}
		if err := r.Stage(webhook); err != nil || webhook["failurePolicy"] != want {
			t.Errorf("%s becomes %v, want %s: %v", policy, webhook["failurePolicy"], want, err)
		}
	}
}

// TestEarlierStage: a field that an earlier process set and this one does not is removed.
func TestEarlierStage(t *testing.T) {
	r := newRegistered(t)
	r.NamespaceSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"stage": "first"}}
	if err := r.Register(t.Context()); err != nil {
		t.Fatal(err)
	}
	next := newRegistered(t)
	next.Targets[0].Client = r.client
	if err := next.Register(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, hook := range r.validating(t).Webhooks {
		if hook.NamespaceSelector != nil && len(hook.NamespaceSelector.MatchLabels) > 0 {
			t.Errorf("%s is still asked only in %v", hook.Name, hook.NamespaceSelector)
		}
	}
}

// TestServices: without a URL the Service stays.
func TestServices(t *testing.T) {
	r := newRegistered(t)
	r.URL = ""
	if err := r.Register(t.Context()); err != nil {
		t.Fatal(err)
	}
	to := r.validating(t).Webhooks[0].ClientConfig
	if to.URL != nil || to.Service == nil || to.Service.Name != "karmada-compute-webhook" || string(to.CABundle) != "first" {
		t.Errorf("called at %+v", to)
	}
}

func TestTrusted(t *testing.T) {
	r := newRegistered(t)
	trusted := func(bundle string) bool {
		t.Helper()
		ok, err := r.Trusted(t.Context(), []byte(bundle))
		if err != nil {
			t.Fatal(err)
		}
		return ok
	}
	if trusted("first") {
		t.Error("nothing is registered and it is trusted")
	}
	if err := r.Register(t.Context()); err != nil {
		t.Fatal(err)
	}
	if !trusted("first") || trusted("second") {
		t.Error("what is registered is not what is trusted")
	}
	found := r.validating(t)
	found.Webhooks[1].ClientConfig.CABundle = []byte("second")
	if err := r.client.Update(t.Context(), found); err != nil {
		t.Fatal(err)
	}
	if trusted("first") || trusted("second") {
		t.Error("one webhook of many is taken for all")
	}
	r.Targets = nil
	if trusted("first") {
		t.Error("trusted without targets")
	}
}

// TestFailures: each error names its cause, and no configuration is applied without a CA: an empty caBundle means the
// public authorities.
func TestFailures(t *testing.T) {
	problem := errors.New("no route")
	cases := map[string]struct {
		change func(*registered)
		want   string
	}{
		"no CA":    {change: func(r *registered) { r.bundle = "" }, want: "no CA"},
		"a bad CA": {change: func(r *registered) { r.Bundle = func(context.Context) ([]byte, error) { return nil, problem } }, want: "no route"},
		"no users": {
			change: func(r *registered) { r.Users = func(context.Context) ([]string, error) { return nil, problem } },
			want:   "the users of the add-on",
		},
		"no API": {change: func(r *registered) { r.fail = problem }, want: "ValidatingWebhookConfiguration karmada-compute at root"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			r := newRegistered(t)
			c.change(r)
			if err := r.Register(t.Context()); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %q", err, c.want)
			}
		})
	}
}

// TestStart: a failure is retried soon, and a changed bundle is registered at once.
func TestStart(t *testing.T) {
	r := newRegistered(t)
	clock := clocktesting.NewFakeClock(time.Now())
	changed := make(chan struct{})
	asked := make(chan struct{})
	bundles := make(chan string)
	r.Clock, r.Changed = clock, changed
	r.Bundle = func(context.Context) ([]byte, error) {
		asked <- struct{}{}
		if bundle := <-bundles; bundle != "" {
			return []byte(bundle), nil
		}
		return nil, errors.New("not yet")
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- r.Start(ctx) }()
	<-asked
	bundles <- ""
	for !clock.HasWaiters() {
		if ctx.Err() != nil {
			t.Fatal("nothing waits for the clock")
		}
	}
	clock.Step(time.Second) // much less than the interval
	<-asked
	bundles <- "first"
	changed <- struct{}{}
	<-asked
	bundles <- "second"
	changed <- struct{}{}
	<-asked
	trusted := string(r.validating(t).Webhooks[0].ClientConfig.CABundle)
	if trusted != "second" {
		t.Errorf("trusted is %q", trusted)
	}
	cancel()
	bundles <- "second"
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func TestDecode(t *testing.T) {
	for _, bad := range []string{"a: [", "a: b", "[]"} {
		if _, err := registration.Decode([]byte(bad)); err == nil {
			t.Errorf("%q is taken for a configuration", bad)
		}
	}
}

// TestSuperseded: the other mode's configuration is deleted after this mode's configuration was applied.
func TestSuperseded(t *testing.T) {
	r := newRegistered(t)
	other := &admissionregistrationv1.MutatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: "other-mode"}}
	if err := r.client.Create(t.Context(), other); err != nil {
		t.Fatal(err)
	}
	superseded := &unstructured.Unstructured{}
	superseded.SetGroupVersionKind(admissionregistrationv1.SchemeGroupVersion.WithKind("MutatingWebhookConfiguration"))
	superseded.SetName("other-mode")
	r.Targets[0].Superseded = []*unstructured.Unstructured{superseded}
	r.fail = errors.New("no")
	if err := r.Register(t.Context()); err == nil {
		t.Fatal("no error")
	}
	if err := r.client.Get(t.Context(), types.NamespacedName{Name: "other-mode"}, other); err != nil {
		t.Errorf("it went before its successor came: %v", err)
	}
	r.fail = nil
	for range 2 {
		if err := r.Register(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := r.client.Get(t.Context(), types.NamespacedName{Name: "other-mode"}, other); !apierrors.IsNotFound(err) {
			t.Errorf("it is still there: %v", err)
		}
	}
}

// TestWithoutWebhooks: a configuration without webhooks is registered unchanged.
func TestWithoutWebhooks(t *testing.T) {
	r := newRegistered(t)
	plain, err := registration.Decode([]byte("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: plain, namespace: ns}\ndata: {a: b}"))
	if err != nil {
		t.Fatal(err)
	}
	r.Targets[0].Configurations = plain
	if err := r.Register(t.Context()); err != nil {
		t.Fatal(err)
	}
	found := &unstructured.Unstructured{}
	found.SetGroupVersionKind(plain[0].GroupVersionKind())
	if err := r.client.Get(t.Context(), client.ObjectKeyFromObject(plain[0]), found); err != nil {
		t.Fatal(err)
	}
	if _, has := found.Object["webhooks"]; has || found.Object["data"] == nil {
		t.Errorf("registered is %v", found.Object)
	}
	if trusted, err := r.Trusted(t.Context(), []byte("any")); err != nil || !trusted {
		t.Errorf("it needs no trust, but %t, %v", trusted, err)
	}
}
