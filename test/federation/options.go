// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package federation

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/karmada-compute/karmada-compute/testenv/tools"
)

// Cell is one member cluster of the federation.
type Cell struct {
	// Name of the Karmada Cluster, a DNS label.
	Name string `json:"name"`
	// City is the city code; the Cluster carries it in lower case as label topology.datum.net/city-code. Empty: the
	// Cluster has no such label.
	City string `json:"city"`
	// Pull joins the cell in pull mode: the hub cannot reach it. Its karmada-agent runs in a network namespace from which
	// it reaches only the kube-apiservers of the hub and of the cell. NetworkNamespaces reports whether this machine
	// supports that.
	Pull bool `json:"pull,omitempty"`
	// Controllers are additional controllers of its kube-controller-manager, by their names there.
	Controllers []string `json:"controllers,omitempty"`
	// Nodes is the number of nodes whose Pods kwok simulates, each with capacity for 250 Pods. 0: 3, or none if the cell
	// has Containers.
	Nodes int `json:"nodes,omitempty"`
	// StartTime is how long the Pods on these nodes take to start. 0: they are ready as soon as they are bound.
	StartTime time.Duration `json:"startTime,omitempty"`
	// Containers is the number of nodes that run containers, with a kubelet and containerd. The function Containers
	// reports whether this machine supports that.
	Containers int `json:"containers,omitempty"`
}

// Options configure a new federation. The zero value is usable.
type Options struct {
	// Folder holds everything of the federation: certificates, kubeconfigs,
	// logs, audit logs, run state. Empty: a new folder under os.TempDir().
	Folder string
	// Repository is the checkout that holds hack/tools and cmd. Empty: found
	// from the working directory upwards.
	Repository string
	// Cache is where built binaries are kept between federations. Empty:
	// karmada-compute/bin in os.UserCacheDir().
	Cache string
	// Projects are the Milo projects to create. Nil: north and south.
	// Empty but not nil: none.
	Projects []string
	// WithoutMilo starts no Milo: projects are namespaces of the hub.
	WithoutMilo bool
	// Cells are the member clusters. Nil: dfw in DFW and ord in ORD.
	Cells []Cell
	// CRDs is a folder of CustomResourceDefinition YAML installed on Milo's
	// root, its projects, the hub and the cells before Karmada's controllers
	// start, because these discover new kinds only every 30 s. Empty: api/crds
	// of the repository, if it exists.
	CRDs string
	// Host adds the host, the cluster that runs the Pods of Karmada and the add-on. It also adds to each cell a node that
	// runs Pods as processes, if they tolerate its taint.
	Host bool
	// KarmadaVersion is a minor version of Karmada that hack/tools has a module
	// for, such as 1.17, or the absolute path of a checkout of Karmada, from which
	// it is built as it is. Empty: the version in go.mod.
	KarmadaVersion string
	// CellKubernetesVersion is a minor version of Kubernetes that hack/tools has a module for, such as 1.26. The control
	// planes of cells have this version. Empty: the version in go.mod.
	CellKubernetesVersion string
	// ClusterHealth has flags of karmada-controller-manager that define when a cell counts as lost. They replace the
	// default flags, with which a loss is noticed within about 15 s. Cells must not be in pull mode.
	ClusterHealth []string
	// FeatureGates has feature gates of every kube-apiserver and kube-controller-manager, such as
	// MaxUnavailableStatefulSet=true.
	FeatureGates string
	// MemoryLimit is GOMEMLIMIT of every process. A process that comes near it
	// collects garbage all the time: a measurement with many objects needs
	// "off". Empty: 1536MiB.
	MemoryLimit string
	// Detached leaves the federation running when this program ends. Otherwise
	// it ends with the program that called Up, even when that is killed.
	Detached bool
	// Out receives progress lines. Nil: none are written.
	Out io.Writer `json:"-"`
}

// complete sets defaults and validates the options. The error names every invalid option.
func (o Options) complete() (Options, error) {
	var err error
	if o.Repository == "" {
		if o.Repository, err = tools.FindRepository(); err != nil {
			return o, err
		}
	}
	if o.Cache == "" {
		if o.Cache, err = tools.DefaultCache(); err != nil {
			return o, err
		}
	}
	if o.Projects == nil {
		o.Projects = []string{"north", "south"}
	}
	if o.Cells == nil {
		o.Cells = []Cell{{Name: "dfw", City: "DFW"}, {Name: "ord", City: "ORD"}}
	}
	if o.MemoryLimit == "" {
		o.MemoryLimit = "1536MiB"
	}
	if o.Out == nil {
		o.Out = io.Discard
	}
	if err := o.validate(); err != nil {
		return o, err
	}
	if err := o.completeCRDs(); err != nil {
		return o, err
	}
	return o, o.completeFolder()
}

