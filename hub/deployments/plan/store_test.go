// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package plan_test

import (
	"fmt"
	"maps"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	testingclock "k8s.io/utils/clock/testing"
	"sigs.k8s.io/yaml"
)

// object is an object of the API.
type object interface {
	metav1.Object
	runtime.Object
}

// store holds the objects of one namespace as an API server does: as JSON with the defaults of their kinds, with UIDs, versions and
// generations. Readers get copies.
type store struct {
	clock *testingclock.FakePassiveClock
	// objects are by kind and name.
	objects map[string]map[string]any
	version int
}

func newStore(clock *testingclock.FakePassiveClock) store {
	return store{clock: clock, objects: map[string]map[string]any{}}
}

func kindOf(obj object) string { return reflect.TypeOf(obj).Elem().Name() }

func keyOf(obj object) string { return kindOf(obj) + "/" + obj.GetName() }

// read sets an object to the stored one of its kind and name. It reports whether there is one.
func (s *store) read(t testing.TB, obj object) bool {
	t.Helper()
	content, found := s.objects[keyOf(obj)]
	if found {
		decode(t, content, obj)
	}
	return found
}

// namesOf returns the names of the objects of a kind in the order of a list.
func (s *store) namesOf(kind string) []string {
	var names []string
	for _, key := range slices.Sorted(maps.Keys(s.objects)) {
		if name, found := strings.CutPrefix(key, kind+"/"); found {
			names = append(names, name)
		}
	}
	return names
}

// create stores a new object without its status, as obj then has it.
func (s *store) create(t testing.TB, obj object) {
	t.Helper()
	if s.objects[keyOf(obj)] != nil {
		t.Fatalf("%s exists", keyOf(obj))
	}
	obj.SetUID(types.UID(fmt.Sprintf("uid-%d", s.version)))
	obj.SetGeneration(1)
	obj.SetCreationTimestamp(metav1.NewTime(s.clock.Now()))
	content := encode(t, obj)
	delete(content, "status")
	s.put(t, obj, content)
}

// update stores an object without its status, which stays. An object that does not differ stays as it is.
func (s *store) update(t testing.TB, obj object) {
	t.Helper()
	before, after := s.stored(t, obj), encode(t, obj)
	if delete(after, "status"); before["status"] != nil {
		after["status"] = before["status"]
	}
	if !reflect.DeepEqual(before["spec"], after["spec"]) {
		obj.SetGeneration(obj.GetGeneration() + 1)
		setIn(after, "generation", obj.GetGeneration())
	}
	s.replace(t, obj, after)
}

// updateStatus stores the status of an object alone.
func (s *store) updateStatus(t testing.TB, obj object) {
	t.Helper()
	after := runtime.DeepCopyJSON(s.stored(t, obj))
	after["status"] = encode(t, obj)["status"]
	s.replace(t, obj, after)
}

// delete deletes an object, which stays with a deletion timestamp while it has finalizers.
func (s *store) delete(t testing.TB, obj object) {
	t.Helper()
	decode(t, s.stored(t, obj), obj)
	if len(obj.GetFinalizers()) == 0 {
		delete(s.objects, keyOf(obj))
		return
	}
	if obj.GetDeletionTimestamp() != nil {
		return
	}
	now := metav1.NewTime(s.clock.Now())
	obj.SetDeletionTimestamp(&now)
	obj.SetGeneration(obj.GetGeneration() + 1)
	s.replace(t, obj, encode(t, obj))
}

func (s *store) stored(t testing.TB, obj object) map[string]any {
	t.Helper()
	content := s.objects[keyOf(obj)]
	if content == nil {
		t.Fatalf("%s does not exist", keyOf(obj))
	}
	return content
}

// replace stores another content of an object, if it is another one.
func (s *store) replace(t testing.TB, obj object, content map[string]any) {
	t.Helper()
	if reflect.DeepEqual(content, s.objects[keyOf(obj)]) {
		decode(t, content, obj)
		return
	}
	s.put(t, obj, content)
	if obj.GetDeletionTimestamp() != nil && len(obj.GetFinalizers()) == 0 {
		delete(s.objects, keyOf(obj))
	}
}

func (s *store) put(t testing.TB, obj object, content map[string]any) {
	t.Helper()
	s.version++
	setIn(content, "resourceVersion", strconv.Itoa(s.version))
	s.objects[keyOf(obj)] = content
	decode(t, content, obj)
}

func setIn(content map[string]any, field string, value any) {
	content["metadata"].(map[string]any)[field] = value
}

// encode returns an object as JSON with the defaults of its kind.
func encode(t testing.TB, obj object) map[string]any {
	t.Helper()
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(obj)
	if err != nil {
		t.Fatal(err)
	}
	kinds, err := schemas()
	if err != nil {
		t.Fatal(err)
	}
	schema := kinds[kindOf(obj)]
	if schema == nil {
		t.Fatalf("kind %s is unknown", kindOf(obj))
	}
	defaulting.Default(content, schema)
	return content
}

func decode(t testing.TB, content map[string]any, into object) {
	t.Helper()
	reflect.ValueOf(into).Elem().SetZero()
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(content, into); err != nil {
		t.Fatal(err)
	}
}

// schemas are the schemas of the kinds of a project.
var schemas = sync.OnceValues(func() (map[string]*structuralschema.Structural, error) {
	result := map[string]*structuralschema.Structural{}
	for _, plural := range []string{"workloads", "workloaddeployments", "instances"} {
		file, err := os.ReadFile("../../../api/crds/compute.datumapis.com_" + plural + ".yaml")
		if err != nil {
			return nil, err
		}
		var crd apiextensionsv1.CustomResourceDefinition
		if err := yaml.UnmarshalStrict(file, &crd); err != nil {
			return nil, err
		}
		var schema apiextensions.JSONSchemaProps
		if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(
			crd.Spec.Versions[0].Schema.OpenAPIV3Schema, &schema, nil); err != nil {
			return nil, err
		}
		structural, err := structuralschema.NewStructural(&schema)
		if err != nil {
			return nil, err
		}
		result[crd.Spec.Names.Kind] = structural
	}
	return result, nil
})

// create creates an object and returns it as stored.
func create[T object](t *testing.T, f *fixture, obj T) T {
	t.Helper()
	f.create(t, obj)
	return obj
}

// change updates an object as another client: mutate changes the stored object.
func change[T object](t *testing.T, f *fixture, obj T, mutate func(T)) T {
	t.Helper()
	decode(t, f.stored(t, obj), obj)
	mutate(obj)
	f.update(t, obj)
	return obj
}

// changeStatus updates the status of an object as another client.
func changeStatus[T object](t *testing.T, f *fixture, obj T, mutate func(T)) T {
	t.Helper()
	decode(t, f.stored(t, obj), obj)
	mutate(obj)
	f.updateStatus(t, obj)
	return obj
}

// remove deletes an object; an object with finalizers stays.
func remove(t *testing.T, f *fixture, obj object) {
	t.Helper()
	f.delete(t, obj)
}
