// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package federation

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/karmada-compute/karmada-compute/test/federation/node"
	"github.com/karmada-compute/karmada-compute/test/pages"
	"github.com/karmada-compute/karmada-compute/testenv/tools"
)

// gatewayUser is the name of the controller of Gateways: of its processes, its user in cells and its GatewayClass.
const gatewayUser = "traefik"

// addressesPage has the settings of the load balancers of a cell on the hub below balancersHeading, and the Gateway of a cell with its
// certificate and its settings below gatewayHeading.
const (
	addressesPage    = "docs/how-to/addresses.md"
	balancersHeading = "Operators: configure the load balancer of a cell"
	gatewayHeading   = "At a Gateway"
)

// What the page names: the Gateway, the ports of its listeners, and the file of the certificate, which clients trust.
const (
	gatewayNamespace = "infra"
	gatewayName      = "public"
	plainPort        = 80
	tlsPort          = 443
	certificateFile  = "apps.crt"
)

var (
	gatewayResource = schema.GroupVersionResource{Group: "gateway.networking.k8s.io", Version: "v1", Resource: "gateways"}
	reviewResource  = schema.GroupVersionResource{Group: "authorization.k8s.io", Version: "v1", Resource: "subjectaccessreviews"}
)

// Gateway is a Gateway of a cell, as the documentation has it.
type Gateway struct {
	// Address of the Gateway.
	Address string
	// listens is the address of this machine at which it listens: its own one, or node.Local's where no route leads to that.
	listens string
	// Trusted are the certificates that its clients trust.
	Trusted *x509.CertPool
	// folder has the files that the commands have written.
	folder string
}

// StartGateway starts a controller of the Gateway API for a cell with load balancers, and runs the commands with which operators
// create the Gateway. Its address is within the range of the load balancers, so that the cell may report it. Without nodes that run
// containers, it has no Pods to reach.
func (f *Federation) StartGateway(ctx context.Context, name, within string) (*Gateway, error) {
	cell, err := f.cell(name)
	if err != nil {
		return nil, err
	}
	gateway, err := gatewayWithin(within, cell.Containers > 0)
	if err != nil {
		return nil, err
	}
	client, err := f.plane(planeCell + name)
	if err != nil {
		return nil, err
	}
	if err := f.applyGatewayAPI(ctx, client); err != nil {
		return nil, err
	}
	kubeconfig, err := f.Kubeconfig(planeCell+name, gatewayUser)
	if err != nil {
		return nil, err
	}
	if err := f.startGatewayController(ctx, GatewayProcess(name), kubeconfig, gateway); err != nil {
		return nil, err
	}
	environment, err := f.kubeconfigs(map[string]access{"HUB": {planeHub, Admin}, "CELL": {planeCell + name, Admin}})
	if err != nil {
		return nil, err
	}
	if err := f.createGateway(ctx, gateway, environment, settingsOf(name, netip.MustParsePrefix(within))); err != nil {
		return nil, err
	}
	return gateway, await(ctx, readyInterval, client.gatewayProgrammed)
}

// gatewayWithin is a Gateway with an address in the range of the load balancers of a cell. reachable: the range leads to this machine.
func gatewayWithin(within string, reachable bool) (*Gateway, error) {
	at, err := GatewayAddress(within)
	if err != nil || reachable {
		return &Gateway{Address: at, listens: at}, err
	}
	local, err := node.Local(at)
	return &Gateway{Address: at, listens: local}, err
}

