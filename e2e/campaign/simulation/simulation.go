// Package simulation drives journeys in virtual time, thousands a minute.
package simulation

import (
	"context"
	"errors"

	"frontdesk/e2e/campaign"
)

// Campaign is the simulation.
func Campaign() campaign.Campaign {
	return campaign.Campaign{Name: "simulation", InProcess: true, Run: func(context.Context, campaign.Options) (*campaign.Report, error) {
		return nil, errors.New("not built yet")
	}}
}
