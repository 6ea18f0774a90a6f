// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package steps

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cucumber/godog"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/rand"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

func addDataSteps(sc *godog.ScenarioContext) {
	sc.Step(`^the consumer may keep data in the namespace$`, func(ctx context.Context) error { return from(ctx).allowData(ctx) })
	sc.Step(`^the consumer keeps$`, func(ctx context.Context, table *godog.Table) error { return from(ctx).keepData(ctx, table) })
	sc.Step(`^the consumer deletes "(ConfigMap|Secret) ([^"]*)"$`, func(ctx context.Context, kind, name string) error {
		s := from(ctx)
		c, err := s.client("project/"+s.project, consumer)
		if err != nil {
			return err
		}
		return c.Delete(ctx, newData(kind, s.key(name)))
	})
	sc.Step(`^the consumer changes "(ConfigMap|Secret) ([^"]*)" to hold "([^"]*)"$`, func(ctx context.Context, kind, name, value string) error {
		return from(ctx).changeData(ctx, kind, name, value)
	})
	sc.Step(`^the consumer changes "(ConfigMap|Secret) ([^"]*)" (\d+) times, each is in cells "([^"]*)" at most (\d+) seconds after$`,
		func(ctx context.Context, kind, name string, times int, cells string, seconds int) error {
			return from(ctx).changesArrive(ctx, dataChanges{kind, name, times, splitNames(cells), time.Duration(seconds) * time.Second})
		})
	sc.Step(`^the consumer creates Workload "([^"]*)" which names "([^"]*)" with$`, func(ctx context.Context, name, data string, placements *godog.Table) error {
		return from(ctx).createWorkloadNaming(ctx, name, data, placements)
	})
	sc.Step(`^the consumer lets Workload "([^"]*)" name "([^"]*)"$`, func(ctx context.Context, name, data string) error {
		return from(ctx).changeWorkload(ctx, name, func(workload *v1alpha.Workload) { letName(&workload.Spec.Template.Spec, data) })
	})
	sc.Step(`^the add-on may (not )?read Secrets in projects(?: again)?$`, func(ctx context.Context, not string) error {
		return from(ctx).withholdSecrets(ctx, not != "")
	})
	addHubDataSteps(sc)
	addFoundDataSteps(sc)
}

func addHubDataSteps(sc *godog.ScenarioContext) {
	sc.Step(`^"(ConfigMap|Secret) ([^"]*)" on the hub is edited by hand$`, func(ctx context.Context, kind, name string) error {
		s := from(ctx)
		return s.onHub(ctx, func(c client.Client) error {
			patch := client.RawPatch(types.MergePatchType, []byte(`{"data":{"greeting":"changed","added":"more"},"metadata":{"labels":{"`+v1alpha.LabelProjectUID+`":"wrong"}}}`))
			return c.Patch(ctx, newData(kind, s.cellKey(name)), patch, client.FieldOwner("somebody"))
		})
	})
	sc.Step(`^"(ConfigMap|Secret) ([^"]*)" on the hub is deleted by hand$`, func(ctx context.Context, kind, name string) error {
		s := from(ctx)
		return s.onHub(ctx, func(c client.Client) error { return c.Delete(ctx, newData(kind, s.cellKey(name))) })
	})
	sc.Step(`^somebody else puts "(ConfigMap|Secret) ([^"]*)" on the hub$`, func(ctx context.Context, kind, name string) error {
		s := from(ctx)
		return s.onHub(ctx, func(c client.Client) error {
			return c.Create(ctx, holding(newData(kind, s.cellKey(name)), "owner", "somebody else"))
		})
	})
	sc.Step(`^"(ConfigMap|Secret) ([^"]*)" on the hub is still somebody else's$`, func(ctx context.Context, kind, name string) error {
		s := from(ctx)
		return s.onHub(ctx, func(c client.Client) error {
			found := newData(kind, s.cellKey(name))
			if err := c.Get(ctx, client.ObjectKeyFromObject(found), found); err != nil {
				return err
			}
			if held := heldBy(found); held["owner"] != "somebody else" || len(held) != 1 || len(found.GetLabels()) > 0 {
				return fmt.Errorf("it holds %v and has labels %v", held, found.GetLabels())
			}
			return nil
		})
	})
}

func (s *scenario) onHub(_ context.Context, do func(client.Client) error) error {
	c, err := s.client("hub", admin)
	if err != nil {
		return err
	}
	return do(c)
}

