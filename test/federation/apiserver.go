// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package federation

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/client-go/rest"

	"github.com/karmada-compute/karmada-compute/testenv/tools"
)

// serviceRange is the service IP range of every kube-apiserver.
const serviceRange = "10.96.0.0/16"

// apiServer describes one kube-apiserver. All share one etcd, each with its own
// prefix. As with Milo, none has credentials for webhooks.
type apiServer struct {
	plane string // "host", "hub", "milo-root", "cell/<name>" or "project-plane/<name>"
	port  int
	// storage is the prefix of its keys in etcd. Default: plane.
	storage string
	// small disables the APIs that a plane without workloads does not need: the
	// server starts faster and needs less memory.
	small bool
	// kubelets gives it a client certificate for kubelets: for logs, exec and port-forward.
	kubelets bool
}

// smallAPIs are the built-in APIs of Milo's control planes. Milo's router hides
// what Milo does not serve of these.
var smallAPIs = []string{
	"api/all=false", "v1=true", "admissionregistration.k8s.io/v1=true", "apiextensions.k8s.io/v1=true",
	"apiregistration.k8s.io/v1=true", "authentication.k8s.io/v1=true", "authorization.k8s.io/v1=true",
	"coordination.k8s.io/v1=true", "discovery.k8s.io/v1=true", "flowcontrol.apiserver.k8s.io/v1=true",
	"rbac.authorization.k8s.io/v1=true",
	// Hidden, but a kube-apiserver does not become ready without it.
	"networking.k8s.io/v1=true",
}

// smallWithout are the admission plugins that would wait for APIs that smallAPIs
// lacks.
var smallWithout = []string{
	"DefaultIngressClass", "DefaultStorageClass", "PersistentVolumeClaimResize", "PodSecurity", "PodTopologyLabels",
	"Priority", "ResourceQuota", "RuntimeClass", "StorageObjectInUseProtection", "TaintNodesByCondition",
}

// planeName returns a plane's name as part of a process or file name.
func planeName(plane string) string { return strings.ReplaceAll(plane, "/", "-") }

// apiServerName returns the process name of a plane's kube-apiserver.
func apiServerName(plane string) string { return planeName(plane) + "-kube-apiserver" }

// startAPIServer starts a kube-apiserver and waits until it is ready.
func (f *Federation) startAPIServer(ctx context.Context, s apiServer) error {
	public, private, err := f.pki.serviceAccountKeys(planeName(s.plane))
	if err != nil {
		return err
	}
	serverCert, serverKey := f.pki.pair("server")
	args := []string{
		"--etcd-servers=http://" + address(f.port("etcd")),
		"--etcd-prefix=/" + cmp.Or(s.storage, s.plane),
		fmt.Sprintf("--secure-port=%d", s.port),
		"--bind-address=127.0.0.1",
		"--advertise-address=127.0.0.1",
		"--endpoint-reconciler-type=none",
		"--tls-cert-file=" + serverCert,
		"--tls-private-key-file=" + serverKey,
		"--tls-min-version=VersionTLS13",
		"--client-ca-file=" + f.pki.caFile(),
		"--authorization-mode=RBAC",
		"--service-account-issuer=https://" + planeName(s.plane) + ".federation.local",
		"--service-account-key-file=" + public,
		"--service-account-signing-key-file=" + private,
		"--service-cluster-ip-range=" + serviceRange,
		"--audit-policy-file=" + f.auditPolicy(),
		"--audit-log-path=" + f.auditLog(s.plane),
		"--audit-log-maxsize=4096", // megabytes; Writes reads one file
		"--max-requests-inflight=3000",
		"--max-mutating-requests-inflight=1000",
		"--profiling=false",
	}
	args = append(append(args, f.frontProxy(s.plane)...), f.featureGates()...)
	if s.kubelets {
		certFile, keyFile, err := f.pki.client(subject{name: kubeletClient, groups: []string{"system:masters"}})
		if err != nil {
			return err
		}
		args = append(args, "--kubelet-client-certificate="+certFile, "--kubelet-client-key="+keyFile,
			"--kubelet-preferred-address-types=InternalIP")
	}
	var without []string
	if s.plane != planeHost {
		// It would mount a token in every Pod of an Instance, which no container reads.
		without = append(without, "ServiceAccount")
	}
	if s.small {
		without = append(without, smallWithout...)
		args = append(args, "--runtime-config="+strings.Join(smallAPIs, ","), "--enable-priority-and-fairness=false")
	}
	if len(without) > 0 {
		args = append(args, "--disable-admission-plugins="+strings.Join(without, ","))
	}
	return f.start(ctx, Process{
		Name: apiServerName(s.plane), Path: f.binaryOf(s.plane, tools.KubeAPIServer), Args: args,
		Ready: f.httpsReady(s.port, "/readyz"), stage: stageServer,
	})
}

