// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package charts_test

import (
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// cellParties are the parties in a cell: an administrator, and an account of another product.
var cellParties = map[string][]string{
	"cell-admin": {cellAdmin, "system:masters"}, "cell-product": {"system:serviceaccount:default:matrix-cell-product"},
}

// setUpMatrixCell turns the API server into the API server of a cell: the policies of cells are in force as Karmada brings
// them, and the policies of the hub are not. The agent, to whom the policies admit it, creates the objects of the rows.
func setUpMatrixCell(t *testing.T, admin client.Client, store func(client.Client)) {
	t.Helper()
	unregister(t, admin, ofKind("admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicyBinding", "", "karmada-compute-scalers", nil))
	space := namespace(matrixCopies)
	space.Labels = map[string]string{"compute.datumapis.com/hub-uid": "hub"}
	ensure(t, admin, space)
	ensureNamespace(t, admin, matrixAgents)
	ensureNamespace(t, admin, matrixFree)
	serveOptionalKinds(t)
	ensureAll(t, admin, bindParty("", "system:aggregate-to-edit", cellParties["cell-product"][0]))
	protect(t, admin)
	protectPods(t, admin, matrixCopies)
	store(as(t, cellAgent))
}
