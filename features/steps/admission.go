// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package steps

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/cucumber/godog"
	admissionv1 "k8s.io/api/admission/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

func addAdmissionSteps(sc *godog.ScenarioContext) {
	sc.Step(`^somebody without a certificate calls the admission webhook of replica (\d+)$`, func(ctx context.Context, replica int) error {
		return from(ctx).callWebhook(ctx, replica, "")
	})
	sc.Step(`^user "([^"]*)" calls the admission webhook of replica (\d+)$`, func(ctx context.Context, user string, replica int) error {
		return from(ctx).callWebhook(ctx, replica, user)
	})
	sc.Step(`^somebody without a certificate reads the metrics of replica (\d+)$`, func(ctx context.Context, replica int) error {
		return from(ctx).readMetrics(ctx, replica, "")
	})
	sc.Step(`^user "([^"]*)" reads the metrics of replica (\d+)$`, func(ctx context.Context, user string, replica int) error {
		return from(ctx).readMetrics(ctx, replica, user)
	})
	sc.Step(`^the metrics have$`, func(ctx context.Context, wanted *godog.Table) error {
		s := from(ctx)
		for _, row := range wanted.Rows {
			if !strings.Contains(s.read, row.Cells[0].Value) {
				return fmt.Errorf("there is no %s", row.Cells[0].Value)
			}
		}
		return nil
	})
	sc.Step(`^the call is answered with (\d+)$`, func(ctx context.Context, status int) error {
		if s := from(ctx); s.answered != status {
			return fmt.Errorf("it was answered with %d", s.answered)
		}
		return nil
	})
	sc.Step(`^replica (\d+) runs webhooks alone$`, func(ctx context.Context, replica int) error {
		s := from(ctx)
		s.altered = append(s.altered, replica)
		return errors.Join(s.addOn.Stop(replica), s.addOn.Start(ctx, replica, "--controllers=-*"))
	})
	sc.Step(`^replica (\d+) has every project$`, func(ctx context.Context, replica int) error {
		return from(ctx).hasEveryShard(ctx, replica)
	})
	sc.Step(`^only replica (\d+) is called$`, func(ctx context.Context, replica int) error {
		s := from(ctx)
		s.routed = true
		return s.addOn.Route(ctx, replica)
	})
	sc.Step(`^every replica has been asked about project "([^"]*)"$`, func(ctx context.Context, project string) error {
		s := from(ctx)
		s.routed = true
		for i := range s.addOn.Replicas() {
			if err := s.addOn.Route(ctx, i); err != nil {
				return err
			}
			if err := eventually(ctx, func(ctx context.Context) error { return s.tryIn(ctx, project) }); err != nil {
				return err
			}
		}
		return s.addOn.RouteAll(ctx)
	})
	sc.Step(`^the consumer creates (\d+) Workloads$`, func(ctx context.Context, count int) error {
		return from(ctx).createAll(ctx, count)
	})
	sc.Step(`^the consumer creates (\d+) Workloads a second$`, func(ctx context.Context, perSecond int) error {
		return from(ctx).createSteadily(ctx, perSecond)
	})
	sc.Step(`^none of them was refused$`, func(ctx context.Context) error { return from(ctx).load.result() })
	sc.Step(`^none of them was refused or took more than (\d+) seconds$`, func(ctx context.Context, seconds int) error {
		l := from(ctx).load
		if err := l.result(); err != nil {
			return err
		}
		if l.slowest > time.Duration(seconds)*time.Second {
			return fmt.Errorf("one took %s", l.slowest)
		}
		return nil
	})
	sc.Step(`^the Leases of the projects are taken from replica (\d+) (\d+) times, every (\d+) seconds$`, func(ctx context.Context, replica, times, seconds int) error {
		return from(ctx).takeLeases(ctx, replica, times, time.Duration(seconds)*time.Second)
	})
	sc.Step(`^the CA of the webhooks is rotated$`, func(ctx context.Context) error { return from(ctx).rotateCA(ctx) })
	sc.Step(`^a Workload in project "([^"]*)" is tried$`, func(ctx context.Context, project string) error {
		s := from(ctx)
		s.refused = s.tryClaiming(ctx, project)
		return nil
	})
	sc.Step(`^within (\d+) seconds a Workload in project "([^"]*)" is refused with "([^"]*)"$`, func(ctx context.Context, seconds int, project, text string) error {
		return from(ctx).refusedWithin(ctx, time.Duration(seconds)*time.Second, project, text)
	})
	sc.Step(`^that is an error and no denial$`, func(ctx context.Context) error {
		if s := from(ctx); strings.Contains(s.refused.Error(), "denied the request") && !strings.Contains(s.refused.Error(), "try again") {
			return s.refused
		}
		return nil
	})
}

