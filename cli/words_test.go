// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/internal/naming"
)

// TestListAsKubectlGet: names, order, headers and formats are the ones of kubectl get.
func TestListAsKubectlGet(t *testing.T) {
	f := newFixture(t)
	f.scene()
	shop := &v1alpha.Workload{
		ObjectMeta: metav1.ObjectMeta{Namespace: f.Namespace.Name, Name: "shop"},
		Spec:       v1alpha.WorkloadSpec{Template: template(), Placements: []v1alpha.WorkloadPlacement{placement("texas", 5, "DFW")}},
	}
	f.create(shop)
	shop.Status.ReplicaCounts = v1alpha.ReplicaCounts{Replicas: 5, ReadyReplicas: 5, DesiredReplicas: 5}
	f.update(shop)

	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"-o", "name"}, "workload.compute.datumapis.com/shop\nworkload.compute.datumapis.com/web\n"},
		{[]string{"web", "-o", "name"}, "workload.compute.datumapis.com/web\n"},
		{[]string{"wl/web", "shop", "-o", "name"}, "workload.compute.datumapis.com/shop\nworkload.compute.datumapis.com/web\n"},
		{[]string{"--sort-by=.status.readyReplicas", "-o", "name"}, "workload.compute.datumapis.com/web\nworkload.compute.datumapis.com/shop\n"},
		{[]string{"--sort-by={.metadata.name}", "-o", "name"}, "workload.compute.datumapis.com/shop\nworkload.compute.datumapis.com/web\n"},
	} {
		if listed := f.kubectl(f.Config(), append([]string{"list"}, c.args...)...); listed.out != c.want {
			t.Errorf("list %v prints\n%s%v, want\n%s", c.args, listed.out, listed.err, c.want)
		}
	}
	bare := f.kubectl(f.Config(), "list", "web", "--no-headers")
	if got := table(bare.out); bare.code != 0 || !strings.HasPrefix(got, "web DFW 1/2 ") || strings.Count(got, "\n") != 0 {
		t.Errorf("list --no-headers prints\n%s%v", bare.out, bare.err)
	}
	missing := f.kubectl(f.Config(), "list", "web", "nope")
	f.want(missing, 1)
	if want := fmt.Sprintf("workloads.compute.datumapis.com %q not found in namespace %q", "nope", f.Namespace.Name); missing.out != "" ||
		missing.err == nil || missing.err.Error() != want {
		t.Errorf("list of a name that does not exist: %q, %v, want %s", missing.out, missing.err, want)
	}
	f.want(f.kubectl(f.Config(), "list", "web", "-A"), 1, "--all-namespaces")
	f.want(f.kubectl(f.Config(), "list", "--sort-by=.spec.nothing"), 1, "couldn't find any field")
	f.want(f.kubectl(f.Config(), "list", "--sort-by={.metadata"), 1, "--sort-by")
	f.want(f.kubectl(f.Config(), "tree", "-o", "name"), 0, "workload.compute.datumapis.com/web")
}

// TestWrongVerbs: a word of kubectl that compute does not have is answered with the nearest one.
func TestWrongVerbs(t *testing.T) {
	f := newFixture(t)
	for words, nearest := range map[string]string{
		"get": "list", "describe web": "explain", "lst": "list", "log": "logs", "create x": "run",
		"rollout histroy web": "history", "rollout list": "", "set images web": "image", "event": "events",
	} {
		for _, r := range []result{f.kubectl(f.Config(), strings.Fields(words)...), f.karmadactl(strings.Fields(words)...)} {
			f.want(r, 1, "unknown command")
			if nearest != "" {
				f.want(r, 1, "Did you mean this?", "\t"+nearest)
			}
		}
	}
	f.want(f.kubectl(f.Config(), "rollout"), 0, "history")
}

