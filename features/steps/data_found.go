// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package steps

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/cucumber/godog"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// addFoundDataSteps are about what has become of data.
func addFoundDataSteps(sc *godog.ScenarioContext) {
	sc.Step(`^cell "([^"]*)" has exactly the data "([^"]*)"$`, func(ctx context.Context, cell, names string) error {
		return from(ctx).hasData(ctx, "cell/"+cell, names)
	})
	sc.Step(`^the hub has exactly the data "([^"]*)"$`, func(ctx context.Context, names string) error {
		return from(ctx).hasData(ctx, "hub", names)
	})
	sc.Step(`^the data in cell "([^"]*)" is what the project's is$`, func(ctx context.Context, cell string) error {
		return from(ctx).dataIsTheProjects(ctx, cell)
	})
	sc.Step(`^the Pod "([^"]*)" in cell "([^"]*)" gets "([^"]*)"$`, func(ctx context.Context, name, cell, data string) error {
		return from(ctx).podGets(ctx, cell, name, data)
	})
	sc.Step(`^"(ConfigMap|Secret) ([^"]*)" on the hub goes with "([^"]*)"$`, func(ctx context.Context, kind, name, deployments string) error {
		return from(ctx).goesWith(ctx, kind, name, deployments)
	})
	sc.Step(`^deployment "([^"]*)" has its data$`, func(ctx context.Context, name string) error {
		return from(ctx).dataCondition(ctx, name, v1alpha.ReasonReferencedDataPresent, "")
	})
	sc.Step(`^the data of deployment "([^"]*)" is not ready because of "([^"]*)", with "([^"]*)"$`,
		func(ctx context.Context, name, reason, message string) error {
			return from(ctx).dataCondition(ctx, name, reason, message)
		})
	sc.Step(`^deployment "([^"]*)" says nothing of data$`, func(ctx context.Context, name string) error {
		return from(ctx).eventuallyDeployment(ctx, name, func(deployment *v1alpha.WorkloadDeployment) error {
			if condition := meta.FindStatusCondition(deployment.Status.Conditions, v1alpha.ConditionReferencedDataReady); condition != nil {
				return fmt.Errorf("condition ReferencedDataReady is %+v", condition)
			}
			return nil
		})
	})
	sc.Step(`^the projected Instance "([^"]*)" has its data$`, func(ctx context.Context, name string) error {
		return from(ctx).eventuallyInstances(ctx, func(instance *v1alpha.Instance) error {
			if instance.Name == name && !meta.IsStatusConditionTrue(instance.Status.Conditions, v1alpha.ConditionReferencedDataReady) {
				return fmt.Errorf("conditions of Instance %s are %+v", name, instance.Status.Conditions)
			}
			return nil
		})
	})
	sc.Step(`^Instance "([^"]*)" in cell "([^"]*)" is held by "([^"]*)", with "([^"]*)"$`, func(ctx context.Context, name, cell, gate, message string) error {
		return from(ctx).isHeld(ctx, cell, name, held{gate, message})
	})
	sc.Step(`^the Instances that run are remembered$`, func(ctx context.Context) error { return from(ctx).rememberInstances(ctx) })
	sc.Step(`^no log of the add-on shows what a Secret holds$`, func(ctx context.Context) error { return from(ctx).logsKeepSecrets() })
}

// data are the ConfigMaps and Secrets of a namespace, as "<kind> <name>". What Kubernetes keeps in each namespace does
// not count.
func (s *scenario) data(ctx context.Context, plane, namespace string) (map[string]client.Object, error) {
	c, err := s.client(plane, admin)
	if err != nil {
		return nil, err
	}
	found := map[string]client.Object{}
	var configMaps corev1.ConfigMapList
	var secrets corev1.SecretList
	if err := errors.Join(c.List(ctx, &configMaps, client.InNamespace(namespace)), c.List(ctx, &secrets, client.InNamespace(namespace))); err != nil {
		return nil, err
	}
	for i := range configMaps.Items {
		if configMaps.Items[i].Name != "kube-root-ca.crt" {
			found["ConfigMap "+configMaps.Items[i].Name] = &configMaps.Items[i]
		}
	}
	for i := range secrets.Items {
		found["Secret "+secrets.Items[i].Name] = &secrets.Items[i]
	}
	return found, nil
}

