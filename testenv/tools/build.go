// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package tools

import (
	"context"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
)

const (
	// soon is how long a build may take before it is announced.
	soon = 2 * time.Second
	// heartbeat is the interval at which a longer build reports its progress.
	heartbeat = 15 * time.Second
)

// Builder builds the binaries of a checkout. It is safe for concurrent use, by several processes too.
type Builder struct {
	// Repository is the checkout.
	Repository string
	// Cache is the folder of built binaries.
	Cache string
	// Karmada is the minor version of Karmada, such as 1.17, whose module is karmada-<version> under hack/tools, or the
	// absolute path of a checkout of Karmada. Empty: the version in the module that Karmada shares with Kubernetes.
	Karmada string
	// Kubernetes is the minor version of the binaries of ControlPlane, such as 1.26, whose module is kubernetes-<version>
	// under hack/tools. Empty: the version in the shared module.
	Kubernetes string
	// Printf receives progress, one line per call. It may be called concurrently.
	Printf func(format string, args ...any)
}

// Build builds the named binaries that are not cached and returns the path of each by its name. One go command builds
// all binaries of a module, so that packages compile and link in parallel.
func (b *Builder) Build(ctx context.Context, names ...string) (map[string]string, error) {
	wanted, err := selected(names)
	if err != nil {
		return nil, err
	}
	for i := range wanted {
		wanted[i].module = b.moduleOf(wanted[i])
	}
	goVersion, err := output(ctx, b.Repository, "env", "GOVERSION")
	if err != nil {
		return nil, fmt.Errorf("the federation's binaries are built with go, which must be in PATH: %w", err)
	}
	paths := map[string]string{}
	modules := map[string][]tool{}
	var order []string
	for _, t := range wanted {
		folder, err := b.folder(t.module, goVersion)
		if err != nil {
			return nil, err
		}
		paths[t.name] = filepath.Join(folder, t.name)
		if modules[folder] == nil {
			order = append(order, folder)
		}
		modules[folder] = append(modules[folder], t)
	}
	for _, folder := range order {
		if err := b.buildModule(ctx, folder, modules[folder]); err != nil {
			return nil, err
		}
	}
	return paths, nil
}

// folder returns the cache folder of a tool module. Its name is a hash of everything that determines the binaries:
// go.mod, go.sum, the Go version, the build flags and tags, and of a checkout its sources.
func (b *Builder) folder(module, goVersion string) (string, error) {
	hash := sha256.New()
	if filepath.IsAbs(module) {
		if err := hashSources(hash, module); err != nil {
			return "", err
		}
	}
	for _, file := range []string{"go.mod", "go.sum"} {
		content, err := os.ReadFile(filepath.Join(b.module(module), file))
		if err != nil {
			return "", fmt.Errorf("read the tool module: %w", err)
		}
		hash.Write(content)
	}
	set, err := b.variables(module)
	if err != nil {
		return "", err
	}
	hash.Write([]byte(goVersion + flags + tags[module] + set))
	return filepath.Join(b.Cache, filepath.Base(module)+"-"+hex.EncodeToString(hash.Sum(nil))[:16]), nil
}

// module returns the folder of a module.
func (b *Builder) module(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(b.Repository, "hack", "tools", name)
}

// buildModule builds the tools of a module that folder does not contain.
func (b *Builder) buildModule(ctx context.Context, folder string, wanted []tool) error {
	return b.buildOnce(ctx, folder, wanted, func(tools []tool) error {
		module := tools[0].module
		set, err := b.variables(module)
		if err != nil {
			return err
		}
		return b.buildInto(ctx, folder, tools, &compilation{module: b.module(module), tags: tags[module], variables: set})
	})
}

// versionOfKubernetes finds the version of Kubernetes in a go.mod.
var versionOfKubernetes = regexp.MustCompile(`(?m)^\s*k8s\.io/kubernetes (v\S+)`)

// variables are the flags of the linker that give the binaries of a module their version of Kubernetes. Without it an API server says
// that it is v0.0.0, and what asks for its version, as the agent of a cell does, takes it for an old one.
func (b *Builder) variables(module string) (string, error) {
	content, err := os.ReadFile(filepath.Join(b.module(module), "go.mod"))
	if err != nil {
		return "", fmt.Errorf("read the tool module: %w", err)
	}
	found := versionOfKubernetes.FindSubmatch(content)
	if found == nil {
		return "", nil
	}
	return fmt.Sprintf(" -X k8s.io/component-base/version.gitVersion=%s", found[1]), nil
}