// TestWrongKubeconfig: a kubeconfig that does not lead to a project is named by the API server that it leads to.
func TestWrongKubeconfig(t *testing.T) {
	f := newFixture(t)
	for groups, says := range map[string]string{
		"cluster.karmada.io compute.datumapis.com":      "leads to the hub",
		"compute.datumapis.com":                         "leads to a cell",
		"resourcemanager.miloapis.com iam.miloapis.com": "leads to Milo's root",
		"apps": "serves no kind of karmada-compute",
		"apps resourcemanager.miloapis.com.example.com batch": "serves no kind of karmada-compute",
	} {
		server := httptest.NewServer(http.HandlerFunc(func(response http.ResponseWriter, request *http.Request) {
			if request.URL.Path != "/apis" {
				http.NotFound(response, request)
				return
			}
			var listed []string
			for group := range strings.FieldsSeq(groups) {
				listed = append(listed, fmt.Sprintf(`{"name": %q, "versions": [{"groupVersion": "%s/v1", "version": "v1"}]}`, group, group))
			}
			response.Header().Set("Content-Type", "application/json")
			_, _ = fmt.Fprintf(response, `{"kind": "APIGroupList", "apiVersion": "v1", "groups": [%s]}`, strings.Join(listed, ","))
		}))
		config := &rest.Config{Host: server.URL}
		for _, args := range [][]string{{"list"}, {"tree", "web"}, {"explain", "web"}, {"restart", "web"}, {"rollout", "history", "web"}} {
			f.want(f.kubectl(config, args...), 1, says, server.URL)
		}
		server.Close()
	}
}

// TestOperatorWithoutMilo: on a hub whose namespaces are projects, the hub has the project, and no command asks for Milo.
func TestOperatorWithoutMilo(t *testing.T) {
	f := newFixture(t)
	f.scene()
	if err := f.Client.Patch(f.Context(), f.Namespace.DeepCopy(), client.RawPatch(types.MergePatchType,
		fmt.Appendf(nil, `{"metadata": {"labels": {%q: "true"}}}`, v1alpha.LabelNamespaceProject))); err != nil {
		t.Fatal(err)
	}
	f.want(f.karmadactl("list", "--project", f.Namespace.Name, "-n", "elsewhere"), 0, "web")
	f.want(f.karmadactl("restart", "web", "--project", f.Namespace.Name), 0, "restarted")
	f.want(f.karmadactl("list", "--project", "north", "-n", "elsewhere"), 1, "no namespace north of the hub has label")
}

func TestSetEnvAndResources(t *testing.T) {
	f := newFixture(t)
	w := f.workload()
	container := func() *v1alpha.SandboxContainer {
		f.get(w)
		return &w.Spec.Template.Spec.Runtime.Sandbox.Containers[0]
	}
	f.want(f.kubectl(f.Config(), "set", "env", "web", "A=1", "B=x=y"), 0, "workload.compute.datumapis.com/web env updated")
	f.want(f.kubectl(f.Config(), "set", "env", "wl/web", "A=2", "B-", "-c", "web"), 0, "env updated")
	if got := container().Env; len(got) != 1 || got[0] != (corev1.EnvVar{Name: "A", Value: "2"}) {
		t.Errorf("the environment is %v", got)
	}
	f.want(f.kubectl(f.Config(), "set", "env", "web", "A=1", "A-"), 1, "can not both modify and remove")
	f.want(f.kubectl(f.Config(), "set", "env", "web", "A=1", "-c", "db"), 1, `has no container "db"; it has web`)
	f.want(f.kubectl(f.Config(), "set", "env", "web"), 1, "KEY=VALUE")
	f.want(f.kubectl(f.Config(), "set", "env", "web", "A"), 1, "unknown environment variable")

	f.want(f.kubectl(f.Config(), "set", "resources", "web", "--limits=cpu=500m,memory=128Mi", "--requests=cpu=100m"), 0,
		"resource requirements updated")
	f.want(f.kubectl(f.Config(), "set", "resources", "web", "--limits=cpu=1", "--dry-run=server", "--diff"), 0, "cpu: \"1\"")
	f.want(f.kubectl(f.Config(), "set", "resources", "web", "--limits=memory=256Mi"), 0)
	resources := container().Resources
	if resources == nil || resources.Limits.Cpu().String() != "500m" || resources.Limits.Memory().String() != "256Mi" ||
		resources.Requests.Cpu().String() != "100m" {
		t.Errorf("the resources are %v", resources)
	}
	f.want(f.kubectl(f.Config(), "set", "resources", "web"), 1, "--limits")
	f.want(f.kubectl(f.Config(), "set", "resources", "web", "--limits=cpu"), 1, "cpu")
}

