package registration

import (
	"context"
	"fmt"
	"time"

	"frontdesk/flows"
	"frontdesk/upstream/club"
)

const (
	// InvitationLife covers a weekend without reading mail.
	InvitationLife = 72 * time.Hour
	// maxInvitationLife: a link that is kept longer is likely to leak.
	maxInvitationLife = 30 * 24 * time.Hour
)

// Invite creates an invitation in an operator's name, for one registration of a contact, and returns
// its token and expiry. The club must know the contact and not have banned it. The audit stream is
// written first.
func (c *Contacts) Invite(
	ctx context.Context, identity flows.ContactIdentity, life time.Duration, by string,
) (token string, end time.Time, err error) {
	if err := mayInvite(identity, life, by); err != nil {
		return "", end, err
	}
	known, err := c.Me(ctx, identity)
	switch {
	case flows.CodeOf(err) == flows.NotIdentified:
		return "", end, &flows.Error{Code: flows.NotFound, Operator: "The club has no such contact.", Err: err}
	case err != nil:
		return "", end, err
	case known.Status == club.StatusBanned:
		return "", end, &flows.Error{Code: flows.ContactBanned, Operator: "The club has banned this contact."}
	}
	now := c.cfg.Now()
	if err := c.cfg.Store.Audit(ctx, flows.AuditEntry{At: now, Operator: by, Action: flows.AuditInvite}); err != nil {
		return "", end, flows.StorageFailed(err)
	}
	token, _ = flows.RandomToken()
	invitation := flows.Invitation{ContactID: identity.ContactID, ClubID: identity.ClubID}
	err = c.cfg.Store.SaveInvitation(ctx, flows.InvitationHash(identity.ClientToken, token), invitation, life)
	return token, now.Add(life), flows.StorageFailed(err)
}

func mayInvite(identity flows.ContactIdentity, life time.Duration, by string) error {
	fields := flows.OperatorProblems(by)
	for _, field := range []struct{ pointer, id string }{{"/contactId", identity.ContactID}, {"/clubId", identity.ClubID}} {
		if !flows.PublicIDPattern.MatchString(field.id) {
			fields = append(fields, flows.FieldProblem{Pointer: field.pointer, Message: "must be an id of the club system, such as 11"})
		}
	}
	if life <= 0 || life > maxInvitationLife {
		form := fmt.Sprintf("must be a duration such as 72h, greater than zero and at most %s", maxInvitationLife)
		fields = append(fields, flows.FieldProblem{Pointer: "/ttl", Message: form})
	}
	return flows.Invalid(fields...)
}
