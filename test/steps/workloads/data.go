// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package workloads

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cucumber/godog"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/rand"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/templates"
	"github.com/karmada-compute/karmada-compute/test/steps/objects"
	"github.com/karmada-compute/karmada-compute/test/steps/world"
)

// addDataSteps adds the sentences about ConfigMaps and Secrets, written as "ConfigMap <name>" and "Secret <name>".
func addDataSteps(sc world.Sentences) {
	sc.Step(`^the consumer keeps$`, func(ctx context.Context, table *godog.Table) error { return from(ctx).keepData(ctx, table) })
	sc.Step(`^the consumer changes "([^"]*)" of "(ConfigMap|Secret) ([^"]*)" (\d+) times, each is in cells "([^"]*)" at most (\d+) seconds after$`,
		func(ctx context.Context, key, kind, name string, times int, cells string, seconds int) error {
			return from(ctx).changesArrive(ctx, dataChanges{kind, name, key, times, world.SplitNames(cells), time.Duration(seconds) * time.Second})
		})
	sc.Step(`^(the hub|cell "[^"]*") keeps exactly "([^"]*)"$`, func(ctx context.Context, plane, names string) error {
		return from(ctx).hasData(ctx, plane, names)
	})
	sc.Step(`^the data in cell "([^"]*)" equals the project's data$`, func(ctx context.Context, cell string) error {
		return from(ctx).dataIsTheProjects(ctx, cell)
	})
	sc.Step(`^no log of the add-on contains a value of a Secret$`, func(ctx context.Context) error { return from(ctx).logsKeepSecrets() })
}

// valueOf reads "a random password", which is remembered, "<n> bytes", or the value itself.
func (s Steps) valueOf(text string) string {
	if text == "a random password" {
		s.Passwords = append(s.Passwords, rand.String(24))
		return s.Passwords[len(s.Passwords)-1]
	}
	if count, found := strings.CutSuffix(text, " bytes"); found {
		if bytes, err := strconv.Atoi(count); err == nil {
			return strings.Repeat("x", bytes)
		}
	}
	return text
}

// keepData creates "<kind> <name>", "immutable <kind> <name>" and "typed" Secrets.
func (s Steps) keepData(ctx context.Context, table *godog.Table) error {
	for _, row := range world.Rows(table) {
		words := strings.Fields(row["data"])
		kind, name, value := words[len(words)-2], words[len(words)-1], s.valueOf(row["value"])
		object := &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "v1", "kind": kind, textOf(kind): map[string]any{row["key"]: value},
		}}
		object.SetNamespace(s.Namespace)
		object.SetName(name)
		if kind == templates.KindSecret {
			// As kubectl does: the annotation holds all content a second time.
			object.SetAnnotations(map[string]string{corev1.LastAppliedConfigAnnotation: value})
		}
		switch words[0] {
		case "immutable":
			object.Object["immutable"] = true
		case "typed":
			object.Object["type"] = "example.com/typed"
		}
		if err := s.Client(s.Plane(""), world.Consumer).Create(ctx, object); err != nil {
			return err
		}
	}
	return nil
}

// textOf returns the field for the text of a ConfigMap or Secret.
func textOf(kind string) string {
	if kind == templates.KindSecret {
		return "stringData"
	}
	return "data"
}

// dataChanges are changes of an object that cells should receive.
type dataChanges struct {
	kind, name, key string
	times           int
	cells           []string
	limit           time.Duration
}

// changesArrive measures the time from the answer to each write until each cell has the change.
func (s Steps) changesArrive(ctx context.Context, changes dataChanges) error {
	worst, resource := time.Duration(0), strings.ToLower(changes.kind)
	for range changes.times {
		value := s.valueOf("a random password")
		if err := objects.In(s.Scenario).Patch(ctx, "the consumer", fmt.Sprintf("%s %q", resource, changes.name),
			fmt.Sprintf(`{%q:{%q:%q}}`, textOf(changes.kind), changes.key, value)); err != nil {
			return err
		}
		began := time.Now()
		if changes.kind == templates.KindSecret {
			value = base64.StdEncoding.EncodeToString([]byte(value))
		}
		for _, cell := range changes.cells {
			// The polling interval must not determine the result.
			if err := wait.PollUntilContextTimeout(ctx, world.FirstInterval/3, world.Patience, true, func(ctx context.Context) (bool, error) {
				found, err := s.Get(ctx, fmt.Sprintf("%s %q in cell %q", resource, changes.name, cell))
				if err != nil {
					return false, client.IgnoreNotFound(err)
				}
				held, err := world.Field(found, "data."+changes.key)
				return held == value, err
			}); err != nil {
				return err
			}
		}
		worst = max(worst, time.Since(began))
	}
	fmt.Fprintf(s.Out, "changes of a %s were in the cells at most %s after the write\n", changes.kind, worst.Round(time.Millisecond))
	if worst > changes.limit {
		return fmt.Errorf("a change of %s %s was in the cells %s after the write", changes.kind, changes.name, worst)
	}
	return nil
}

