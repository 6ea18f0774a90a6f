// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package browser

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"k8s.io/utils/clock"

	"github.com/karmada-compute/karmada-compute/cli"
)

// patience bounds each wait: the machine may be busy.
const patience = 2 * time.Minute

// chromium returns the browser, or skips the test.
func chromium(t *testing.T) string {
	t.Helper()
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "headless-shell"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Skip("no Chromium: on Debian, apt-get install -y --no-install-recommends chromium")
	return ""
}

// browser is a tab of Chromium with the page.
type browser struct {
	*testing.T
	ctx context.Context

	mu sync.Mutex
	// errors are the errors of the page and the refusals of the browser, and expected are parts of the ones that a test causes.
	errors, expected []string
}

// open starts the command with a configuration, and opens its page. Errors of the page fail the test.
func open(t *testing.T, config *rest.Config, namespace string) *browser {
	t.Helper()
	chromium(t)
	return visit(t, serve(t, config, namespace))
}

// visit opens an address in a browser of its own.
func visit(t *testing.T, address string) *browser {
	t.Helper()
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(chromium(t)), chromedp.WindowSize(1200, 800),
		chromedp.Flag("lang", "en-US"), chromedp.WSURLReadTimeout(patience),
		chromedp.Flag("hide-scrollbars", true), chromedp.Flag("font-render-hinting", "none"), chromedp.Flag("disable-lcd-text", true))
	if os.Getuid() == 0 {
		options = append(options, chromedp.NoSandbox)
	}
	allocated, cancel := chromedp.NewExecAllocator(t.Context(), options...)
	t.Cleanup(cancel)
	b := &browser{T: t}
	b.ctx, cancel = chromedp.NewContext(allocated, chromedp.WithListener(b.hear))
	t.Cleanup(cancel)
	t.Cleanup(b.judge)
	// The context of the first command is the one of the browser.
	if _, err := chromedp.Call(b.ctx, log.Enable, cdp.Empty{}); err != nil {
		t.Fatal(err)
	}
	b.run(chromedp.Navigate(address))
	return b
}

// serve starts the command, and returns the address that it prints.
func serve(t *testing.T, config *rest.Config, namespace string) string {
	t.Helper()
	path := kubeconfig(t, config, namespace)
	flags := genericclioptions.NewConfigFlags(true)
	flags.KubeConfig = &path
	out, printed := io.Pipe()
	command := cli.New(cli.Options{
		Use: "compute", Flags: flags, Clock: clock.RealClock{},
		Streams: genericiooptions.IOStreams{In: strings.NewReader(""), Out: printed, ErrOut: io.Discard},
	})
	command.SetArgs([]string{"ui"})
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = command.ExecuteContext(t.Context())
		_ = printed.Close()
	}()
	t.Cleanup(func() { <-ended })
	var address string
	if _, err := fmt.Fscanln(out, &address); err != nil {
		t.Fatal(err)
	}
	return address
}

func kubeconfig(t *testing.T, config *rest.Config, namespace string) string {
	t.Helper()
	path := t.TempDir() + "/kubeconfig"
	if err := clientcmd.WriteToFile(clientcmdapi.Config{
		Clusters: map[string]*clientcmdapi.Cluster{"c": {Server: config.Host, CertificateAuthorityData: config.CAData}},
		AuthInfos: map[string]*clientcmdapi.AuthInfo{"u": {
			ClientCertificateData: config.CertData, ClientKeyData: config.KeyData,
		}},
		Contexts:       map[string]*clientcmdapi.Context{"x": {Cluster: "c", AuthInfo: "u", Namespace: namespace}},
		CurrentContext: "x",
	}, path); err != nil {
		t.Fatal(err)
	}
	return path
}

// hear records errors of the page: exceptions, and what its policy refuses.
func (b *browser) hear(event any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch event := event.(type) {
	case *runtime.EventExceptionThrown:
		text := event.ExceptionDetails.Text
		if thrown := event.ExceptionDetails.Exception; thrown != nil {
			text += " " + thrown.Description
		}
		b.errors = append(b.errors, text)
	case *log.EventEntryAdded:
		if event.Entry.Level == log.EntryLevelError {
			b.errors = append(b.errors, event.Entry.Text+" "+event.Entry.URL)
		}
	}
}

// expect lets the test cause errors with a text.
func (b *browser) expect(part string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.expected = append(b.expected, part)
}

func (b *browser) judge() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, text := range b.errors {
		if !slices.ContainsFunc(b.expected, func(part string) bool { return strings.Contains(text, part) }) {
			b.Errorf("the page has an error: %s", text)
		}
	}
}

func (b *browser) run(actions ...chromedp.Action[chromedp.Void]) {
	b.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	if err := chromedp.Do(ctx, actions...); err != nil {
		b.Fatalf("%v\nthe page has:\n%s", err, b.text())
	}
}

// text returns the visible text of the page.
func (b *browser) text() string {
	text, err := chromedp.Run(b.ctx, chromedp.Evaluate[string]("document.body.innerText"))
	if err != nil {
		return err.Error()
	}
	return text
}

// value returns the value of an expression in the page.
func value[T any](b *browser, expression string) T {
	b.Helper()
	result, err := chromedp.Run(b.ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		b.Fatalf("%s: %v", expression, err)
	}
	return result
}

// until waits until an expression in the page is true.
func (b *browser) until(expression string) {
	b.Helper()
	if err := wait.PollUntilContextTimeout(b.ctx, 50*time.Millisecond, patience, true, func(context.Context) (bool, error) {
		return value[bool](b, "Boolean("+expression+")"), nil
	}); err != nil {
		b.Fatalf("%s: %v\nthe page has:\n%s", expression, err, b.text())
	}
}

// shows waits until the element that a selector names has these texts.
func (b *browser) shows(selector string, texts ...string) {
	b.Helper()
	for _, text := range texts {
		b.until(fmt.Sprintf("document.querySelector(%q)?.innerText.replace(/\\s+/g, ' ').includes(%q)", selector, text))
	}
}

// sized emulates a screen in dark or light colours.
func (b *browser) sized(width, height int64, scheme string) {
	b.Helper()
	b.run(chromedp.EmulateViewport(width, height))
	if _, err := chromedp.Call(b.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{
		{Name: "prefers-color-scheme", Value: scheme}, {Name: "prefers-reduced-motion", Value: "reduce"},
	}}); err != nil {
		b.Fatal(err)
	}
}

// picture takes a picture for the documentation, if the environment asks for it.
func (b *browser) picture(name string) {
	b.Helper()
	if os.Getenv("UPDATE") == "" {
		return
	}
	small, err := fewColours(b.screenshot())
	if err != nil {
		b.Fatal(err)
	}
	if len(small) > 100<<10 {
		b.Errorf("picture %s has %d bytes", name, len(small))
	}
	if err := os.WriteFile("../../docs/images/"+name, small, 0o644); err != nil {
		b.Fatal(err)
	}
}
