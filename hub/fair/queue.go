// Copyright The karmada-compute Authors.
// SPDX-License-Identifier: Apache-2.0

package fair

import (
	"sync"

	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
	"sigs.k8s.io/multicluster-runtime/pkg/multicluster"
	mcreconcile "sigs.k8s.io/multicluster-runtime/pkg/reconcile"
)

// projectQueue is a queue that gives workers at most limit objects of one project at once, so that a project whose
// control plane hangs does not occupy every worker. Others of the project wait without a worker, and each end of a
// reconcile of the project queues one of them. It is safe for concurrent use.
type projectQueue struct {
	priorityqueue.PriorityQueue[mcreconcile.Request]
	limit int

	mu      sync.Mutex
	running map[multicluster.ClusterName]int
	waiting map[multicluster.ClusterName][]waitingRequest
}

// waitingRequest is a request of a project that already uses all its workers.
type waitingRequest struct {
	request  mcreconcile.Request
	priority int
}

// NewQueue returns a constructor of queues for controllers.
func NewQueue(
	limit int,
) func(string, workqueue.TypedRateLimiter[mcreconcile.Request]) workqueue.TypedRateLimitingInterface[mcreconcile.Request] {
	return func(controller string,
		limiter workqueue.TypedRateLimiter[mcreconcile.Request],
	) workqueue.TypedRateLimitingInterface[mcreconcile.Request] {
		return &projectQueue{
			PriorityQueue: priorityqueue.New(controller, func(o *priorityqueue.Opts[mcreconcile.Request]) { o.RateLimiter = limiter }),
			limit:         limit,
			running:       map[multicluster.ClusterName]int{},
			waiting:       map[multicluster.ClusterName][]waitingRequest{},
		}
	}
}

// Get is GetWithPriority without the priority.
func (q *projectQueue) Get() (request mcreconcile.Request, shutdown bool) {
	request, _, shutdown = q.GetWithPriority()
	return request, shutdown
}

// GetWithPriority returns the next request of a project with a free worker.
func (q *projectQueue) GetWithPriority() (request mcreconcile.Request, priority int, shutdown bool) {
	for {
		request, priority, shutdown = q.PriorityQueue.GetWithPriority()
		if shutdown || q.start(request, priority) {
			return request, priority, shutdown
		}
		// It is queued again when the project has a free worker: events that arrive until then need no reconcile of their
		// own.
		q.PriorityQueue.Done(request)
	}
}

// Done ends the work on a request, and queues another one of its project.
func (q *projectQueue) Done(request mcreconcile.Request) {
	q.PriorityQueue.Done(request)
	if next, found := q.end(request.ClusterName); found {
		q.AddWithOpts(priorityqueue.AddOpts{Priority: &next.priority}, next.request)
	}
}

// start counts a request as running, or lets it wait.
func (q *projectQueue) start(request mcreconcile.Request, priority int) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	project := request.ClusterName
	if q.running[project] < q.limit {
		q.running[project]++
		return true
	}
	for i := range q.waiting[project] {
		if known := &q.waiting[project][i]; known.request == request {
			known.priority = max(known.priority, priority)
			return false
		}
	}
	q.waiting[project] = append(q.waiting[project], waitingRequest{request, priority})
	return false
}

// end counts a request of a project as ended, and returns the request that has waited longest. A waiting request
// implies that all workers of its project run: so one of them ends later.
func (q *projectQueue) end(project multicluster.ClusterName) (next waitingRequest, found bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.running[project]--; q.running[project] == 0 {
		delete(q.running, project)
	}
	waiting := q.waiting[project]
	if len(waiting) == 0 {
		return waitingRequest{}, false
	}
	if q.waiting[project] = waiting[1:]; len(waiting) == 1 {
		delete(q.waiting, project)
	}
	return waiting[0], true
}
