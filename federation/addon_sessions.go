// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package federation

import "context"

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
			"balancer", "--listen=" + a.SessionsAddress(), "--kubeconfig=" + kubeconfig, "--service=" + karmadaSystem + "/karmada-compute-sessions:sessions",
		},
		Ready: accepts(a.SessionsAddress()), stage: stageRouter,
	})
}