// buildOnce calls build for the wanted tools that folder does not contain. A file lock keeps two processes from
// building them at the same time.
func (b *Builder) buildOnce(ctx context.Context, folder string, wanted []tool, build func([]tool) error) error {
	if len(missing(folder, wanted)) == 0 {
		return nil
	}
	if err := os.MkdirAll(folder, 0o750); err != nil {
		return fmt.Errorf("create a folder for binaries: %w", err)
	}
	unlock, err := Lock(ctx, filepath.Join(folder, "lock"))
	if err != nil {
		return err
	}
	defer unlock()
	tools := missing(folder, wanted)
	if len(tools) == 0 {
		return nil // another process built them while this one waited for the lock
	}
	return build(tools)
}

// buildInto builds tools of a module. Binaries are renamed into folder, so that a failed build leaves nothing there.
func (b *Builder) buildInto(ctx context.Context, folder string, tools []tool, building *compilation) error {
	temporary, err := os.MkdirTemp(folder, "build-")
	if err != nil {
		return fmt.Errorf("create a folder to build in: %w", err)
	}
	defer func() { _ = os.RemoveAll(temporary) }() // finished binaries have been renamed
	names := make([]string, len(tools))
	building.folder, building.packages = temporary, make([]string, len(tools))
	for i, t := range tools {
		names[i], building.packages[i] = t.name, t.pkg
	}
	if err := b.compile(ctx, building, names); err != nil {
		return err
	}
	for _, t := range tools {
		if err := os.Rename(filepath.Join(temporary, t.output()), filepath.Join(folder, t.name)); err != nil {
			return fmt.Errorf("move %s into the cache: %w", t.name, err)
		}
	}
	return nil
}

// Own builds commands of the repository, given by package paths such as ./cmd/karmadactl, and returns the path of each
// binary by its name. The next call for the same checkout replaces them.
func (b *Builder) Own(ctx context.Context, packages ...string) (map[string]string, error) {
	return b.own(ctx, "", packages)
}

// Static builds a statically linked command of the repository for an image without libraries, and returns its path.
func (b *Builder) Static(ctx context.Context, pkg string) (string, error) {
	built, err := b.own(ctx, "netgo,osusergo", []string{pkg})
	return built[filepath.Base(pkg)], err
}

func (b *Builder) own(ctx context.Context, tags string, packages []string) (map[string]string, error) {
	checkout := sha256.Sum256([]byte(b.Repository))
	folder := filepath.Join(b.Cache, "checkout-"+hex.EncodeToString(checkout[:8]))
	if err := os.MkdirAll(folder, 0o750); err != nil {
		return nil, fmt.Errorf("create a folder for binaries: %w", err)
	}
	unlock, err := Lock(ctx, filepath.Join(folder, "lock"))
	if err != nil {
		return nil, err
	}
	defer unlock()
	paths, modules := map[string]string{}, map[string][]string{}
	for _, pkg := range packages {
		name := filepath.Base(pkg)
		paths[name] = filepath.Join(folder, name)
		module, inside := b.moduleOfCommand(pkg)
		modules[module] = append(modules[module], inside)
	}
	for _, module := range slices.Sorted(maps.Keys(modules)) {
		building := &compilation{module: module, tags: tags, folder: folder, packages: modules[module]}
		if err := b.compile(ctx, building, basesOf(modules[module])); err != nil {
			return nil, err
		}
	}
	return paths, nil
}

// moduleOfCommand returns the folder of the module that has a command of the repository, the nearest folder above the
// command with a go.mod, and the command's path in that module.
func (b *Builder) moduleOfCommand(pkg string) (module, inside string) {
	command := filepath.Join(b.Repository, pkg)
	for folder := filepath.Dir(command); folder != b.Repository && folder != filepath.Dir(folder); folder = filepath.Dir(folder) {
		if _, err := os.Stat(filepath.Join(folder, "go.mod")); err == nil {
			return folder, "." + strings.TrimPrefix(command, folder)
		}
	}
	return b.Repository, pkg
}

// basesOf returns the names of the binaries of commands.
func basesOf(packages []string) []string {
	names := make([]string, len(packages))
	for i, pkg := range packages {
		names[i] = filepath.Base(pkg)
	}
	return names
}