// callWebhook sends a review straight to a replica, as a user.
func (s *scenario) callWebhook(ctx context.Context, replica int, user string) error {
	address, err := s.addOn.WebhookAddress(replica)
	if err != nil {
		return err
	}
	body, err := json.Marshal(admissionv1.AdmissionReview{
		TypeMeta: metav1.TypeMeta{APIVersion: "admission.k8s.io/v1", Kind: "AdmissionReview"}, Request: &admissionv1.AdmissionRequest{UID: "call"},
	})
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, "https://"+address+"/validate-workload", bytes.NewReader(body))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/json")
	return s.call(request, user)
}

func (s *scenario) readMetrics(ctx context.Context, replica int, user string) error {
	address, err := s.addOn.MetricsAddress(replica)
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://"+address+"/metrics", http.NoBody)
	if err != nil {
		return err
	}
	return s.call(request, user)
}

// call sends a request to a replica as a user, or as nobody.
func (s *scenario) call(request *http.Request, user string) error {
	config := &rest.Config{Host: request.URL.Host, TLSClientConfig: rest.TLSClientConfig{Insecure: true}}
	if user != "" {
		as, err := s.federation.Config("milo", user)
		if err != nil {
			return err
		}
		config.CertData, config.KeyData = as.CertData, as.KeyData
	}
	caller, err := rest.HTTPClientFor(config)
	if err != nil {
		return err
	}
	defer caller.CloseIdleConnections()
	response, err := caller.Do(request)
	if err != nil {
		return err
	}
	content, err := io.ReadAll(response.Body)
	s.answered, s.read = response.StatusCode, string(content)
	return errors.Join(err, response.Body.Close())
}

// shards are the Leases by which replicas share the projects.
func (s *scenario) shards(ctx context.Context) ([]coordinationv1.Lease, error) {
	hub, err := s.client("hub", admin)
	if err != nil {
		return nil, err
	}
	var leases coordinationv1.LeaseList
	if err := hub.List(ctx, &leases, client.InNamespace("karmada-system")); err != nil {
		return nil, err
	}
	return slices.DeleteFunc(leases.Items, func(lease coordinationv1.Lease) bool {
		return !strings.HasPrefix(lease.Name, "karmada-compute-shard-")
	}), nil
}

// hasEveryShard waits until a replica has every project.
func (s *scenario) hasEveryShard(ctx context.Context, replica int) error {
	return eventually(ctx, func(ctx context.Context) error {
		shards, err := s.shards(ctx)
		if err != nil {
			return err
		}
		for i := range shards {
			holder := shards[i].Spec.HolderIdentity
			if holder == nil || *holder != fmt.Sprintf("karmada-compute-%d", replica) {
				return fmt.Errorf("Lease %s is not held by replica %d", shards[i].Name, replica)
			}
		}
		if len(shards) == 0 {
			return errors.New("there are no Leases")
		}
		return nil
	})
}

func (s *scenario) createAll(ctx context.Context, count int) error {
	l, err := s.newLoad()
	if err != nil {
		return err
	}
	s.load = l
	l.all(ctx, count)
	return nil
}