// createGateway runs the commands of the documentation that create the Gateway, with the names and addresses of this cell.
func (f *Federation) createGateway(
	ctx context.Context, gateway *Gateway, environment map[string]string, replace *strings.Replacer,
) error {
	if _, err := exec.LookPath("openssl"); err != nil {
		return fmt.Errorf("the certificate of a Gateway: %w", err)
	}
	page, err := pages.Read(filepath.Join(f.state.Repository, addressesPage))
	if err != nil {
		return err
	}
	section := page.Section(gatewayHeading, replace)
	// The last block sends requests.
	section.Blocks = section.Blocks[:max(0, len(section.Blocks)-1)]
	folder, err := f.runSection(ctx, section, environment)
	if err != nil {
		return err
	}
	certificate, err := os.ReadFile(filepath.Join(folder, certificateFile))
	if err != nil {
		return err
	}
	gateway.Trusted, gateway.folder = x509.NewCertPool(), folder
	if !gateway.Trusted.AppendCertsFromPEM(certificate) {
		return fmt.Errorf("%s: %s has no certificate", addressesPage, certificateFile)
	}
	return nil
}

// runSection runs the commands of a section of the documentation in a folder of their own, and returns it.
func (f *Federation) runSection(ctx context.Context, section *pages.Page, environment map[string]string) (folder string, err error) {
	if len(section.Blocks) == 0 {
		return "", fmt.Errorf("%s lacks a section, or its commands", section.Path)
	}
	if _, err := os.Stat(filepath.Join(f.binFolder(), "kubectl")); err != nil {
		if err := f.buildOwn(ctx, "./hack/kubectl"); err != nil {
			return "", err
		}
	}
	if folder, err = os.MkdirTemp(f.folder, "section-"); err != nil {
		return "", err
	}
	environment["PATH"] = f.binFolder() + string(os.PathListSeparator) + os.Getenv("PATH")
	shell, err := pages.NewShell(ctx, folder, environment)
	if err != nil {
		return "", err
	}
	return folder, errors.Join(section.Run(ctx, shell, nil, nil), shell.Close())
}

// GatewayAddress returns the address of the Gateway of a cell in the range of its load balancers: the last one, which no Service
// gets.
func GatewayAddress(within string) (string, error) {
	prefix, err := netip.ParsePrefix(within)
	if err != nil {
		return "", fmt.Errorf("the range of the load balancers: %w", err)
	}
	last := prefix.Masked().Addr()
	for prefix.Contains(last.Next()) {
		last = last.Next()
	}
	return last.String(), nil
}

// applyGatewayAPI installs the Gateway API, and the class and the rights of a controller.
func (f *Federation) applyGatewayAPI(ctx context.Context, cell *plane) error {
	folder, err := f.builder().GatewayAPIFolder(ctx)
	if err != nil {
		return err
	}
	objects, err := readFolder(folder)
	if err != nil {
		return fmt.Errorf("read the CRDs of the Gateway API: %w", err)
	}
	var crds []*unstructured.Unstructured
	for _, object := range objects {
		if object.GetKind() == "CustomResourceDefinition" {
			crds = append(crds, object)
		}
	}
	if err := cell.applyCRDs(ctx, crds); err != nil {
		return err
	}
	return cell.applyGatewayRights(ctx, "update")
}

// applyGatewayRights applies the class and the rights of the controller, which may do this with a status.
func (p *plane) applyGatewayRights(ctx context.Context, statusVerb string) error {
	return p.applyFile(ctx, "gateway.yaml", map[string]string{"user": gatewayUser, "statusVerb": statusVerb})
}

