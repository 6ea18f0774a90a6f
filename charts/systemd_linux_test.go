// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package charts_test

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/karmada-compute/karmada-compute/charts"
	"github.com/karmada-compute/karmada-compute/testenv"
)

// targets are the units of systemd to which the unit refers, without the services of a distribution.
var targets = map[string]string{
	"basic.target":          "[Unit]\nRequires=sysinit.target\nAfter=sysinit.target\n",
	"multi-user.target":     "[Unit]\nRequires=basic.target\nAfter=basic.target\n",
	"network-online.target": "[Unit]\n",
	"shutdown.target":       "[Unit]\nDefaultDependencies=no\n",
	"sockets.target":        "[Unit]\n",
	"sysinit.target":        "[Unit]\nDefaultDependencies=no\nWants=systemd-journald.service\nAfter=systemd-journald.service\n",
}

// runUnderSystemd: a systemd starts the unit, restarts its process when that is killed, and stops it. The unit is as
// installed, but for the registration of webhooks, which would concern all tests.
func runUnderSystemd(t *testing.T, folder string) {
	t.Helper()
	if missing := missingForMachine(t.Context()); missing != "" {
		t.Skip("the unit is not run by systemd: " + missing)
	}
	content, err := charts.FS.ReadFile("karmada-compute/examples/karmada-compute.service")
	if err != nil {
		t.Fatal(err)
	}
	unit := strings.Replace(string(content), "--register-webhooks=true", "--register-webhooks=false", 1)
	if unit == string(content) {
		t.Fatal("the unit registers no webhooks")
	}
	f := newFiles(t)
	defer deleteSecrets(t)
	m := startMachine(t, filepath.Join(folder, "karmada-compute"), f.folder, withUnit(unit))
	server, err := url.Parse(testenv.Config(t).Host)
	if err != nil {
		t.Fatal(err)
	}
	m.forward(server.Host)
	defer func() {
		if t.Failed() {
			t.Logf("the journal:\n%s", m.must("journalctl", "--no-pager"))
		}
	}()

	m.must("systemctl", "enable", unitName)
	m.must("systemctl", "start", unitName)
	m.awaitReady()
	first := m.property("MainPID")
	if user := m.property("UID"); user == "0" {
		t.Error("the process runs as root")
	}

	m.must("sh", "-c", "kill -KILL "+first)
	m.await("systemd has restarted the process", func() (bool, string) {
		pid, restarts := m.property("MainPID"), m.property("NRestarts")
		return pid != first && pid != "0" && restarts == "1", fmt.Sprintf("process %s after %s, %s restarts", pid, first, restarts)
	})
	m.awaitReady()

	begin := time.Now()
	m.must("systemctl", "stop", unitName)
	if state, result, code := m.property("ActiveState"), m.property("Result"),
		m.property("ExecMainStatus"); state != "inactive" || result != "success" || code != "0" {
		t.Errorf("stopped after %s: state %s, result %s, exit code %s", time.Since(begin), state, result, code)
	}
	if enabled := strings.TrimSpace(m.must("systemctl", "is-enabled", unitName)); enabled != "enabled" {
		t.Errorf("the unit is %s at the next boot", enabled)
	}
}

const unitName = "karmada-compute.service"

// withUnit returns the units of a machine that has the unit.
func withUnit(unit string) map[string]string {
	units := map[string]string{unitName: unit}
	maps.Copy(units, targets)
	return units
}

// property returns a property of the unit.
func (m *machine) property(name string) string {
	m.Helper()
	return strings.TrimSpace(m.must("systemctl", "show", "--value", "--property="+name, unitName))
}

// awaitReady waits until the process answers its readiness probe.
func (m *machine) awaitReady() {
	m.Helper()
	m.await("the unit is ready", func() (bool, string) {
		status, err := m.get("http://127.0.0.1:8081/readyz")
		return err == nil && status == http.StatusOK, fmt.Sprintf("status %d, %v; unit %s", status, err, m.property("ActiveState"))
	})
}
