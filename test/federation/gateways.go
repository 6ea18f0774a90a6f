// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package federation

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/karmada-compute/karmada-compute/test/federation/node"
	"github.com/karmada-compute/karmada-compute/testenv/tools"
)

// gatewayUser is the name of the controller of Gateways: of its processes, its user in cells and its GatewayClass.
const gatewayUser = "traefik"

// The Gateway of a cell, and the port that its clients connect to.
const (
	gatewayNamespace = "gateways"
	gatewayName      = "public"
	gatewayPort      = 80
)

var gatewayResource = schema.GroupVersionResource{Group: "gateway.networking.k8s.io", Version: "v1", Resource: "gateways"}

// StartGateway starts a controller of the Gateway API for a cell of containers with load balancers, and returns the address of
// the Gateway. It is within the range of the load balancers, so that the cell may report it.
func (f *Federation) StartGateway(ctx context.Context, name, within string) (string, error) {
	cell, err := f.cell(name)
	if err != nil {
		return "", err
	}
	if cell.Containers == 0 {
		return "", fmt.Errorf("cell %s runs no containers: a Gateway cannot reach its Pods", name)
	}
	at, err := GatewayAddress(within)
	if err != nil {
		return "", err
	}
	client, err := f.plane(planeCell + name)
	if err != nil {
		return "", err
	}
	if err := f.applyGateway(ctx, client); err != nil {
		return "", err
	}
	if err := f.startGatewayController(ctx, name, at); err != nil {
		return "", err
	}
	if err := await(ctx, readyInterval, client.gatewayProgrammed); err != nil {
		return "", err
	}
	return at, f.configureBalancers(ctx, name, map[string]any{
		"addresses": []string{within},
		"gateway":   map[string]any{"namespace": gatewayNamespace, "name": gatewayName, "port": gatewayPort, "listeners": []string{"http"}},
	})
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

// applyGateway installs the Gateway API, a Gateway, and the rights of its controller.
func (f *Federation) applyGateway(ctx context.Context, cell *plane) error {
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
	_, domain, _ := strings.Cut(NamesPattern, "{project}.")
	return cell.applyFile(ctx, "gateway.yaml", map[string]string{
		"user": gatewayUser, "namespace": gatewayNamespace, "name": gatewayName, "port": fmt.Sprint(gatewayPort), "hostname": "*." + domain,
	})
}

// startGatewayController starts the controller, which is the proxy too. It reads the Gateways of the cell, and sends requests to
// the Pods that are Ready.
func (f *Federation) startGatewayController(ctx context.Context, cell, at string) error {
	built, err := f.builder().Build(ctx, tools.Traefik)
	if err != nil {
		return err
	}
	kubeconfig, err := f.Kubeconfig(planeCell+cell, gatewayUser)
	if err != nil {
		return err
	}
	local, err := node.Local(at)
	if err != nil {
		return err
	}
	ports, err := reservePorts(f.folder, 1)
	if err != nil {
		return err
	}
	health := address(ports[0])
	return f.start(ctx, Process{
		Name: GatewayProcess(cell), Path: built[tools.Traefik],
		// In a Pod it would take its account.
		Env: []string{"KUBECONFIG=" + kubeconfig, "KUBERNETES_SERVICE_HOST="},
		Args: []string{
			"--providers.kubernetesgateway=true", "--providers.kubernetesgateway.statusaddress.ip=" + at,
			"--entrypoints.web.address=" + net.JoinHostPort(local, fmt.Sprint(gatewayPort)),
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
