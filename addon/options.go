// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package addon

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	"sigs.k8s.io/yaml"
)

// Values of --compute-workloads.
const (
	workloadsRefuse = "refuse"
	workloadsKeep   = "keep"
	workloadsDelete = "delete"
)

// Values of --compute-interpreter-mode, as in the chart.
var interpreterModes = []string{"customization", "webhook"}

// options are the addon's own flags, and the flags of karmadactl that it uses.
type options struct {
	karmada karmadaOptions

	miloKubeconfig        string
	miloWebhookKubeconfig string
	miloAdminKubeconfig   string
	image                 string
	cellImage             string
	replicas              int
	interpreterMode       string
	hubServer             string
	valuesFiles           []string
	dryRun                bool
	workloads             string

	// session is the current run: karmadactl calls the addon twice, before its own checks and after them.
	session *session
}

// karmadaOptions are the values of karmadactl's flags.
type karmadaOptions struct {
	hostKubeconfig, hostContext string
	hubKubeconfig, hubContext   string
	namespace                   string
	imageRegistry               string
	timeout                     time.Duration
}

// addFlags adds the flags of `addons enable`.
func (o *options) addFlags(flags *pflag.FlagSet) {
	flags.StringVar(&o.miloKubeconfig, "milo-kubeconfig", "",
		"karmada-compute: kubeconfig of Milo's root for the add-on. The content of the file is stored in a Secret on the host. "+
			"Without the flag, karmada-compute is installed without Milo: namespaces of the hub with label "+
			"compute.datumapis.com/project=true are the projects.")
	flags.StringVar(&o.miloWebhookKubeconfig, "milo-webhook-kubeconfig", "",
		"karmada-compute: kubeconfig of Milo's root for Pods that serve webhooks only (host.separateWebhooks), of another user "+
			"than --milo-kubeconfig. Its content is stored in a Secret on the host.")
	flags.StringVar(&o.miloAdminKubeconfig, "milo-admin-kubeconfig", "",
		"karmada-compute: kubeconfig of Milo's root with the right to create CustomResourceDefinitions and RBAC there. The "+
			"kubeconfig is not stored. Default: --milo-kubeconfig.")
	flags.StringVar(&o.image, "compute-image", "",
		"karmada-compute: image of controllers and webhooks, with its tag. Default: the image in the chart.")
	flags.StringVar(&o.cellImage, "compute-cell-image", "",
		"karmada-compute: image of the agents in the cells, with its tag. Default: the image in the chart.")
	flags.IntVar(&o.replicas, "compute-replicas", 2, "karmada-compute: number of replicas on the host.")
	flags.StringVar(&o.interpreterMode, "compute-interpreter-mode", "customization",
		"karmada-compute: how Karmada interprets WorkloadDeployments: customization or webhook.")
	flags.StringVar(&o.hubServer, "compute-hub-server", "",
		"karmada-compute: URL of the karmada-apiserver as Pods on the host reach it. Default: the URL that Karmada's own components use.")
	flags.StringArrayVar(&o.valuesFiles, "compute-values", nil,
		"karmada-compute: file with values of the chart. May be repeated; later files and the other flags win.")
	flags.BoolVar(&o.dryRun, "dry-run", false, "karmada-compute: print the manifests and change nothing.")
}

// addDisableFlags adds the flags of `addons disable`.
func (o *options) addDisableFlags(flags *pflag.FlagSet) {
	flags.StringVar(&o.miloAdminKubeconfig, "milo-admin-kubeconfig", "",
		"karmada-compute: kubeconfig of Milo's root with the right to delete the objects that enable created there. Default: "+
			"the kubeconfig of the add-on itself.")
	flags.StringVar(&o.workloads, "compute-workloads", workloadsRefuse,
		"karmada-compute: what to do while Workloads exist. refuse: nothing is disabled. keep: Instances keep running in the "+
			"cells but are no longer reconciled. delete: every Workload of every project is deleted first.")
}

// completion offers the values of flags that have few.
func completion(command *cobra.Command, flag string, values []string) error {
	if command.Flags().Lookup(flag) == nil {
		return nil
	}
	return command.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
}

// read takes the values of karmadactl's own flags from a command.
func (o *karmadaOptions) read(flags *pflag.FlagSet) error {
	var mistakes []error
	for name, into := range map[string]*string{
		"kubeconfig": &o.hostKubeconfig, "context": &o.hostContext,
		"karmada-kubeconfig": &o.hubKubeconfig, "karmada-context": &o.hubContext,
		"namespace": &o.namespace,
	} {
		value, err := flags.GetString(name)
		if err != nil {
			mistakes = append(mistakes, err)
		}
		*into = value
	}
	if flags.Lookup("private-image-registry") != nil {
		value, err := flags.GetString("private-image-registry")
		mistakes, o.imageRegistry = append(mistakes, err), value
	}
	o.timeout = defaultTimeout
	if flags.Lookup("pod-timeout") != nil {
		seconds, err := flags.GetInt("pod-timeout")
		mistakes, o.timeout = append(mistakes, err), time.Duration(seconds)*time.Second
	}
	return utilerrors.NewAggregate(mistakes)
}

