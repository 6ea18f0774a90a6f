// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package steps

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"time"

	jsonpatch "github.com/evanphx/json-patch/v5"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// addAttemptSteps are the sentences about what may be refused. An attempt is made, and then it is said what became of it:
// "that is" speaks of the attempt, "that comes to be" makes it again until it is so, "that is for 5 seconds" makes it
// again and again and wants it to be so each time.
func addAttemptSteps(sc sentences) {
	sc.Step(`^`+someone+` (tries to create|dry-runs) the sample Workload(?: (?:in|on|at) (`+aPlane+`))?(?: with `+inlineDoc+`)?$`,
		func(ctx context.Context, who, verb, plane, patch string) error {
			return from(ctx).trySample(ctx, sample{who: user(who), plane: plane, patch: patch, dryRun: verb == "dry-runs"})
		})
	sc.Step(`^somebody at (Milo|project "[^"]*") who claims (nothing|to be in \w+ "[^"]*") tries to create a Workload$`, func(ctx context.Context, at, claim string) error {
		return from(ctx).tryClaiming(ctx, at, claim)
	})
	sc.Step(`^that (is|comes to be|is within \d+ seconds|is for \d+ seconds) (not refused|(?:refused with|warned of) "(.*)")$`, func(ctx context.Context, when, what, text string) error {
		return from(ctx).turnsOut(ctx, when, what, strings.ReplaceAll(text, `\"`, `"`))
	})
	sc.Step(`^that took less than (\d+) seconds$`, func(ctx context.Context, seconds int) error {
		if took := from(ctx).attempt.took; took >= time.Duration(seconds)*time.Second {
			return fmt.Errorf("it took %s", took)
		}
		return nil
	})
	sc.Step(`^that is an error and no denial$`, func(ctx context.Context) error {
		refused := from(ctx).attempt.refused
		if refused == nil {
			return errors.New("it was not refused")
		}
		if strings.Contains(refused.Error(), "denied the request") && !strings.Contains(refused.Error(), "try again") {
			return refused
		}
		return nil
	})
}

// attempt is what was tried last.
type attempt struct {
	again    func(context.Context) error
	refused  error
	took     time.Duration
	warnings *warnings
}

// warnings are what an API server warned of.
type warnings struct {
	mu    sync.Mutex
	texts []string
}

// HandleWarningHeader keeps a warning.
func (w *warnings) HandleWarningHeader(_ int, _, text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.texts = append(w.texts, text)
}

// String is all of them.
func (w *warnings) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return strings.Join(w.texts, "\n")
}

func (w *warnings) forget() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.texts = nil
}

// try makes an attempt.
func (s *scenario) try(ctx context.Context, do func(context.Context) error) {
	s.attempt = attempt{again: do, warnings: &warnings{}}
	s.attempt.make(ctx)
}

func (a *attempt) make(ctx context.Context) {
	a.warnings.forget()
	begin := time.Now()
	a.refused = a.again(ctx)
	a.took = time.Since(begin)
}

// turnsOut checks what became of an attempt, and where it may take a while makes it again.
func (s *scenario) turnsOut(ctx context.Context, when, what, text string) error {
	a := &s.attempt
	if a.again == nil {
		return errors.New("nothing was tried")
	}
	check := func() error {
		warned := a.warnings.String()
		switch {
		case what == "not refused":
			return a.refused
		case strings.HasPrefix(what, "warned of"):
			if a.refused != nil || !strings.Contains(warned, text) {
				return fmt.Errorf("refused with %v, warned of %q", a.refused, warned) //nolint:errorlint // it may be nil.
			}
			return nil
		case a.refused == nil:
			return errors.New("it was not refused")
		case !strings.Contains(a.refused.Error(), text):
			return fmt.Errorf("it was refused with: %w", a.refused)
		}
		return nil
	}
	if when == "is" {
		return check()
	}
	limit := patience
	if seconds := regexp.MustCompile(`\d+`).FindString(when); seconds != "" {
		parsed, err := time.ParseDuration(seconds + "s")
		if err != nil {
			return err
		}
		limit = parsed
	}
	if strings.HasPrefix(when, "is for") {
		return a.stays(ctx, limit, check)
	}
	return within(ctx, limit, func(ctx context.Context) error {
		a.make(ctx)
		return check()
	})
}

