// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package federation

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

const (
	karmadaSystem = "karmada-system"
	cityLabel     = "topology.datum.net/city-code"
)

// apiRates raise Karmada's client limits: the default of 40 requests a second
// limits a federation to about five new objects a second with an idle CPU.
var apiRates = []string{"--kube-api-qps=1000", "--kube-api-burst=2000"}

// clusterHealth shortens Karmada's detection of a lost cell to about 15 s instead of 40, and of its return to 5 s. A
// cell counts as lost after five failed status updates, so that one slow response is not enough.
var clusterHealth = []string{
	"--cluster-status-update-frequency=3s", "--cluster-failure-threshold=15s", "--cluster-success-threshold=3s",
	// Failures during the loss of a cell are retried within 5 s of its return. By default the delay doubles up to 1000 s.
	"--rate-limiter-max-delay=5s", "--rate-limiter-qps=1000", "--rate-limiter-bucket-size=2000",
}

// startHub starts the hub's kube-apiserver and all of Karmada.
func (f *Federation) startHub(ctx context.Context) error {
	if err := f.startAPIServer(ctx, apiServer{plane: planeHub, port: f.port(planeHub)}); err != nil {
		return err
	}
	hub, err := f.plane(planeHub)
	if err != nil {
		return err
	}
	if err := hub.apply(ctx, namespace(karmadaSystem), namespace("karmada-cluster")); err != nil {
		return err
	}
	// The aggregated API server needs no CRDs. The controllers start after the
	// CRDs are installed.
	group, groupCtx := errgroup.WithContext(ctx)
	group.Go(func() error { return f.startKarmadaAPI(groupCtx, hub) })
	group.Go(func() error { return f.installKarmada(groupCtx, hub) })
	if err := group.Wait(); err != nil {
		return err
	}
	group, groupCtx = errgroup.WithContext(ctx)
	group.Go(func() error {
		return f.startControllerManager(groupCtx, controllerManager{
			plane: planeHub, port: f.port(planeHub + "-kube-controller-manager"),
			controllers: []string{"serviceaccount-token-controller", "serviceaccount-controller", "clusterrole-aggregation-controller"},
		})
	})
	group.Go(func() error { return f.startKarmadaWebhook(groupCtx, hub) })
	group.Go(func() error {
		// Of a flag that is given twice the later value counts.
		return f.startKarmadaController(groupCtx, "karmada-controller-manager", slices.Concat([]string{
			"--cluster-monitor-period=2s", "--cluster-monitor-grace-period=20s", "--cluster-api-qps=1000", "--cluster-api-burst=2000",
		}, clusterHealth, f.state.ClusterHealth)...)
	})
	group.Go(func() error {
		// Karmada 1.19 has this queue by default: it tries a deployment that found no room again after five minutes.
		return f.startKarmadaController(groupCtx, "karmada-scheduler", "--enable-scheduler-estimator=false",
			"--feature-gates=PriorityBasedScheduling=true")
	})
	return group.Wait()
}

// roleFiles are the files of Karmada's module with the roles that karmadactl init, Karmada's chart and its operator
// install.
var roleFiles = []string{"admin-clusterrole-aggregation.yaml", "cluster-proxy-admin-rbac.yaml", "bootstrap-token-configuration.yaml"}

// installKarmadaRoles gives the users of the hub the rights that they have on every Karmada.
func (f *Federation) installKarmadaRoles(ctx context.Context, hub *plane) error {
	if err := hub.apply(ctx, namespace(metav1.NamespacePublic)); err != nil {
		return err
	}
	for _, file := range roleFiles {
		roles, err := karmadaRoles(filepath.Join(f.state.Karmada, "artifacts", "deploy", file))
		if err != nil {
			return err
		}
		if err := hub.apply(ctx, roles...); err != nil {
			return fmt.Errorf("install Karmada's roles: %w", err)
		}
	}
	return nil
}

