// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"helm.sh/helm/v3/pkg/chart/loader"
	helmregistry "helm.sh/helm/v3/pkg/registry"

	"github.com/karmada-compute/karmada-compute/hack/tools/images/dist"
)

// cosignVariable has the path of cosign. `make release-test` sets it: the test takes minutes.
const cosignVariable = "KARMADA_COMPUTE_COSIGN"

// platformsVariable, if it is "all", makes the test release for every platform, as `make release` does. Only the
// programs for this machine run.
const platformsVariable = "KARMADA_COMPUTE_PLATFORMS"

const testVersion = "v0.1.0-test.1"

// installation is a user with the files of a release and its registry, in a folder outside a checkout.
type installation struct {
	*testing.T

	// downloads is the folder of the release, and folder the user's working directory.
	downloads, folder string
	registry          string
	cosign            string
}

// TestInstallRelease releases the commit, for this platform or for all, loads the saved registry into another one,
// verifies the user's downloads, and installs them on a federation. karmadactl, kubectl-compute and the content of the
// images come from the release alone. Kubernetes, Karmada and the stand-in of Milo come from the checkout. The
// federation runs the binary of an image as a process: the test pulls the image, not a container runtime. With -short
// nothing is installed.
func TestInstallRelease(t *testing.T) {
	i := &installation{T: t, downloads: t.TempDir(), folder: t.TempDir(), cosign: os.Getenv(cosignVariable)}
	if i.cosign == "" {
		t.Skip("make release-test runs it: it takes minutes")
	}
	i.release(repository, i.downloads)
	local, err := startRegistry(t.Context(), loopback+"0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = local.stop() })
	if err := loadRepositories(t.Context(), filepath.Join(i.downloads, registryFolder), local.address); err != nil {
		t.Fatal(err)
	}
	i.registry = local.address + "/compute"
	i.verifyFiles()
	o, err := parseRelease(i.releaseArgs("", ""))
	if err != nil {
		t.Fatal(err)
	}
	i.checkArchives(o)
	i.checkKrew(o)
	i.checkArtifactHub(o)
	i.compareAgain()
	i.takeCommands()
	i.takeImages()
	i.pullChart()
	if !testing.Short() {
		i.install()
	}
}

// command runs a program in the folder of the user, and returns what it prints.
func (i *installation) command(program string, args ...string) (string, error) {
	command := exec.CommandContext(i.Context(), program, args...)
	command.Dir = i.folder
	command.Env = append(os.Environ(), "PATH="+i.folder+string(os.PathListSeparator)+os.Getenv("PATH"))
	out, err := command.CombinedOutput()
	return string(out), err
}

func (i *installation) must(program string, args ...string) string {
	i.Helper()
	out, err := i.command(program, args...)
	if err != nil {
		i.Fatalf("%s %v: %v\n%s", filepath.Base(program), args, err, out)
	}
	return out
}

// refused fails unless the command fails with a text.
func (i *installation) refused(want, program string, args ...string) {
	i.Helper()
	if out, err := i.command(program, args...); err == nil || !strings.Contains(out, want) {
		i.Errorf("%s %v is not refused with %q: %v\n%s", filepath.Base(program), args, want, err, out)
	}
}

// platform is this machine's platform.
const platform = "linux/" + runtime.GOARCH

// release releases the commit of a checkout into a folder.
func (i *installation) release(source, out string) {
	i.Helper()
	if err := run(i.Context(), append([]string{"release"}, i.releaseArgs(source, out)...)); err != nil {
		i.Fatal(err)
	}
}

// releaseArgs returns the arguments of `images release`.
func (i *installation) releaseArgs(source, out string) []string {
	args := []string{
		"--source=" + source, "--version=" + testVersion, "--registry=registry.example.com/compute", "--out=" + out, "--cosign=" + i.cosign,
	}
	if os.Getenv(platformsVariable) == "all" {
		return args
	}
	return append(args, "--platforms="+platform, "--cli-platforms="+platform)
}

// compareAgain releases the same commit from another checkout, and compares the checksums, which cover archives, chart,
// SBOMs and the provenance with the digests of the images.
func (i *installation) compareAgain() {
	clone, again := filepath.Join(i.TempDir(), "clone"), i.TempDir()
	source, err := filepath.Abs(repository)
	if err != nil {
		i.Fatal(err)
	}
	i.must("git", "clone", "--quiet", source, clone)
	i.release(clone, again)
	first, err := os.ReadFile(filepath.Join(i.folder, dist.ChecksumsFile))
	if err != nil {
		i.Fatal(err)
	}
	if second, err := os.ReadFile(filepath.Join(again, dist.ChecksumsFile)); err != nil || !bytes.Equal(first, second) {
		i.Errorf("a second release of the commit has checksums\n%s\nand the first\n%s%v", second, first, err)
	}
}

// verifyFiles runs the commands of docs/how-to/verify.md for files: the signature of the checksums, the checksums, the
// provenance.
func (i *installation) verifyFiles() {
	if err := os.CopyFS(i.folder, os.DirFS(i.downloads)); err != nil {
		i.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Join(i.folder, registryFolder)); err != nil {
		i.Fatal(err)
	}
	key := "--key=" + publicKeyFile
	sums := []string{"verify-blob", key, "--bundle=" + dist.ChecksumsFile + bundleSuffix, "--insecure-ignore-tlog", dist.ChecksumsFile}
	i.must(i.cosign, sums...)
	i.must("sha256sum", "--check", "--strict", dist.ChecksumsFile)
	chart := "karmada-compute-" + strings.TrimPrefix(testVersion, "v") + ".tgz"
	attested := []string{
		"verify-blob-attestation", key, "--bundle=" + dist.ProvenanceFile + bundleSuffix, "--insecure-ignore-tlog", "--type=slsaprovenance1",
	}
	i.must(i.cosign, append(attested, chart)...)
	i.refused("do not match digests", i.cosign, append(attested, publicKeyFile)...)
	i.refused("failed to verify", i.cosign, "verify-blob", key, "--bundle="+dist.ChecksumsFile+bundleSuffix,
		"--insecure-ignore-tlog", notesFile)
	if err := os.Mkdir(i.other(), 0o700); err != nil {
		i.Fatal(err)
	}
	if _, err := newSigner(i.Context(), i.cosign, "", i.other()); err != nil {
		i.Fatal(err)
	}
	i.refused("failed to verify", i.cosign, append([]string{sums[0], "--key=" + filepath.Join(i.other(), publicKeyFile)}, sums[2:]...)...)
}

// other returns a folder with a key pair that has signed nothing.
func (i *installation) other() string { return filepath.Join(i.folder, "other") }

// takeCommands unpacks the archives of the commands.
func (i *installation) takeCommands() {
	for _, c := range commands {
		i.must("tar", "-xzf", dist.ArchiveName(c.name, testVersion, platform), c.name)
	}
	if out := i.must(filepath.Join(i.folder, dist.PluginBinary), "version"); !strings.HasPrefix(out,
		dist.PluginBinary+" "+testVersion+" (commit ") {
		i.Errorf("the plugin of %s prints\n%s", testVersion, out)
	}
	if out := i.must(filepath.Join(i.folder, "karmadactl"), "addons", "enable", "karmada-compute",
		"--dry-run"); !strings.Contains(out, "registry.example.com/compute/karmada-compute:"+testVersion) {
		i.Errorf("karmadactl installs other images:\n%.2000s", out)
	}
}

// takeImages verifies the images by tag, and unpacks the verified images by digest, as a node pulls them.
func (i *installation) takeImages() {
	for _, c := range components {
		image := i.registry + "/" + c.name
		verify := []string{"verify", "--key=" + publicKeyFile, "--insecure-ignore-tlog", "--allow-http-registry"}
		var verified []struct {
			Critical struct {
				Image struct {
					Digest string `json:"docker-manifest-digest"`
				} `json:"image"`
			} `json:"critical"`
		}
		out := i.must(i.cosign, append(verify, image+":"+testVersion)...)
		if err := json.Unmarshal([]byte(out[strings.Index(out, "\n["):]), &verified); err != nil || len(verified) != 1 {
			i.Fatalf("%v of cosign's answer: %s", err, out)
		}
		reference, err := name.NewDigest(image + "@" + verified[0].Critical.Image.Digest)
		if err != nil {
			i.Fatal(err)
		}
		pulled, err := remote.Image(reference, remote.WithContext(i.Context()), remote.WithPlatform(*here()))
		if err != nil {
			i.Fatal(err)
		}
		_, binary := list(i.T, pulled)
		if err := os.WriteFile(filepath.Join(i.folder, c.name), binary, 0o700); err != nil {
			i.Fatal(err)
		}
		if out := i.must(filepath.Join(i.folder, c.name), "--version"); !strings.HasPrefix(out, c.name+" "+testVersion+" ") {
			i.Errorf("%s is %s", c.name, out)
		}
		if err := remote.Write(reference.Tag("unsigned"), pulled, remote.WithContext(i.Context())); err != nil {
			i.Fatal(err)
		}
		i.refused("no signatures found", i.cosign, append(verify, image+":unsigned")...)
	}
}

// pullChart verifies and pulls the chart by its version, with Helm's client, and compares it with the file.
func (i *installation) pullChart() {
	version := strings.TrimPrefix(testVersion, "v")
	reference := i.registry + "/charts/" + dist.ChartName + ":" + version
	i.must(i.cosign, "verify", "--key="+publicKeyFile, "--insecure-ignore-tlog", "--allow-http-registry", reference)
	client, err := helmregistry.NewClient(helmregistry.ClientOptPlainHTTP())
	if err != nil {
		i.Fatal(err)
	}
	pulled, err := client.Pull(reference)
	if err != nil {
		i.Fatal(err)
	}
	file, err := os.ReadFile(filepath.Join(i.folder, "karmada-compute-"+version+".tgz"))
	if err != nil || !bytes.Equal(file, pulled.Chart.Data) {
		i.Errorf("the chart in the registry is another one than the file, %v", err)
	}
	loaded, err := loader.LoadArchive(bytes.NewReader(pulled.Chart.Data))
	if err != nil || loaded.Metadata.AppVersion != testVersion {
		i.Errorf("chart %+v, %v", loaded, err)
	}
}

// install enables the add-on on a new federation, which has none of its CustomResourceDefinitions, and runs a Workload.
func (i *installation) install() {
	up := func(command string, args ...string) {
		i.Helper()
		started := exec.CommandContext(context.WithoutCancel(i.Context()), "go",
			append([]string{"run", "./hack/federation", command}, args...)...)
		started.Dir, started.Stdout, started.Stderr = repository, os.Stdout, os.Stderr
		// Without cgo, karmadactl of the checkout, which joins cells, has the packages that the release has compiled.
		started.Env = append(os.Environ(), "CGO_ENABLED=0")
		if err := started.Run(); err != nil {
			i.Fatalf("federation %s: %v", command, err)
		}
	}
	federation, crds := filepath.Join(i.TempDir(), "federation"), i.TempDir()
	i.Cleanup(func() { up("down", "--folder="+federation) })
	up("up", "--folder="+federation, "--add-on", "--released="+i.folder, "--crds="+crds, "--projects=north")
	kubeconfig := "--kubeconfig=" + filepath.Join(federation, "kubeconfig", "project-north.kubeconfig")
	workload, err := filepath.Abs(filepath.Join(repository, "test", "cmd", "federation", "sample", "workload.yaml"))
	if err != nil {
		i.Fatal(err)
	}
	i.must(filepath.Join(i.folder, "karmadactl"), "apply", "-f", workload, kubeconfig)
	host := "--kubeconfig=" + filepath.Join(federation, "kubeconfig", "host.kubeconfig")
	if out := i.must(filepath.Join(i.folder, "karmadactl"), "get", "deployment", "karmada-compute", "-n",
		"karmada-system", "-o=yaml", host); !strings.Contains(out, "image: registry.example.com/compute/karmada-compute:"+testVersion) {
		i.Errorf("the host runs another image:\n%s", out)
	}
	i.awaitReady(kubeconfig)
}

// awaitReady waits until explain finds the Workload Ready, which is its exit code.
func (i *installation) awaitReady(kubeconfig string) {
	const limit = 3 * time.Minute
	ticker, deadline := time.NewTicker(time.Second), time.After(limit)
	defer ticker.Stop()
	for {
		out, err := i.command(filepath.Join(i.folder, dist.PluginBinary), "explain", "web", "-n", "default", kubeconfig)
		if err == nil {
			i.Log(out)
			return
		}
		select {
		case <-ticker.C:
		case <-deadline:
			i.Fatalf("the Workload is not Ready after %s: %v\n%s", limit, err, out)
		}
	}
}
