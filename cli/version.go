// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"time"

	"github.com/spf13/cobra"
	apimachineryversion "k8s.io/apimachinery/pkg/version"
	"k8s.io/client-go/rest"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/cli/command"
)

const (
	// versionTimeout bounds the request for the server's version, and mostOpenAPI its answer. The kinds of the add-on
	// have 0.5 MB.
	versionTimeout = 5 * time.Second
	mostOpenAPI    = 8 << 20
)

// release is the end of a kind's description, as the chart writes it into the CRD.
var release = regexp.MustCompile(`Installed by karmada-compute (v?[0-9A-Za-z][0-9A-Za-z.+_-]{0,127})\.$`)

// versions holds the build of this program and the release at the server, as `version -o json` prints them.
type versions struct {
	apimachineryversion.Info
	// ServerVersion is empty if the server cannot be asked.
	ServerVersion string `json:"serverVersion,omitempty"`
}

func (c *commands) versionCommand() *cobra.Command {
	format, alone := "", false
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the version of this program, and the release at the server",
		Long: "Print the version of this program, and the release whose kinds are installed at the server of your kubeconfig.\n" +
			"Every user of the server may read it. If the server does not answer within 5 s, a line on stderr has\n" +
			"the reason, and the exit code stays 0.",
		Example:           "  " + strings.TrimSuffix(c.Examples("%s"), " --project north") + " version -o json",
		Args:              cobra.NoArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	cmd.Flags().StringVarP(&format, "output", "o", "", "Output format: json, raw. Default: a line for each.")
	cmd.Flags().BoolVar(&alone, "client", false, "Print the version of this program alone, without a request.")
	cmd.RunE = c.Run(func(ctx context.Context, _ []string) error {
		if format != "" && format != "json" && format != "raw" {
			return fmt.Errorf("--output: %q is neither json nor raw", format)
		}
		found, err := versions{Info: c.Version}, error(nil)
		if !alone && format != "raw" {
			if found.ServerVersion, err = c.serverVersion(ctx); err != nil {
				fmt.Fprintf(c.Streams.ErrOut, "The server's version is unknown: %v\n", err)
			}
		}
		return c.printVersions(&found, format)
	})
	return cmd
}

func (c *commands) printVersions(found *versions, format string) error {
	switch built := found.Info; format {
	case "json":
		encoder := json.NewEncoder(c.Data)
		encoder.SetIndent("", "  ")
		return encoder.Encode(found)
	case "raw":
		_, err := fmt.Fprintf(c.Streams.Out, "%#v\n", built)
		return err
	default:
		name := c.Use
		if c.Operator {
			name = "karmadactl compute"
		}
		line := fmt.Sprintf("%s %s (commit %s, %s, %s)\n", name, built.GitVersion, built.GitCommit, built.GoVersion, built.Platform)
		if found.ServerVersion != "" {
			line += "server " + found.ServerVersion + "\n"
		}
		_, err := io.WriteString(c.Streams.Out, line)
		return err
	}
}

// serverVersion returns the release whose kinds the server has. Every authenticated user may read the OpenAPI, in a
// project of Milo as on a hub.
func (c *commands) serverVersion(ctx context.Context) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, versionTimeout)
	defer cancel()
	config, err := c.Flags.ToRESTConfig()
	if err != nil {
		return "", err
	}
	asked, err := rest.HTTPClientFor(config)
	if err != nil {
		return "", err
	}
	base, _, err := rest.DefaultServerUrlFor(config)
	if err != nil {
		return "", err
	}
	content, err := getBounded(ctx, asked, base.JoinPath("openapi/v3/apis", v1alpha.GroupVersion.String()).String())
	if err != nil {
		return "", command.Tell(ctx, err)
	}
	return releaseOf(content)
}

// getBounded returns the answer to a GET, if it has no more than mostOpenAPI bytes.
func getBounded(ctx context.Context, asked *http.Client, url string) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Accept", "application/json")
	response, err := asked.Do(request)
	if err != nil {
		if errors.Is(err, context.DeadlineExceeded) {
			return nil, fmt.Errorf("the server does not answer within %v", versionTimeout)
		}
		return nil, err
	}
	defer func() { _ = response.Body.Close() }()
	switch {
	case response.StatusCode == http.StatusNotFound:
		return nil, command.ErrNotServed
	case response.StatusCode != http.StatusOK:
		return nil, fmt.Errorf("the server answers %s", response.Status)
	}
	content, err := io.ReadAll(io.LimitReader(response.Body, mostOpenAPI+1))
	if err == nil && len(content) > mostOpenAPI {
		err = fmt.Errorf("the server's OpenAPI has more than %d bytes", mostOpenAPI)
	}
	return content, err
}

// releaseOf returns the release that the descriptions of the kinds name.
func releaseOf(content []byte) (string, error) {
	var document struct {
		Components struct {
			Schemas map[string]struct {
				Description string `json:"description"`
			} `json:"schemas"`
		} `json:"components"`
	}
	if err := json.Unmarshal(content, &document); err != nil {
		return "", fmt.Errorf("the server's OpenAPI is no JSON: %w", err)
	}
	for _, kind := range []string{v1alpha.KindWorkload, v1alpha.KindWorkloadDeployment} {
		for name, schema := range document.Components.Schemas {
			if !strings.HasSuffix(name, "."+kind) {
				continue
			}
			if found := release.FindStringSubmatch(schema.Description); found != nil {
				return found[1], nil
			}
		}
	}
	return "", errors.New("its kinds do not name their release: it is older than this program, or the chart has not " +
		"installed them")
}