// WithholdGatewayAddress leaves the Gateway of a cell without an address in its status, and its controller without the right to
// write it. The Gateway continues to serve. The function that is returned gives both back.
func (f *Federation) WithholdGatewayAddress(ctx context.Context, cell string) (back func(context.Context) error, err error) {
	client, err := f.plane(planeCell + cell)
	if err != nil {
		return nil, err
	}
	gateways := client.dynamic.Resource(gatewayResource).Namespace(gatewayNamespace)
	back = func(ctx context.Context) error {
		if err := client.applyGatewayRights(ctx, "update"); err != nil {
			return err
		}
		return await(ctx, readyInterval, func(ctx context.Context) error {
			// The controller writes the status when something has changed.
			change := fmt.Appendf(nil, `{"metadata":{"annotations":{"example.com/noticed-at":%q}}}`, time.Now().Format(time.RFC3339Nano))
			_, err := gateways.Patch(ctx, gatewayName, types.MergePatchType, change, metav1.PatchOptions{})
			return errors.Join(err, client.gatewayProgrammed(ctx))
		})
	}
	if err := client.applyGatewayRights(ctx, "get"); err != nil {
		return back, err
	}
	return back, await(ctx, readyInterval, func(ctx context.Context) error {
		// Again, until the API server has noticed that the controller may not.
		_, err := gateways.Patch(ctx, gatewayName, types.MergePatchType, []byte(`{"status":{"addresses":[]}}`), metav1.PatchOptions{}, "status")
		return errors.Join(err, client.mayNotWriteStatus(ctx))
	})
}

// mayNotWriteStatus returns an error while the controller of Gateways may write their status.
func (p *plane) mayNotWriteStatus(ctx context.Context) error {
	review := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{
		"user": gatewayUser, "resourceAttributes": map[string]any{
			"group": gatewayResource.Group, "resource": gatewayResource.Resource, "subresource": "status", "verb": "update",
			"namespace": gatewayNamespace, "name": gatewayName,
		},
	}}}
	review.SetGroupVersionKind(reviewResource.GroupVersion().WithKind("SubjectAccessReview"))
	answer, err := p.dynamic.Resource(reviewResource).Create(ctx, review, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	if allowed, _, err := unstructured.NestedBool(answer.Object, "status", "allowed"); allowed || err != nil {
		return errors.Join(errors.New("the controller of Gateways may write their status"), err)
	}
	return nil
}

// startGatewayController starts the controller, which is the proxy too. It reads the Gateways of the cell, and sends requests to
// the Pods that are Ready.
func (f *Federation) startGatewayController(ctx context.Context, process, kubeconfig string, gateway *Gateway) error {
	built, err := f.builder().Build(ctx, tools.Traefik)
	if err != nil {
		return err
	}
	ports, err := reservePorts(f.folder, 1)
	if err != nil {
		return err
	}
	health := address(ports[0])
	return f.start(ctx, Process{
		Name: process, Path: built[tools.Traefik],
		// In a Pod it would take its account.
		Env: []string{"KUBECONFIG=" + kubeconfig, "KUBERNETES_SERVICE_HOST="},
		Args: []string{
			"--providers.kubernetesgateway=true", "--providers.kubernetesgateway.statusaddress.ip=" + gateway.Address,
			"--entrypoints.web.address=" + net.JoinHostPort(gateway.listens, fmt.Sprint(plainPort)),
			"--entrypoints.websecure.address=" + net.JoinHostPort(gateway.listens, fmt.Sprint(tlsPort)),
			"--entrypoints.health.address=" + health, "--ping=true", "--ping.entrypoint=health",
			"--global.checknewversion=false", "--global.sendanonymoususage=false", "--log.level=INFO", "--log.nocolor=true",
		},
		Ready: httpReady(plainClient, "http://"+health+"/ping"), stage: stageController,
	})
}

// GatewayProcess returns the name of the process that is the Gateway of a cell.
func GatewayProcess(cell string) string { return "gateway-" + cell }

// gatewayProgrammed returns an error unless the controller has configured the Gateway and reported its address.
func (p *plane) gatewayProgrammed(ctx context.Context) error {
	found, err := p.dynamic.Resource(gatewayResource).Namespace(gatewayNamespace).Get(ctx, gatewayName, metav1.GetOptions{})
	if err != nil {
		return err
	}
	addresses, _, err := unstructured.NestedSlice(found.Object, "status", "addresses")
	if !conditionTrue(found, "Programmed") || len(addresses) == 0 {
		return errors.Join(fmt.Errorf("Gateway %s is not programmed; its status: %v", gatewayName, found.Object["status"]), err)
	}
	return nil
}
