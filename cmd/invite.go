package cmd

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"time"
)

// inviteCommand has a running gateway make an invitation link for a contact.
type inviteCommand struct {
	OpsAddr  string        `help:"Where the gateway serves operators." default:"127.0.0.1:9090" env:"FRONTDESK_OPS_ADDR"`
	Contact  string        `help:"The contact's id at the club system, such as 1001." required:""`
	Club     string        `help:"The id of the contact's own club, such as 11." required:""`
	TTL      time.Duration `help:"How long the link is good." name:"ttl" default:"72h"`
	World    string        `help:"The simulator's world that the contact is of, such as demo-x; mock mode only."`
	Operator string        `help:"Who you are: your login name." env:"USER" default:"${operator}"`
	JSON     bool          `help:"Print JSON." name:"json"`
}

// Run prints the link, and nothing else.
func (c *inviteCommand) Run(ctx context.Context) error {
	var headers [][2]string
	if c.World != "" {
		headers = append(headers, [2]string{"X-Frontdesk-World", c.World})
	}
	answer, err := requestOps(ctx, c.OpsAddr, http.MethodPost, "/ops/invitations",
		map[string]string{"contactId": c.Contact, "clubId": c.Club, "ttl": c.TTL.String(), "by": c.Operator}, headers...)
	if err != nil {
		return err
	}
	var made struct{ URL string }
	switch err := json.Unmarshal(answer, &made); {
	case err != nil || made.URL == "":
		return fmt.Errorf("what answers at %s is no Frontdesk, or another version of it", c.OpsAddr)
	case c.JSON:
		_, err = fmt.Fprintf(os.Stdout, "%s\n", answer)
		return err
	}
	fmt.Println(made.URL)
	return nil
}
