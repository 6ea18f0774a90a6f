// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package replicas

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/cucumber/godog"
	"golang.org/x/sync/errgroup"
	admissionv1 "k8s.io/api/admission/v1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/karmada-compute/karmada-compute/test/steps/world"
)

// addReplicaSteps adds the sentences about the replicas of the add-on.
func addReplicaSteps(sc world.Sentences) {
	sc.Step(`^(every replica|replica \d+) is (stopped|killed|started|restarted|restarted without controllers)$`,
		func(ctx context.Context, which, what string) error {
			s := from(ctx)
			var changes errgroup.Group
			for _, replica := range s.replicas(which) {
				name, err := s.AddOn.ReplicaName(replica)
				if err != nil {
					return err
				}
				if what == "killed" {
					s.state().killed = killed{name, time.Now()}
				}
				s.Disturbed.Add(replicaUndo(replica), func(ctx context.Context) error { return s.startAgain(ctx, replica) })
				changes.Go(func() error { return s.change(ctx, replica, what) })
			}
			err := changes.Wait()
			for _, replica := range s.replicas(which) {
				if err == nil && (what == "started" || what == "restarted") {
					s.Disturbed.Forget(replicaUndo(replica))
				}
			}
			return err
		})
	sc.Step(`^the Pods that carry streams are restarted, one after the other$`, func(ctx context.Context) error {
		return from(ctx).AddOn.RestartStreams(ctx)
	})
	sc.Step(`^every replica is started with "([^"]*)"$`, func(ctx context.Context, flag string) error {
		s := from(ctx)
		var starts errgroup.Group
		for _, replica := range s.replicas("every replica") {
			s.Disturbed.Add(replicaUndo(replica), func(ctx context.Context) error { return s.startAgain(ctx, replica) })
			starts.Go(func() error { return s.AddOn.Start(ctx, replica, flag) })
		}
		return starts.Wait()
	})
	sc.Step(`^replica (\d+) has every project$`, func(ctx context.Context, replica int) error {
		return from(ctx).hasEveryShard(ctx, replica)
	})
	sc.Step(`^(?:only )?(every replica|replica \d+) is called$`, func(ctx context.Context, which string) error {
		s := from(ctx)
		s.Disturbed.Add("which replicas are called", s.AddOn.RouteAll)
		return s.AddOn.Route(ctx, s.replicas(which)...)
	})
	sc.Step(`^the shards of the projects are taken from replica (\d+) (\d+) times, every (\d+) seconds$`,
		func(ctx context.Context, replica, times, seconds int) error {
			return from(ctx).takeShards(ctx, replica, times, time.Duration(seconds)*time.Second)
		})
	sc.Step(`^(a client without a certificate|user "[^"]*") reads the metrics of replica (\d+)$`,
		func(ctx context.Context, who string, replica int) error {
			return from(ctx).readMetrics(ctx, replica, who)
		})
	sc.Step(`^(a client without a certificate|user "[^"]*") calls the admission webhook of replica (\d+)( at the registered path| at a path that is not registered)?$`, func(ctx context.Context, who string, replica int, at string) error {
		return from(ctx).callWebhook(ctx, replica, who, at)
	})
	sc.Step(`^the other replicas take over from it$`, func(ctx context.Context) error { return from(ctx).tookOver(ctx) })
	sc.Step(`^the call is answered with (\d+)$`, func(ctx context.Context, status int) error {
		if found := from(ctx).Answer.Status; found != status {
			return fmt.Errorf("it was answered with %d", found)
		}
		return nil
	})
	sc.Step(`^the answer has$`, func(ctx context.Context, wanted *godog.Table) error {
		for _, row := range wanted.Rows {
			if !strings.Contains(from(ctx).Answer.Body, row.Cells[0].Value) {
				return fmt.Errorf("there is no %s", row.Cells[0].Value)
			}
		}
		return nil
	})
}