// check returns all mistakes in the flags of enable.
func (o *options) check() error {
	var mistakes []error
	if o.miloKubeconfig == "" {
		for flag, value := range map[string]string{
			"milo-admin-kubeconfig": o.miloAdminKubeconfig, "milo-webhook-kubeconfig": o.miloWebhookKubeconfig,
		} {
			if value != "" {
				mistakes = append(mistakes, fmt.Errorf("--%s: has no effect without --milo-kubeconfig", flag))
			}
		}
	}
	if o.replicas < 1 {
		mistakes = append(mistakes, fmt.Errorf("--compute-replicas: %d is less than 1", o.replicas))
	}
	if !slices.Contains(interpreterModes, o.interpreterMode) {
		mistakes = append(mistakes, fmt.Errorf("--compute-interpreter-mode: %q is not one of %s", o.interpreterMode,
			strings.Join(interpreterModes, ", ")))
	}
	for flag, image := range map[string]string{"compute-image": o.image, "compute-cell-image": o.cellImage} {
		if _, err := splitImage(image); err != nil {
			mistakes = append(mistakes, fmt.Errorf("--%s: %w", flag, err))
		}
	}
	return errors.Join(mistakes...)
}

// checkWebhooks returns an error where Pods that serve webhooks only would have no credential for Milo of their own.
func (o *options) checkWebhooks(values map[string]any) error {
	if separatesWebhooks(values) && !isWithoutMilo(values) && o.miloWebhookKubeconfig == "" && !o.dryRun {
		return errors.New("--milo-webhook-kubeconfig: name the kubeconfig of Milo's root for the Pods that serve webhooks only " +
			"(host.separateWebhooks), of another user than --milo-kubeconfig")
	}
	return nil
}

// checkDisable returns all mistakes in the flags of disable.
func (o *options) checkDisable() error {
	choices := []string{workloadsRefuse, workloadsKeep, workloadsDelete}
	if !slices.Contains(choices, o.workloads) {
		return fmt.Errorf("--compute-workloads: %q is not one of %s", o.workloads, strings.Join(choices, ", "))
	}
	return nil
}

// values are the chart's values from files and flags; changed reports which flags were given.
func (o *options) values(changed func(flag string) bool) (map[string]any, error) {
	values := map[string]any{}
	for _, file := range o.valuesFiles {
		content, err := os.ReadFile(file) //nolint:gosec // the user names the file
		if err != nil {
			return nil, fmt.Errorf("--compute-values: %w", err)
		}
		var read map[string]any
		if err := yaml.UnmarshalStrict(content, &read); err != nil {
			return nil, fmt.Errorf("--compute-values: %s is no YAML map: %w", file, err)
		}
		merge(values, read)
	}
	for _, set := range []struct {
		flag  string
		path  []string
		value any
	}{
		{"compute-replicas", []string{"host", "replicas"}, o.replicas},
		{"compute-interpreter-mode", []string{"interpreterMode"}, o.interpreterMode},
		{"private-image-registry", []string{"image", "registry"}, o.karmada.imageRegistry},
		{"private-image-registry", []string{"agents", "image", "registry"}, o.karmada.imageRegistry},
	} {
		if changed(set.flag) {
			merge(values, nested(set.path, set.value))
		}
	}
	if err := o.setMode(values); err != nil {
		return nil, err
	}
	for path, image := range map[string]string{"image": o.image, "agents.image": o.cellImage} {
		parts, err := splitImage(image)
		if err != nil {
			return nil, err
		}
		if len(parts) > 0 {
			merge(values, nested(strings.Split(path, "."), parts))
		}
	}
	return values, nil
}

// setMode sets the kind of projects: without a kubeconfig of Milo, a project is a namespace of the hub. A dry run of an
// installation with Milo needs no kubeconfig if the values name the mode.
func (o *options) setMode(values map[string]any) error {
	projects, _ := values["projects"].(map[string]any)
	mode, isSet := projects["mode"]
	switch {
	case mode == modeNamespaces && o.miloKubeconfig != "":
		return errors.New("--milo-kubeconfig: has no effect with the value projects.mode=namespaces")
	case mode == modeMilo && o.miloKubeconfig == "" && !o.dryRun:
		return errors.New("--milo-kubeconfig: name the kubeconfig of Milo's root that karmada-compute is to use, or remove the " +
			"value projects.mode=milo")
	case !isSet && o.miloKubeconfig != "":
		merge(values, nested([]string{"projects", "mode"}, modeMilo))
	case !isSet:
		merge(values, nested([]string{"projects", "mode"}, modeNamespaces))
	}
	return nil
}

// Values of projects.mode.
const (
	modeMilo       = "milo"
	modeNamespaces = "namespaces"
)

// isWithoutMilo reports whether projects are namespaces of the hub according to the values.
func isWithoutMilo(values map[string]any) bool {
	projects, _ := values["projects"].(map[string]any)
	return projects["mode"] == modeNamespaces
}

// merge merges the values of b into a; b takes precedence.
func merge(a, b map[string]any) {
	for key, value := range b {
		below, isMap := value.(map[string]any)
		into, exists := a[key].(map[string]any)
		if isMap && exists {
			merge(into, below)
			continue
		}
		a[key] = value
	}
}

// nested is a value at a path.
func nested(path []string, value any) map[string]any {
	for _, key := range slices.Backward(path) {
		value = map[string]any{key: value}
	}
	result, _ := value.(map[string]any)
	return result
}

// splitImage splits an image reference into the values of the chart; none if the reference is empty. An image may have
// a registry, which has a dot, a port or is localhost, and must have a tag.
func splitImage(reference string) (map[string]any, error) {
	if reference == "" {
		return nil, nil
	}
	registry, repository := "", reference
	if first, tail, found := strings.Cut(reference, "/"); found && (strings.ContainsAny(first, ".:") || first == "localhost") {
		registry, repository = first, tail
	}
	repository, tag, found := strings.Cut(repository, ":")
	if !found || repository == "" || tag == "" || strings.ContainsAny(cmp.Or(repository, tag), " \t@") {
		return nil, fmt.Errorf("%q is no image with a tag, such as registry.example.com/karmada-compute:v1.0.0", reference)
	}
	return map[string]any{"registry": registry, "repository": repository, "tag": tag}, nil
}
