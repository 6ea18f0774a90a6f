// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// keyless is the key for signatures with the identity of a workflow, by Sigstore's public services.
const keyless = "keyless"

// bundleSuffix is the suffix of files with a signature and its verification material.
const bundleSuffix = ".sigstore.json"

// signer signs with cosign.
type signer struct {
	// binary is the path of cosign.
	binary string
	// key is the path or the KMS URI of a private key, or keyless.
	key string
	// folder contains the configuration and the key pair of this run.
	folder string
}

// newSigner returns a signer in a folder for temporary files. Without a key it generates a new key pair.
func newSigner(ctx context.Context, binary, key, folder string) (*signer, error) {
	s := &signer{binary: binary, key: key, folder: folder}
	if key == keyless {
		return s, nil
	}
	// A configuration without services: nothing is sent to the transparency log.
	if err := s.run(ctx, "signing-config", "create", "--out="+s.configuration()); err != nil {
		return nil, err
	}
	if key != "" {
		return s, nil
	}
	s.key = filepath.Join(folder, "cosign.key")
	return s, s.run(ctx, "generate-key-pair", "--output-key-prefix="+strings.TrimSuffix(s.key, ".key"))
}

func (s *signer) configuration() string { return filepath.Join(s.folder, "signing-config.json") }

// flags returns the common flags of all signatures.
func (s *signer) flags() []string {
	if s.key == keyless {
		return []string{"--yes"}
	}
	return []string{"--yes", "--key=" + s.key, "--signing-config=" + s.configuration()}
}

// publicKey writes the key that verifies signatures. Keyless signatures have no key: their bundles contain a
// certificate.
func (s *signer) publicKey(ctx context.Context, file string) error {
	if s.key == keyless {
		return nil
	}
	return s.run(ctx, "public-key", "--key="+s.key, "--outfile="+file)
}

// signFile writes the signature of a file beside it.
func (s *signer) signFile(ctx context.Context, file string) error {
	return s.run(ctx, append(append([]string{"sign-blob"}, s.flags()...), "--bundle="+file+bundleSuffix, file)...)
}

// attest writes a signed statement beside the statement.
func (s *signer) attest(ctx context.Context, statement string) error {
	return s.run(ctx, append(append([]string{"attest-blob"}, s.flags()...), "--statement="+statement, "--bundle="+statement+bundleSuffix)...)
}

// signImage pushes a signature beside an image or a chart, which is named by its digest.
func (s *signer) signImage(ctx context.Context, reference string) error {
	args := append([]string{"sign"}, s.flags()...)
	if strings.HasPrefix(reference, loopback) {
		args = append(args, "--allow-http-registry")
	}
	return s.run(ctx, append(args, reference)...)
}

func (s *signer) run(ctx context.Context, args ...string) error {
	command := exec.CommandContext(ctx, s.binary, args...)
	command.Env = os.Environ()
	if _, set := os.LookupEnv("COSIGN_PASSWORD"); !set {
		command.Env = append(command.Env, "COSIGN_PASSWORD=") // there is no terminal to ask for one
	}
	if output, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("cosign %s: %w\n%s", args[0], err, output)
	}
	return nil
}