// TestHistoryTells: the history has the time and the cause of each revision, and --revision shows its template.
func TestHistoryTells(t *testing.T) {
	f := newFixture(t)
	w := f.workload()
	for number, change := range []func(*v1alpha.WorkloadRevision){
		func(*v1alpha.WorkloadRevision) {},
		func(r *v1alpha.WorkloadRevision) { containerOf(r).Image = "nginx:2" },
		func(r *v1alpha.WorkloadRevision) {
			containerOf(r).Image = "nginx:2"
			r.Spec.Template.Annotations = map[string]string{v1alpha.AnnotationRestartedAt: "2026-05-01T12:00:00Z"}
		},
		func(r *v1alpha.WorkloadRevision) {
			containerOf(r).Image = "nginx:2"
			containerOf(r).Env = []corev1.EnvVar{{Name: "A", Value: "1"}}
		},
		func(r *v1alpha.WorkloadRevision) {
			r.Annotations = map[string]string{"kubernetes.io/change-cause": "back to stable"}
		},
	} {
		revision := &v1alpha.WorkloadRevision{
			ObjectMeta: metav1.ObjectMeta{
				Namespace: w.Namespace, Name: fmt.Sprintf("web-%d", number+1), Labels: map[string]string{v1alpha.LabelWorkloadUID: string(w.UID)},
			},
			Spec: v1alpha.WorkloadRevisionSpec{Revision: int64(number + 1), Template: template()},
		}
		change(revision)
		f.create(revision)
	}
	history := f.kubectl(f.Config(), "rollout", "history", "web")
	f.want(history, 0, "REVISION AGE IMAGES CHANGE-CAUSE", "nginx first template", "nginx:2 image of web: nginx -> nginx:2",
		"nginx:2 restarted", "nginx:2 env of web", "nginx back to stable")
	shown := f.kubectl(f.Config(), "rollout", "history", "web", "--revision=2")
	f.want(shown, 0, "workload.compute.datumapis.com/web with revision #2", "image: nginx:2")
	f.want(f.kubectl(f.Config(), "rollout", "history", "web", "--revision=2", "-o", "jsonpath={.revisions[*].revision}"), 0, "2")
	f.want(f.kubectl(f.Config(), "rollout", "history", "web", "--revision=9"), 1, "unable to find the specified revision 9")
	f.want(f.kubectl(f.Config(), "__complete", "rollout", "undo", "web", "--to-revision", ""), 0, "1\tnginx", "4\t")
	f.want(f.kubectl(f.Config(), "__complete", "rollout", "history", "web", "--revision", ""), 0, "1\tnginx")
}

func containerOf(r *v1alpha.WorkloadRevision) *v1alpha.SandboxContainer {
	return &r.Spec.Template.Spec.Runtime.Sandbox.Containers[0]
}

// TestCompletionOfValues: cities and containers are completed.
func TestCompletionOfValues(t *testing.T) {
	f := newFixture(t)
	f.scene()
	for _, line := range [][]string{
		{"scale", "web", "--city", ""}, {"logs", "web", "--city", ""}, {"run", "shop", "--city", ""},
	} {
		f.want(f.kubectl(f.Config(), append([]string{"__complete"}, line...)...), 0, "DFW\n:4")
	}
	for _, line := range [][]string{
		{"logs", "web", "-c", ""},
		{"exec", "web-texas-dfw-0", "-c", ""},
		{"attach", "web", "-c", ""},
		{"set", "env", "web", "-c", ""},
		{"set", "resources", "web", "-c", ""},
	} {
		f.want(f.kubectl(f.Config(), append([]string{"__complete"}, line...)...), 0, "web\n:4")
	}
	f.want(f.kubectl(f.Config(), "__complete", "set", "image", "web", ""), 0, "web=\n:6")
	f.want(f.kubectl(f.Config(), "__complete", "port-forward", "web", ""), 0, "http\n:4")
}