// karmadaRoles reads the roles and bindings of a file, which has other objects, too.
func karmadaRoles(file string) ([]*unstructured.Unstructured, error) {
	content, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("read Karmada's roles: %w", err)
	}
	objects, err := decode(content)
	if err != nil {
		return nil, fmt.Errorf("read Karmada's roles in %s: %w", file, err)
	}
	return slices.DeleteFunc(objects, func(o *unstructured.Unstructured) bool { return o.GroupVersionKind().Group != rbacGroup }), nil
}

// installKarmada applies Karmada's CRDs and the add-on's.
func (f *Federation) installKarmada(ctx context.Context, hub *plane) error {
	if err := f.applyKarmadaCRDs(ctx, f.state.Karmada); err != nil {
		return err
	}
	if err := f.applyOwnCRDs(ctx, hub); err != nil {
		return err
	}
	if err := f.installKarmadaRoles(ctx, hub); err != nil {
		return err
	}
	f.progress.printf("Karmada's CRDs are installed on the hub")
	return nil
}

// startKarmadaAPI starts karmada-aggregated-apiserver and registers it.
func (f *Federation) startKarmadaAPI(ctx context.Context, hub *plane) error {
	const name = "karmada-aggregated-apiserver"
	kubeconfig, err := f.Kubeconfig(planeHub, name)
	if err != nil {
		return err
	}
	port := f.port(name)
	serverCert, serverKey := f.pki.pair("server")
	err = f.start(ctx, Process{
		Name: name, Path: f.binary(name),
		Args: append([]string{
			"--kubeconfig=" + kubeconfig, "--authentication-kubeconfig=" + kubeconfig, "--authorization-kubeconfig=" + kubeconfig,
			"--etcd-servers=http://" + address(f.port("etcd")), "--etcd-prefix=/karmada",
			"--tls-cert-file=" + serverCert, "--tls-private-key-file=" + serverKey, "--tls-min-version=VersionTLS13",
			"--bind-address=127.0.0.1", fmt.Sprintf("--secure-port=%d", port),
		}, apiRates...),
		Ready: f.httpsReady(port, "/readyz"), stage: stageController,
	})
	if err != nil {
		return err
	}
	ca, err := f.caBundle()
	if err != nil {
		return err
	}
	if err := hub.applyFile(ctx, "aggregation.yaml", map[string]string{"ca": ca, "port": strconv.Itoa(port)}); err != nil {
		return err
	}
	return hub.waitCondition(ctx, apiServiceResource, "v1alpha1.cluster.karmada.io", "Available")
}

// startKarmadaWebhook starts karmada-webhook and then registers it: without it
// nothing propagates, and registered before it is up it would fail writes.
func (f *Federation) startKarmadaWebhook(ctx context.Context, hub *plane) error {
	const name = "karmada-webhook"
	kubeconfig, err := f.Kubeconfig(planeHub, name)
	if err != nil {
		return err
	}
	certificates, err := f.webhookCertificates()
	if err != nil {
		return err
	}
	err = f.start(ctx, Process{
		Name: name, Path: f.binary(name),
		Args: append([]string{
			"--kubeconfig=" + kubeconfig, "--bind-address=127.0.0.1", fmt.Sprintf("--secure-port=%d", f.port(name)),
			"--cert-dir=" + certificates, "--metrics-bind-address=0", "--health-probe-bind-address=0",
		}, apiRates...),
		Ready: f.httpsReady(f.port(name), "/readyz/"), stage: stageController,
	})
	if err != nil {
		return err
	}
	content, err := os.ReadFile(filepath.Join(f.state.Karmada, "artifacts", "deploy", "webhook-configuration.yaml"))
	if err != nil {
		return fmt.Errorf("read Karmada's webhook configuration: %w", err)
	}
	ca, err := f.caBundle()
	if err != nil {
		return err
	}
	configuration := strings.NewReplacer(
		"https://karmada-webhook.karmada-system.svc:443", "https://"+address(f.port(name)), "{{caBundle}}", ca,
	).Replace(string(content))
	objects, err := decode([]byte(configuration))
	if err != nil {
		return fmt.Errorf("read Karmada's webhook configuration: %w", err)
	}
	return hub.apply(ctx, objects...)
}

