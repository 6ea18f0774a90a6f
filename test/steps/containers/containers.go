// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package containers

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/cucumber/godog"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/client-go/kubernetes"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/test/federation"
	"github.com/karmada-compute/karmada-compute/test/steps/workloads"
	"github.com/karmada-compute/karmada-compute/test/steps/world"
)

// addContainerSteps adds the sentences about processes of Instances. Most run in cell "hou"; the doc comment of
// test/image lists the commands of their image.
func addContainerSteps(sc world.Sentences) {
	sc.Step(`^cells? "([^"]*)" runs? containers$`, func(ctx context.Context, cells string) error {
		return from(ctx).runContainers(ctx, world.SplitNames(cells))
	})
	sc.Step(`^(?:in project "([^"]*)" )?the consumer creates Workload "([^"]*)" of (\d+) in ([A-Z, ]+)`+
		`(?: which names "([^"]*)")? with container `+world.InlineDoc+`$`,
		func(ctx context.Context, project, name string, replicas int32, cities, data, container string) error {
			container, template, _ := strings.Cut(container, " and template ")
			return In(from(ctx).In(project)).createContainers(ctx,
				containersWanted{name, data, container, template, world.SplitNames(cities), replicas})
		})
	sc.Step(`^Workload "([^"]*)" runs on nodes "([^"]*)" of cell "([^"]*)"$`, func(ctx context.Context, name, nodes, cell string) error {
		return from(ctx).runsOn(ctx, cell, name, world.SplitNames(nodes))
	})
	sc.Step(`^(?:in project "([^"]*)" )?Instance "([^"]*)" answers "([^"]*)" with "([^"]*)"$`,
		func(ctx context.Context, project, instance, path, text string) error {
			return In(from(ctx).In(project)).answers(ctx, instance, path, text)
		})
	sc.Step(`^(?:in project "([^"]*)" )?(another|every) Instance of Workload "([^"]*)" answers "([^"]*)" with "([^"]*)"$`,
		func(ctx context.Context, project, which, workload, path, text string) error {
			return In(from(ctx).In(project)).allAnswer(ctx, workload, which == "every", httpQuestion{path, text})
		})
	sc.Step(`^Instance "([^"]*)" receives request "([^"]*)"$`, func(ctx context.Context, instance, path string) error {
		return from(ctx).tell(ctx, instance, path)
	})
	sc.Step(`^the log of pod "([^"]*)" in cell "([^"]*)" has "([^"]*)"$`, func(ctx context.Context, pod, cell, text string) error {
		s := from(ctx)
		return world.Eventually(ctx, func(ctx context.Context) error {
			log, err := s.followLog(ctx, cell, pod, false)
			if err != nil {
				return err
			}
			return log.has(text)
		})
	})
	sc.Step(`^the log of pod "([^"]*)" in cell "([^"]*)" is followed$`, func(ctx context.Context, pod, cell string) (err error) {
		s := from(ctx)
		s.state().followed, err = s.followLog(context.WithoutCancel(ctx), cell, pod, true)
		return err
	})
	sc.Step(`^the log that is followed ends and has "([^"]*)"$`, func(ctx context.Context, text string) error {
		return from(ctx).state().followed.ends(ctx, text)
	})
}

// runContainers adds cells of containers, if this machine supports them. Scenarios share them.
func (s Steps) runContainers(ctx context.Context, cells []string) error {
	if err := federation.Containers(ctx); err != nil {
		fmt.Fprintf(s.Out, "skipped: %v\n", err)
		return godog.ErrSkip
	}
	for _, name := range cells {
		cell, ok := s.Extra[name]
		if !ok || cell.Containers == 0 {
			return fmt.Errorf("no cell %q of containers is known", name)
		}
		s.Taken = append(s.Taken, name)
		if err := cell.Add(ctx, s.World); err != nil {
			return err
		}
	}
	return nil
}

// runsOn waits until the Pods of a Workload run on all of these nodes, and on no others.
func (s Steps) runsOn(ctx context.Context, cell, workload string, nodes []string) error {
	return world.Eventually(ctx, func(ctx context.Context) error {
		pods, err := s.List(ctx, "cell/"+cell, "pods")
		if err != nil {
			return err
		}
		found := map[string]bool{}
		for i := range pods {
			if pods[i].GetLabels()[v1alpha.LabelWorkloadName] != workload {
				continue
			}
			node, err := world.Field(&pods[i], "spec.nodeName")
			if err != nil {
				return err
			}
			found[node] = true
		}
		if names := slices.Sorted(maps.Keys(found)); !slices.Equal(names, nodes) {
			return fmt.Errorf("the Pods of Workload %s are on nodes %v", workload, names)
		}
		return nil
	})
}

// containersWanted is a Workload of small Instances that run the test image. data is the data that it names; container
// and template are merged into the sample's container and template. Each of the cities has the replicas.
type containersWanted struct {
	name, data, container, template string
	cities                          []string
	replicas                        int32
}

