// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package sessions

import (
	"context"
	"errors"
	"io"
	"net"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/time/rate"
	"k8s.io/utils/clock"
)

// meter counts, paces and follows the bytes of one stream.
type meter struct {
	clock clock.PassiveClock
	// received and sent are bytes of the client.
	received, sent atomic.Int64
	// active is when the last data passed, in nanoseconds.
	active atomic.Int64
	// broken says that the cell's side failed while the client was there, and left that the client has ended its side.
	broken, left atomic.Bool
	// pace limits both directions together; nil: they are not limited.
	pace *rate.Limiter
	// fromCell and fromClient follow the frames of a WebSocket connection; nil: all bytes are data.
	fromCell, fromClient *frames
}

// leastBurst is the maximum number of bytes that are read or written at once.
const leastBurst = 64 << 10

// newMeter returns the meter of a stream. webSocket: it is a WebSocket connection.
func newMeter(clock clock.PassiveClock, bytesPerSecond int, webSocket bool) *meter {
	m := &meter{clock: clock}
	m.active.Store(clock.Now().UnixNano())
	if bytesPerSecond > 0 {
		m.pace = rate.NewLimiter(rate.Limit(bytesPerSecond), max(bytesPerSecond, leastBurst))
	}
	if webSocket {
		m.fromCell, m.fromClient = &frames{}, &frames{}
	}
	return m
}

// passed counts bytes of one direction, and waits until that many may pass.
func (m *meter) passed(ctx context.Context, count *atomic.Int64, follow *frames, p []byte) error {
	if len(p) == 0 {
		return nil
	}
	count.Add(int64(len(p)))
	if follow == nil || follow.follow(p) > 0 {
		m.active.Store(m.clock.Now().UnixNano())
	}
	if m.pace == nil {
		return nil
	}
	for len(p) > 0 {
		n := min(len(p), m.pace.Burst())
		if err := m.pace.WaitN(ctx, n); err != nil {
			return err
		}
		p = p[n:]
	}
	return nil
}

// idle returns how long no data has passed.
func (m *meter) idle() time.Duration { return m.clock.Since(time.Unix(0, m.active.Load())) }

// metered is the cell's side of a stream: the data that is read is sent to the client.
type metered struct {
	io.ReadCloser
	ctx   context.Context //nolint:containedctx // it ends with the stream
	meter *meter
}

// Read reads data for the client.
func (b *metered) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	paced := b.meter.passed(b.ctx, &b.meter.sent, b.meter.fromCell, p[:n])
	if err == nil {
		return n, paced
	}
	if b.ctx.Err() == nil && b.meter.isLoss(err) {
		b.meter.broken.Store(true)
	}
	return n, err
}

// isLoss reports whether an error of the cell's side is its failure. A command does not end without an outcome, unless
// its client leaves.
func (m *meter) isLoss(err error) bool {
	if errors.Is(err, io.EOF) {
		return m.fromCell != nil && len(m.fromCell.outcome) == 0 && !m.left.Load()
	}
	// The replica itself closes the connection when the client is lost.
	return !errors.Is(err, net.ErrClosed)
}

// meteredBoth is metered for an upgraded connection.
type meteredBoth struct {
	metered
	writer io.Writer
}

// Write writes data from the client.
func (b *meteredBoth) Write(p []byte) (int, error) {
	if err := b.meter.passed(b.ctx, &b.meter.received, b.meter.fromClient, p); err != nil {
		return 0, err
	}
	return b.writer.Write(p)
}

// CloseWrite ends the data from the client, if the connection can.
func (b *meteredBoth) CloseWrite() error {
	b.meter.left.Store(true)
	if half, ok := b.writer.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}

// metering returns body with its bytes counted, paced and followed.
func metering(ctx context.Context, body io.ReadCloser, m *meter) io.ReadCloser {
	if both, ok := body.(io.ReadWriteCloser); ok {
		return &meteredBoth{metered{body, ctx, m}, both}
	}
	return &metered{body, ctx, m}
}

type serverMetrics struct {
	open    prometheus.Gauge
	ended   *prometheus.CounterVec
	bytes   *prometheus.CounterVec
	refused prometheus.Counter
}

// Directions of bytes.
const toClient, fromClient = "to_client", "from_client"

// newMetrics creates the metrics and registers them.
func newMetrics(registerer prometheus.Registerer) *serverMetrics {
	m := &serverMetrics{
		open: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "karmada_compute_session_streams",
			Help: "Streams of InstanceSessions that this replica carries.",
		}),
		ended: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "karmada_compute_session_streams_ended_total",
			Help: "Streams of InstanceSessions that ended, by the type of the session and the reason of its condition Ready.",
		}, []string{"type", "reason"}),
		bytes: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "karmada_compute_session_bytes_total",
			Help: "Bytes of streams of InstanceSessions that ended, by direction: to the client or from it.",
		}, []string{"direction"}),
		refused: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "karmada_compute_session_requests_refused_total",
			Help: "Requests for sessions that were refused: the session does not exist, has expired or was used, or the client has another key.",
		}),
	}
	if registerer != nil {
		registerer.MustRegister(m.open, m.ended, m.bytes, m.refused)
	}
	return m
}
