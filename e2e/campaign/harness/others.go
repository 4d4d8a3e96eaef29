package harness

import (
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/google/uuid"
)

// strangers is in how many registrations one is asked for by a stranger.
const strangers = 5

// othersTime is how long others take until they act: about as long as a payment takes.
const othersTime = 3 * time.Second

// Others starts those who also act on the registration, and returns the wait for them.
func (j *Journey) Others(ctx context.Context) (wait func()) {
	var others sync.WaitGroup
	if j.random.IntN(strangers) == 0 {
		pause := time.Duration(j.random.Int64N(int64(othersTime)))
		g := j.harness.randomGateway(j.random)
		others.Go(func() {
			if Sleep(ctx, pause) {
				j.askAsStranger(ctx, g)
			}
		})
	}
	return others.Wait
}

// askAsStranger sends the requests of someone who knows the registration's address, and has a token of
// their own.
func (j *Journey) askAsStranger(ctx context.Context, g *Gateway) {
	stranger := j.harness.newBuyer(g)
	stranger.ID, stranger.Token = j.buyer.ID, "x"+j.buyer.Token[1:]
	if stranger.Token == j.buyer.Token {
		stranger.Token = "y" + j.buyer.Token[1:]
	}
	for _, request := range []struct {
		method, below string
		body          any
	}{{http.MethodGet, "", nil}, {http.MethodPost, "/payment", byCard}, {http.MethodDelete, "", nil}} {
		key := ""
		if request.method == http.MethodPost {
			key = uuid.NewString()
		}
		response, err := stranger.Send(ctx, request.method, g.URL+stranger.Path()+request.below, key, request.body)
		if err != nil {
			continue
		}
		j.mu.Lock()
		j.strangers++
		if response.Status < 300 {
			j.served = append(j.served, request.method+" "+request.below)
		}
		j.mu.Unlock()
	}
}

// Strangers is how many requests of strangers were answered.
func (j *Journey) Strangers() int {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.strangers
}
