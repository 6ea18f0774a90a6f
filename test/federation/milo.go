// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package federation

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"github.com/karmada-compute/karmada-compute/test/federation/milo"
)

var projectResource = schema.GroupVersionResource{Group: "resourcemanager.miloapis.com", Version: "v1alpha1", Resource: "projects"}

// binFolder returns the folder of binaries built from the repository itself.
func (f *Federation) binFolder() string { return filepath.Join(f.folder, "bin") }

// ownBinary returns the path of ownCommand's binary.
func (f *Federation) ownBinary() string {
	return filepath.Join(f.binFolder(), filepath.Base(ownCommand))
}

// startMiloRoot starts the kube-apiserver behind Milo's root.
func (f *Federation) startMiloRoot(ctx context.Context) error {
	if err := f.startAPIServer(ctx, f.miloRoot()); err != nil {
		return err
	}
	root, err := f.plane(planeMiloRoot)
	if err != nil {
		return err
	}
	if err := root.applyFile(ctx, "administrator.yaml", nil); err != nil {
		return err
	}
	return f.applyOwnCRDs(ctx, root)
}

// StopMiloRoot kills the kube-apiserver of Milo's root. The control planes of
// projects that were up stay reachable.
func (f *Federation) StopMiloRoot() error { return f.KillProcess(apiServerName(planeMiloRoot)) }

// StartMiloRoot restarts the root at the same address. It waits until the root is ready and its objects are copied to
// every project again: the router's watches take a while to reconnect.
func (f *Federation) StartMiloRoot(ctx context.Context) error {
	if err := f.startAPIServer(ctx, f.miloRoot()); err != nil {
		return err
	}
	root, err := f.plane(planeMiloRoot)
	if err != nil {
		return err
	}
	mark := rootMark(time.Now())
	if err := root.apply(ctx, mark); err != nil {
		return err
	}
	return f.eachProject(ctx, func(project string) error { return f.waitMark(ctx, project, mark) })
}

// eachProject calls do with the projects at Milo's root that are not being deleted.
func (f *Federation) eachProject(ctx context.Context, do func(project string) error) error {
	root, err := f.plane(planeMiloRoot)
	if err != nil {
		return err
	}
	projects, err := root.dynamic.Resource(projectResource).List(ctx, metav1.ListOptions{})
	if err != nil {
		return fmt.Errorf("list the projects: %w", err)
	}
	for i := range projects.Items {
		if projects.Items[i].GetDeletionTimestamp() != nil {
			continue
		}
		if err := do(projects.Items[i].GetName()); err != nil {
			return err
		}
	}
	return nil
}

const markLabel = "federation.karmada-compute.dev/root-started"

var clusterRoleResource = schema.GroupVersionResource{Group: rbacGroup, Version: "v1", Resource: "clusterroles"}

// rootMark returns a ClusterRole without rules, which the router copies from the
// root into the projects.
func rootMark(at time.Time) *unstructured.Unstructured {
	mark := &unstructured.Unstructured{Object: map[string]any{"apiVersion": rbacVersion, "kind": "ClusterRole", "rules": []any{}}}
	mark.SetName("federation-root-started")
	mark.SetLabels(map[string]string{markLabel: strconv.FormatInt(at.UnixNano(), 10)})
	return mark
}