// TestSessionsOfAWorkload: exec, attach and port-forward take a Workload, as kubectl takes a Deployment, and logs takes labels.
func TestSessionsOfAWorkload(t *testing.T) {
	f := newFixture(t)
	f.reachable()
	first := &v1alpha.Instance{ObjectMeta: metav1.ObjectMeta{Namespace: f.Namespace.Name, Name: "web-texas-dfw-0"}}
	second := &v1alpha.Instance{ObjectMeta: metav1.ObjectMeta{Namespace: f.Namespace.Name, Name: "web-texas-dfw-1"}}
	f.get(first)
	f.get(second)
	first.Status.Conditions, second.Status.Conditions = []metav1.Condition{gated}, []metav1.Condition{ready}
	f.update(first)
	f.update(second)
	f.serveSessions(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/log") {
			_, _ = fmt.Fprintf(w, "%s %s\n", pod(r), r.URL.RawQuery)
			return
		}
		streams, connection := openCommand(w, r)
		if streams == nil {
			return
		}
		defer func() { _ = connection.Close() }()
		_, _ = fmt.Fprintf(streams[1], "%s runs %v", pod(r), r.URL.Query()["command"])
		succeed(streams)
	}))
	f.want(f.kubectl(f.Config(), "exec", "web", "--", "id"), 0, "web-texas-dfw-1 runs [id]")
	f.want(f.kubectl(f.Config(), "exec", "wl/web", "--", "id"), 0, "web-texas-dfw-1 runs [id]")
	f.want(f.kubectl(f.Config(), "exec", "inst/web", "--", "id"), 1, "not found")
	f.want(f.kubectl(f.Config(), "attach", "workload/web"), 0, "web-texas-dfw-1 runs []")
	f.want(f.kubectl(f.Config(), "logs", "-l", v1alpha.LabelWorkloadName+"=web"), 0,
		"[web-texas-dfw-0/web] web-texas-dfw-0 container=web&tailLines=10", "[web-texas-dfw-1/web] web-texas-dfw-1 container=web&tailLines=10")
	f.want(f.kubectl(f.Config(), "logs", "-l", "app=none"), 1, "no Instance in namespace "+f.Namespace.Name+" has the labels app=none")
	f.want(f.kubectl(f.Config(), "logs", "-l", "app in"), 1, "--selector")
	f.want(f.kubectl(f.Config(), "logs"), 1, "--selector")
	f.want(f.kubectl(f.Config(), "port-forward", "web", "18080:https"), 1,
		`"18080:https": "https" is not a port from 1 to 65535`, "which has: http")
}

// TestExplainOfARollout: explain tells the progress of a rollout, and ends with 2 until the Workload is Ready with its newest template.
func TestExplainOfARollout(t *testing.T) {
	f := newFixture(t)
	w := f.workload(placement("texas", 1, "DFW"))
	f.instance(f.deployment(w, "texas", "DFW", 1), 0, ready)
	settled := is(v1alpha.ConditionReady, metav1.ConditionTrue, v1alpha.ReasonSettled, "")
	open := is(v1alpha.ConditionReady, metav1.ConditionFalse, v1alpha.ReasonNotSettled, "conditions Available and Progressing have the cause")
	counts := v1alpha.ReplicaCounts{
		Replicas: 6, ReadyReplicas: 6, AvailableReplicas: 6, DesiredReplicas: 6, UpdatedReplicas: 2, UpdatedAvailableReplicas: 1,
	}
	const all, count = "Workload web: 6 of 6 Instances are Ready.", "2 of 6 Instances have the new template, 1 of them are Available"
	for _, c := range []struct {
		name   string
		ready  metav1.Condition
		behind int64
		phase  v1alpha.RolloutPhase
		paused bool
		code   int
		says   []string
	}{
		{"settled", settled, 0, v1alpha.RolloutComplete, false, 0, []string{all + "\n"}},
		{"not seen", settled, 1, v1alpha.RolloutComplete, false, exitNotReady, []string{all + " The add-on has not seen the last change"}},
		{"progresses", open, 0, v1alpha.RolloutProgressing, false, exitNotReady, []string{
			all + " The rollout of revision 2 progresses: " + count + ": DFW waits.",
		}},
		{"paused by plan", open, 0, v1alpha.RolloutPaused, false, exitNotReady, []string{"is paused by spec.rollout.pauseAfter: " + count}},
		{"paused by a user", open, 0, v1alpha.RolloutPaused, true, exitNotReady, []string{"is paused by kubectl-compute, ", count}},
		{"failed", open, 0, v1alpha.RolloutFailed, false, exitNotReady, []string{"has stopped: it has failed: " + count}},
		{"undone", open, 0, v1alpha.RolloutUndone, false, exitNotReady, []string{"has failed, and was undone"}},
		{"lost one", open, 0, v1alpha.RolloutComplete, false, exitNotReady, []string{"is not Ready: NotSettled: conditions"}},
	} {
		f.get(w)
		if c.paused {
			f.want(f.kubectl(f.Config(), "rollout", "pause", "web"), 0)
			f.get(w)
		} else if w.Spec.Rollout != nil && w.Spec.Rollout.Paused {
			w.Spec.Rollout.Paused = false
			if err := f.Client.Update(f.Context(), w); err != nil {
				t.Fatal(err)
			}
		}
		w.Status.ReplicaCounts, w.Status.ObservedGeneration = counts, w.Generation
		w.Status.Conditions = []metav1.Condition{c.ready}
		w.Status.Rollout = &v1alpha.WorkloadRolloutStatus{Phase: c.phase, Revision: 2, TemplateHash: "new"}
		if c.phase == v1alpha.RolloutProgressing {
			w.Status.Rollout.Message = "DFW waits"
		}
		f.update(w)
		if c.behind > 0 {
			f.want(f.kubectl(f.Config(), "set", "image", "web", "web=nginx:broken"), 0)
		}
		t.Log(c.name)
		f.want(f.kubectl(f.Config(), "explain", "web"), c.code, c.says...)
		f.want(f.kubectl(f.Config(), "explain", "web", "-o", "jsonpath={.ready}"), c.code, fmt.Sprint(c.code == 0))
	}
	f.want(f.kubectl(f.Config(), "explain", "inst/web-texas-dfw-0"), 0)
	f.want(f.kubectl(f.Config(), "rollout", "status", "web", "--watch=false"), 0, "successfully rolled out")
}

