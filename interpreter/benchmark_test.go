// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package interpreter_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	configv1alpha1 "github.com/karmada-io/karmada/pkg/apis/config/v1alpha1"
	workv1alpha2 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/karmada-compute/karmada-compute/interpreter"
)

// BenchmarkOperations measures each operation on a deployment with many Instances in both modes: the handler over a TLS
// connection that stays open, and the customization in process. Both include the conversions to and from the objects
// that Karmada has.
func BenchmarkOperations(b *testing.B) {
	lua, err := karmada()
	if err != nil {
		b.Fatal(err)
	}
	server := httptest.NewTLSServer(interpreter.NewHandler())
	b.Cleanup(server.Close)
	for _, operation := range operations {
		for _, instances := range []int{1, 100, 1000} {
			c := large(b, operation, instances)
			object, observed := asUnstructured(b, c.Object), asUnstructured(b, c.Observed)
			b.Run(fmt.Sprintf("%s/webhook/%d", operation, instances), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					askOverTLS(b, server, operation, object, observed, c)
				}
			})
			b.Run(fmt.Sprintf("%s/lua/%d", operation, instances), func(b *testing.B) {
				b.ReportAllocs()
				var stopped float64
				for b.Loop() {
					// Karmada ends a script after one second of wall-clock time, which depends more on the machine than on the script.
					if _, err := run(lua, operation, object, observed, c); err != nil && !strings.Contains(err.Error(), "context deadline exceeded") {
						b.Fatal(err)
					} else if err != nil {
						stopped++
					}
				}
				b.ReportMetric(stopped/float64(b.N), "stopped/op")
			})
		}
	}
}

// large is a case with a deployment of many Instances in two cells, with the conditions that a cell writes.
func large(b *testing.B, operation configv1alpha1.InterpreterOperation, instances int) *golden {
	b.Helper()
	all := [2][]string{}
	for i := range instances {
		all[i%2] = append(all[i%2],
			fmt.Sprintf(`{"index":%d,"state":0,"since":"2026-01-01T00:00:00Z +0 +0 +0","networkInterfaces":[{"assignments":{"networkIP":"10.0.0.4"}}]}`, i))
	}
	var conditions []string
	for _, name := range []string{"Ready", "Available", "Programmed", "QuotaGranted"} {
		conditions = append(conditions, fmt.Sprintf(`{"type":%q,"status":"True","reason":"Available"}`, name))
	}
	status := func(rest string, entries []string) string {
		return fmt.Sprintf(`{%s"observedGeneration":4,"replicas":%d,"currentReplicas":%[2]d,"desiredReplicas":%[2]d,"readyReplicas":%[2]d,"conditions":[{"type":"Available","status":"True","reason":"StableInstanceFound","message":"","lastTransitionTime":"2026-01-01T00:00:00Z"}],"reports":[{"states":[{"templateHash":"5d8f9c7b6","observedTemplateHash":"5d8f9c7b6","conditions":[%[4]s]}],"instances":[%[3]s]}]}`,
			rest, len(entries), strings.Join(entries, ","), strings.Join(conditions, ","))
	}
	object := fmt.Sprintf(`{"apiVersion":"compute.datumapis.com/v1alpha","kind":"WorkloadDeployment","metadata":{"name":"web","namespace":"ns","generation":4},
		"spec":{"replicas":%d,"scaleSettings":{"minReplicas":1,"maxReplicas":1000,"metrics":[{"resource":{"name":"cpu","target":{"averageUtilization":80}}}]},
		"instanceTypeResources":{"cpu":"1","memory":"2Gi"},"template":{"spec":{"runtime":{"resources":{"instanceType":"datumcloud/d1-standard-2"},"sandbox":{"containers":[{"name":"app","image":"example.com/app",
		"env":[{"name":"A","valueFrom":{"secretKeyRef":{"name":"keys","key":"a"}}}],"resources":{"limits":{"cpu":"500m","memory":"1Gi"}}}]}}}}},"status":%s}`,
		instances, status("", append(append([]string{}, all[0]...), all[1]...)))
	c := &golden{Object: json.RawMessage(object), Observed: json.RawMessage(object), Replicas: new(int32(3))}
	if operation == configv1alpha1.InterpreterOperationAggregateStatus {
		for i, cell := range []string{"dfw-1", "dfw-2"} {
			raw := status(`"generation":4,"resourceTemplateGeneration":4,`, all[i])
			c.Items = append(c.Items, workv1alpha2.AggregatedStatusItem{ClusterName: cell, Status: &runtime.RawExtension{Raw: []byte(raw)}})
		}
	}
	return c
}

// askOverTLS sends a request as Karmada's client does: it encodes the object and applies the patch of the response.
func askOverTLS(
	b *testing.B, server *httptest.Server, operation configv1alpha1.InterpreterOperation,
	object, observed *unstructured.Unstructured, c *golden,
) {
	b.Helper()
	asked := &configv1alpha1.ResourceInterpreterRequest{
		UID: "uid", Operation: operation, DesiredReplicas: c.Replicas, AggregatedStatus: c.Items,
		Kind:   metav1.GroupVersionKind{Group: deploymentKind.Group, Version: deploymentKind.Version, Kind: deploymentKind.Kind},
		Object: runtime.RawExtension{Object: object},
	}
	if operation == configv1alpha1.InterpreterOperationRetain {
		asked.ObservedObject = &runtime.RawExtension{Object: observed}
	}
	body := encoded(b, configv1alpha1.ResourceInterpreterContext{
		TypeMeta: metav1.TypeMeta{APIVersion: "config.karmada.io/v1alpha1", Kind: "ResourceInterpreterContext"}, Request: asked,
	})
	request, err := http.NewRequestWithContext(b.Context(), http.MethodPost, server.URL+interpreter.Path, bytes.NewReader(body))
	if err != nil {
		b.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	answered, err := server.Client().Do(request)
	if err != nil {
		b.Fatal(err)
	}
	var answer configv1alpha1.ResourceInterpreterContext
	err = json.NewDecoder(answered.Body).Decode(&answer)
	_ = answered.Body.Close() // nothing was written
	if err != nil || answer.Response == nil || !answer.Response.Successful {
		b.Fatalf("answer %+v, %v", answer.Response, err)
	}
	if answer.Response.Patch != nil {
		asUnstructured(b, patched(b, encoded(b, object), answer.Response.Patch))
	}
}
