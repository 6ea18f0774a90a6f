// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package component

import (
	"fmt"
	"os"
	"path/filepath"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// LoadConfig loads the kubeconfig at path, else the files in $KUBECONFIG, else the in-cluster configuration: the order
// of controller-runtime, but without a user's ~/.kube/config, whose current context may be any cluster.
func LoadConfig(path string) (*rest.Config, error) {
	rules := &clientcmd.ClientConfigLoadingRules{
		ExplicitPath: path, Precedence: filepath.SplitList(os.Getenv(clientcmd.RecommendedConfigPathEnvVar)),
	}
	if rules.ExplicitPath == "" && len(rules.Precedence) == 0 {
		return rest.InClusterConfig()
	}
	config, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, nil).ClientConfig()
	if clientcmd.IsEmptyConfig(err) {
		return nil, fmt.Errorf("$%s names no file with a cluster: %v", clientcmd.RecommendedConfigPathEnvVar, rules.Precedence)
	}
	return config, err
}