// featureGates returns the flag with the federation's feature gates.
func (f *Federation) featureGates() []string {
	if f.state.FeatureGates == "" {
		return nil
	}
	return []string{"--feature-gates=" + f.state.FeatureGates}
}

// frontProxy returns the flags with which a kube-apiserver accepts a front proxy (all except the host's and the cells')
// and acts as one for aggregated APIs (the hub's). Each file that a kube-apiserver need not watch saves inotify
// instances, of which many systems allow 128 per user.
func (f *Federation) frontProxy(plane string) []string {
	if plane == planeHost || strings.HasPrefix(plane, planeCell) {
		return nil
	}
	args := []string{
		"--requestheader-client-ca-file=" + f.pki.caFile(),
		"--requestheader-allowed-names=" + frontProxyName,
		"--requestheader-extra-headers-prefix=X-Remote-Extra-",
		"--requestheader-group-headers=X-Remote-Group",
		"--requestheader-username-headers=X-Remote-User",
	}
	if plane == planeHub {
		certFile, keyFile := f.pki.pair("front-proxy")
		args = append(args, "--proxy-client-cert-file="+certFile, "--proxy-client-key-file="+keyFile)
	}
	return args
}

// controllers are the controllers that every plane needs: they empty namespaces and garbage-collect owned objects.
var controllers = []string{"namespace-controller", "garbage-collector-controller"}

// controllerManager describes one kube-controller-manager.
type controllerManager struct {
	plane       string
	port        int
	controllers []string
	// args are the additional arguments of this plane.
	args []string
}

func (f *Federation) startControllerManager(ctx context.Context, m controllerManager) error {
	_, private, err := f.pki.serviceAccountKeys(planeName(m.plane))
	if err != nil {
		return err
	}
	args, err := f.kubeComponent(m.plane, controllerManagerUser, m.port)
	if err != nil {
		return err
	}
	args = append(args,
		"--controllers="+strings.Join(f.controllerNames(m), ","),
		"--root-ca-file="+f.pki.caFile(),
		"--service-account-private-key-file="+private,
		"--kube-api-qps=1000", "--kube-api-burst=2000",
	)
	args = append(append(args, m.args...), f.featureGates()...)
	return f.start(ctx, Process{
		Name: planeName(m.plane) + "-kube-controller-manager", Path: f.binaryOf(m.plane, tools.KubeControllerManager), Args: args,
		Ready: f.httpsReady(m.port, "/healthz"), stage: stageController,
	})
}

// formerControllers are the names that controllers had before Kubernetes 1.28 renamed them. A controller without one
// was not a controller of its own.
var formerControllers = map[string]string{
	"namespace-controller": "namespace", "garbage-collector-controller": "garbagecollector",
	"serviceaccount-token-controller": "serviceaccount-token",
	"serviceaccount-controller":       "serviceaccount", "clusterrole-aggregation-controller": "clusterrole-aggregation",
	"deployment-controller": "deployment",
	"replicaset-controller": "replicaset", "statefulset-controller": "statefulset", "node-lifecycle-controller": "nodelifecycle",
	"pod-garbage-collector-controller": "podgc", "horizontal-pod-autoscaler-controller": "horizontalpodautoscaling",
	"disruption-controller":                    "disruption",
	"endpointslice-controller":                 "endpointslice",
	"root-ca-certificate-publisher-controller": "root-ca-cert-publisher",
}

// controllerNames returns the names of the controllers of a plane, as its version of Kubernetes calls them.
func (f *Federation) controllerNames(m controllerManager) []string {
	names := slices.Concat(m.controllers, controllers)
	if !f.olderThan(m.plane, "1.28") {
		return names
	}
	var former []string
	for _, name := range names {
		if old, ok := formerControllers[name]; ok {
			former = append(former, old)
		}
	}
	return former
}

// olderThan reports whether the control plane of a plane has an older minor version of Kubernetes.
func (f *Federation) olderThan(plane, minor string) bool {
	own := f.state.CellKubernetesVersion
	return own != "" && strings.HasPrefix(plane, planeCell) && version.MustParseGeneric(own).LessThan(version.MustParseGeneric(minor))
}