func (s *scenario) createSteadily(ctx context.Context, perSecond int) error {
	l, err := s.newLoad()
	if err != nil {
		return err
	}
	s.load = l
	l.start(ctx, perSecond)
	return nil
}

// takeLeases gives the Leases of the projects to somebody who does not renew them, again and again.
func (s *scenario) takeLeases(ctx context.Context, replica, times int, every time.Duration) error {
	hub, err := s.client("hub", admin)
	if err != nil {
		return err
	}
	for range times {
		shards, err := s.shards(ctx)
		if err != nil {
			return err
		}
		for i := range shards {
			if err := updateWhenFree(ctx, hub, &shards[i], func(lease *coordinationv1.Lease) {
				lease.Spec.HolderIdentity = new("somebody-else")
				lease.Spec.LeaseDurationSeconds = new(int32(every.Seconds()))
				lease.Spec.RenewTime = new(metav1.NowMicro())
			}); err != nil {
				return err
			}
		}
		if err := pause(ctx, every); err != nil {
			return err
		}
	}
	return s.hasEveryShard(ctx, replica)
}

// pause lets time pass in which something is watched by others.
func pause(ctx context.Context, period time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(period):
		return nil
	}
}

// rotateCA deletes the Secret, which the add-on answers with a rotation, and waits for its end.
func (s *scenario) rotateCA(ctx context.Context) error {
	hub, err := s.client("hub", admin)
	if err != nil {
		return err
	}
	name := types.NamespacedName{Namespace: "karmada-system", Name: "karmada-compute-webhook-ca"}
	secret := &corev1.Secret{}
	if err := hub.Get(ctx, name, secret); err != nil {
		return err
	}
	before := secret.Data["current.crt"]
	if len(before) == 0 {
		return errors.New("the Secret holds no CA")
	}
	if err := hub.Delete(ctx, secret); err != nil {
		return err
	}
	return eventually(ctx, func(ctx context.Context) error {
		secret := &corev1.Secret{}
		if err := hub.Get(ctx, name, secret); err != nil {
			return err
		}
		if bytes.Equal(secret.Data["current.crt"], before) || !bytes.Equal(secret.Data["previous.crt"], before) {
			return errors.New("the CA is still the same")
		}
		return nil
	})
}

// tryClaiming tries to create a Workload as somebody in project north who says to be in another: the request does not
// pass through Milo, whose root may be down, but goes to the project's own API server.
func (s *scenario) tryClaiming(ctx context.Context, project string) error {
	config, err := s.federation.Config("project-plane/"+s.project, admin)
	if err != nil {
		return err
	}
	forger := rest.CopyConfig(config)
	forger.Impersonate = rest.ImpersonationConfig{UserName: "forger", Groups: []string{"system:masters"}, Extra: map[string][]string{
		"iam.miloapis.com/parent-api-group": {"resourcemanager.miloapis.com"},
		"iam.miloapis.com/parent-type":      {"Project"},
		"iam.miloapis.com/parent-name":      {project},
	}}
	c, err := client.New(forger, client.Options{Scheme: s.scheme})
	if err != nil {
		return err
	}
	return c.Create(ctx, s.sampleWorkload(), client.DryRunAll)
}

func (s *scenario) refusedWithin(ctx context.Context, within time.Duration, project, text string) error {
	begin := time.Now()
	var last error
	if err := eventually(ctx, func(ctx context.Context) error {
		last = s.tryClaiming(ctx, project)
		if last == nil || !strings.Contains(last.Error(), text) {
			return fmt.Errorf("it is refused with: %w", last)
		}
		return nil
	}); err != nil {
		return err
	}
	if took := time.Since(begin); took > within {
		return fmt.Errorf("it took %s", took)
	}
	return nil
}

// updateWhenFree updates an object that others write too.
func updateWhenFree[T client.Object](ctx context.Context, c client.Client, object T, change func(T)) error {
	return retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		if err := c.Get(ctx, client.ObjectKeyFromObject(object), object); err != nil {
			return err
		}
		change(object)
		return c.Update(ctx, object)
	})
}
