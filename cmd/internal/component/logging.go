// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package component

import (
	"fmt"

	"github.com/spf13/pflag"
	"k8s.io/component-base/logs"
	logsapi "k8s.io/component-base/logs/api/v1"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
)

// addLogFlags adds the log flags that a component can use, without the flags of alpha features, which no flag enables.
func addLogFlags(configuration *logsapi.LoggingConfiguration, flags *pflag.FlagSet) {
	all := pflag.NewFlagSet("", pflag.ContinueOnError)
	logsapi.AddFlags(configuration, all)
	for _, name := range []string{"logging-format", "log-flush-frequency", "v", "vmodule"} {
		flags.AddFlag(all.Lookup(name))
	}
}

func checkLogging(configuration *logsapi.LoggingConfiguration) error {
	if mistakes := logsapi.Validate(configuration, nil, nil); len(mistakes) > 0 {
		return fmt.Errorf("--logging-format, -v, --vmodule, --log-flush-frequency: %w", mistakes.ToAggregate())
	}
	return nil
}

// startLogging configures the one log that the process, controller-runtime, client-go and package log write to. It may
// be called once.
func startLogging(configuration *logsapi.LoggingConfiguration) error {
	logs.InitLogs()
	if err := logsapi.ValidateAndApply(configuration, nil); err != nil {
		return fmt.Errorf("configure the log: %w", err)
	}
	ctrl.SetLogger(klog.Background())
	return nil
}
