// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package dist

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"

	provenance "github.com/in-toto/attestation/go/predicates/provenance/v1"
	intoto "github.com/in-toto/attestation/go/v1"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/types/known/structpb"
)

// ProvenanceFile has the provenance of all files and images: a statement of in-toto with the predicate of SLSA 1.
const ProvenanceFile = "provenance.intoto.json"

// Build describes the build of a release.
type Build struct {
	// Builder identifies the machine or the workflow by a URI.
	Builder string
	// Go is the version of the toolchain.
	Go string
	// Parameters are the flags that change what is built.
	Parameters map[string]string
}

// predicateType is the type of a provenance of SLSA 1.
const predicateType = "https://slsa.dev/provenance/v1"

// Provenance returns the statement about files by checksum and images by digest. It has no build time, so that a second
// build of the commit by the same builder gives the same bytes.
func Provenance(about *About, sums Checksums, build Build) ([]byte, error) {
	parameters := map[string]any{}
	for name, value := range build.Parameters {
		parameters[name] = value
	}
	external, err := structpb.NewStruct(parameters)
	if err != nil {
		return nil, err
	}
	predicate := &provenance.Provenance{
		BuildDefinition: &provenance.BuildDefinition{
			BuildType:          about.Repository + "/blob/" + about.Version + "/docs/decisions/images-and-releases.md",
			ExternalParameters: external,
			ResolvedDependencies: []*intoto.ResourceDescriptor{
				{Uri: "git+" + about.Repository + "@refs/tags/" + about.Version, Digest: map[string]string{"gitCommit": about.Commit}},
				{Uri: "pkg:golang/toolchain@" + build.Go},
			},
		},
		RunDetails: &provenance.RunDetails{Builder: &provenance.Builder{Id: build.Builder}},
	}
	if err := predicate.Validate(); err != nil {
		return nil, err
	}
	statement := &intoto.Statement{
		Type: intoto.StatementTypeUri, PredicateType: predicateType, Subject: subjects(about, sums), Predicate: &structpb.Struct{},
	}
	content, err := protojson.Marshal(predicate)
	if err := errors.Join(err, protojson.Unmarshal(content, statement.Predicate), statement.Validate()); err != nil {
		return nil, err
	}
	return stable(statement)
}

// subjects returns the files and the images.
func subjects(about *About, sums Checksums) []*intoto.ResourceDescriptor {
	var all []*intoto.ResourceDescriptor
	for _, name := range sums.Names() {
		all = append(all, &intoto.ResourceDescriptor{Name: name, Digest: map[string]string{"sha256": sums[name]}})
	}
	for _, name := range slices.Sorted(maps.Keys(about.Images)) {
		digest := strings.TrimPrefix(about.Images[name], "sha256:")
		all = append(all, &intoto.ResourceDescriptor{Name: about.Registry + "/" + name, Digest: map[string]string{"sha256": digest}})
	}
	return all
}

// stable returns a statement with sorted keys: protojson varies its spaces between builds on purpose.
func stable(statement *intoto.Statement) ([]byte, error) {
	content, err := protojson.Marshal(statement)
	if err != nil {
		return nil, err
	}
	var read any
	if err := json.Unmarshal(content, &read); err != nil {
		return nil, err
	}
	content, err = json.MarshalIndent(read, "", "  ")
	return append(content, '\n'), err
}
