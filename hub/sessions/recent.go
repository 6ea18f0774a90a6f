// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package sessions

import (
	"context"
	"fmt"
	"reflect"

	"golang.org/x/sync/singleflight"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/cache"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// sharedFor is how long the checks of running streams share an answer. Streams of one project ask for the same project, namespaces,
// deployments and Clusters. A new stream asks past these answers.
const sharedFor = watchInterval / 2

// answers are the last answers of projects and of the hub. They are safe for concurrent use.
type answers struct {
	stored  *cache.Expiring
	flights singleflight.Group
}

// answer is an answer of an API server: an object or client, or that it does not exist.
type answer struct {
	value any
	err   error
}

// shared returns places that share their answers.
func (p *places) shared(a *answers) places {
	return places{hub: sharedReader{Reader: p.hub, answers: a, plane: "hub"}, projects: sharedProjects{Projects: p.projects, answers: a}}
}

func newAnswers(c clock.Clock) *answers {
	return &answers{stored: cache.NewExpiringWithClock(c)}
}

// get returns the answer to a question, and asks only if there is no recent answer. Failures are not stored.
func (a *answers) get(question string, ask func() (any, error)) (any, error) {
	value, err, _ := a.flights.Do(question, func() (any, error) {
		if stored, ok := a.stored.Get(question); ok {
			return stored.(answer).value, stored.(answer).err
		}
		value, err := ask()
		if err == nil || apierrors.IsNotFound(err) {
			a.stored.Set(question, answer{value, err}, sharedFor)
		}
		return value, err
	})
	return value, err
}

// sharedReader gets objects of one plane, which it shares with other checks: they must not be changed.
type sharedReader struct {
	client.Reader
	answers *answers
	plane   string
}

// Get implements client.Reader.
func (r sharedReader) Get(ctx context.Context, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
	got, err := r.answers.get(fmt.Sprintf("%s %T %s", r.plane, object, key), func() (any, error) {
		fresh, ok := reflect.TypeAssert[client.Object](reflect.New(reflect.TypeOf(object).Elem()))
		if !ok {
			return nil, fmt.Errorf("%T is no object", object)
		}
		return fresh, r.Reader.Get(ctx, key, fresh, options...)
	})
	if err != nil {
		return err
	}
	reflect.ValueOf(object).Elem().Set(reflect.ValueOf(got).Elem())
	return nil
}

// sharedProjects reaches projects for the checks of running streams. Reviews of permissions are not shared: a withdrawn permission must count
// within 10 s.
type sharedProjects struct {
	Projects
	answers *answers
}

// Client returns a client whose reads are shared.
func (p sharedProjects) Client(ctx context.Context, name string, uid types.UID) (client.Client, error) {
	plane := fmt.Sprintf("project %s %s", name, uid)
	got, err := p.answers.get(plane, func() (any, error) { return p.Projects.Client(ctx, name, uid) })
	if err != nil {
		return nil, err
	}
	reached, ok := got.(client.Client)
	if !ok {
		return nil, fmt.Errorf("%T is no client", got)
	}
	return sharedClient{Client: reached, reader: sharedReader{Reader: reached, answers: p.answers, plane: plane}}, nil
}

type sharedClient struct {
	client.Client
	reader sharedReader
}

// Get implements client.Reader.
func (c sharedClient) Get(ctx context.Context, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
	return c.reader.Get(ctx, key, object, options...)
}
