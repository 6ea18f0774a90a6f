// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/api/resmap"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

const kustomization = `apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
namePrefix: prod-
resources: [workload.yaml]
configMapGenerator: [{name: settings, literals: [MODE=a]}]
secretGenerator: [{name: keys, literals: [KEY=b]}]
labels: [{pairs: {team: blue}, includeTemplates: true}]
images: [{name: registry.example/app, newTag: "2"}]
replicas: [{name: web, count: 5}]
configurations: [workload-config.yaml]
openapi: {path: workload-schema.json}
patches:
- patch: |
    apiVersion: compute.datumapis.com/v1alpha
    kind: Workload
    metadata: {name: web}
    spec:
      template:
        spec:
          runtime:
            sandbox:
              containers: [{name: app, env: [{name: MORE, value: "1"}]}]
      placements: [{name: main, cityCodes: [DFW, ORD]}]
`

const kustomized = `apiVersion: compute.datumapis.com/v1alpha
kind: Workload
metadata: {name: web}
spec:
  template:
    spec:
      runtime:
        resources: {}
        sandbox:
          imagePullSecrets: [{name: keys}]
          initContainers:
          - {name: first, image: "registry.example/app:1", envFrom: [{secretRef: {name: keys}}]}
          containers:
          - name: app
            image: registry.example/app:1
            envFrom: [{configMapRef: {name: settings}}]
            env:
            - {name: MODE, valueFrom: {configMapKeyRef: {name: settings, key: MODE}}}
            - {name: KEY, valueFrom: {secretKeyRef: {name: keys, key: KEY}}}
            volumeAttachments: [{name: settings, mountPath: /settings}, {name: keys, mountPath: /keys}]
          - {name: side, image: "registry.example/side:1"}
      networkInterfaces: [{network: {name: default}}]
      volumes: [{name: settings, configMap: {name: settings}}, {name: keys, secret: {secretName: keys}}]
  placements: [{name: main, cityCodes: [DFW], scaleSettings: {minReplicas: 1}}]
`

// TestKustomize: with the configuration of the documentation, kustomize treats a Workload as it treats a Deployment.
func TestKustomize(t *testing.T) {
	built := kustomize(t)
	w, names := &v1alpha.Workload{}, map[string]string{}
	for _, resource := range built.Resources() {
		names[resource.GetKind()] = resource.GetName()
		if content, err := resource.AsYAML(); err != nil || resource.GetKind() == "Workload" && yaml.UnmarshalStrict(content, w) != nil {
			t.Fatalf("%v: %s", err, content)
		}
	}
	sandbox, settings, keys := w.Spec.Template.Spec.Runtime.Sandbox, names["ConfigMap"], names["Secret"]
	if !strings.HasPrefix(settings, "prod-settings-") || !strings.HasPrefix(keys, "prod-keys-") || len(sandbox.Containers) != 2 {
		t.Fatalf("the names are %v: %+v", names, sandbox)
	}
	app, volumes := sandbox.Containers[0], w.Spec.Template.Spec.Volumes
	env := map[string]corev1.EnvVar{}
	for _, variable := range app.Env {
		env[variable.Name] = variable
	}
	for what, got := range map[string][2]string{
		"name":               {w.Name, "prod-web"},
		"image":              {app.Image, "registry.example/app:2"},
		"image of a patch":   {sandbox.Containers[1].Image, "registry.example/side:1"},
		"image at first":     {sandbox.InitContainers[0].Image, "registry.example/app:2"},
		"label":              {w.Spec.Template.Labels["team"], "blue"},
		"envFrom":            {app.EnvFrom[0].ConfigMapRef.Name, settings},
		"envFrom at first":   {sandbox.InitContainers[0].EnvFrom[0].SecretRef.Name, keys},
		"variable":           {env["MODE"].ValueFrom.ConfigMapKeyRef.Name, settings},
		"secret variable":    {env["KEY"].ValueFrom.SecretKeyRef.Name, keys},
		"patched variable":   {env["MORE"].Value, "1"},
		"volume":             {volumes[0].ConfigMap.Name, settings},
		"secret volume":      {volumes[1].Secret.SecretName, keys},
		"pull secret":        {sandbox.ImagePullSecrets[0].Name, keys},
		"cities of a patch":  {strings.Join(w.Spec.Placements[0].CityCodes, " "), "DFW ORD"},
		"path of attachment": {*app.VolumeAttachments[1].MountPath, "/keys"},
	} {
		if got[0] != got[1] {
			t.Errorf("%s: %q, want %q", what, got[0], got[1])
		}
	}
	if replicas := w.Spec.Placements[0].ScaleSettings.MinReplicas; replicas != 5 {
		t.Errorf("%d replicas", replicas)
	}
}

// kustomize builds the kustomization with the configuration of the documentation.
func kustomize(t *testing.T) resmap.ResMap {
	t.Helper()
	folder := t.TempDir()
	write := func(name, content string) {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("kustomization.yaml", kustomization)
	write("workload.yaml", kustomized)
	for _, name := range []string{"workload-config.yaml", "workload-schema.json"} {
		content, err := os.ReadFile("../docs/how-to/kustomize/" + name)
		if err != nil {
			t.Fatal(err)
		}
		write(name, string(content))
	}
	built, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), folder)
	if err != nil {
		t.Fatal(err)
	}
	return built
}
