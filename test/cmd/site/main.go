// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

// Command site builds the documentation as a site of static files, into the folder that its argument names.
package main

import (
	"fmt"
	"os"

	"github.com/karmada-compute/karmada-compute/test/site"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: site REPOSITORY FOLDER")
		os.Exit(2)
	}
	if err := site.Build(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "site:", err)
		os.Exit(1)
	}
}
