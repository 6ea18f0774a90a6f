// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package component

import (
	"encoding/json"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"strconv"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	apimachineryversion "k8s.io/apimachinery/pkg/version"
)

// The built version. The build of an image sets it with -ldflags "-X
// github.com/karmada-compute/karmada-compute/cmd/internal/component.version=v1.2.3"; without the flag, it comes from
// the build information that the go command has recorded in the binary.
var (
	version string
	commit  string
	// date is the time of the commit, not of the build, so that a build can be repeated.
	date string
)

const (
	// unversioned is the version of a build from a checkout.
	unversioned = "v0.0.0-devel"
	unknown     = "unknown"
)

// Version returns the built version, in the type that Kubernetes' components report.
func Version() apimachineryversion.Info {
	recorded, ok := debug.ReadBuildInfo()
	if !ok {
		recorded = &debug.BuildInfo{}
	}
	return versionOf(recorded)
}

// versionOf completes the variables with the build information that the go command has recorded.
func versionOf(recorded *debug.BuildInfo) apimachineryversion.Info {
	info := apimachineryversion.Info{
		GitVersion: version, GitCommit: commit, BuildDate: date,
		GoVersion: runtime.Version(), Compiler: runtime.Compiler, Platform: runtime.GOOS + "/" + runtime.GOARCH,
	}
	// The go command knows a version if the binary was built by go install of a version, or in a git checkout with
	// -buildvcs.
	if info.GitVersion == "" && recorded.Main.Version != "(devel)" {
		info.GitVersion = recorded.Main.Version
	}
	if info.GitVersion == "" {
		info.GitVersion = unversioned
	}
	for _, setting := range recorded.Settings {
		switch {
		case setting.Key == "vcs.revision" && info.GitCommit == "":
			info.GitCommit = setting.Value
		case setting.Key == "vcs.time" && info.BuildDate == "":
			info.BuildDate = setting.Value
		case setting.Key == "vcs.modified" && setting.Value == "true":
			info.GitTreeState = "dirty"
		}
	}
	if info.GitCommit == "" {
		info.GitCommit = unknown
	}
	return info
}

// Values of --version, as in k8s.io/component-base/version/verflag, and json. That package always prints "Kubernetes".
const (
	versionFalse = "false"
	versionTrue  = "true"
	versionRaw   = "raw"
	versionJSON  = "json"
)

// versionFlag is the value of --version.
type versionFlag string

// String implements pflag.Value.
func (v *versionFlag) String() string { return string(*v) }

// Type implements pflag.Value.
func (*versionFlag) Type() string { return "version" }

// Set implements pflag.Value.
func (v *versionFlag) Set(value string) error {
	if value == versionRaw || value == versionJSON {
		*v = versionFlag(value)
		return nil
	}
	wanted, err := strconv.ParseBool(value)
	if err != nil {
		return fmt.Errorf("%q is none of true, false, %s, %s", value, versionRaw, versionJSON)
	}
	*v = versionFlag(strconv.FormatBool(wanted))
	return nil
}

func (v *versionFlag) addFlag(flags *pflag.FlagSet) {
	*v = versionFalse
	flags.Var(v, "version", "Print the version and quit; --version=json and --version=raw print all that is known of the build.")
	flags.Lookup("version").NoOptDefVal = versionTrue
}

// requested reports whether --version requests a version.
func (v *versionFlag) requested() bool { return *v != versionFalse }

// print prints the built version.
func (v *versionFlag) print(out io.Writer, name string, info apimachineryversion.Info) error {
	var err error
	switch *v {
	case versionJSON:
		encoder := json.NewEncoder(out)
		encoder.SetIndent("", "  ")
		err = encoder.Encode(info)
	case versionRaw:
		_, err = fmt.Fprintf(out, "%#v\n", info)
	default:
		_, err = fmt.Fprintf(out, "%s %s (commit %s, %s, %s)\n", name, info.GitVersion, info.GitCommit, info.GoVersion, info.Platform)
	}
	return err
}

// AddVersion adds the flag --version to the root command of a program that has subcommands.
func AddVersion(root *cobra.Command, name string) {
	var wanted versionFlag
	wanted.addFlag(root.Flags())
	without := root.RunE
	root.RunE = func(command *cobra.Command, args []string) error {
		if !wanted.requested() {
			return without(command, args)
		}
		return wanted.print(command.OutOrStdout(), name, Version())
	}
}
