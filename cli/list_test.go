// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// table reduces each run of spaces in a table to one, and removes the ages, which the API server's clock decides.
func table(text string) string {
	var lines []string
	for line := range strings.Lines(text) {
		lines = append(lines, strings.Join(strings.Fields(line), " "))
	}
	return strings.Join(lines, "\n")
}

func TestList(t *testing.T) {
	f := newFixture(t)
	f.want(f.kubectl(f.Config(), "list"), 0, "No resources found in "+f.Namespace.Name+" namespace.")

	w, _ := f.scene()
	w.Status.Rollout = &v1alpha.WorkloadRolloutStatus{Phase: v1alpha.RolloutProgressing, City: "DFW"}
	f.update(w)
	listed := f.kubectl(f.Config(), "list")
	f.want(listed, 0, "NAME", "web")
	if got := table(listed.out); !strings.Contains(got, "web DFW 1/2 Progressing DFW InstancesProvisioning ") {
		t.Errorf("list prints\n%s", listed.out)
	}
	wide := f.kubectl(f.Config(), "list", "-A", "-o", "wide")
	f.want(wide, 0, "IMAGES", "nginx")
	if !strings.Contains(table(wide.out), f.Namespace.Name+" web DFW 1/2") {
		t.Errorf("list -A prints\n%s", wide.out)
	}
	f.want(f.kubectl(f.Config(), "list", "-o", "json"), 0, `"kind": "WorkloadOverviewList"`, `"ready": 1`, `"reason": "InstancesProvisioning"`)

	f.want(f.kubectl(f.Config(), "list", "-l", "team=web"), 0, "No resources found")
	f.want(f.kubectl(f.Config(), "list", "-l", "team in"), 1, "--selector")
	f.want(f.kubectl(f.Config(), "list", "-o", "guess"), 1, "guess")
	f.want(f.kubectl(f.Config(), "list", "-w", "-o", "json"), 1, "--watch prints a table")
	f.want(f.kubectl(f.user(may(read, "instances")), "list"), 1, "forbidden")
	f.want(f.karmadactl("list", "--project", "north"), 1, "--milo-kubeconfig")
}

// TestListShowsTheWorstReason: a deployment that waits for its consumer comes before a Workload that is Available in
// another city.
func TestListShowsTheWorstReason(t *testing.T) {
	f := newFixture(t)
	w := f.workload()
	f.deployment(w, "texas", "DFW", 2)
	lacking := f.deployment(w, "texas", "ORD", 2)
	lacking.Status.Conditions = append(lacking.Status.Conditions,
		is(v1alpha.ConditionReferencedDataReady, metav1.ConditionFalse, v1alpha.ReasonSourceNotFound, "Secret key is missing"))
	f.update(lacking)

	listed := f.kubectl(f.Config(), "list")
	if got := table(listed.out); !strings.Contains(got, "web DFW,ORD 1/2 <none> SourceNotFound") {
		t.Errorf("list prints\n%s", listed.out)
	}
}

// TestListFollows: a change is printed without a new header, and Ctrl-C ends the command.
func TestListFollows(t *testing.T) {
	f := newFixture(t)
	w := f.workload()
	ctx, stop := context.WithCancel(f.Context())
	out, ended := &buffer{}, make(chan result, 1)
	go func() { ended <- f.call(call{config: f.Config(), ctx: ctx, out: out}, "list", "-w") }()
	await(t, func() bool { return strings.Contains(table(out.String()), "web <none> 1/2") })

	w.Status.ReadyReplicas = 2
	f.update(w)
	await(t, func() bool { return strings.Contains(table(out.String()), "web <none> 2/2") })
	stop()
	if r := <-ended; r.code != exitInterrupted || strings.Count(r.out, "NAME") != 1 {
		t.Errorf("code %d, printed\n%s", r.code, r.out)
	}
}

// await waits for a condition.
func await(t *testing.T, is func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !is(); {
		if time.Now().After(deadline) {
			t.Fatal("the condition is not met within a minute")
		}
		<-time.After(10 * time.Millisecond)
	}
}

func TestSetImage(t *testing.T) {
	f := newFixture(t)
	w := f.workload()
	cases := []struct {
		name string
		args []string
		code int
		says string
		want string
	}{
		{"another container", []string{"db=postgres"}, 1, `has no container "db"; it has web`, "nginx"},
		{"one of two is unknown", []string{"web=nginx:2", "db=postgres"}, 1, "no container", "nginx"},
		{"no image", []string{"web="}, 1, "is not CONTAINER=IMAGE", "nginx"},
		{"no container", []string{}, 1, "CONTAINER=IMAGE", "nginx"},
		{"the container", []string{"web=nginx:2"}, 0, "workload.compute.datumapis.com/web image updated", "nginx:2"},
		{"every container", []string{"*=nginx:3"}, 0, "image updated", "nginx:3"},
	}
	for _, c := range cases {
		f.want(f.kubectl(f.Config(), append([]string{"set", "image", "web"}, c.args...)...), c.code, c.says)
		f.get(w)
		if got := w.Spec.Template.Spec.Runtime.Sandbox.Containers[0].Image; got != c.want {
			t.Errorf("%s: the image is %s, want %s", c.name, got, c.want)
		}
	}
	f.want(f.kubectl(f.user(may(read, "workloads")), "set", "image", "web", "web=nginx:4"), 1, "forbidden")
}
