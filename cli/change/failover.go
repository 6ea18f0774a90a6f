// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package change

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/karmada-compute/karmada-compute/api/v1alpha"
	"github.com/karmada-compute/karmada-compute/cli/command"
)

// moving holds the flags of failover.
type moving struct {
	from, to string
	isReturn bool
	// returning are the cities that are named after --return; none: all that were replaced.
	returning []string
	// tool is the name of the program in the text for the user, and next describes the effect of the change.
	tool, next string
}

func (c *commands) failoverCommand() *cobra.Command {
	o := &moving{}
	cmd := &cobra.Command{
		Use:        "failover WORKLOAD (--from=CITY [--to=CITY] | --return [CITY...])",
		SuggestFor: []string{"move", "evacuate"},
		Short:      "Move the Instances of a city to another candidate, or let them return",
		Long: "Move the Instances of a city to another candidate of its placement, which has spread.failover. The Instances in the city stop\n" +
			"when the other ones are Available. The city gets no Instances again before --return. With --return, cities that were replaced,\n" +
			"by hand or by failover, get their Instances again as soon as they can run them, without waiting for stableFor.",
		Example: c.Examples(`
  # Leave Dallas
  %s failover web --from DFW
  # For Los Angeles, as soon as it can run the Instances
  %s failover web --from DFW --to LAX
  # Dallas gets its Instances again
  %s failover web --return DFW
  # All cities that were replaced do
  %s failover web --return`),
		ValidArgsFunction: c.CompleteWorkloads(citiesOfWorkload((*spreads).absent)),
	}
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if o.isReturn && len(args) > 0 {
			return nil
		}
		return command.OneArg("the name of a Workload, and cities only after --return")(cmd, args)
	}
	cmd.Flags().StringVar(&o.from, "from", "", "The code of the city to leave, such as DFW.")
	cmd.Flags().StringVar(&o.to, "to", "", "The candidate that runs the Instances, as soon as it can. Without it, the next one that can does.")
	cmd.Flags().BoolVar(&o.isReturn, "return", false,
		"Let the cities after the name of the Workload get their Instances again. Without a city, all that were replaced.")
	c.CompleteFlag(cmd, "from", citiesOfWorkload(func(s *spreads) []string { return s.candidates((*spread).runs) }))
	c.CompleteFlag(cmd, "to", citiesOfWorkload(func(s *spreads) []string { return s.candidates((*spread).isFree) }))
	cmd.RunE = c.Run(func(ctx context.Context, args []string) error {
		o.tool = cmd.Parent().CommandPath()
		return c.failover(ctx, o, args)
	})
	return c.compared(cmd)
}

func (c *commands) failover(ctx context.Context, o *moving, args []string) error {
	o.from, o.to = strings.ToUpper(o.from), strings.ToUpper(o.to)
	for _, city := range args[1:] {
		o.returning = append(o.returning, strings.ToUpper(city))
	}
	switch {
	case o.isReturn == (o.from != ""):
		return errors.New("name the city to leave with --from, such as --from DFW, or let cities get their Instances again with --return")
	case o.isReturn && o.to != "":
		return errors.New("--to belongs to --from; name the cities that get their Instances again after --return, such as --return DFW")
	case o.from != "" && o.from == o.to:
		return fmt.Errorf("--from and --to are both %s: name another candidate with --to, or leave it out", o.from)
	}
	done := "failover requested"
	if o.isReturn {
		done = "return requested"
	}
	err := c.change(ctx, args[0], done, func(ctx context.Context, s *command.Session, w *v1alpha.Workload) error {
		found := readSpreads(ctx, s, w)
		if !slices.ContainsFunc(found.all, (*spread).failsOver) {
			return fmt.Errorf("no placement of Workload %s has spread.failover: set it and name candidates, or remove the city from cityCodes",
				w.Name)
		}
		if o.isReturn {
			return o.giveBack(found, w, c.Clock.Now())
		}
		return o.leave(found, w)
	})
	if err != nil || c.trial.dryRun != tryNone {
		return err
	}
	_, err = fmt.Fprintf(c.Streams.Out, "%s\n`%s rollout plan %s` shows what it waits for.\n", o.next, o.tool, command.Bare(args[0]))
	return err
}

// leave adds the city to the ones that the Workload leaves. A city that should run the Instances is not left any more.
func (o *moving) leave(s *spreads, w *v1alpha.Workload) error {
	p := s.placementOf(o.from)
	if p == nil {
		all := s.candidates(func(*spread, string) bool { return true })
		return fmt.Errorf("%s is no candidate of Workload %s; its candidates are %s", o.from, w.Name, strings.Join(all, ", "))
	}
	if err := p.mayLeave(o.from); err != nil {
		return err
	}
	by, leaves := s.byHand.Leave[o.from]
	if leaves && by == o.to {
		return fmt.Errorf("workload %s leaves %s already: `%s rollout plan %[1]s` shows what it waits for", w.Name, o.from, o.tool)
	}
	s.byHand.Leave[o.from] = o.to
	delete(s.byHand.Leave, o.to)
	if err := o.mayGo(p, s.byHand.Leave); err != nil {
		return err
	}
	annotate(w, v1alpha.AnnotationLeaveCities, s.byHand.LeaveText())
	o.next = fmt.Sprintf("%s gets the Instances of %s as soon as it can run them. The ones in %[2]s stop when the others are Available.\n"+
		"%[2]s gets no Instances again before `%[3]s`.", cmp.Or(o.to, "The next candidate"), o.from, o.wayBack(p, w, o.from))
	return nil
}