// compile builds the named packages of a module, and reports its progress every heartbeat.
func (b *Builder) compile(ctx context.Context, building *compilation, names []string) error {
	began := time.Now()
	what := strings.Join(names, ", ")
	said := make(chan struct{})
	ctx, done := context.WithCancel(ctx)
	go func() {
		defer close(said)
		b.report(ctx, what, building)
	}()
	err := building.run(ctx)
	done()
	<-said
	if err != nil {
		return fmt.Errorf("build %s: %w", what, err)
	}
	if took := time.Since(began); took > soon {
		b.Printf("built %s in %.0f s", what, took.Seconds())
	}
	return nil
}

func (b *Builder) report(ctx context.Context, what string, building *compilation) {
	timer := time.NewTimer(soon)
	defer timer.Stop()
	for first := true; ; first = false {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		}
		if first {
			b.Printf("building %s", what)
		} else {
			b.Printf("  %s", building)
		}
		timer.Reset(heartbeat)
	}
}

// Prefetch downloads the modules of kwok and of the given packages of the repository, and compiles parts of the
// standard library. It runs in parallel to a build: a go command downloads all modules that it needs before it compiles
// any package. Errors are ignored, because the build that needs the same modules reports them.
func (b *Builder) Prefetch(ctx context.Context, packages ...string) {
	var group sync.WaitGroup
	defer group.Wait()
	list := func(module string, packages ...string) {
		_, _ = output(ctx, module, append([]string{"list", "-deps"}, packages...)...)
	}
	group.Go(func() {
		_, _ = output(ctx, b.Repository, "build", "net/http", "text/template", "encoding/xml", "go/parser")
	})
	for _, pkg := range packages {
		module, inside := b.moduleOfCommand(pkg)
		group.Go(func() { list(module, inside) })
	}
	for _, t := range all() {
		if t.module == "kwok" {
			group.Go(func() { list(b.module(t.module), t.pkg) })
		}
	}
}

// KarmadaFolder returns the folder of Karmada's module, in the module cache or of a checkout. It downloads the module if only the
// binaries are cached.
func (b *Builder) KarmadaFolder(ctx context.Context) (string, error) {
	if filepath.IsAbs(b.Karmada) {
		return b.Karmada, nil
	}
	return b.moduleFolder(ctx, b.karmadaModule(), KarmadaModule)
}

// GatewayAPI returns the files of the CRDs of the Gateway API that the add-on uses, in the module cache.
func (b *Builder) GatewayAPI(ctx context.Context) ([]string, error) {
	folder, err := b.GatewayAPIFolder(ctx)
	var files []string
	for _, kind := range []string{"httproutes", "gateways", "gatewayclasses"} {
		files = append(files, filepath.Join(folder, "gateway.networking.k8s.io_"+kind+".yaml"))
	}
	return files, err
}

// GatewayAPIFolder returns the folder of the standard channel of the Gateway API, in the module cache.
func (b *Builder) GatewayAPIFolder(ctx context.Context) (string, error) {
	folder, err := b.moduleFolder(ctx, "gateway-api", "sigs.k8s.io/gateway-api")
	return filepath.Join(folder, "config", "crd", "standard"), err
}

// ExternalDNSChart returns the folder of the chart of external-dns, in the module cache.
func (b *Builder) ExternalDNSChart(ctx context.Context) (string, error) {
	folder, err := b.moduleFolder(ctx, ExternalDNS, "sigs.k8s.io/external-dns")
	return filepath.Join(folder, "charts", "external-dns"), err
}

// CertManagerCRDs returns the folder of the CRDs of cert-manager, in the module cache.
func (b *Builder) CertManagerCRDs(ctx context.Context) (string, error) {
	folder, err := b.moduleFolder(ctx, "cert-manager", "github.com/cert-manager/cert-manager")
	return filepath.Join(folder, "deploy", "crds"), err
}

// moduleFolder returns the folder of a module, in the version of a module of hack/tools.
func (b *Builder) moduleFolder(ctx context.Context, of, path string) (string, error) {
	downloaded, err := output(ctx, b.module(of), "mod", "download", "-json", path)
	if err != nil {
		return "", fmt.Errorf("find the files of %s: %w", path, err)
	}
	var module struct{ Dir string }
	if err := json.Unmarshal([]byte(downloaded), &module); err != nil {
		return "", fmt.Errorf("find the files of %s: %w", path, err)
	}
	return module.Dir, nil
}

// missing returns the tools that folder does not hold.
func missing(folder string, tools []tool) []tool {
	var result []tool
	for _, t := range tools {
		if _, err := buildinfo.ReadFile(filepath.Join(folder, t.name)); err != nil {
			result = append(result, t)
		}
	}
	return result
}
