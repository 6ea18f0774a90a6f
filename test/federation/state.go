// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package federation

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/karmada-compute/karmada-compute/testenv/tools"
)

// Federation is a handle of the federation in a folder. It is safe for
// concurrent use, and one folder may be open several times.
type Federation struct {
	folder   string
	state    state
	pki      *pki
	progress *progress

	stateMu  sync.RWMutex // guards Cells and Ports of state
	mu       sync.Mutex   // guards starting and stopping of one process name, and started
	imagesMu sync.Mutex   // guards the archive of images
	// started holds the processes that this handle has started, by name.
	started map[string]Process
}

// state describes a federation. It is written before the first process starts;
// only AddCell changes it later.
type state struct {
	Options
	// Karmada is the folder of Karmada's module, which has its CRDs and webhook
	// configuration.
	Karmada string
	// Binaries are the paths of the binaries, by their names. The control planes of cells of another version have the
	// prefix planeCell.
	Binaries map[string]string
	Ports    map[string]int
}

// parts are the subfolders that are empty when a new federation starts.
var parts = []string{
	"pki", "kubeconfig", "log", "audit", "etcd", "run", "projects", "webhook", "certificates", "config", "agents", "nodes", "images",
}

// ErrRunning means that processes of the folder's federation are running.
var ErrRunning = errors.New("a federation is running in this folder: stop it first, or use another folder")

// create prepares the folder of a new federation. It removes what an earlier,
// stopped federation left in the same folder, except built binaries.
func create(o Options, binaries map[string]string, karmada string, p *progress) (*Federation, error) {
	f := &Federation{folder: o.Folder, pki: &pki{folder: filepath.Join(o.Folder, "pki")}, progress: p}
	if slices.ContainsFunc(f.Status(), func(s ProcessStatus) bool { return s.Running }) {
		return nil, fmt.Errorf("%s: %w", o.Folder, ErrRunning)
	}
	for _, part := range parts {
		path := filepath.Join(o.Folder, part)
		if err := os.RemoveAll(path); err != nil {
			return nil, fmt.Errorf("remove %s: %w", path, err)
		}
		if err := os.MkdirAll(path, 0o700); err != nil {
			return nil, fmt.Errorf("create %s: %w", path, err)
		}
	}
	ports, err := f.assignPorts(o.Cells, o.Host)
	if err != nil {
		return nil, err
	}
	f.state = state{Options: o, Karmada: karmada, Binaries: binaries, Ports: ports}
	if err := f.pki.create(); err != nil {
		return nil, fmt.Errorf("certificates in %s: %w", f.pki.folder, err)
	}
	if err := writeAuditPolicy(f.auditPolicy()); err != nil {
		return nil, err
	}
	return f, writeJSON(f.stateFile(), f.state)
}

// assignPorts reserves every port that is known before the start.
func (f *Federation) assignPorts(cells []Cell, host bool) (map[string]int, error) {
	names := []string{
		"etcd", "etcd-peer", planeHub, planeMilo, planeMiloRoot,
		"karmada-webhook", "karmada-aggregated-apiserver",
		"karmada-controller-manager", "karmada-controller-manager-metrics", "karmada-scheduler", "karmada-scheduler-metrics",
		planeHub + "-kube-controller-manager",
	}
	if host {
		names = append(names, planeHost, planeHost+"-kube-controller-manager", planeHost+"-kube-scheduler")
	}
	for _, cell := range cells {
		names = append(names, cellPorts(cell)...)
	}
	return f.reserveNamed(names)
}

// cellPorts returns the names of a cell's ports.
func cellPorts(cell Cell) []string {
	plane := planeCell + cell.Name
	names := []string{plane, plane + "-kube-controller-manager", plane + "-kube-scheduler", plane + "-kwok"}
	if cell.Pull {
		names = append(names, plane+"-karmada-agent", plane+"-karmada-agent-metrics")
	}
	return names
}

func (f *Federation) reserveNamed(names []string) (map[string]int, error) {
	free, err := reservePorts(f.folder, len(names))
	if err != nil {
		return nil, err
	}
	ports := make(map[string]int, len(names))
	for i, name := range names {
		ports[name] = free[i]
	}
	return ports, nil
}

// Open returns the federation of a folder, from its state files. It does not
// check that its processes are running: see Status. If the folder has no
// federation, the error is fs.ErrNotExist.
func Open(folder string) (*Federation, error) {
	absolute, err := filepath.Abs(folder)
	if err != nil {
		return nil, fmt.Errorf("folder %s: %w", folder, err)
	}
	f := &Federation{
		folder: absolute, pki: &pki{folder: filepath.Join(absolute, "pki")},
		progress: newProgress(io.Discard),
	}
	if err := readJSON(f.stateFile(), &f.state); err != nil {
		return nil, fmt.Errorf("no federation in %s: %w", absolute, err)
	}
	return f, nil
}

// Folder returns the folder with all files of the federation.
func (f *Federation) Folder() string { return f.folder }

// Cells returns the member clusters in the order of the options, and then the added ones.
func (f *Federation) Cells() []Cell {
	f.stateMu.RLock()
	defer f.stateMu.RUnlock()
	return slices.Clone(f.state.Cells)
}

// port returns the port assigned to a name.
func (f *Federation) port(name string) int {
	port, _ := f.assignedPort(name)
	return port
}

func (f *Federation) assignedPort(name string) (int, bool) {
	f.stateMu.RLock()
	defer f.stateMu.RUnlock()
	port, ok := f.state.Ports[name]
	return port, ok
}

func (f *Federation) stateFile() string { return filepath.Join(f.folder, "federation.json") }
func (f *Federation) auditPolicy() string {
	return filepath.Join(f.folder, "config", "audit-policy.yaml")
}

func (f *Federation) projectFile(project string) string {
	return filepath.Join(f.folder, "projects", fileName(project)+".json")
}

func (f *Federation) auditLog(plane string) string {
	return filepath.Join(f.folder, "audit", planeName(plane)+".log")
}

// lock prevents concurrent starts in one folder.
func lock(ctx context.Context, folder string) (func(), error) {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, fmt.Errorf("create the federation's folder: %w", err)
	}
	return tools.Lock(ctx, filepath.Join(folder, ".lock"))
}

func writeJSON(path string, value any) error {
	content, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return err
	}
	return writeFile(path, append(content, '\n'))
}

func readJSON(path string, value any) error {
	content, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(content, value); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}
