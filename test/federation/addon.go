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
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/client-go/kubernetes"
)

// Users of the add-on at Milo: Pods that serve webhooks only are webhookUser. On the hub and in the cells the add-on is
// a ServiceAccount.
const (
	addOnUser   = "karmada-compute"
	webhookUser = "karmada-compute-webhook"
)

// NamesPattern and NamesTTL are the add-on's settings for the DNS names of exposed Workloads.
const (
	NamesPattern = "{workload}-{namespace}-{project}.apps.example.com"
	NamesTTL     = 2 * time.Second
)

// clientCASecret is the Secret on the host with the CA of the clients that read metrics.
const clientCASecret = "karmada-compute-client-ca"

// addOnCommands are the installed commands.
var addOnCommands = []string{"./cmd/karmada-compute", "./cmd/karmada-compute-cell"}

// AddOnOptions configure the add-on.
type AddOnOptions struct {
	// Replicas of the hub binary. Default 2.
	Replicas int
	// Args are additional arguments of the hub binary.
	Args []string
	// Earlier installs the version that BuildEarlier has built, with that version's karmadactl.
	Earlier bool
	// Released is a folder with karmadactl and the content of a release's images. They are installed in the place of the
	// checkout's binaries.
	Released string
	// WithoutAgents leaves the cells without agents.
	WithoutAgents bool
	// Sessions offers logs and commands.
	Sessions bool
}

// AddOn is karmada-compute, enabled in a federation by karmadactl. It is safe for concurrent use.
type AddOn struct {
	federation *Federation
	host       kubernetes.Interface
	// balancer and sessions are the ports outside of the host for the Services of the webhooks and of the sessions.
	balancer, sessions int

	mu       sync.Mutex // held while replicas change; guards the fields below
	options  AddOnOptions
	replicas []replica
}

// StartAddOn builds karmada-compute from the repository, or takes a release, and enables it with karmadactl, as a user
// does. It waits until the replicas are ready, the webhooks are registered in every project, and every cell has its
// agent.
func (f *Federation) StartAddOn(ctx context.Context, o AddOnOptions) (*AddOn, error) {
	if o.Replicas == 0 {
		o.Replicas = 2
	}
	if o.Replicas < 0 {
		return nil, fmt.Errorf("%d replicas of the add-on: use 1 or more", o.Replicas)
	}
	config, err := f.Config(planeHost, "federation")
	if err != nil {
		return nil, err
	}
	host, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	ports, err := reservePorts(f.folder, 2)
	if err != nil {
		return nil, err
	}
	a := &AddOn{federation: f, host: host, balancer: ports[0], sessions: ports[1], options: o, replicas: make([]replica, o.Replicas)}
	if err := a.start(ctx); err != nil {
		return nil, fmt.Errorf("the add-on did not start: %w", err)
	}
	return a, nil
}

func (a *AddOn) start(ctx context.Context) error {
	f := a.federation
	group, groupCtx := errgroup.WithContext(ctx)
	group.Go(func() error {
		if a.options.Released != "" {
			return f.takeReleased(a.options.Released)
		}
		return f.buildOwn(groupCtx, addOnCommands...)
	})
	group.Go(func() error { return a.applyClientCA(groupCtx) })
	if err := group.Wait(); err != nil {
		return err
	}
	if err := a.RouteAll(ctx); err != nil {
		return err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.enable(ctx)
}

// Configure enables the add-on again with changed options, or with the same options if change is nil, and waits until
// every replica has them.
func (a *AddOn) Configure(ctx context.Context, change func(*AddOnOptions)) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if change != nil {
		change(&a.options)
	}
	return a.enable(ctx)
}

// CommandsFolder returns the folder of PrepareCommand.
func (a *AddOn) CommandsFolder() string { return filepath.Join(a.federation.folder, "commands") }