// allowData lets the consumer keep ConfigMaps and Secrets in the scenario's namespace alone.
func (s *scenario) allowData(ctx context.Context) error {
	c, err := s.client("project/"+s.project, admin)
	if err != nil {
		return err
	}
	role := &rbacv1.Role{
		ObjectMeta: s.meta("data"),
		Rules:      []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"configmaps", "secrets"}, Verbs: []string{"*"}}},
	}
	binding := &rbacv1.RoleBinding{
		ObjectMeta: s.meta("data"),
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: role.Name},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: consumer}},
	}
	if err := errors.Join(c.Create(ctx, role), c.Create(ctx, binding)); err != nil {
		return err
	}
	user, err := s.client("project/"+s.project, consumer)
	if err != nil {
		return err
	}
	return eventually(ctx, func(ctx context.Context) error {
		return user.List(ctx, &corev1.SecretList{}, client.InNamespace(s.namespace))
	})
}

// withholdSecrets takes the right to read Secrets from the add-on in every project, or gives it back.
func (s *scenario) withholdSecrets(ctx context.Context, withhold bool) error {
	root, err := s.client("milo", admin)
	if err != nil {
		return err
	}
	role := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "karmada-compute-project"}}
	if !withhold {
		err := updateWhenFree(ctx, root, role, func(role *rbacv1.ClusterRole) { role.Rules = s.withheld })
		s.withheld = nil
		return err
	}
	return updateWhenFree(ctx, root, role, func(role *rbacv1.ClusterRole) {
		s.withheld = slices.Clone(role.Rules)
		role.Rules = slices.DeleteFunc(role.Rules, func(rule rbacv1.PolicyRule) bool { return slices.Contains(rule.Resources, "secrets") })
	})
}

// newData is a ConfigMap or Secret that holds nothing.
func newData(kind string, name types.NamespacedName) client.Object {
	metadata := metav1.ObjectMeta{Namespace: name.Namespace, Name: name.Name}
	if kind == v1alpha.KindSecret {
		return &corev1.Secret{ObjectMeta: metadata}
	}
	return &corev1.ConfigMap{ObjectMeta: metadata}
}

// holding is obj with one value and nothing else in it.
func holding(obj client.Object, key, value string) client.Object {
	switch obj := obj.(type) {
	case *corev1.ConfigMap:
		obj.Data = map[string]string{key: value}
	case *corev1.Secret:
		obj.Data = map[string][]byte{key: []byte(value)}
	}
	return obj
}

// heldBy is what a ConfigMap or Secret holds.
func heldBy(obj client.Object) map[string]string {
	held := map[string]string{}
	switch obj := obj.(type) {
	case *corev1.ConfigMap:
		maps.Copy(held, obj.Data)
	case *corev1.Secret:
		for key, value := range obj.Data {
			held[key] = string(value)
		}
	}
	return held
}

// valueOf reads "a random password", which is remembered, "<n> bytes", or the value itself.
func (s *scenario) valueOf(text string) string {
	if text == "a random password" {
		s.passwords = append(s.passwords, rand.String(24))
		return s.passwords[len(s.passwords)-1]
	}
	if count, found := strings.CutSuffix(text, " bytes"); found {
		if bytes, err := strconv.Atoi(count); err == nil {
			return strings.Repeat("x", bytes)
		}
	}
	return text
}

func (s *scenario) keepData(ctx context.Context, table *godog.Table) error {
	c, err := s.client("project/"+s.project, consumer)
	if err != nil {
		return err
	}
	for _, row := range rows(table) {
		words := strings.Fields(row["data"])
		kind, name := words[len(words)-2], words[len(words)-1]
		obj := holding(newData(kind, s.key(name)), row["key"], s.valueOf(row["value"]))
		switch obj := obj.(type) {
		case *corev1.ConfigMap:
			if words[0] == "immutable" {
				obj.Immutable = new(true)
			}
		case *corev1.Secret:
			// What kubectl does: a second place that holds everything.
			obj.Annotations = map[string]string{corev1.LastAppliedConfigAnnotation: string(obj.Data[row["key"]])}
			switch words[0] {
			case "typed":
				obj.Type = "example.com/typed"
			case "token":
				obj.Type = corev1.SecretTypeServiceAccountToken
				obj.Annotations[corev1.ServiceAccountNameKey] = name
				// Kubernetes removes a token without its account.
				if err := s.addServiceAccount(ctx, name); err != nil {
					return err
				}
			}
		}
		if err := c.Create(ctx, obj); err != nil {
			return err
		}
	}
	return nil
}

