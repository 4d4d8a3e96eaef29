package payment

import (
	"context"
	"errors"

	"frontdesk/flows"
)

// rule is the rule of this environment; nil when there is none or it cannot be read.
func (m *Machine) rule(ctx context.Context) *flows.Rule {
	rule, err := m.cfg.Store.Rule(ctx, m.cfg.Environment)
	switch {
	case err == nil:
		return rule
	case !errors.Is(err, flows.ErrNotFound):
		m.cfg.Log.WarnContext(ctx, "calibrated rule not readable", "error", err)
		return nil
	default:
		return m.cfg.Rule
	}
}