func (s *scenario) hasData(ctx context.Context, plane, names string) error {
	wanted := splitNames(names)
	return eventually(ctx, func(ctx context.Context) error {
		found, err := s.data(ctx, plane, s.hubNamespaces[s.project])
		if err != nil {
			return err
		}
		if has := slices.Sorted(maps.Keys(found)); !slices.Equal(has, wanted) {
			return fmt.Errorf("%s has %q, not %q", plane, has, wanted)
		}
		return nil
	})
}

// dataIsTheProjects compares everything in the cell with its original, and wants something to be there.
func (s *scenario) dataIsTheProjects(ctx context.Context, cell string) error {
	return eventually(ctx, func(ctx context.Context) error {
		originals, err := s.data(ctx, "project/"+s.project, s.namespace)
		if err != nil {
			return err
		}
		copies, err := s.data(ctx, "cell/"+cell, s.hubNamespaces[s.project])
		if err != nil {
			return err
		}
		if len(copies) == 0 {
			return errors.New("the cell has no data")
		}
		for name, copied := range copies {
			original := originals[name]
			if original == nil || !maps.Equal(heldBy(original), heldBy(copied)) {
				return fmt.Errorf("%s in the cell is not what the project has", name)
			}
			secret, isSecret := copied.(*corev1.Secret)
			if source, ok := original.(*corev1.Secret); isSecret && ok && source.Type != secret.Type {
				return fmt.Errorf("type of %s in the cell is %s, not %s", name, secret.Type, source.Type)
			}
			for _, annotation := range copied.GetAnnotations() {
				if isSecret && strings.Contains(annotation, string(secret.Data["password"])) && len(secret.Data["password"]) > 0 {
					return fmt.Errorf("an annotation of %s shows what it holds", name)
				}
			}
		}
		return nil
	})
}

// podGets compares what a Pod mounts, has in its environment and pulls with what a template was made to name.
func (s *scenario) podGets(ctx context.Context, cell, name, data string) error {
	c, err := s.client("cell/"+cell, admin)
	if err != nil {
		return err
	}
	pod := &corev1.Pod{}
	if err := c.Get(ctx, s.cellKey(name), pod); err != nil {
		return err
	}
	var mounted, inEnvironment []string
	for _, volume := range pod.Spec.Volumes {
		switch {
		case volume.ConfigMap != nil:
			mounted = append(mounted, "ConfigMap "+volume.ConfigMap.Name)
		case volume.Secret != nil:
			mounted = append(mounted, "Secret "+volume.Secret.SecretName)
		}
	}
	for _, env := range pod.Spec.Containers[0].Env {
		switch {
		case env.ValueFrom != nil && env.ValueFrom.ConfigMapKeyRef != nil:
			inEnvironment = append(inEnvironment, "ConfigMap "+env.ValueFrom.ConfigMapKeyRef.Name)
		case env.ValueFrom != nil && env.ValueFrom.SecretKeyRef != nil:
			inEnvironment = append(inEnvironment, "Secret "+env.ValueFrom.SecretKeyRef.Name)
		}
	}
	if len(pod.Spec.Containers[0].VolumeMounts) != len(mounted) {
		return fmt.Errorf("mounts are %v", pod.Spec.Containers[0].VolumeMounts)
	}
	for _, found := range [][]string{mounted, inEnvironment} {
		for _, secret := range pod.Spec.ImagePullSecrets {
			found = append(found, "pull Secret "+secret.Name)
		}
		if slices.Sort(found); !slices.Equal(found, splitNames(data)) {
			return fmt.Errorf("the Pod gets %q", found)
		}
	}
	return nil
}

