// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package federation

import (
	"context"
	"os"
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
