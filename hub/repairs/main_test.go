// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package repairs

import (
	"os"
	"testing"

	"github.com/karmada-compute/karmada-compute/testenv"
)

func TestMain(m *testing.M) { os.Exit(testenv.Main(m, testenv.Options{})) }