func (s *scenario) goesWith(ctx context.Context, kind, name, deployments string) error {
	return eventually(ctx, func(ctx context.Context) error {
		found, err := s.data(ctx, "hub", s.hubNamespaces[s.project])
		if err != nil {
			return err
		}
		copied := found[kind+" "+name]
		if copied == nil {
			return fmt.Errorf("the hub has no %s %s", kind, name)
		}
		var owners []string
		for _, owner := range copied.GetOwnerReferences() {
			owners = append(owners, owner.Name)
		}
		if !slices.Equal(owners, splitNames(deployments)) {
			return fmt.Errorf("its owners are %q", owners)
		}
		return nil
	})
}

// dataCondition waits until a deployment says this of its data, of its newest generation.
func (s *scenario) dataCondition(ctx context.Context, name, reason, message string) error {
	wanted := metav1.ConditionFalse
	if reason == v1alpha.ReasonReferencedDataPresent {
		wanted = metav1.ConditionTrue
	}
	return s.eventuallyDeployment(ctx, name, func(deployment *v1alpha.WorkloadDeployment) error {
		condition := meta.FindStatusCondition(deployment.Status.Conditions, v1alpha.ConditionReferencedDataReady)
		if condition == nil || condition.Status != wanted || condition.Reason != reason || !strings.Contains(condition.Message, message) ||
			condition.ObservedGeneration != deployment.Generation {
			return fmt.Errorf("condition ReferencedDataReady is %+v", condition)
		}
		return nil
	})
}

// held is by what an Instance is held, and what is said of it.
type held struct{ gate, message string }

// isHeld waits until an Instance is held, and checks that nothing of it runs.
func (s *scenario) isHeld(ctx context.Context, cell, name string, by held) error {
	c, err := s.client("cell/"+cell, admin)
	if err != nil {
		return err
	}
	if err := eventually(ctx, func(ctx context.Context) error {
		instance := &v1alpha.Instance{}
		if err := c.Get(ctx, s.cellKey(name), instance); err != nil {
			return err
		}
		condition := meta.FindStatusCondition(instance.Status.Conditions, v1alpha.ConditionReferencedDataReady)
		if condition == nil || condition.Reason != v1alpha.ReasonAwaitingPropagation || !strings.HasSuffix(condition.Message, by.message) ||
			!slices.Contains(instance.Spec.Controller.SchedulingGates, v1alpha.SchedulingGate{Name: by.gate}) {
			return fmt.Errorf("gates are %v, condition ReferencedDataReady is %+v", instance.Spec.Controller.SchedulingGates, condition)
		}
		programmed := meta.FindStatusCondition(instance.Status.Conditions, v1alpha.ConditionProgrammed)
		if programmed == nil || programmed.Reason != v1alpha.ReasonPendingProgramming {
			return fmt.Errorf("condition Programmed is %+v", programmed)
		}
		return nil
	}); err != nil {
		return err
	}
	return notFound(c.Get(ctx, s.cellKey(name), &corev1.Pod{}), "Pod "+name)
}

// logsKeepSecrets reads every log of the add-on's processes.
func (s *scenario) logsKeepSecrets() error {
	if len(s.passwords) == 0 {
		return errors.New("the scenario has kept no Secret")
	}
	logs := 0
	for _, process := range s.federation.Status() {
		if !strings.HasPrefix(process.Name, "karmada-compute") {
			continue
		}
		logs++
		log, err := os.ReadFile(process.Log)
		if err != nil {
			return err
		}
		for _, password := range s.passwords {
			for _, shape := range []string{password, base64.StdEncoding.EncodeToString([]byte(password))} {
				if bytes.Contains(log, []byte(shape)) {
					return fmt.Errorf("%s shows what a Secret holds", process.Log)
				}
			}
		}
	}
	// Replicas and agents at least.
	if logs < s.addOn.Replicas()+len(s.cells()) {
		return fmt.Errorf("only %d logs were found", logs)
	}
	return nil
}
