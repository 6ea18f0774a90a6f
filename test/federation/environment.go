// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package federation

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// documented are the commands that the documentation uses, in addition to karmadactl.
var documented = []string{"./hack/kubectl", "./cmd/kubectl-compute", karmadactlCommand}

// BuildDocumented builds the commands that Environment has in $PATH.
func (f *Federation) BuildDocumented(ctx context.Context) error {
	return f.buildOwn(ctx, documented...)
}

// Environment returns the variables with which the commands of the documentation run. $PATH has kubectl with its plugin
// compute, and karmadactl. $KUBECONFIG is the user's for a project; $PROJECT, $HOST, $HUB, $MILO and $CELL, the first
// cell, are kubeconfigs of administrators. $PROJECT_NAME and $NAMESPACE are where the user's objects are.
func (f *Federation) Environment(project, user string) (map[string]string, error) {
	kubeconfigs := map[string]access{
		"KUBECONFIG": {planeProject + project, user}, "PROJECT": {planeProject + project, Admin},
		"HOST": {planeHost, Admin}, "HUB": {planeHub, Admin}, "CELL": {planeCell + f.Cells()[0].Name, Admin},
	}
	if !f.state.WithoutMilo {
		kubeconfigs["MILO"] = access{planeMilo, Admin}
	}
	environment, err := f.kubeconfigs(kubeconfigs)
	if err != nil {
		return nil, err
	}
	environment["PATH"] = f.binFolder() + string(os.PathListSeparator) + os.Getenv("PATH")
	environment["PROJECT_NAME"], environment["NAMESPACE"] = project, f.NamespaceIn(project)
	return environment, nil
}

// Contexts of the kubeconfig that Karmada's hack/local-up-karmada.sh writes.
var localUpContexts = map[string]string{"karmada-host": planeHost, "karmada-apiserver": planeHub}

// HomeEnvironment returns the variables of an administrator with a home folder, as after Karmada's
// hack/local-up-karmada.sh: the host and the hub are contexts of ~/.kube/karmada.config. The commands are in $PATH.
func (a *AddOn) HomeEnvironment(home string) (map[string]string, error) {
	f := a.federation
	config := clientcmdapi.NewConfig()
	for name, plane := range localUpContexts {
		path, err := f.Kubeconfig(plane, Admin)
		if err != nil {
			return nil, err
		}
		one, err := clientcmd.LoadFromFile(path)
		if err != nil {
			return nil, err
		}
		config.Clusters[name], config.AuthInfos[name] = one.Clusters[plane], one.AuthInfos[Admin]
		config.Contexts[name] = &clientcmdapi.Context{Cluster: name, AuthInfo: name}
	}
	if err := clientcmd.WriteToFile(*config, filepath.Join(home, ".kube", "karmada.config")); err != nil {
		return nil, err
	}
	if err := a.wrapKarmadactl(filepath.Join(home, "bin", "karmadactl")); err != nil {
		return nil, err
	}
	list := string(os.PathListSeparator)
	return map[string]string{
		"HOME": home, "KUBECONFIG": "", "PATH": filepath.Join(home, "bin") + list + f.binFolder() + list + os.Getenv("PATH"),
	}, nil
}

// wrapKarmadactl writes a karmadactl that knows the values of a machine on which all components are processes: pages
// have none, since the chart's defaults suit clusters.
func (a *AddOn) wrapKarmadactl(path string) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	values, err := a.writeValues()
	if err != nil {
		return err
	}
	script := fmt.Sprintf("#!/bin/sh\n[ \"$1 $2\" != \"addons enable\" ] || set -- \"$@\" --compute-values=%s\nexec %s \"$@\"\n",
		values, filepath.Join(a.federation.binFolder(), "karmadactl"))
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(script), 0o700) //nolint:gosec // It is a command.
}