// LetName makes a template name this data, and no other: each object as a volume and, except for "pull Secret <name>",
// in the environment; "optional <kind> <name>" may be missing.
func LetName(spec *v1alpha.InstanceSpec, data string) {
	sandbox := spec.Runtime.Sandbox
	container := &sandbox.Containers[0]
	sandbox.ImagePullSecrets, container.Env, container.VolumeAttachments, spec.Volumes = nil, nil, nil, nil
	for _, one := range world.SplitNames(data) {
		words := strings.Fields(one)
		kind, name := words[len(words)-2], words[len(words)-1]
		if words[0] == "pull" {
			sandbox.ImagePullSecrets = append(sandbox.ImagePullSecrets, v1alpha.ImagePullSecretReference{Name: name})
			continue
		}
		var optional *bool
		if words[0] == "optional" {
			optional = new(true)
		}
		volume, env := dataSources(kind, name, optional)
		volume.Name = strings.ToLower(kind) + "-" + name
		env.Name = strings.ToUpper(strings.ReplaceAll(volume.Name, "-", "_"))
		spec.Volumes = append(spec.Volumes, volume)
		container.VolumeAttachments = append(container.VolumeAttachments,
			v1alpha.VolumeAttachment{Name: volume.Name, MountPath: new("/data/" + volume.Name)})
		container.Env = append(container.Env, env)
	}
}

// dataSources returns a volume of an object, and a variable with one of its values.
func dataSources(kind, name string, optional *bool) (v1alpha.InstanceVolume, corev1.EnvVar) {
	local := corev1.LocalObjectReference{Name: name}
	var volume v1alpha.InstanceVolume
	var from corev1.EnvVarSource
	if kind == templates.KindSecret {
		volume.Secret = &corev1.SecretVolumeSource{SecretName: name, Optional: optional}
		from.SecretKeyRef = &corev1.SecretKeySelector{LocalObjectReference: local, Key: "password", Optional: optional}
	} else {
		volume.ConfigMap = &corev1.ConfigMapVolumeSource{LocalObjectReference: local, Optional: optional}
		from.ConfigMapKeyRef = &corev1.ConfigMapKeySelector{LocalObjectReference: local, Key: "greeting", Optional: optional}
	}
	return volume, corev1.EnvVar{ValueFrom: &from}
}

// data returns the ConfigMaps and Secrets of the scenario's namespace, as "<kind> <name>".
func (s Steps) data(ctx context.Context, plane string) (map[string]*unstructured.Unstructured, error) {
	all := map[string]*unstructured.Unstructured{}
	for _, resource := range []string{"configmaps", "secrets"} {
		objects, err := s.List(ctx, plane, resource)
		if err != nil {
			return nil, err
		}
		for i := range objects {
			all[objects[i].GetKind()+" "+objects[i].GetName()] = &objects[i]
		}
	}
	return all, nil
}

func (s Steps) hasData(ctx context.Context, plane, names string) error {
	wanted := world.SplitNames(names)
	return world.Eventually(ctx, func(ctx context.Context) error {
		found, err := s.data(ctx, s.Plane(plane))
		if has := slices.Sorted(maps.Keys(found)); err == nil && !slices.Equal(has, wanted) {
			err = fmt.Errorf("%s has %q", plane, has)
		}
		return err
	})
}

// dataIsTheProjects compares all data in the cell with its originals, and expects at least one object.
func (s Steps) dataIsTheProjects(ctx context.Context, cell string) error {
	return world.Eventually(ctx, func(ctx context.Context) error {
		originals, err := s.data(ctx, s.Plane(""))
		if err != nil {
			return err
		}
		copies, err := s.data(ctx, "cell/"+cell)
		if err == nil && len(copies) == 0 {
			err = errors.New("the cell has no data")
		}
		for name, copied := range copies {
			original := originals[name]
			if original == nil || !equality.Semantic.DeepEqual(original.Object["data"], copied.Object["data"]) {
				return fmt.Errorf("%s in the cell is not what the project has", name)
			}
			if !equality.Semantic.DeepEqual(original.Object["type"], copied.Object["type"]) {
				return fmt.Errorf("type of %s in the cell is %v, not %v", name, copied.Object["type"], original.Object["type"])
			}
			for _, annotation := range copied.GetAnnotations() {
				if slices.ContainsFunc(s.Passwords, func(password string) bool { return strings.Contains(annotation, password) }) {
					return fmt.Errorf("an annotation of %s shows what it holds", name)
				}
			}
		}
		return err
	})
}

// logsKeepSecrets reads every log of the add-on's processes.
func (s Steps) logsKeepSecrets() error {
	if len(s.Passwords) == 0 {
		return errors.New("the scenario has kept no Secret")
	}
	logs := 0
	// The log of a container is named after its node, namespace, Pod and container.
	paths, err := filepath.Glob(filepath.Join(s.Federation.Folder(), "log", "*_*_karmada-compute*.log"))
	if err != nil {
		return err
	}
	for _, path := range paths {
		logs++
		log, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, password := range s.Passwords {
			for _, shape := range []string{password, base64.StdEncoding.EncodeToString([]byte(password))} {
				if bytes.Contains(log, []byte(shape)) {
					return fmt.Errorf("%s shows what a Secret holds", path)
				}
			}
		}
	}
	// At least the logs of replicas and agents.
	if logs < s.AddOn.Replicas()+len(s.Cells()) {
		return fmt.Errorf("only %d logs were found", logs)
	}
	return nil
}
