// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package federation

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
)

// AddCell starts another cell, joins it to the hub, waits until its Cluster is
// Ready and adds it to Cells. A cell that could not be added leaves no process
// running, but its name stays taken.
func (f *Federation) AddCell(ctx context.Context, cell Cell) error {
	if err := errors.Join(cell.validate(), cell.validateKubernetes(f.state.CellKubernetesVersion)); err != nil {
		return err
	}
	if err := f.needBinaries(ctx, cell); err != nil {
		return err
	}
	if err := f.assignCellPorts(cell); err != nil {
		return err
	}
	err := f.startCell(ctx, cell)
	if err == nil {
		err = f.join(ctx, cell)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("cell %s was not added: %w", cell.Name, err), f.dropCell(cell))
	}
	f.stateMu.Lock()
	defer f.stateMu.Unlock()
	f.state.Cells = append(f.state.Cells, cell)
	return writeJSON(f.stateFile(), f.state)
}

// assignCellPorts reserves the ports of a cell and with them its name.
func (f *Federation) assignCellPorts(cell Cell) error {
	f.stateMu.Lock()
	defer f.stateMu.Unlock()
	if _, taken := f.state.Ports[planeCell+cell.Name]; taken {
		return fmt.Errorf("cell %q exists already, or an attempt to add it failed", cell.Name)
	}
	ports, err := f.reserveNamed(cellPorts(cell))
	if err != nil {
		return err
	}
	maps.Copy(f.state.Ports, ports)
	return nil
}

// dropCell kills every process of a cell and deletes its record.
func (f *Federation) dropCell(cell Cell) error {
	plane := planeName(planeCell + cell.Name)
	var errs []error
	names := []string{agentProcess(cell)}
	for i := range cell.Containers {
		names = append(names, ContainerNodeProcess(cell.ContainerNode(i)))
	}
	for _, name := range append(names,
		NodeProcess(planeCell+cell.Name), plane+"-kwok", plane+"-kube-scheduler", plane+"-kube-controller-manager",
		apiServerName(planeCell+cell.Name),
	) {
		if _, err := f.record(name); err == nil {
			errs = append(errs, f.KillProcess(name), os.Remove(f.recordFile(name)))
		}
	}
	return errors.Join(errs...)
}
