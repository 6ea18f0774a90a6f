// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package federation

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// Admin is the user with all permissions in every plane.
const Admin = "admin"

// Requests per second of clients that are configured here: far above what one
// machine can serve, so that no measurement includes client-side throttling.
const (
	clientQPS   = 5000
	clientBurst = 10000
)

// projectPath is where Milo serves a project's control plane.
const projectPath = "/apis/resourcemanager.miloapis.com/v1alpha1/projects/%s/control-plane"

// Names of planes. A cell is planeCell+name; a project planeProject+name.
// planeMiloRoot and planeProjectDirect are the kube-apiservers behind Milo's
// router, which only the federation itself and the router call.
const (
	planeHost          = "host"
	planeHub           = "hub"
	planeMilo          = "milo"
	planeMiloRoot      = "milo-root"
	planeCell          = "cell/"
	planeProject       = "project/"
	planeProjectDirect = "project-plane/"
)

// Config returns a client configuration for a plane ("milo", "hub",
// "host" if there is one, "cell/<name>", "project/<name>") and user. The user "admin" is in
// system:masters; any other gets a client certificate with its name as user
// and group, created on first use. Clients are not throttled.
func (f *Federation) Config(plane, user string) (*rest.Config, error) {
	server, err := f.server(plane)
	if err != nil {
		return nil, err
	}
	certFile, keyFile, err := f.pki.client(identity(user))
	if err != nil {
		return nil, err
	}
	config := &rest.Config{Host: server, QPS: clientQPS, Burst: clientBurst}
	for file, data := range map[string]*[]byte{
		f.pki.caFile(): &config.CAData, certFile: &config.CertData, keyFile: &config.KeyData,
	} {
		if *data, err = os.ReadFile(file); err != nil {
			return nil, fmt.Errorf("credentials of %s for %s: %w", user, plane, err)
		}
	}
	return config, nil
}

// Kubeconfig returns the path of a kubeconfig file for a plane and user, with the same arguments as Config.
func (f *Federation) Kubeconfig(plane, user string) (string, error) {
	server, err := f.server(plane)
	if err != nil {
		return "", err
	}
	certFile, keyFile, err := f.pki.client(identity(user))
	if err != nil {
		return "", err
	}
	name := strings.ReplaceAll(plane, "/", "-")
	path := filepath.Join(f.folder, "kubeconfig", name+".kubeconfig")
	if user != Admin {
		path = filepath.Join(f.folder, "kubeconfig", name+"."+fileName(user)+".kubeconfig")
	}
	config := clientcmdapi.NewConfig()
	config.Clusters[name] = &clientcmdapi.Cluster{Server: server, CertificateAuthority: f.pki.caFile()}
	config.AuthInfos[user] = &clientcmdapi.AuthInfo{ClientCertificate: certFile, ClientKey: keyFile}
	config.Contexts[name] = &clientcmdapi.Context{Cluster: name, AuthInfo: user}
	if project, ok := strings.CutPrefix(plane, planeProject); ok {
		config.Contexts[name].Namespace = f.NamespaceIn(project)
	}
	config.CurrentContext = name
	content, err := clientcmd.Write(*config)
	if err != nil {
		return "", fmt.Errorf("kubeconfig of %s for %s: %w", user, plane, err)
	}
	if err := writeFile(path, content); err != nil {
		return "", fmt.Errorf("kubeconfig of %s for %s: %w", user, plane, err)
	}
	return path, nil
}

// access is a user of a plane.
type access struct{ plane, user string }

// kubeconfigs returns the paths of several kubeconfig files, by name.
func (f *Federation) kubeconfigs(of map[string]access) (map[string]string, error) {
	paths := make(map[string]string, len(of))
	for name, who := range of {
		var err error
		if paths[name], err = f.Kubeconfig(who.plane, who.user); err != nil {
			return nil, err
		}
	}
	return paths, nil
}

// components are users of the federation's own processes. They are in
// system:masters; their names differ so that audit logs distinguish them.
var components = []string{
	controllerManagerUser, "kube-scheduler", "kwok", "milo", "federation", nodeUser, kubeletUser,
	"karmada-controller-manager", "karmada-scheduler", "karmada-webhook", "karmada-aggregated-apiserver", "karmadactl",
	// In its cell only: on the hub the agent is another user.
	karmadaAgentUser,
}

// Users that clusters and karmadactl register assign to these components. The cells' policy identifies the components
// by them.
const (
	controllerManagerUser = "system:kube-controller-manager"
	karmadaAgentUser      = "system:serviceaccount:karmada-system:karmada-agent-sa"
)

func identity(user string) subject {
	if user == Admin || slices.Contains(components, user) {
		return subject{name: user, groups: []string{"system:masters"}}
	}
	if strings.HasPrefix(user, agentUserPrefix) {
		return subject{name: user, groups: []string{agentGroup}}
	}
	if rest, ok := strings.CutPrefix(user, serviceAccountPrefix); ok {
		namespace, _, _ := strings.Cut(rest, ":")
		return subject{name: user, groups: []string{"system:serviceaccounts", "system:serviceaccounts:" + namespace}}
	}
	return subject{name: user, groups: []string{user}}
}

// serviceAccountPrefix is the prefix of the user names of ServiceAccounts.
const serviceAccountPrefix = "system:serviceaccount:"

// server returns the URL of a plane.
func (f *Federation) server(plane string) (string, error) {
	if name, ok := strings.CutPrefix(plane, planeProject); ok {
		if err := checkName("project", name); err != nil {
			return "", err
		}
		if f.state.WithoutMilo {
			return f.server(planeHub)
		}
		root, err := f.server(planeMilo)
		return root + fmt.Sprintf(projectPath, name), err
	}
	if name, ok := strings.CutPrefix(plane, planeProjectDirect); ok {
		port, err := f.projectPort(name)
		return "https://" + address(port), err
	}
	port, ok := f.assignedPort(plane)
	if f.state.WithoutMilo && (plane == planeMilo || plane == planeMiloRoot) {
		return "", fmt.Errorf("no plane %q in this federation, which has no Milo", plane)
	}
	if !ok || !isServer(plane) {
		return "", fmt.Errorf("no plane %q in this federation: use milo, hub, host, cell/<name> or project/<name>", plane)
	}
	return "https://" + address(port), nil
}

func isServer(plane string) bool {
	return plane == planeHost || plane == planeHub || plane == planeMilo || plane == planeMiloRoot || strings.HasPrefix(plane, planeCell)
}

// projectPort reads the port of a project's kube-apiserver, which the router's
// process has written.
func (f *Federation) projectPort(project string) (int, error) {
	var plane projectPlane
	err := readJSON(f.projectFile(project), &plane)
	if errors.Is(err, os.ErrNotExist) {
		return 0, fmt.Errorf("project %q has no control plane (yet): %w", project, err)
	}
	return plane.Port, err
}
