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

// Environment returns the variables with which the commands of the documentation run. $PATH has kubectl with its plugin compute, and
// karmadactl. $KUBECONFIG is the user's for a project; $PROJECT, $HOST, $HUB, $MILO and $CELL, the first cell, are kubeconfigs of
// administrators. $PROJECT_NAME and $NAMESPACE are where the user's objects are.
func (f *Federation) Environment(project, user string) (map[string]string, error) {
	environment := map[string]string{
		"PATH":         f.binFolder() + string(os.PathListSeparator) + os.Getenv("PATH"),
		"PROJECT_NAME": project, "NAMESPACE": f.NamespaceIn(project),
	}
	kubeconfigs := map[string]access{
		"KUBECONFIG": {planeProject + project, user}, "PROJECT": {planeProject + project, Admin},
		"HOST": {planeHost, Admin}, "HUB": {planeHub, Admin}, "CELL": {planeCell + f.Cells()[0].Name, Admin},
	}
	if !f.state.WithoutMilo {
		kubeconfigs["MILO"] = access{planeMilo, Admin}
	}
	for variable, who := range kubeconfigs {
		path, err := f.Kubeconfig(who.plane, who.user)
		if err != nil {
			return nil, err
		}
		environment[variable] = path
	}
	return environment, nil
}
