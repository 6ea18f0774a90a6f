// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package connect

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/cli/command"
	"github.com/karmada-compute/karmada-compute/cli/stream"
	"github.com/karmada-compute/karmada-compute/cli/view"
)

// selectedTail is the number of lines of each log that a selector selects, as in kubectl.
const selectedTail = 10

// logging holds the flags of logs.
type logging struct {
	container, city, sinceTime   string
	selector                     string
	allContainers, prefix        bool
	follow, previous, timestamps bool
	tail, limitBytes             int64
	since, lifetime              time.Duration
	maxRequests                  int
}

func (c *commands) logsCommand() *cobra.Command {
	o := logging{}
	cmd := &cobra.Command{
		Use:        "logs (INSTANCE | WORKLOAD | -l LABELS) [-f] [-c CONTAINER]",
		SuggestFor: []string{"log"},
		Short:      "Print the logs of an Instance, or of all Instances of a Workload",
		Long: "Print the logs of an Instance, or of all Instances of a Workload with the name of its Instance before each " +
			"line. The operator must\n" +
			"have enabled sessions, and you need `create` and `get` on instancesessions and `get` on instances/log in the project.",
		Example: c.Examples(`
  # The log of an Instance, and what follows
  %s logs web-main-dfw-0 -f
  # The last 20 lines of all Instances of Workload web in DFW
  %s logs web --city=DFW --tail=20
  # The last 10 lines of all Instances with a label of their template
  %s logs -l app=web
  # The log of container app before its last restart
  %s logs web-main-dfw-0 -c app --previous`),
		Args: func(cmd *cobra.Command, args []string) error {
			if o.selector != "" && len(args) == 0 {
				return nil
			}
			return command.OneArg("the name of an Instance or of a Workload, or --selector")(cmd, args)
		},
		ValidArgsFunction: c.CompleteObjects(),
		RunE:              c.Run(func(ctx context.Context, args []string) error { return c.logs(ctx, strings.Join(args, ""), &o) }),
	}
	flags := cmd.Flags()
	flags.StringVarP(&o.container, "container", "c", "", "Print the log of this container. Default: the first container.")
	flags.StringVarP(&o.selector, "selector", "l", "", "Print the logs of the Instances with these labels, such as -l app=web.")
	flags.BoolVar(&o.allContainers, "all-containers", false, "Print the logs of all containers.")
	flags.StringVar(&o.city, "city", "", "Print the logs of the Instances in this city only.")
	flags.BoolVarP(&o.follow, "follow", "f", false, "Continue with what is written from now on.")
	flags.BoolVarP(&o.previous, "previous", "p", false, "Print the log before the last restart of the container.")
	flags.BoolVar(&o.timestamps, "timestamps", false, "Begin every line with its time.")
	flags.BoolVar(&o.prefix, "prefix", false, "Begin every line with the names of its Instance and container, for one Instance, too.")
	flags.Int64Var(&o.tail, "tail", -1, "Number of last lines to print. -1: all lines, or with --selector 10.")
	flags.Int64Var(&o.limitBytes, "limit-bytes", 0, "Maximum number of bytes of each log. 0: no limit.")
	flags.DurationVar(&o.since, "since", 0, "Print only lines that are newer than this, such as 5s, 2m or 3h. Default: all lines.")
	flags.StringVar(&o.sinceTime, "since-time", "", "Print only lines since this time (RFC3339). Default: all lines.")
	flags.DurationVar(&o.lifetime, "session-ttl", time.Hour, "Longest time for which logs are followed, from 1m to 1h.")
	flags.IntVar(&o.maxRequests, "max-log-requests", 5, "Maximum number of logs that are followed at the same time.")
	c.CompleteFlag(cmd, "container", command.Containers)
	c.CompleteFlag(cmd, "city", command.Cities)
	return cmd
}

// options returns the options of the session, or an error about the flags.
func (o *logging) options() (*v1alpha.SessionLogOptions, error) {
	options := &v1alpha.SessionLogOptions{Follow: o.follow, Previous: o.previous, Timestamps: o.timestamps}
	switch {
	case o.since < 0 || o.limitBytes < 0 || o.tail < -1:
		return nil, errors.New("--since, --limit-bytes and --tail must not be negative, but for --tail=-1")
	case o.since > 0 && o.sinceTime != "":
		return nil, errors.New("--since and --since-time: set one of them")
	case o.container != "" && o.allContainers:
		return nil, errors.New("--container and --all-containers: set one of them")
	}
	if o.selector != "" && o.tail < 0 {
		o.tail = selectedTail
	}
	if o.tail >= 0 {
		options.TailLines = &o.tail
	}
	if o.limitBytes > 0 {
		options.LimitBytes = &o.limitBytes
	}
	if o.since > 0 {
		// As in kubectl: a fraction of a second counts as one second.
		options.SinceSeconds = new(int64((o.since + time.Second - 1) / time.Second))
	}
	if o.sinceTime != "" {
		at, err := time.Parse(time.RFC3339, o.sinceTime)
		if err != nil {
			return nil, fmt.Errorf("--since-time: %w", err)
		}
		options.SinceTime = new(metav1.NewTime(at))
	}
	return options, nil
}

func (c *commands) logs(ctx context.Context, name string, o *logging) error {
	options, err := o.options()
	if err != nil {
		return err
	}
	s, err := c.ConnectToProject(ctx)
	if err != nil {
		return err
	}
	all, err := c.logsOf(ctx, s, name, o)
	if err != nil {
		return err
	}
	if o.follow && len(all) > o.maxRequests {
		return fmt.Errorf("there are %d logs to follow, more than %d: set --max-log-requests, or select fewer with --city or an Instance",
			len(all), o.maxRequests)
	}
	if len(all) == 1 && !o.prefix {
		return all[0].Copy(ctx, s.Project, options, o.lifetime, c.Raw.Out)
	}
	return c.prefixed(ctx, all, o.follow, func(log stream.ContainerLog, out io.Writer) error {
		return log.Copy(ctx, s.Project, options, o.lifetime, out)
	})
}

