// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"debug/buildinfo"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"runtime/debug"
	"strings"
	"time"

	"github.com/CycloneDX/cyclonedx-go"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/static"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"golang.org/x/mod/modfile"
)

// sbomType is the type of SBOMs in registries.
const sbomType = "application/vnd.cyclonedx+json"

func sbomLayer(sbom []byte) v1.Layer { return static.NewLayer(sbom, types.MediaType(sbomType)) }

// newSBOM lists the modules that the linker recorded in a binary. The image contains nothing else.
func newSBOM(r *release, c component, binary string) ([]byte, error) {
	info, err := buildinfo.ReadFile(binary)
	if err != nil {
		return nil, fmt.Errorf("read which modules are in %s: %w", c.name, err)
	}
	main := cyclonedx.Component{
		Type: cyclonedx.ComponentTypeApplication, Name: c.name, Version: r.version, Description: c.description,
		BOMRef: purl(module, r.version) + "#cmd/" + c.name, PackageURL: purl(module, r.version) + "#cmd/" + c.name,
		Licenses: &cyclonedx.Licenses{{License: &cyclonedx.License{ID: "Apache-2.0"}}},
		Properties: &[]cyclonedx.Property{
			{Name: "cdx:gomod:build:env:GOOS", Value: setting(info, "GOOS")}, {Name: "cdx:gomod:build:env:GOARCH", Value: setting(info, "GOARCH")},
		},
	}
	modules := []cyclonedx.Component{library("std", info.GoVersion, "")}
	for _, dependency := range info.Deps {
		modules = append(modules, compiled(r, dependency))
	}
	references := make([]string, 0, len(modules))
	for _, m := range modules {
		references = append(references, m.BOMRef)
	}
	bom := cyclonedx.NewBOM()
	bom.Metadata = &cyclonedx.Metadata{Timestamp: r.created.Format(time.RFC3339), Component: &main}
	bom.Components, bom.Dependencies = &modules, &[]cyclonedx.Dependency{{Ref: main.BOMRef, Dependencies: &references}}
	var out bytes.Buffer
	if err := cyclonedx.NewBOMEncoder(&out, cyclonedx.BOMFileFormatJSON).SetPretty(true).Encode(bom); err != nil {
		return nil, fmt.Errorf("write the SBOM of %s: %w", c.name, err)
	}
	return out.Bytes(), nil
}

// compiled returns the module whose sources are in the binary. A module replaced by a folder is one of this repository,
// as the API is: it keeps its path, has the version of the release, and no hash, because go.sum has none.
func compiled(r *release, dependency *debug.Module) cyclonedx.Component {
	replacement := dependency.Replace
	switch {
	case replacement == nil:
		return library(dependency.Path, dependency.Version, dependency.Sum)

	case modfile.IsDirectoryPath(replacement.Path):
		return library(dependency.Path, r.version, "")

	default:
		return library(replacement.Path, replacement.Version, replacement.Sum)
	}
}

// library returns a module. Its hash is the hash in go.sum, as in cyclonedx-gomod.
func library(path, version, sum string) cyclonedx.Component {
	if path == "std" {
		version = strings.TrimPrefix(version, "go")
	}
	m := cyclonedx.Component{
		Type: cyclonedx.ComponentTypeLibrary, Name: path, Version: version, BOMRef: purl(path, version),
		PackageURL: purl(path, version), Scope: cyclonedx.ScopeRequired,
	}
	if raw, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(sum, "h1:")); err == nil && len(raw) > 0 {
		m.Hashes = &[]cyclonedx.Hash{{Algorithm: cyclonedx.HashAlgoSHA256, Value: hex.EncodeToString(raw)}}
	}
	return m
}

func purl(path, version string) string {
	// A version may contain "+incompatible".
	return "pkg:golang/" + path + "@" + strings.ReplaceAll(version, "+", "%2B")
}

func setting(info *debug.BuildInfo, key string) string {
	for _, s := range info.Settings {
		if s.Key == key {
			return s.Value
		}
	}
	return ""
}