// stays repeats an attempt for a while and returns an error as soon as check does. The attempt then took as long as the
// slowest of them.
func (a *attempt) stays(ctx context.Context, period time.Duration, check func() error) error {
	const interval = 50 * time.Millisecond
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	slowest := a.took
	for end := time.Now().Add(period); time.Now().Before(end); {
		if err := check(); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-ticker.C:
		}
		a.make(ctx)
		slowest = max(slowest, a.took)
	}
	a.took = slowest
	return check()
}

// sampleImage is what Workloads run until a scenario changes it.
const sampleImage = "docker.io/library/nginx:1.27"

func sampleTemplate() v1alpha.InstanceTemplateSpec {
	return v1alpha.InstanceTemplateSpec{Spec: v1alpha.InstanceSpec{
		Runtime: v1alpha.InstanceRuntimeSpec{
			Resources: v1alpha.InstanceRuntimeResources{InstanceType: "datumcloud/d1-standard-2"},
			Sandbox:   &v1alpha.SandboxRuntime{Containers: []v1alpha.SandboxContainer{{Name: "app", Image: sampleImage}}},
		},
		NetworkInterfaces: []v1alpha.InstanceNetworkInterface{{Network: v1alpha.NetworkReference{Name: "default"}}},
	}}
}

func (s *scenario) sampleWorkload() *v1alpha.Workload {
	workload := s.workloadWith("web", []v1alpha.WorkloadPlacement{{
		Name: "main", CityCodes: []string{"DFW"}, ScaleSettings: v1alpha.HorizontalScaleSettings{MinReplicas: 1},
	}})
	workload.TypeMeta = metav1.TypeMeta{APIVersion: v1alpha.GroupVersion.String(), Kind: "Workload"}
	return workload
}

// sample is an attempt to create the sample Workload, changed by a JSON merge patch.
type sample struct {
	who, plane, patch string
	dryRun            bool
}

func (s *scenario) trySample(ctx context.Context, o sample) error {
	content, err := json.Marshal(s.sampleWorkload())
	if err != nil {
		return err
	}
	if o.patch != "" {
		if content, err = jsonpatch.MergePatch(content, []byte(o.patch)); err != nil {
			return fmt.Errorf("patch %s: %w", o.patch, err)
		}
	}
	workload := &unstructured.Unstructured{}
	if err := workload.UnmarshalJSON(content); err != nil {
		return err
	}
	unstructured.RemoveNestedField(workload.Object, "status")
	plane := s.plane(o.plane)
	if s.hubNamespaces[strings.TrimPrefix(plane, "project/")] == "" {
		workload.SetNamespace("default")
	}
	var options []client.CreateOption
	if o.dryRun {
		options = append(options, client.DryRunAll)
	}
	heard := &warnings{}
	c := s.changedClient(plane, o.who, func(config *rest.Config) { config.WarningHandler = heard })
	s.attempt = attempt{again: func(ctx context.Context) error { return c.Create(ctx, workload.DeepCopy(), options...) }, warnings: heard}
	s.attempt.make(ctx)
	return nil
}

// tryClaiming creates a Workload as somebody who may impersonate, with extras that Milo sets only in projects: at Milo's
// root, or, without passing through Milo, at a project's own API server.
func (s *scenario) tryClaiming(ctx context.Context, at, claim string) error {
	extras := map[string][]string{}
	if words := strings.Fields(strings.TrimPrefix(claim, "to be in ")); len(words) == 2 {
		extras["iam.miloapis.com/parent-api-group"] = []string{"resourcemanager.miloapis.com"}
		extras["iam.miloapis.com/parent-type"] = []string{words[0]}
		extras["iam.miloapis.com/parent-name"] = []string{strings.Trim(words[1], `"`)}
	}
	plane, options := s.plane(at), []client.CreateOption(nil)
	if project, is := strings.CutPrefix(plane, "project/"); is {
		plane, options = "project-plane/"+project, append(options, client.DryRunAll)
	} else if err := s.addRootNamespace(ctx); err != nil {
		return err
	}
	c := s.changedClient(plane, admin, func(config *rest.Config) {
		config.Impersonate = rest.ImpersonationConfig{UserName: "forger", Groups: []string{"system:masters"}, Extra: extras}
	})
	s.try(ctx, func(ctx context.Context) error { return c.Create(ctx, s.sampleWorkload(), options...) })
	return nil
}

// addRootNamespace makes the scenario's namespace at Milo's root.
func (s *scenario) addRootNamespace(ctx context.Context) error {
	root := s.client("milo", admin)
	return client.IgnoreAlreadyExists(root.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: s.namespace}}))
}
