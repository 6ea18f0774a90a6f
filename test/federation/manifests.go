// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package federation

import (
	"bytes"
	"context"
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
)

// fieldManager is the field manager of everything that the federation applies.
const fieldManager = "federation"

var (
	crdResource        = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}
	apiServiceResource = schema.GroupVersionResource{Group: "apiregistration.k8s.io", Version: "v1", Resource: "apiservices"}
	clusterResource    = schema.GroupVersionResource{Group: "cluster.karmada.io", Version: "v1alpha1", Resource: "clusters"}
)

// plane is a client of one kube-apiserver that applies manifests.
type plane struct {
	dynamic dynamic.Interface
	mapper  *restmapper.DeferredDiscoveryRESTMapper
}

// plane returns a client of a plane with the federation's own user.
func (f *Federation) plane(name string) (*plane, error) {
	config, err := f.Config(name, "federation")
	if err != nil {
		return nil, err
	}
	return newPlane(config)
}

func newPlane(config *rest.Config) (*plane, error) {
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	disco, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return nil, err
	}
	return &plane{dynamic: client, mapper: restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(disco))}, nil
}

// apply applies objects server-side, one after the other.
func (p *plane) apply(ctx context.Context, objects ...*unstructured.Unstructured) error {
	for _, object := range objects {
		kind := object.GroupVersionKind()
		mapping, err := p.mapper.RESTMapping(kind.GroupKind(), kind.Version)
		if err != nil {
			return fmt.Errorf("apply %s %s: %w", kind.Kind, object.GetName(), err)
		}
		var client dynamic.ResourceInterface = p.dynamic.Resource(mapping.Resource)
		if mapping.Scope.Name() == meta.RESTScopeNameNamespace {
			client = p.dynamic.Resource(mapping.Resource).Namespace(object.GetNamespace())
		}
		if err := applyTo(ctx, client, object); err != nil {
			return err
		}
	}
	return nil
}

func applyTo(ctx context.Context, client dynamic.ResourceInterface, object *unstructured.Unstructured) error {
	_, err := client.Apply(ctx, object.GetName(), object, metav1.ApplyOptions{FieldManager: fieldManager, Force: true})
	if err != nil {
		return fmt.Errorf("apply %s %s: %w", object.GetKind(), object.GetName(), err)
	}
	return nil
}

// createOrApply creates an object, or applies it if it exists. An older API server drops unknown fields of a new
// object, as it does when Karmada creates it, and refuses to apply them.
func createOrApply(ctx context.Context, client dynamic.ResourceInterface, object *unstructured.Unstructured) error {
	_, err := client.Create(ctx, object, metav1.CreateOptions{FieldManager: fieldManager})
	if apierrors.IsAlreadyExists(err) {
		return applyTo(ctx, client, object)
	}
	if err != nil {
		return fmt.Errorf("create %s %s: %w", object.GetKind(), object.GetName(), err)
	}
	return nil
}

// applyCRDs applies CustomResourceDefinitions in parallel and waits until all are
// served.
func (p *plane) applyCRDs(ctx context.Context, crds []*unstructured.Unstructured) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(8)
	client := p.dynamic.Resource(crdResource)
	for _, crd := range crds {
		group.Go(func() error {
			if err := createOrApply(ctx, client, crd); err != nil {
				return err
			}
			return p.waitCondition(ctx, crdResource, crd.GetName(), "Established")
		})
	}
	return group.Wait()
}

// applyOwnCRDs installs the CRDs of the options, of the add-on's kinds only the given ones, or all if none are given.
func (f *Federation) applyOwnCRDs(ctx context.Context, p *plane, kinds ...string) error {
	if f.state.CRDs == "" {
		return nil
	}
	crds, err := readFolder(f.state.CRDs)
	if err != nil {
		return err
	}
	return p.applyCRDs(ctx, slices.DeleteFunc(crds, func(crd *unstructured.Unstructured) bool {
		plural, group, _ := strings.Cut(crd.GetName(), ".")
		return len(kinds) > 0 && group == ownGroup && !slices.Contains(kinds, plural)
	}))
}

