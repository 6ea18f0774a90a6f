// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package collector

import (
	"runtime"
	"strings"
	"testing"
	"time"

	workv1alpha1 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha1"
	apiruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/karmada-compute/karmada-compute/internal/wire"
)

// FuzzCellStatus reads the inventory that a cell reports: the length of the report bounds the memory, and at most as
// many entries are kept as an agent reports.
func FuzzCellStatus(f *testing.F) {
	digests := `"digests":["1-x"` + strings.Repeat(`,""`, wire.Buckets-1) + `]`
	for _, status := range []string{
		`{}`, `{` + digests + `}`, `{` + digests + `,"entries":[` + strings.Repeat(`{"namespace":"a","name":"b"},`, 3000) + `{}]}`,
		`{` + digests + `,"entries":[{"namespace":"` + strings.Repeat("n", 9000) + `","name":"b"}]}`,
		`{` + digests + `,"listed":[-1,64,2147483647]}`,
	} {
		f.Add([]byte(status))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		work := &workv1alpha1.Work{}
		work.Status.ManifestStatuses = []workv1alpha1.ManifestStatus{{Status: &apiruntime.RawExtension{Raw: raw}}}
		c, state := &cell{work: work}, newCellState()
		expected := map[types.NamespacedName]types.UID{{Namespace: "a", Name: "c"}: "uid"}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if report := c.report(); report != nil {
			state.compare(report, expected, time.Now())
			state.suspects(report, expected, time.Now())
		}
		runtime.ReadMemStats(&after)
		const perByte, constant = 256, 1 << 20
		if got, most := after.TotalAlloc-before.TotalAlloc, uint64(perByte*len(raw)+constant); got > most {
			t.Fatalf("%d bytes allocate %d bytes, more than %d", len(raw), got, most)
		}
		if len(state.unexpected) > wire.MaxEntries {
			t.Fatalf("%d deployments are unexpected", len(state.unexpected))
		}
		for entry := range state.unexpected {
			if !wire.Valid(&entry) {
				t.Fatalf("entry %+v counts", entry)
			}
		}
	})
}