// instances returns the Instances that the argument or the labels select.
func (o *logging) instances(ctx context.Context, s *command.Session, name string) ([]v1alpha.Instance, error) {
	if o.selector == "" {
		return instancesOf(ctx, s, name, o.city)
	}
	selector, err := labels.Parse(o.selector)
	if err != nil {
		return nil, fmt.Errorf("--selector: %w", err)
	}
	found, err := selectInstances(ctx, s, o.city, client.MatchingLabelsSelector{Selector: selector})
	if err == nil && len(found) == 0 {
		err = fmt.Errorf("no Instance in namespace %s has the labels %s%s", s.Namespace, o.selector, inCity(o.city))
	}
	return found, err
}

// logsOf returns the logs of an Instance, or of the Instances of a Workload.
func (c *commands) logsOf(ctx context.Context, s *command.Session, name string, o *logging) ([]stream.ContainerLog, error) {
	instances, err := o.instances(ctx, s, name)
	if err != nil {
		return nil, err
	}
	var all []stream.ContainerLog
	for i := range instances {
		containers, err := c.containers(&instances[i], o.container, o.allContainers)
		if err != nil {
			return nil, err
		}
		for _, container := range containers {
			all = append(all, stream.ContainerLog{Instance: &instances[i], Container: container})
		}
	}
	return all, nil
}

// prefixed prints logs, each line with its Instance and container: one log after the other, or all at once. A log that cannot be
// read ends no other one: an Instance that does not run yet has none.
func (c *commands) prefixed(
	ctx context.Context, all []stream.ContainerLog, atOnce bool, copied func(stream.ContainerLog, io.Writer) error,
) error {
	lines, errs := &stream.Lines{Out: c.Raw.Out}, &stream.Lines{Out: c.Raw.ErrOut}
	group, failed := errgroup.Group{}, atomic.Int32{}
	group.SetLimit(1)
	if atOnce {
		group.SetLimit(len(all))
	}
	for _, log := range all {
		group.Go(func() error {
			out := lines.With(fmt.Sprintf("[%s/%s] ", log.Instance.Name, log.Container))
			err := errors.Join(copied(log, out), out.Flush())
			if err == nil || ctx.Err() != nil || len(all) == 1 {
				return err
			}
			failed.Add(1)
			_, err = fmt.Fprintf(errs.With("error: "), "%v\n", err)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	if failed.Load() > 0 {
		return fmt.Errorf("%d of %d logs could not be read to their end", failed.Load(), len(all))
	}
	return nil
}

// instanceOf returns the Instance that an argument names or, as kubectl does for a Deployment, the first Instance of a Workload: the first
// Ready one, if there is any.
func instanceOf(ctx context.Context, s *command.Session, argument string) (*v1alpha.Instance, error) {
	found, err := instancesOf(ctx, s, argument, "")
	if err != nil {
		return nil, err
	}
	first := slices.IndexFunc(found, func(i v1alpha.Instance) bool {
		return meta.IsStatusConditionTrue(i.Status.Conditions, v1alpha.ConditionReady)
	})
	return &found[max(first, 0)], nil
}

// instancesOf returns the Instance that an argument names or, if no Instance has the name, the Instances of the Workload with the
// name.
func instancesOf(ctx context.Context, s *command.Session, argument, city string) ([]v1alpha.Instance, error) {
	name, instance := command.Bare(argument), &v1alpha.Instance{}
	kind, _, _ := command.Typed(argument)
	if !command.IsWorkload(kind) {
		err := s.Project.Client.Get(ctx, s.Key(name), instance)
		if err == nil {
			return []v1alpha.Instance{*instance}, nil
		}
		if !apierrors.IsNotFound(err) || command.IsInstance(kind) || view.IsKindNotServed(err) {
			return nil, err
		}
	}
	found, err := selectInstances(ctx, s, city, client.MatchingLabels{v1alpha.LabelWorkloadName: name})
	if err == nil && len(found) == 0 {
		err = fmt.Errorf("instances.compute.datumapis.com %q not found, and no Instance of a Workload of that name%s", name, inCity(city))
	}
	return found, err
}

// selectInstances returns the Instances of a city, or of all, that an option selects.
func selectInstances(ctx context.Context, s *command.Session, city string, selected client.ListOption) ([]v1alpha.Instance, error) {
	var list v1alpha.InstanceList
	err := s.Project.Client.List(ctx, &list, client.InNamespace(s.Namespace), selected)
	return slices.DeleteFunc(list.Items, func(i v1alpha.Instance) bool {
		return city != "" && !strings.EqualFold(i.Labels[v1alpha.LabelCityCode], city)
	}), err
}

func inCity(city string) string {
	if city == "" {
		return ""
	}
	return " in " + city
}

// containers returns the selected containers of an Instance: the one with the name, all, the one that the template
// names, or the first.
func (c *commands) containers(instance *v1alpha.Instance, name string, all bool) ([]string, error) {
	names := stream.ContainersOf(instance)
	switch {
	case len(names) > 0 && all:
		return names, nil
	case name != "":
		found, err := stream.ContainerOf(instance, name)
		return []string{found}, err
	}
	found, err := stream.ContainerOf(instance, "")
	if err == nil && len(names) > 1 && instance.Annotations[stream.AnnotationDefaultContainer] != found {
		_, err = fmt.Fprintf(c.Streams.ErrOut, "Defaulted container %q out of: %s\n", found, strings.Join(names, ", "))
	}
	return []string{found}, err
}
