package jobs

import (
	"context"
	"slices"

	"frontdesk/flows"
)

// QueueState is how a queue of the background work stands.
type QueueState struct {
	Name      string `json:"name"`
	Paused    bool   `json:"paused"`
	Pending   int    `json:"pending"`
	Active    int    `json:"active"`
	Scheduled int    `json:"scheduled"`
	Retry     int    `json:"retry"`
	Archived  int    `json:"archived"`
	Completed int    `json:"completed"` // and kept for a while
	Processed int    `json:"processed"` // today
	Failed    int    `json:"failed"`    // today
	LatencyMs int64  `json:"latencyMs"` // of the oldest that is pending
}

// defaultQueue is where asynq puts what is not of a subscriber.
const defaultQueue = "default"

// Queues shows how the queues of the background work stand.
func (q *Queue) Queues(context.Context) ([]QueueState, error) {
	inspector := q.NewInspector()
	names, err := inspector.Queues()
	if err != nil {
		return nil, flows.StorageFailed(err)
	}
	slices.Sort(names)
	states := []QueueState{}
	if !slices.Contains(names, defaultQueue) {
		states = append(states, QueueState{Name: defaultQueue}) // which is there with its first job
	}
	for _, name := range names {
		info, err := inspector.GetQueueInfo(name)
		if err != nil {
			return nil, flows.StorageFailed(err)
		}
		states = append(states, QueueState{Name: name, Paused: info.Paused, Pending: info.Pending, Active: info.Active, Scheduled: info.Scheduled,
			Retry: info.Retry, Archived: info.Archived, Completed: info.Completed, Processed: info.Processed, Failed: info.Failed,
			LatencyMs: info.Latency.Milliseconds()})
	}
	return states, nil
}