// mayLeave returns an error if no other candidate can replace a city.
func (p *spread) mayLeave(city string) error {
	switch {
	case !p.failsOver():
		return fmt.Errorf("placement %s has no spread.failover, which lets another city run the Instances of %s: set it, or remove %[2]s "+
			"from cityCodes", p.Name, city)
	case len(p.record) == 0:
		return fmt.Errorf("the add-on has not chosen among the candidates of placement %s yet; try again", p.Name)
	case p.isReplaced(city):
		return fmt.Errorf("%s does not run Instances of placement %s: %s runs them instead", city, p.Name, p.find(city).ReplacedBy)
	case !p.runs(city):
		return fmt.Errorf("%s does not run Instances of placement %s: it is a candidate that is not chosen", city, p.Name)
	}
	return nil
}

// mayGo returns an error if the other candidate cannot get the Instances, or no candidate can, since they leave these cities.
func (o *moving) mayGo(p *spread, leave map[string]string) error {
	cannot := func(city string) bool {
		_, leaves := leave[city]
		return leaves || p.runs(city)
	}
	switch {
	case o.to != "" && p.runs(o.to):
		return fmt.Errorf("%s runs Instances of placement %s already; name another candidate with --to, or leave it out", o.to, p.Name)
	case p.open:
	case o.to != "" && !slices.Contains(p.candidates, o.to):
		return fmt.Errorf("%s is no candidate of placement %s; its candidates are %s", o.to, p.Name, strings.Join(p.candidates, ", "))
	case len(slices.DeleteFunc(slices.Clone(p.candidates), cannot)) == 0:
		return fmt.Errorf("placement %s has no other candidate: name more cities, or let one return with `%s failover NAME --return CITY`",
			p.Name, o.tool)
	}
	return nil
}

// giveBack removes cities from the ones that the Workload leaves, and requests their return.
func (o *moving) giveBack(s *spreads, w *v1alpha.Workload, now time.Time) error {
	wanted := o.returning
	if len(wanted) == 0 {
		wanted = s.absent()
	}
	var returned []string
	var refused error
	for _, city := range wanted {
		if err := o.mayReturn(s, w, city); err != nil {
			refused = errors.Join(refused, err)
			continue
		}
		returned = append(returned, city)
		delete(s.byHand.Leave, city)
	}
	switch {
	case refused != nil && (len(o.returning) > 0 || len(returned) == 0):
		return refused
	case len(returned) == 0:
		return fmt.Errorf("no city of Workload %s was replaced: nothing is to return", w.Name)
	}
	annotate(w, v1alpha.AnnotationLeaveCities, s.byHand.LeaveText())
	annotate(w, v1alpha.AnnotationReturnRequested, now.UTC().Format(time.RFC3339))
	o.next = "Cities that get their Instances again as soon as they can run them, one after the other and while no rollout is in progress: " +
		strings.Join(returned, ", ") + "."
	return nil
}

// mayReturn returns an error if a city does not get its Instances again. One that is no candidate any more may be left in the annotation.
func (o *moving) mayReturn(s *spreads, w *v1alpha.Workload, city string) error {
	_, leaves := s.byHand.Leave[city]
	switch p := s.placementOf(city); {
	case leaves && (p == nil || !p.failsOver()):
	case p == nil:
		return fmt.Errorf("%s is no candidate of Workload %s", city, w.Name)
	case !p.failsOver() || !leaves && !p.isReplaced(city):
		return fmt.Errorf("%s was not replaced: nothing is to return", city)
	case !p.Spread.Failover.Returns():
		return fmt.Errorf("placement %s has spread.failover.return: Never, so that nothing returns to %s: `%s` moves Instances there",
			p.Name, city, o.wayBack(p, w, city))
	}
	return nil
}

// wayBack is the command by which a city gets Instances again.
func (o *moving) wayBack(p *spread, w *v1alpha.Workload, city string) string {
	if p.Spread.Failover.Returns() {
		return fmt.Sprintf("%s failover %s --return %s", o.tool, w.Name, city)
	}
	return fmt.Sprintf("%s failover %s --from %s --to %s", o.tool, w.Name, cmp.Or(p.find(city).ReplacedBy, o.to, "CITY"), city)
}

// annotate sets an annotation of a Workload; "": removes it.
func annotate(w *v1alpha.Workload, name, value string) {
	if w.Annotations == nil {
		w.Annotations = map[string]string{}
	}
	if w.Annotations[name] = value; value == "" {
		delete(w.Annotations, name)
	}
}
