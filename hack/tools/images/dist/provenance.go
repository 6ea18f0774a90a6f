// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package dist

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/in-toto/in-toto-golang/in_toto"
	"github.com/in-toto/in-toto-golang/in_toto/slsa_provenance/common"
	slsa "github.com/in-toto/in-toto-golang/in_toto/slsa_provenance/v1"
)

// ProvenanceFile has the provenance of all files and images: a statement of in-toto with the predicate of SLSA 1.
const ProvenanceFile = "provenance.intoto.json"

// Build is how a release was built.
type Build struct {
	// Builder names the machine or the workflow, a URI.
	Builder string
	// Go is the version of the toolchain.
	Go string
	// Parameters are the flags that change what is built.
	Parameters map[string]string
}

// Provenance returns the statement about files by checksum and images by digest. It has no time of the build, so that a second build
// of the commit by the same builder gives the same bytes.
func Provenance(about *About, sums Checksums, build Build) ([]byte, error) {
	var subjects []in_toto.Subject
	for _, name := range sums.Names() {
		subjects = append(subjects, in_toto.Subject{Name: name, Digest: common.DigestSet{"sha256": sums[name]}})
	}
	for _, name := range slices.Sorted(maps.Keys(about.Images)) {
		subjects = append(subjects, in_toto.Subject{
			Name: about.Registry + "/" + name, Digest: common.DigestSet{"sha256": strings.TrimPrefix(about.Images[name], "sha256:")},
		})
	}
	statement := in_toto.ProvenanceStatementSLSA1{
		StatementHeader: in_toto.StatementHeader{Type: in_toto.StatementInTotoV1, PredicateType: slsa.PredicateSLSAProvenance, Subject: subjects},
		Predicate: slsa.ProvenancePredicate{
			BuildDefinition: slsa.ProvenanceBuildDefinition{
				BuildType:          about.Repository + "/blob/" + about.Version + "/docs/decisions/0057-releases.md",
				ExternalParameters: build.Parameters,
				ResolvedDependencies: []slsa.ResourceDescriptor{
					{URI: "git+" + about.Repository + "@refs/tags/" + about.Version, Digest: common.DigestSet{"gitCommit": about.Commit}},
					{URI: "pkg:golang/toolchain@" + build.Go},
				},
			},
			RunDetails: slsa.ProvenanceRunDetails{Builder: slsa.Builder{ID: build.Builder}},
		},
	}
	content, err := json.MarshalIndent(statement, "", "  ")
	return append(content, '\n'), err
}