// kubeComponent returns the flags that kube-controller-manager and
// kube-scheduler have in common.
func (f *Federation) kubeComponent(plane, user string, port int) ([]string, error) {
	kubeconfig, err := f.Kubeconfig(plane, user)
	if err != nil {
		return nil, err
	}
	serverCert, serverKey := f.pki.pair("server")
	return []string{
		"--kubeconfig=" + kubeconfig,
		"--authentication-kubeconfig=" + kubeconfig,
		"--authorization-kubeconfig=" + kubeconfig,
		fmt.Sprintf("--secure-port=%d", port),
		"--bind-address=127.0.0.1",
		"--tls-cert-file=" + serverCert,
		"--tls-private-key-file=" + serverKey,
		"--tls-min-version=VersionTLS13",
		"--leader-elect=false",
		"--profiling=false",
	}, nil
}

// startEtcd starts the federation's etcd. Its data is not needed after the
// federation, so it does not sync to disk.
func (f *Federation) startEtcd(ctx context.Context) error {
	client, peer := "http://"+address(f.port("etcd")), "http://"+address(f.port("etcd-peer"))
	return f.start(ctx, Process{
		Name: "etcd", Path: f.binary("etcd"),
		Args: []string{
			"--data-dir=" + f.folder + "/etcd",
			"--listen-client-urls=" + client, "--advertise-client-urls=" + client,
			"--listen-peer-urls=" + peer, "--initial-advertise-peer-urls=" + peer, "--initial-cluster=default=" + peer,
			"--unsafe-no-fsync", "--quota-backend-bytes=8589934592", "--log-level=warn",
		},
		Ready: httpReady(plainClient, client+"/readyz"), stage: stageStore,
	})
}

// start starts one of the federation's own processes and reports when it is
// ready.
func (f *Federation) start(ctx context.Context, p Process) error {
	if err := f.StartProcess(ctx, p); err != nil {
		return err
	}
	f.progress.printf("%s ready", p.Name)
	return nil
}

// httpsReady returns a readiness check that passes when a server with the
// federation's serving certificate answers 200 to admin.
func (f *Federation) httpsReady(port int, path string) func(context.Context) error {
	return func(ctx context.Context) error {
		client, err := f.httpClient()
		if err != nil {
			return err
		}
		defer client.CloseIdleConnections()
		return httpReady(client, "https://"+address(port)+path)(ctx)
	}
}

// httpClient returns a client that trusts the federation's CA and authenticates
// as admin.
func (f *Federation) httpClient() (*http.Client, error) {
	certFile, keyFile, err := f.pki.client(identity(Admin))
	if err != nil {
		return nil, err
	}
	return rest.HTTPClientFor(&rest.Config{
		TLSClientConfig: rest.TLSClientConfig{CAFile: f.pki.caFile(), CertFile: certFile, KeyFile: keyFile},
	})
}

// maxAnswer bounds the answer of a readiness check, in bytes.
const maxAnswer = 16 << 10

// failing returns the lines of an answer to a readiness check that name a failed check, or the whole answer.
func failing(answer []byte) string {
	var failed []string
	for line := range strings.Lines(string(answer)) {
		if strings.HasPrefix(line, "[-]") {
			failed = append(failed, strings.TrimSpace(line))
		}
	}
	if len(failed) == 0 {
		return string(answer)
	}
	return strings.Join(failed, ", ")
}

// httpReady returns a readiness check that passes when a GET is answered with
// 200.
func httpReady(client *http.Client, url string) func(context.Context) error {
	return func(ctx context.Context) (err error) {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		if err != nil {
			return err
		}
		response, err := client.Do(request)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, response.Body.Close()) }()
		if response.StatusCode != http.StatusOK {
			// The readiness of a kube-apiserver names the checks that fail.
			answer, readErr := io.ReadAll(io.LimitReader(response.Body, maxAnswer))
			return errors.Join(fmt.Errorf("%s answers %s: %s", url, response.Status, failing(answer)), readErr)
		}
		return nil
	}
}

// plainClient is for health endpoints without TLS.
var plainClient = &http.Client{}

// accepts returns a readiness check that passes when an address accepts a TCP
// connection.
func accepts(address string) func(context.Context) error {
	return func(ctx context.Context) error {
		connection, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
		if err != nil {
			return err
		}
		return connection.Close()
	}
}