// conditionTrue reports whether a condition of an object is True.
func conditionTrue(object *unstructured.Unstructured, kind string) bool {
	conditions, _, err := unstructured.NestedSlice(object.Object, "status", "conditions")
	if err != nil {
		return false
	}
	for _, item := range conditions {
		condition, ok := item.(map[string]any)
		if ok && condition["type"] == kind {
			return condition["status"] == "True"
		}
	}
	return false
}

// waitCondition waits until a condition of a cluster-scoped object is True.
func (p *plane) waitCondition(ctx context.Context, resource schema.GroupVersionResource, name, kind string) error {
	return await(ctx, readyInterval, func(ctx context.Context) error { return p.hasCondition(ctx, resource, name, kind) })
}

// hasCondition returns an error unless a condition of a cluster-scoped object is
// True.
func (p *plane) hasCondition(ctx context.Context, resource schema.GroupVersionResource, name, kind string) error {
	object, err := p.dynamic.Resource(resource).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return err
	}
	if !conditionTrue(object, kind) {
		return fmt.Errorf("%s %s is not %s; its status: %v", resource.Resource, name, kind, object.Object["status"])
	}
	return nil
}

//go:embed objects
var objectFiles embed.FS

// embedded returns an embedded file, with values in the place of {{name}}.
func embedded(file string, values map[string]string) ([]byte, error) {
	content, err := objectFiles.ReadFile("objects/" + file)
	for name, value := range values {
		content = bytes.ReplaceAll(content, []byte("{{"+name+"}}"), []byte(value))
	}
	return content, err
}

// objectsOf reads the objects of an embedded file.
func objectsOf(file string, values map[string]string) ([]*unstructured.Unstructured, error) {
	content, err := embedded(file, values)
	if err != nil {
		return nil, err
	}
	objects, err := decode(content)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return objects, nil
}

// applyText applies objects in YAML.
func (p *plane) applyText(ctx context.Context, text string) error {
	objects, err := decode([]byte(text))
	if err != nil {
		return err
	}
	return p.apply(ctx, objects...)
}

// applyFile applies the objects of an embedded file.
func (p *plane) applyFile(ctx context.Context, file string, values map[string]string) error {
	objects, err := objectsOf(file, values)
	if err != nil {
		return err
	}
	return p.apply(ctx, objects...)
}

// Await polls until check returns nil. After the timeout, or when ctx ends, it returns the last error of check, too.
func Await(ctx context.Context, interval, timeout time.Duration, check func(context.Context) error) error {
	var last error
	err := wait.PollUntilContextTimeout(ctx, interval, timeout, true, func(ctx context.Context) (bool, error) {
		err := check(ctx)
		// An error after the timeout would hide the one before it.
		if err != nil && (ctx.Err() == nil || last == nil) {
			last = err
		}
		return err == nil, nil
	})
	if err != nil {
		return errors.Join(fmt.Errorf("not within %s: %w", timeout, err), last)
	}
	return nil
}

// await is Await until a process must be ready.
func await(ctx context.Context, interval time.Duration, check func(context.Context) error) error {
	return Await(ctx, interval, ReadyTimeout, check)
}

// readFolder reads all YAML files of a folder and its subfolders.
func readFolder(folder string) ([]*unstructured.Unstructured, error) {
	var objects []*unstructured.Unstructured
	files := os.DirFS(folder)
	err := fs.WalkDir(files, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".yaml") {
			return err
		}
		content, err := fs.ReadFile(files, path)
		if err != nil {
			return err
		}
		found, err := decode(content)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		objects = append(objects, found...)
		return nil
	})
	return objects, err
}

// decode reads the documents of a YAML stream, leaving out empty ones.
func decode(content []byte) ([]*unstructured.Unstructured, error) {
	var objects []*unstructured.Unstructured
	decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(content), 4096)
	for {
		object := &unstructured.Unstructured{}
		err := decoder.Decode(&object.Object)
		if errors.Is(err, io.EOF) {
			return objects, nil
		}
		if err != nil {
			return nil, err
		}
		if len(object.Object) > 0 {
			objects = append(objects, object)
		}
	}
}