// PrepareCommand prepares a command to run in a folder with the files that the documentation names: kubeconfigs of
// administrators, the add-on's kubeconfig for Milo, and values of the chart that suit the federation. karmadactl is in
// its $PATH.
func (a *AddOn) PrepareCommand(cmd *exec.Cmd) error {
	f := a.federation
	kubeconfigs := map[string]access{"host.kubeconfig": {planeHost, Admin}, "hub.kubeconfig": {planeHub, Admin}}
	if !f.state.WithoutMilo {
		kubeconfigs["milo.kubeconfig"], kubeconfigs["milo-admin.kubeconfig"] = access{planeMilo, addOnUser}, access{planeMilo, Admin}
		kubeconfigs["webhook-milo.kubeconfig"] = access{planeMilo, webhookUser}
	}
	files, err := f.kubeconfigs(kubeconfigs)
	if err != nil {
		return err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if files["values.yaml"], err = a.writeValues(); err != nil {
		return err
	}
	if err := os.MkdirAll(a.CommandsFolder(), 0o700); err != nil {
		return err
	}
	for name, path := range files {
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if err := writeFile(filepath.Join(a.CommandsFolder(), name), content); err != nil {
			return err
		}
	}
	cmd.Dir = a.CommandsFolder()
	cmd.Env = append(os.Environ(), "PATH="+f.binFolder()+string(os.PathListSeparator)+os.Getenv("PATH"))
	return nil
}

// enable runs `karmadactl addons enable` and then finds the replicas.
func (a *AddOn) enable(ctx context.Context) error {
	f := a.federation
	values, err := a.writeValues()
	if err != nil {
		return err
	}
	kubeconfigs := map[string]access{"kubeconfig": {planeHost, Admin}, "karmada-kubeconfig": {planeHub, Admin}}
	if !f.state.WithoutMilo {
		kubeconfigs["milo-kubeconfig"], kubeconfigs["milo-admin-kubeconfig"] = access{planeMilo, addOnUser}, access{planeMilo, Admin}
	}
	args := []string{
		"addons", "enable", "karmada-compute", "--compute-values=" + values, fmt.Sprintf("--pod-timeout=%d", int(ReadyTimeout.Seconds())),
	}
	paths, err := f.kubeconfigs(kubeconfigs)
	if err != nil {
		return err
	}
	for flag, path := range paths {
		args = append(args, "--"+flag+"="+path)
	}
	folder := f.binFolder()
	if a.options.Earlier {
		folder, args = f.earlierFolder(), append(args, earlierArgs()...)
	}
	if err := f.karmadactl(ctx, folder, args...); err != nil {
		return err
	}
	if err := a.waitWebhooks(ctx); err != nil {
		return err
	}
	if a.options.Sessions {
		if err := a.routeSessions(ctx); err != nil {
			return err
		}
	}
	if err := a.findReplicas(ctx); err != nil {
		return err
	}
	f.progress.printf("add-on is up")
	return nil
}

// karmadactl runs the karmadactl of a folder. Its output is in the log.
func (f *Federation) karmadactl(ctx context.Context, folder string, args ...string) (err error) {
	log, err := os.OpenFile(filepath.Join(f.folder, "log", "karmadactl.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, log.Close()) }()
	var output strings.Builder
	cmd := exec.CommandContext(ctx, filepath.Join(folder, "karmadactl"), args...)
	cmd.Stdout = io.MultiWriter(log, &output)
	cmd.Stderr = cmd.Stdout
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("karmadactl %s: %w\n%s", strings.Join(args[:min(3, len(args))], " "), err,
			lastLines([]byte(output.String()), tailLines))
	}
	return nil
}

// applyClientCA creates the Secret with the CA of the federation's clients for the add-on's Pods.
func (a *AddOn) applyClientCA(ctx context.Context) error {
	ca, err := a.federation.caBundle()
	if err != nil {
		return err
	}
	host, err := a.federation.plane(planeHost)
	if err != nil {
		return err
	}
	return errors.Join(host.apply(ctx, namespace(karmadaSystem)),
		host.applyFile(ctx, "client-ca.yaml", map[string]string{"name": clientCASecret, "ca": ca}))
}

// writeValues writes chart values for a machine on which all components are processes, and returns their file.
func (a *AddOn) writeValues() (string, error) {
	args, err := json.Marshal(append([]string{}, a.options.Args...)) // null is no list
	if err != nil {
		return "", err
	}
	values := map[string]string{
		"replicas": strconv.Itoa(a.options.Replicas), "args": string(args), "agents": strconv.FormatBool(!a.options.WithoutAgents),
		"webhooks": address(a.balancer), "client-ca": clientCASecret, "prometheus": prometheus, "sessions": "{}",
		"names": "",
	}
	if !a.options.Earlier {
		// The version before does not know them.
		// The domain is the one of docs/how-to/names.md.
		values["names"] = fmt.Sprintf(`names: {pattern: %q, domains: {north: [shop.example.com]}, ttl: %ds, returnAfter: 1s}`, NamesPattern,
			int(NamesTTL.Seconds()))
	}
	if a.options.Sessions {
		values["sessions"] = fmt.Sprintf(`{logs: true, exec: true, url: "https://%s"}`, a.SessionsAddress())
	}
	content, err := embedded("values.yaml", values)
	if err != nil {
		return "", err
	}
	path := filepath.Join(a.federation.folder, "config", "add-on-values.yaml")
	return path, writeFile(path, content)
}

// Route makes the balancer distribute webhook calls over the given replicas only. It closes open connections.
func (a *AddOn) Route(ctx context.Context, replicas ...int) error {
	var backends []string
	for _, i := range replicas {
		webhook, err := a.WebhookAddress(i)
		if err != nil {
			return err
		}
		backends = append(backends, "--backend="+webhook)
	}
	return a.balance(ctx, backends...)
}

// RouteAll makes the balancer follow the webhooks' Service.
func (a *AddOn) RouteAll(ctx context.Context) error {
	kubeconfig, err := a.federation.Kubeconfig(planeHost, "federation")
	if err != nil {
		return err
	}
	return a.balance(ctx, "--kubeconfig="+kubeconfig, "--service="+karmadaSystem+"/karmada-compute-webhook:webhook")
}

func (a *AddOn) balance(ctx context.Context, args ...string) error {
	if a.federation.isRunning(balancerName) {
		if err := a.federation.StopProcess(balancerName); err != nil {
			return err
		}
	}
	return a.federation.start(ctx, Process{
		Name: balancerName, Path: a.federation.ownBinary(), Args: append([]string{"balancer", "--listen=" + address(a.balancer)}, args...),
		Ready: accepts(address(a.balancer)), stage: stageRouter,
	})
}

const balancerName = "karmada-compute-balancer"

// WebhooksAddress returns the address of the balancer in front of the add-on's webhooks.
func (a *AddOn) WebhooksAddress() string { return address(a.balancer) }

// sessionsBalancer is the name of the balancer of the sessions' Service.
const sessionsBalancer = "karmada-compute-sessions-balancer"

// SessionsAddress returns the address at which consumers reach the streams of sessions on any replica.
func (a *AddOn) SessionsAddress() string { return address(a.sessions) }

// routeSessions makes a balancer follow the sessions' Service, which the host has while sessions are offered.
func (a *AddOn) routeSessions(ctx context.Context) error {
	if a.federation.isRunning(sessionsBalancer) {
		return nil
	}
	kubeconfig, err := a.federation.Kubeconfig(planeHost, "federation")
	if err != nil {
		return err
	}
	return a.federation.start(ctx, Process{
		Name: sessionsBalancer, Path: a.federation.ownBinary(),
		Args: []string{
			"balancer", "--listen=" + a.SessionsAddress(), "--kubeconfig=" + kubeconfig,
			"--service=" + karmadaSystem + "/karmada-compute-sessions:sessions",
		},
		Ready: accepts(a.SessionsAddress()), stage: stageRouter,
	})
}