// completeCRDs defaults to the repository's CRDs, if it has any. A folder that
// was given must exist.
func (o *Options) completeCRDs() error {
	folder := o.CRDs
	if folder == "" {
		folder = filepath.Join(o.Repository, "api", "crds")
	}
	_, err := os.Stat(folder)
	switch {
	case err == nil:
		o.CRDs = folder
	case o.CRDs != "" || !errors.Is(err, os.ErrNotExist):
		return fmt.Errorf("the folder of CRDs cannot be read: %w", err)
	}
	return nil
}

func (o *Options) completeFolder() error {
	if o.Folder == "" {
		folder, err := os.MkdirTemp("", "federation-")
		if err != nil {
			return fmt.Errorf("create a folder for the federation: %w", err)
		}
		o.Folder = folder
	}
	for _, path := range []*string{&o.Folder, &o.Repository, &o.Cache, &o.CRDs} {
		if *path == "" {
			continue
		}
		absolute, err := filepath.Abs(*path)
		if err != nil {
			return fmt.Errorf("folder %s: %w", *path, err)
		}
		*path = absolute
	}
	return nil
}

func (o *Options) validate() error {
	var errs []error
	if len(o.Cells) == 0 {
		errs = append(errs, errors.New("a federation needs at least one cell"))
	}
	var names []string
	for _, cell := range o.Cells {
		names = append(names, cell.Name)
		errs = append(errs, cell.validate())
	}
	errs = append(errs, checkUnique("cell", names))
	for _, project := range o.Projects {
		errs = append(errs, checkName("project", project))
	}
	errs = append(errs, checkUnique("project", o.Projects))
	return errors.Join(append(errs, o.validateVersions())...)
}

func (o *Options) validateVersions() error {
	errs := []error{
		o.validateKarmada(),
		knownVersion("Kubernetes in cells", o.CellKubernetesVersion, o.Repository, tools.KubernetesVersions),
	}
	for _, cell := range o.Cells {
		errs = append(errs, cell.validateKubernetes(o.CellKubernetesVersion))
	}
	return errors.Join(errs...)
}

func (o *Options) validateKarmada() error {
	if strings.ContainsRune(o.KarmadaVersion, filepath.Separator) {
		return tools.CheckKarmadaSource(o.KarmadaVersion)
	}
	return knownVersion("Karmada", o.KarmadaVersion, o.Repository, tools.KarmadaVersions)
}

func knownVersion(of, version, repository string, list func(repository string) ([]string, error)) error {
	if version == "" {
		return nil
	}
	versions, err := list(repository)
	if err == nil && !slices.Contains(versions, version) {
		err = fmt.Errorf("version %q of %s is not known: choose one of %v, or none for the version in go.mod", version, of, versions)
	}
	return err
}

// validateKubernetes returns an error if the cell cannot have a control plane of this version: a kubelet must not be
// newer than its kube-apiserver.
func (c Cell) validateKubernetes(version string) error {
	if version != "" && c.Containers > 0 {
		return fmt.Errorf("cell %q cannot run containers with Kubernetes %s: its kubelets have the version in go.mod", c.Name, version)
	}
	return nil
}

func (c Cell) validate() error {
	errs := []error{checkName("cell", c.Name)}
	if problems := validation.IsValidLabelValue(c.City); len(problems) > 0 {
		errs = append(errs, fmt.Errorf("city %q of cell %q is not a valid label value", c.City, c.Name))
	}
	if c.Pull {
		if err := NetworkNamespaces(); err != nil {
			errs = append(errs, fmt.Errorf("cell %q cannot be in pull mode: %w", c.Name, err))
		}
	}
	if c.Containers > 0 {
		if err := Containers(context.Background()); err != nil {
			errs = append(errs, fmt.Errorf("cell %q cannot run containers: %w", c.Name, err))
		}
	}
	return errors.Join(errs...)
}

func checkName(what, name string) error {
	if problems := validation.IsDNS1123Label(name); len(problems) > 0 {
		return fmt.Errorf("%s name %q: %s", what, name, problems[0])
	}
	return nil
}

func checkUnique(what string, names []string) error {
	sorted := slices.Sorted(slices.Values(names))
	if len(slices.Compact(slices.Clone(sorted))) != len(sorted) {
		return fmt.Errorf("%s names are not unique: %v", what, sorted)
	}
	return nil
}

// DefaultFolder returns the folder of a federation that is left running, below the user's state folder. It is empty for
// a user without a home, who must set the flag.
func DefaultFolder() string {
	state := os.Getenv("XDG_STATE_HOME")
	if state == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return ""
		}
		state = filepath.Join(home, ".local", "state")
	}
	return filepath.Join(state, "karmada-compute", "federation")
}