func (s Steps) createContainers(ctx context.Context, wanted containersWanted) error {
	workload := workloads.In(s.Scenario).WorkloadWith(wanted.name, []v1alpha.WorkloadPlacement{{
		Name: "main", CityCodes: wanted.cities, ScaleSettings: v1alpha.HorizontalScaleSettings{MinReplicas: wanted.replicas},
	}})
	spec := &workload.Spec.Template.Spec
	// Many of them must fit on the machine that runs the tests.
	spec.Runtime.Resources = v1alpha.InstanceRuntimeResources{InstanceType: spec.Runtime.Resources.InstanceType, Requests: corev1.ResourceList{
		corev1.ResourceCPU: resource.MustParse("50m"), corev1.ResourceMemory: resource.MustParse("64Mi"),
	}}
	workloads.LetName(spec, wanted.data)
	container := &spec.Runtime.Sandbox.Containers[0]
	named := container.Env
	container.Image, container.Env = federation.TestImage, nil
	if err := json.Unmarshal([]byte(s.Expand(wanted.container)), container); err != nil {
		return fmt.Errorf("container %s: %w", wanted.container, err)
	}
	container.Env = append(container.Env, named...)
	if wanted.template != "" {
		if err := json.Unmarshal([]byte(s.Expand(wanted.template)), spec); err != nil {
			return fmt.Errorf("template %s: %w", wanted.template, err)
		}
	}
	c := s.Client(s.Plane(""), world.Consumer)
	// The webhook sees a new right to data a moment later than the API server that stored it.
	return world.Eventually(ctx, func(ctx context.Context) error { return c.Create(ctx, workload.DeepCopy()) })
}

// answers sends requests to the address that the project shows for an Instance, until the answer has a text.
func (s Steps) answers(ctx context.Context, instance, path, text string) error {
	path, text = s.Expand(path), s.Expand(text)
	return world.Eventually(ctx, func(ctx context.Context) error {
		url, err := s.urlOf(ctx, instance, path)
		if err != nil {
			return err
		}
		answer, err := Call(ctx, http.MethodGet, url)
		if err == nil && !strings.Contains(answer, text) {
			err = fmt.Errorf("Instance %s answers %q", instance, answer)
		}
		return err
	})
}

// httpQuestion is a path and the expected text of the answer.
type httpQuestion struct{ path, text string }

// allAnswer sends a request to every Instance of a Workload, or waits for an answer of another Instance than the one
// with the name in the answer.
func (s Steps) allAnswer(ctx context.Context, workload string, all bool, asked httpQuestion) error {
	return world.Eventually(ctx, func(ctx context.Context) error {
		instances, err := s.List(ctx, s.Plane(""), "instances")
		if err != nil {
			return err
		}
		var right int
		problems := []error{fmt.Errorf("no Instance of Workload %s answers", workload)}
		for i := range instances {
			name := instances[i].GetName()
			if instances[i].GetLabels()[v1alpha.LabelWorkloadName] != workload || name == asked.text {
				continue
			}
			url, err := s.urlOf(ctx, name, s.Expand(asked.path))
			if err != nil {
				return err
			}
			if answer, err := Call(ctx, http.MethodGet, url); err == nil && strings.Contains(answer, asked.text) {
				right++
			} else {
				problems = append(problems, fmt.Errorf("Instance %s answers %q: %w", name, answer, err))
			}
		}
		if right == 0 || all && len(problems) > 1 {
			return errors.Join(problems...)
		}
		return nil
	})
}

// tell sends a request once. A process that the request ends does not answer.
func (s Steps) tell(ctx context.Context, instance, path string) error {
	url, err := s.urlOf(ctx, instance, path)
	if err != nil {
		return err
	}
	_, err = Call(ctx, http.MethodPost, url)
	if errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET) {
		return nil
	}
	return err
}

// urlOf returns the address that the project shows for an Instance, with the port of the test image.
func (s Steps) urlOf(ctx context.Context, instance, path string) (string, error) {
	object, err := s.Get(ctx, fmt.Sprintf("instance %q", instance))
	if err != nil {
		return "", err
	}
	address, err := world.Field(object, "status.networkInterfaces[0].assignments.networkIP")
	if err == nil && address == "" {
		err = fmt.Errorf("Instance %s has no address", instance)
	}
	return "http://" + address + ":8080" + path, err
}

// Call returns the answer of a server, with any status.
func Call(ctx context.Context, method, url string) (string, error) {
	const limit = 5 * time.Second
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, method, url, nil)
	if err != nil {
		return "", err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return "", err
	}
	defer func() { _ = response.Body.Close() }() // it is read to its end
	content, err := io.ReadAll(response.Body)
	return string(content), err
}

// podLog is the log of a Pod, which may still grow.
type podLog struct {
	text world.Buffer
	done chan struct{}
	err  error
}

// followLog reads the log of a Pod, through the API server of its cell, to the end, or in the background until the
// container ends.
func (s Steps) followLog(ctx context.Context, cell, pod string, follow bool) (*podLog, error) {
	config, err := s.Federation.Config("cell/"+cell, world.Admin)
	if err != nil {
		return nil, err
	}
	clients, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	stream, err := clients.CoreV1().Pods(s.HubNamespace()).GetLogs(pod, &corev1.PodLogOptions{Follow: follow}).Stream(ctx)
	if err != nil {
		return nil, fmt.Errorf("log of Pod %s: %w", pod, err)
	}
	log := &podLog{done: make(chan struct{})}
	go func() {
		defer close(log.done)
		_, err := io.Copy(&log.text, stream)
		log.err = err
		_ = stream.Close() // it is read to its end
	}()
	if !follow {
		<-log.done
	}
	return log, nil
}

// has returns an error unless the log has a text.
func (l *podLog) has(text string) error {
	if !strings.Contains(l.text.String(), text) {
		return fmt.Errorf("the log is %q", l.text.String())
	}
	return nil
}

// ends waits for the end of the container.
func (l *podLog) ends(ctx context.Context, text string) error {
	ctx, cancel := context.WithTimeout(ctx, world.Patience)
	defer cancel()
	select {
	case <-l.done:
	case <-ctx.Done():
		return fmt.Errorf("the container has not ended: %w", ctx.Err())
	}
	if l.err != nil {
		return l.err
	}
	return l.has(text)
}
