// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package steps

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cucumber/godog"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/rand"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
)

// scenario is what the sentences of one scenario know of each other.
type scenario struct {
	*World
	// namespace is the scenario's own, of the same name in each of its projects.
	namespace string
	// project is the one that sentences without a project mean.
	project string
	// hubNamespaces are those of the scenario's namespaces, by project.
	hubNamespaces map[string]string
	// refused is what the last attempt was refused with.
	refused error
	// seen are the UIDs of Instances in cells when their Workload ran first, by cell and name.
	seen map[string]types.UID
	// killed is the replica that was killed.
	killed int
	// quiet is a time in which the add-on should write nothing.
	quiet quietPeriod
	// doomed is a project that is being deleted.
	doomed string
	// own is a project of the scenario's own.
	own string
	// strays are namespaces that the scenario put into cells itself.
	strays []stray
	// answered is the status of the last call of a replica, and read its body.
	answered int
	read     string
	// load is the stream of Workloads that runs beside the scenario.
	load *load
	// routed says that not every replica is called.
	routed bool
	// altered are replicas that were started otherwise than they were found, or not at all.
	altered []int
	// rootDown says that Milo's root is down.
	rootDown bool
	// hanging is a project whose control plane does not answer the add-on.
	hanging string
	// took is how long the last attempt took.
	took time.Duration
	// taken are the extra cells that the scenario has to itself.
	taken []*extraCell
	// bound are the cities that the scenario gave to projects.
	bound []projectCity
	// moved are the cities that cells served before the scenario moved them.
	moved map[string]string
	// shrunk is a cell whose nodes have less room than by nature.
	shrunk string
	// warnings are those of the last attempt.
	warnings *warnings
	// withheld are the rules of the add-on's role in projects, where the scenario took one away.
	withheld []rbacv1.PolicyRule
	// passwords are what Secrets hold.
	passwords []string
}

// stray is an object that the scenario put straight into a cell.
type stray struct {
	cell   string
	object client.Object
}

type scenarioKey struct{}

func from(ctx context.Context) *scenario {
	s, _ := ctx.Value(scenarioKey{}).(*scenario)
	return s
}

// AddStepsTo gives a scenario its sentences.
func (w *World) AddStepsTo(sc *godog.ScenarioContext) {
	sc.Before(func(ctx context.Context, _ *godog.Scenario) (context.Context, error) {
		return context.WithValue(ctx, scenarioKey{}, &scenario{
			World: w, namespace: "s-" + rand.String(6), hubNamespaces: map[string]string{}, seen: map[string]types.UID{}, killed: -1, moved: map[string]string{},
		}), nil
	})
	sc.After(func(ctx context.Context, run *godog.Scenario, err error) (context.Context, error) {
		s := from(ctx)
		if err != nil {
			s.describe(ctx, run.Name)
		}
		return ctx, s.cleanUp(context.WithoutCancel(ctx))
	})
	addProjectSteps(sc)
	addWorkloadSteps(sc)
	addInstanceSteps(sc)
	addHubSteps(sc)
	addCellSteps(sc)
	addTopologySteps(sc)
	addAddOnSteps(sc)
	addDataSteps(sc)
	addRefusalSteps(sc)
	addPrivilegeSteps(sc)
	addAdmissionSteps(sc)
	addOutageSteps(sc)
	addDivisionSteps(sc)
}

// cleanUp removes what the scenario made and waits until it is gone, so that it costs the next ones nothing.
func (s *scenario) cleanUp(ctx context.Context) error {
	defer s.giveCells()
	problems := []error{s.restore(ctx), s.restoreCells(ctx)}
	if s.killed >= 0 {
		problems = append(problems, s.addOn.Start(ctx, s.killed))
	}
	if s.doomed != "" {
		problems = append(problems, s.releaseProject(ctx))
	}
	for project := range s.hubNamespaces {
		if project == s.own {
			problems = append(problems, s.removeProject(ctx))
			continue
		}
		problems = append(problems, s.removeNamespace(ctx, project))
	}
	problems = append(problems, s.unbindLocations(ctx))
	for _, put := range s.strays {
		c, err := s.client("cell/"+put.cell, admin)
		if err != nil {
			return err
		}
		problems = append(problems, client.IgnoreNotFound(c.Delete(ctx, put.object)))
	}
	return errors.Join(problems...)
}

func (s *scenario) removeProject(ctx context.Context) error {
	root, err := s.client("milo", admin)
	if err != nil {
		return err
	}
	if err := client.IgnoreNotFound(root.Delete(ctx, newProject(s.own))); err != nil {
		return err
	}
	return s.projectIsGone(ctx)
}

func (s *scenario) removeNamespace(ctx context.Context, project string) error {
	c, err := s.client("project/"+project, admin)
	if err != nil {
		return err
	}
	if err := c.DeleteAllOf(ctx, &v1alpha.Workload{}, client.InNamespace(s.namespace)); err != nil {
		return err
	}
	if err := eventually(ctx, func(ctx context.Context) error { return empty(ctx, c, &v1alpha.WorkloadList{}, s.namespace) }); err != nil {
		return err
	}
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: s.namespace}}
	return client.IgnoreNotFound(c.Delete(ctx, namespace))
}

// empty is an error while there are objects of a kind in a namespace.
func empty(ctx context.Context, c client.Reader, list client.ObjectList, namespace string) error {
	if err := c.List(ctx, list, client.InNamespace(namespace)); err != nil {
		return err
	}
	names, err := namesOf(list)
	if err != nil {
		return err
	}
	if len(names) > 0 {
		return fmt.Errorf("%T still holds %v", list, names)
	}
	return nil
}

// describe prints what a failed scenario left behind.
func (s *scenario) describe(ctx context.Context, name string) {
	fmt.Fprintf(s.out, "\n--- %s failed; namespace %s, hub namespaces %v\n", name, s.namespace, s.hubNamespaces)
	for project := range s.hubNamespaces {
		c, err := s.client("project/"+project, admin)
		if err != nil {
			continue
		}
		for _, list := range []client.ObjectList{&v1alpha.WorkloadList{}, &v1alpha.WorkloadDeploymentList{}, &v1alpha.InstanceList{}} {
			if err := c.List(context.WithoutCancel(ctx), list, client.InNamespace(s.namespace)); err != nil {
				fmt.Fprintf(s.out, "%s: %v\n", project, err)
				continue
			}
			s.printList(project, list)
		}
	}
}