func (s *scenario) addServiceAccount(ctx context.Context, name string) error {
	c, err := s.client("project/"+s.project, admin)
	if err != nil {
		return err
	}
	return c.Create(ctx, &corev1.ServiceAccount{ObjectMeta: s.meta(name)})
}

func (s *scenario) changeData(ctx context.Context, kind, name, value string) error {
	c, err := s.client("project/"+s.project, consumer)
	if err != nil {
		return err
	}
	return updateWhenFree(ctx, c, newData(kind, s.key(name)), func(obj client.Object) {
		for key := range heldBy(obj) {
			holding(obj, key, value)
		}
	})
}

// dataChanges are changes of an object that should be seen in cells.
type dataChanges struct {
	kind, name string
	times      int
	cells      []string
	limit      time.Duration
}

// changesArrive measures from the answer to each write until each cell has it.
func (s *scenario) changesArrive(ctx context.Context, changes dataChanges) error {
	worst := time.Duration(0)
	for range changes.times {
		value := s.valueOf("a random password")
		if err := s.changeData(ctx, changes.kind, changes.name, value); err != nil {
			return err
		}
		began := time.Now()
		for _, cell := range changes.cells {
			if err := s.arrives(ctx, cell, changes, value); err != nil {
				return err
			}
		}
		worst = max(worst, time.Since(began))
	}
	fmt.Fprintf(s.out, "changes of a %s were in the cells at most %s after the write\n", changes.kind, worst.Round(time.Millisecond))
	if worst > changes.limit {
		return fmt.Errorf("a change of %s %s was in the cells %s after the write", changes.kind, changes.name, worst)
	}
	return nil
}

// arrives looks often: what is measured must not be how often is looked.
func (s *scenario) arrives(ctx context.Context, cell string, changes dataChanges, value string) error {
	c, err := s.client("cell/"+cell, admin)
	if err != nil {
		return err
	}
	return wait.PollUntilContextTimeout(ctx, interval/10, patience, true, func(ctx context.Context) (bool, error) {
		found := newData(changes.kind, s.cellKey(changes.name))
		if err := c.Get(ctx, client.ObjectKeyFromObject(found), found); err != nil {
			return false, client.IgnoreNotFound(err)
		}
		for _, held := range heldBy(found) {
			if held == value {
				return true, nil
			}
		}
		return false, nil
	})
}

// createWorkloadNaming creates a Workload that names data. The webhook hears of a right to it a moment later than the
// API server that gave it.
func (s *scenario) createWorkloadNaming(ctx context.Context, name, data string, table *godog.Table) error {
	workload, err := s.workload(name, table)
	if err != nil {
		return err
	}
	letName(&workload.Spec.Template.Spec, data)
	c, err := s.client("project/"+s.project, consumer)
	if err != nil {
		return err
	}
	return eventually(ctx, func(ctx context.Context) error {
		err := c.Create(ctx, workload)
		if apierrors.IsAlreadyExists(err) {
			return nil
		}
		return err
	})
}

// letName makes a template name data, and no other: each object as a volume and, unless it is "pull Secret <name>", in
// the environment; "optional <kind> <name>" may be missing.
func letName(spec *v1alpha.InstanceSpec, data string) {
	sandbox := spec.Runtime.Sandbox
	container := &sandbox.Containers[0]
	sandbox.ImagePullSecrets, container.Env, container.VolumeAttachments, spec.Volumes = nil, nil, nil, nil
	for _, one := range splitNames(data) {
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

// dataSources are a volume of an object, and a variable that takes one value of it.
func dataSources(kind, name string, optional *bool) (v1alpha.InstanceVolume, corev1.EnvVar) {
	local := corev1.LocalObjectReference{Name: name}
	var volume v1alpha.InstanceVolume
	var from corev1.EnvVarSource
	if kind == v1alpha.KindSecret {
		volume.Secret = &corev1.SecretVolumeSource{SecretName: name, Optional: optional}
		from.SecretKeyRef = &corev1.SecretKeySelector{LocalObjectReference: local, Key: "password", Optional: optional}
	} else {
		volume.ConfigMap = &corev1.ConfigMapVolumeSource{LocalObjectReference: local, Optional: optional}
		from.ConfigMapKeyRef = &corev1.ConfigMapKeySelector{LocalObjectReference: local, Key: "greeting", Optional: optional}
	}
	return volume, corev1.EnvVar{ValueFrom: &from}
}
