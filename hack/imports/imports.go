//go:build imports

package imports

import (
	_ "github.com/cucumber/godog"
	_ "github.com/go-logr/logr"
	_ "github.com/karmada-io/karmada/pkg/apis/policy/v1alpha1"
	_ "github.com/karmada-io/karmada/pkg/apis/cluster/v1alpha1"
	_ "github.com/karmada-io/karmada/pkg/apis/work/v1alpha2"
	_ "github.com/karmada-io/karmada/pkg/webhook/interpreter"
	_ "github.com/karmada-io/karmada/pkg/apis/config/v1alpha1"
	_ "github.com/spf13/cobra"
	_ "github.com/spf13/pflag"
	_ "golang.org/x/sync/errgroup"
	_ "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	_ "k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset"
	_ "k8s.io/client-go/kubernetes"
	_ "k8s.io/client-go/dynamic/dynamicinformer"
	_ "k8s.io/klog/v2"
	_ "k8s.io/utils/ptr"
	_ "k8s.io/utils/clock/testing"
	_ "sigs.k8s.io/controller-runtime"
	_ "sigs.k8s.io/controller-runtime/pkg/client/fake"
	_ "sigs.k8s.io/multicluster-runtime/pkg/manager"
	_ "sigs.k8s.io/multicluster-runtime/pkg/builder"
	_ "sigs.k8s.io/multicluster-runtime/pkg/manager/coordinator/sharded"
	_ "sigs.k8s.io/yaml"
)