func (f *Federation) waitMark(ctx context.Context, project string, mark *unstructured.Unstructured) error {
	client, err := f.plane(planeProjectDirect + project)
	if err != nil {
		return err
	}
	err = await(ctx, readyInterval, func(ctx context.Context) error {
		now, err := client.dynamic.Resource(clusterRoleResource).Get(ctx, mark.GetName(), metav1.GetOptions{})
		if err == nil && now.GetLabels()[markLabel] != mark.GetLabels()[markLabel] {
			err = errors.New("the copy is an earlier one")
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("writes at Milo's root are not copied to project %s: %w", project, err)
	}
	return nil
}

func (f *Federation) miloRoot() apiServer {
	return apiServer{plane: planeMiloRoot, port: f.port(planeMiloRoot), small: true}
}

// miloProcess is the name of the process of Milo's router.
const miloProcess = "milo"

// StopMilo kills Milo: its root and all projects become unreachable. StartMilo starts it again.
func (f *Federation) StopMilo() error { return f.KillProcess(miloProcess) }

// StartMilo starts Milo and waits until it serves its root and its projects.
func (f *Federation) StartMilo(ctx context.Context) error {
	err := f.start(ctx, Process{
		Name: miloProcess, Path: f.ownBinary(), Args: []string{"milo", "--folder=" + f.folder},
		Ready: f.httpsReady(f.port(planeMilo), "/stand-in/readyz"), stage: stageRouter,
	})
	if err != nil {
		return err
	}
	return f.eachProject(ctx, func(project string) error {
		client, err := f.plane(planeProject + project)
		if err != nil {
			return err
		}
		err = await(ctx, readyInterval, func(ctx context.Context) error {
			_, err := client.dynamic.Resource(clusterRoleResource).List(ctx, metav1.ListOptions{Limit: 1})
			return err
		})
		if err != nil {
			return fmt.Errorf("Milo does not serve project %s: %w", project, err)
		}
		return nil
	})
}

// startMilo starts Milo's router and creates the projects.
func (f *Federation) startMilo(ctx context.Context, projects []string) error {
	if err := f.StartMilo(ctx); err != nil {
		return err
	}
	group, ctx := errgroup.WithContext(ctx)
	for _, project := range projects {
		group.Go(func() error { return f.CreateProject(ctx, project) })
	}
	return group.Wait()
}

// ServeMilo runs Milo's router for this federation until ctx ends. It is the
// body of the process "milo". The control planes of projects that it starts are
// processes of the federation and outlive it.
func (f *Federation) ServeMilo(ctx context.Context, log *slog.Logger) error {
	root, err := f.Config(planeMiloRoot, "milo")
	if err != nil {
		return err
	}
	certFile, keyFile := f.pki.pair("server")
	proxyCert, proxyKey := f.pki.pair("front-proxy")
	planes := &projectPlanes{federation: f, starting: map[string]*sync.Mutex{}}
	err = milo.Serve(ctx, milo.Options{
		Listen: address(f.port(planeMilo)), CertFile: certFile, KeyFile: keyFile, ClientCAFile: f.pki.caFile(),
		Root:       root,
		FrontProxy: rest.TLSClientConfig{CAFile: f.pki.caFile(), CertFile: proxyCert, KeyFile: proxyKey},
		Planes:     planes,
		Restarted:  f.servesProjects(),
		Log:        log,
	})
	// A process that is being started must be recorded or stopped before this
	// one ends: nothing else could find it.
	planes.pending.Wait()
	return err
}

// servesProjects reports whether the control plane of any project runs, as it does when Milo's router is restarted.
func (f *Federation) servesProjects() bool {
	for _, process := range f.Status() {
		if strings.HasPrefix(process.Name, planeName(planeProjectDirect)) && process.Running {
			return true
		}
	}
	return false
}

// projectPlane is the stored state of a project's control plane.
type projectPlane struct {
	Port           int
	ControllerPort int
}

// projectPlanes starts the control planes of projects as processes of the
// federation.
type projectPlanes struct {
	federation *Federation
	pending    sync.WaitGroup

	mu       sync.Mutex
	starting map[string]*sync.Mutex // one start of a project at a time
}

// Start starts the kube-apiserver and kube-controller-manager of a project
// unless they are running, and returns an administrator's configuration for it.
// Processes that have died are restarted on the same storage.
func (p *projectPlanes) Start(ctx context.Context, project string) (*rest.Config, error) {
	p.pending.Add(1)
	defer p.pending.Done()
	p.mu.Lock()
	one, ok := p.starting[project]
	if !ok {
		one = &sync.Mutex{}
		p.starting[project] = one
	}
	p.mu.Unlock()
	one.Lock()
	defer one.Unlock()
	if err := p.start(ctx, project); err != nil {
		return nil, fmt.Errorf("control plane of project %s: %w", project, err)
	}
	return p.federation.Config(planeProjectDirect+project, "milo")
}

func (p *projectPlanes) start(ctx context.Context, project string) error {
	f, name := p.federation, planeProjectDirect+project
	if err := checkName("project", project); err != nil {
		return err
	}
	plane, err := f.projectPlane(project)
	if err != nil {
		return err
	}
	if !f.isRunning(apiServerName(name)) {
		if err := f.startAPIServer(ctx, apiServer{plane: name, port: plane.Port, small: true}); err != nil {
			return err
		}
		client, err := f.plane(name)
		if err != nil {
			return err
		}
		// Before the garbage collector starts, which discovers new kinds only every 30 s.
		if err := f.applyOwnCRDs(ctx, client); err != nil {
			return err
		}
	}
	if f.isRunning(planeName(name) + "-kube-controller-manager") {
		return nil
	}
	return f.startControllerManager(ctx, controllerManager{plane: name, port: plane.ControllerPort})
}

// StartProject restarts the control plane of a project whose kube-apiserver was killed, at the same address, and waits until
// it is ready. Milo's process, which has started it, does not start it again.
func (f *Federation) StartProject(ctx context.Context, project string) error {
	planes := &projectPlanes{federation: f, starting: map[string]*sync.Mutex{}}
	return planes.start(ctx, project)
}

// projectPlane returns the ports of a project's control plane. It assigns them on
// first use.
func (f *Federation) projectPlane(project string) (projectPlane, error) {
	var plane projectPlane
	err := readJSON(f.projectFile(project), &plane)
	if !errors.Is(err, os.ErrNotExist) {
		return plane, err
	}
	ports, err := reservePorts(f.folder, 2)
	if err != nil {
		return plane, err
	}
	plane = projectPlane{Port: ports[0], ControllerPort: ports[1]}
	return plane, writeJSON(f.projectFile(project), plane)
}

// projects returns the projects whose control planes have been started.
func (f *Federation) projects() ([]string, error) {
	entries, err := os.ReadDir(filepath.Dir(f.projectFile("")))
	if err != nil {
		return nil, fmt.Errorf("list the projects: %w", err)
	}
	var projects []string
	for _, entry := range entries {
		if name, ok := strings.CutSuffix(entry.Name(), ".json"); ok {
			projects = append(projects, name)
		}
	}
	return projects, nil
}

func (f *Federation) isRunning(name string) bool {
	rec, err := f.record(name)
	return err == nil && rec.alive()
}