// replicas returns the replicas that a sentence names.
func (s Steps) replicas(words string) []int {
	var all []int
	for i := range s.AddOn.Replicas() {
		if words == "every replica" || words == fmt.Sprintf("replica %d", i) {
			all = append(all, i)
		}
	}
	return all
}

func replicaUndo(replica int) string { return fmt.Sprintf("replica %d", replica) }

// startAgain restarts a replica with the default arguments.
func (s Steps) startAgain(ctx context.Context, replica int) error {
	return errors.Join(s.AddOn.Stop(ctx, replica), s.AddOn.Start(ctx, replica))
}

func (s Steps) change(ctx context.Context, replica int, what string) error {
	switch what {
	case "stopped":
		return s.AddOn.Stop(ctx, replica)
	case "killed":
		return s.AddOn.Kill(ctx, replica)
	case "restarted without controllers":
		return errors.Join(s.AddOn.Stop(ctx, replica), s.AddOn.Start(ctx, replica, "--controllers=-*"))
	case "restarted":
		return s.AddOn.Restart(ctx, replica)
	}
	begin := time.Now()
	if err := s.AddOn.Start(ctx, replica); err != nil {
		return err
	}
	fmt.Fprintf(s.Out, "replica %d was ready %s after its start\n", replica, time.Since(begin).Round(time.Millisecond))
	return nil
}

// killed is the last killed replica.
type killed struct {
	name string
	at   time.Time
}

// registeredPath returns the path of the Workload webhook in the webhook configurations.
func (s Steps) registeredPath(ctx context.Context) (string, error) {
	var configuration admissionregistrationv1.ValidatingWebhookConfiguration
	if err := s.Client("milo", world.Admin).Get(ctx, client.ObjectKey{Name: "karmada-compute"}, &configuration); err != nil {
		return "", err
	}
	for i := range configuration.Webhooks {
		to := configuration.Webhooks[i].ClientConfig.URL
		if to == nil {
			continue
		}
		called, err := url.Parse(*to)
		if err != nil {
			return "", err
		}
		if strings.HasPrefix(called.Path, validatePath) {
			return called.Path, nil
		}
	}
	return "", fmt.Errorf("no webhook is called at %s", validatePath)
}

// validatePath is the path of the Workload webhook for callers with credentials.
const validatePath = "/validate-workload"

// callWebhook sends a review directly to a replica, as a user.
func (s Steps) callWebhook(ctx context.Context, replica int, who, at string) error {
	path := validatePath
	switch at {
	case " at the registered path":
		var err error
		if path, err = s.registeredPath(ctx); err != nil {
			return err
		}
	case " at a path that is not registered":
		path += "/" + strings.Repeat("0", 64)
	}
	address, err := s.AddOn.WebhookAddress(replica)
	if err != nil {
		return err
	}
	body, err := json.Marshal(admissionv1.AdmissionReview{
		TypeMeta: metav1.TypeMeta{APIVersion: "admission.k8s.io/v1", Kind: "AdmissionReview"},
		Request:  &admissionv1.AdmissionRequest{UID: "call"},
	})
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, "https://"+address+path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/json")
	return s.call(request, who)
}

func (s Steps) readMetrics(ctx context.Context, replica int, who string) error {
	address, err := s.AddOn.MetricsAddress(replica)
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://"+address+"/metrics", http.NoBody)
	if err != nil {
		return err
	}
	return s.call(request, who)
}

// call sends a request to a replica as a user, or without credentials.
func (s Steps) call(request *http.Request, who string) error {
	config := &rest.Config{Host: request.URL.Host, TLSClientConfig: rest.TLSClientConfig{Insecure: true}}
	if strings.HasPrefix(who, "user ") {
		as, err := s.Federation.Config("milo", world.User(who))
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
	s.Answer = world.Answer{Status: response.StatusCode, Body: string(content)}
	return errors.Join(err, response.Body.Close())
}
