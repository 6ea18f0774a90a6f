// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"

	"github.com/karmada-compute/karmada-compute/cli/convert"
)

func (c *commands) convertCommand() *cobra.Command {
	var files, folders []string
	var options convert.Options
	var output string
	cmd := &cobra.Command{
		Use:   "convert FILE... --city CITY",
		Short: "Convert Deployments and StatefulSets to Workloads",
		Long: "Convert the Deployments and StatefulSets in files, folders and kustomizations to Workloads, and print them with the " +
			"ConfigMaps and Secrets that\n" +
			"they name. Fields without an equivalent are listed on stderr. Nothing is sent to an API server. The exit code is 1 " +
			"if an object cannot\n" +
			"be read, or runs Pods and cannot become a Workload, such as a DaemonSet; the others are converted.",
		Example: c.Examples("\n  %s convert deployment.yaml --city DFW | kubectl apply -f -"),
		RunE: c.Run(func(_ context.Context, arguments []string) error {
			switch files := append(arguments, files...); {
			case len(files)+len(folders) == 0:
				return errors.New("name the file or folder, or a kustomization in --kustomize; - is stdin")
			case len(options.Cities) == 0:
				return errors.New("name at least one city in --city, for example DFW")
			case output != "yaml" && output != "json":
				return fmt.Errorf("--output %s: supported are yaml and json", output)
			default:
				return c.convert(files, folders, options, output)
			}
		}),
	}
	flags := cmd.Flags()
	flags.StringSliceVarP(&files, "filename", "f", nil, "Files and folders with the objects to convert, YAML or JSON. -: stdin.")
	flags.StringSliceVarP(&folders, "kustomize", "k", nil, "Folders with a kustomization.yaml, whose output is converted.")
	flags.StringVarP(&output, "output", "o", "yaml", "How the objects are printed: yaml, or json as a List.")
	flags.StringVar(&options.ProjectNamespace, "project-namespace", "",
		"The namespace of the project that all objects move to. Default: each stays in its own.")
	flags.StringSliceVar(&options.Cities, "city", nil, "The cities that the Workloads run in, for example DFW,ORD.")
	flags.StringVar(&options.Network, "network", "default", "The network that the Instances are attached to.")
	flags.StringVar(&options.InstanceType, "instance-type", "", "The instance type of the Instances. Default: the operator's default.")
	return cmd
}

func (c *commands) convert(names, folders []string, options convert.Options, output string) error {
	// Only a namespace that the user names: nothing is read from an API server here.
	if c.Flags.Namespace != nil {
		options.Namespace = *c.Flags.Namespace
	}
	inputs, closeAll, err := c.open(names)
	defer closeAll()
	if err != nil {
		return err
	}
	for _, folder := range folders {
		resources, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), folder)
		if err != nil {
			return fmt.Errorf("--kustomize %s: %w", folder, err)
		}
		rendered, err := resources.AsYaml()
		if err != nil {
			return err
		}
		inputs = append(inputs, convert.Input{Name: folder, Reader: bytes.NewReader(rendered)})
	}
	result, err := convert.Manifests(inputs, options)
	if err != nil {
		return fmt.Errorf("convert: %w", err)
	}
	if err := result.Print(c.Data, output); err != nil {
		return err
	}
	if len(result.Losses) > 0 {
		fmt.Fprintln(c.Streams.ErrOut, "Not carried over, or to be changed:")
	}
	for _, loss := range result.Losses {
		// A name in the file is no line of its own.
		fmt.Fprintf(c.Streams.ErrOut, "  %s\n", strings.Join(strings.Fields(fmt.Sprint(loss)), " "))
	}
	return errors.Join(result.Problems...)
}

// open opens the files, and the files of folders that kubectl would take. The caller calls closeAll.
func (c *commands) open(names []string) (inputs []convert.Input, closeAll func(), err error) {
	var opened []*os.File
	closeAll = func() {
		for _, file := range opened {
			_ = file.Close() // it was only read
		}
	}
	for _, name := range names {
		if name == "-" {
			inputs = append(inputs, convert.Input{Name: "stdin", Reader: c.Streams.In})
			continue
		}
		if strings.HasPrefix(name, "http://") || strings.HasPrefix(name, "https://") {
			return nil, closeAll, fmt.Errorf("%s is a URL, and nothing is downloaded here: curl -L %s | kubectl compute convert -f -", name, name)
		}
		paths := []string{name}
		if info, err := os.Stat(name); err != nil {
			return nil, closeAll, err
		} else if info.IsDir() {
			if paths, err = manifestsIn(name); err != nil {
				return nil, closeAll, err
			}
		}
		for _, path := range paths {
			file, err := os.Open(path) //nolint:gosec // the file that the user names
			if err != nil {
				return nil, closeAll, err
			}
			opened = append(opened, file)
			inputs = append(inputs, convert.Input{Name: path, Reader: file})
		}
	}
	return inputs, closeAll, nil
}

// manifestsIn returns the files of a folder that kubectl would take.
func manifestsIn(folder string) ([]string, error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	var paths []string
	for _, entry := range entries {
		if !entry.IsDir() && slices.Contains([]string{".yaml", ".yml", ".json"}, filepath.Ext(entry.Name())) {
			paths = append(paths, filepath.Join(folder, entry.Name()))
		}
	}
	if len(paths) == 0 {
		return nil, fmt.Errorf("folder %s has no .yaml, .yml or .json file", folder)
	}
	return paths, nil
}