// startKarmadaController starts a process that reads and writes the hub, and serves metrics and its health.
func (f *Federation) startKarmadaController(ctx context.Context, name string, args ...string) error {
	kubeconfig, err := f.Kubeconfig(planeHub, name)
	if err != nil {
		return err
	}
	health := address(f.port(name))
	return f.start(ctx, Process{
		Name: name, Path: f.binary(name),
		Args: slices.Concat([]string{
			"--kubeconfig=" + kubeconfig, "--leader-elect=false",
			"--metrics-bind-address=" + address(f.port(name+"-metrics")), "--health-probe-bind-address=" + health,
		}, apiRates, args),
		Ready: httpReady(plainClient, "http://"+health+"/healthz"), stage: stageController,
	})
}

// join joins a cell to the hub and waits until its Cluster is Ready.
func (f *Federation) join(ctx context.Context, cell Cell) error {
	if cell.Pull {
		return f.register(ctx, cell)
	}
	hubConfig, err := f.Kubeconfig(planeHub, "karmadactl")
	if err != nil {
		return err
	}
	cellConfig, err := f.Kubeconfig(planeCell+cell.Name, "karmadactl")
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, filepath.Join(f.binFolder(), "karmadactl"), "join", cell.Name,
		"--kubeconfig="+hubConfig, "--cluster-kubeconfig="+cellConfig)
	var output bytes.Buffer
	cmd.Stdout, cmd.Stderr = &output, &output
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("karmadactl join %s: %w\n%s", cell.Name, err, lastLines(output.Bytes(), tailLines))
	}
	return f.welcome(ctx, cell)
}

// welcome labels the Cluster of a cell that has joined with its city and waits
// until it is Ready.
func (f *Federation) welcome(ctx context.Context, cell Cell) error {
	hub, err := f.plane(planeHub)
	if err != nil {
		return err
	}
	if cell.City != "" {
		label := fmt.Sprintf(`{"metadata":{"labels":{%q:%q}}}`, cityLabel, strings.ToLower(cell.City))
		_, err = hub.dynamic.Resource(clusterResource).Patch(ctx, cell.Name, types.MergePatchType, []byte(label),
			metav1.PatchOptions{FieldManager: fieldManager})
		if err != nil {
			return fmt.Errorf("label Cluster %s with its city: %w", cell.Name, err)
		}
		if err := hub.configureCell(ctx, cell.Name, label); err != nil {
			return err
		}
	}
	f.progress.printf("cell %s joined", cell.Name)
	if err := hub.waitCondition(ctx, clusterResource, cell.Name, "Ready"); err != nil {
		return err
	}
	f.progress.printf("cell %s is Ready on the hub", cell.Name)
	return nil
}

// configureCell patches the namespace of a cell's Works, which Karmada makes, as an operator does who describes the
// cell by labels and annotations.
func (p *plane) configureCell(ctx context.Context, cell, patch string) error {
	namespaces := p.dynamic.Resource(namespaceResource)
	return await(ctx, readyInterval, func(ctx context.Context) error {
		_, err := namespaces.Patch(ctx, "karmada-es-"+cell, types.MergePatchType, []byte(patch), metav1.PatchOptions{FieldManager: fieldManager})
		return err
	})
}

// caBundle returns the CA certificate in base64, for webhook configurations.
func (f *Federation) caBundle() (string, error) {
	ca, err := os.ReadFile(f.pki.caFile())
	return base64.StdEncoding.EncodeToString(ca), err
}

// webhookCertificates returns a folder that has the serving certificate under
// the file names that webhook servers expect.
func (f *Federation) webhookCertificates() (string, error) {
	folder := filepath.Join(f.folder, "certificates")
	certFile, keyFile := f.pki.pair("server")
	for source, name := range map[string]string{certFile: "tls.crt", keyFile: "tls.key"} {
		content, err := os.ReadFile(source)
		if err != nil {
			return "", err
		}
		if err := writeFile(filepath.Join(folder, name), content); err != nil {
			return "", err
		}
	}
	return folder, nil
}

func namespace(name string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": name},
	}}
}
