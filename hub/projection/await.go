// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package projection

import (
	"context"
	"time"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/hub/path"
)

// awaitCopy reports in the status of a deployment why the hub has no copy of it, if that lasts.
func (s *scope) awaitCopy(ctx context.Context) error {
	if err := s.judgeAbsence(ctx); err != nil || len(s.findings) == 0 {
		return err
	}
	return s.writeStatus(ctx)
}

// judgeAbsence finds why the hub has no copy, if that lasts. The deployment is requeued at intervals: no event of the
// hub is about a deployment without a copy, until its copy is created.
func (s *scope) judgeAbsence(ctx context.Context) error {
	var err error
	if s.row, err = s.loadRow(ctx); err != nil || s.row.Obstacle == nil {
		return err
	}
	lasting := *s.row.Obstacle
	for _, found := range s.Book.Observe(s.request, path.OwnPath, path.Judge(s.row)) {
		if found.Key() == lasting.Key() {
			lasting = found
		}
	}
	s.remember(&lasting)
	if remaining := lasting.Remaining(s.now, s.DoubtAfter); remaining > 0 {
		s.requeueAfter.AtMost(remaining)
		return nil
	}
	s.requeueAfter.AtMost(s.DoubtAfter)
	if state := s.row.Karmada; state.Down {
		// No deletion ends without karmada-controller-manager.
		lasting = path.Finding{Fault: path.KarmadaNotRunning, Message: state.Message, Since: state.Since}
	}
	lasting.Since = lasting.Since.Truncate(time.Second)
	s.findings = []path.Finding{lasting}
	return nil
}

// awaitsCopy reports whether a deployment needs a copy on the hub.
func (s *facts) awaitsCopy() bool {
	return s.deployment.UID != "" && s.deployment.DeletionTimestamp.IsZero() && s.deployment.Annotations[v1alpha.AnnotationHubNamespace] != ""
}