// TestInstancesShowRevisions: while Instances have different templates, each shows the revision of its own, and never a hash.
func TestInstancesShowRevisions(t *testing.T) {
	f := newFixture(t)
	w, _ := f.scene()
	for index, hash := range []string{"0123abcd", "4567abcd"} {
		instance := &v1alpha.Instance{ObjectMeta: metav1.ObjectMeta{Namespace: w.Namespace, Name: fmt.Sprintf("web-texas-dfw-%d", index)}}
		f.get(instance)
		instance.Spec.Controller = &v1alpha.InstanceController{TemplateHash: hash}
		if err := f.Client.Update(f.Context(), instance); err != nil {
			t.Fatal(err)
		}
	}
	w.Status.Rollout = &v1alpha.WorkloadRolloutStatus{Phase: v1alpha.RolloutProgressing, Revision: 3, TemplateHash: "4567abcd"}
	f.update(w)
	shown := f.kubectl(f.Config(), "tree", "web")
	f.want(shown, 0, "(revision 3)", "(earlier template)")
	f.create(&v1alpha.WorkloadRevision{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: w.Namespace, Name: naming.Revision("web", "0123abcd"), Labels: map[string]string{v1alpha.LabelWorkloadUID: string(w.UID)},
		},
		Spec: v1alpha.WorkloadRevisionSpec{Revision: 2, Template: template()},
	})
	if shown = f.kubectl(f.Config(), "tree", "web"); !strings.Contains(shown.out, "(revision 2)") || strings.Contains(shown.out, "abcd") {
		t.Errorf("tree prints\n%s", shown.out)
	}
}

// TestEventsOfSessions: the Events of sessions are left out, unless they are asked for.
func TestEventsOfSessions(t *testing.T) {
	f := newFixture(t)
	f.scene()
	instance := &v1alpha.Instance{ObjectMeta: metav1.ObjectMeta{Namespace: f.Namespace.Name, Name: "web-texas-dfw-0"}}
	f.get(instance)
	for _, reason := range []string{v1alpha.EventInstanceSession, v1alpha.ReasonAvailable} {
		f.create(&corev1.Event{
			ObjectMeta: metav1.ObjectMeta{Namespace: f.Namespace.Name, Name: strings.ToLower(reason)}, Reason: reason, Message: "of " + reason,
			InvolvedObject: corev1.ObjectReference{Kind: "Instance", Namespace: f.Namespace.Name, Name: instance.Name, UID: instance.UID},
			Source:         corev1.EventSource{Component: "karmada-compute"}, LastTimestamp: metav1.NewTime(now),
		})
	}
	listed := f.kubectl(f.Config(), "events", "web")
	if f.want(listed, 0, "of Available"); strings.Contains(listed.out, "of InstanceSession") {
		t.Errorf("the Events of sessions are listed:\n%s", listed.out)
	}
	f.want(f.kubectl(f.Config(), "events", "web", "--sessions"), 0, "of Available", "of InstanceSession")
}
