// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"math"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

func (p *problems) sandboxSecurity(at place, context *v1alpha.SandboxSecurityContext) {
	if context == nil {
		return
	}
	p.identifier(at.child("runAsUser"), context.RunAsUser)
	p.identifier(at.child("runAsGroup"), context.RunAsGroup)
	p.identifier(at.child("fsGroup"), context.FSGroup)
	p.nonRoot(at.child("runAsUser"), context.RunAsUser, context.RunAsNonRoot)
}

// containerSecurity validates the security context of a container. Fields that it omits are inherited from the sandbox's security
// context.
func (p *problems) containerSecurity(at place, context *v1alpha.ContainerSecurityContext, of *v1alpha.SandboxSecurityContext) {
	if context == nil {
		return
	}
	p.identifier(at.child("runAsUser"), context.RunAsUser)
	p.identifier(at.child("runAsGroup"), context.RunAsGroup)
	user, nonRoot := context.RunAsUser, context.RunAsNonRoot
	if of != nil {
		if user == nil && nonRoot != nil {
			user = of.RunAsUser
		}
		if nonRoot == nil && user != nil {
			nonRoot = of.RunAsNonRoot
		}
	}
	p.nonRoot(at.child("runAsUser"), user, nonRoot)
}

// identifier requires an ID of a user or group that Linux has.
func (p *problems) identifier(at place, id *int64) {
	if id != nil && (*id < 0 || *id > math.MaxInt32) {
		p.invalid(at, *id, validation.InclusiveRangeError(0, math.MaxInt32))
	}
}

// nonRoot refuses a combination with which no container could start.
func (p *problems) nonRoot(at place, user *int64, nonRoot *bool) {
	if user != nil && *user == 0 && nonRoot != nil && *nonRoot {
		p.invalid(at, *user, "must not be 0 with runAsNonRoot: no container would start")
	}
}
