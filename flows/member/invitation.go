package member

import (
	"context"
	"errors"
	"fmt"
	"time"

	"frontdesk/flows"
	"frontdesk/upstream/club"
)

const (
	// InvitationLife is three days, which reach people who read their mail once over a weekend.
	InvitationLife = 72 * time.Hour
	// maxInvitationLife: a link that lies around for longer is somebody else's in the end.
	maxInvitationLife = 30 * 24 * time.Hour
)

// Invite makes an invitation for a contact in an operator's name, good for one
// registration within a time, and answers with its token and its end. A contact
// whom the club does not know there, or has banned, gets none. There is none either
// that the audit stream does not tell of.
func (f *Contacts) Invite(ctx context.Context, identity flows.ContactIdentity, life time.Duration, by string) (token string, end time.Time, err error) {
	if err := mayInvite(identity, life, by); err != nil {
		return "", end, err
	}
	known, err := f.Me(ctx, identity)
	switch {
	case flows.CodeOf(err) == flows.NotIdentified && err != nil:
		return "", end, &flows.Error{Code: flows.NotFound, Detail: "The club has no such contact.", Err: err}
	case err != nil:
		return "", end, err
	case known.Status == club.StatusBanned:
		return "", end, &flows.Error{Code: flows.ContactBanned, Detail: "The club has banned this contact."}
	}
	now := f.cfg.Now()
	if err := f.cfg.Store.Audit(ctx, flows.AuditEntry{At: now, Operator: by, Action: "invite"}); err != nil {
		return "", end, flows.StorageFailed(err)
	}
	token, _ = flows.RandomToken()
	err = f.cfg.Store.SaveInvitation(ctx, flows.InvitationHash(identity.ClientToken, token), flows.Invitation{ContactID: identity.ContactID, ClubID: identity.ClubID}, life)
	return token, now.Add(life), flows.StorageFailed(err)
}

// mayInvite says everything that is wrong with the wish for an invitation.
func mayInvite(identity flows.ContactIdentity, life time.Duration, by string) error {
	failure := &flows.Error{Code: flows.InvalidRequest}
	var word *flows.Error
	if errors.As(flows.Decision{Operator: by}.Validate(), &word) {
		failure.Fields = word.Fields
	}
	for _, field := range []struct{ pointer, id string }{{"/contactId", identity.ContactID}, {"/clubId", identity.ClubID}} {
		if !flows.PublicIDPattern.MatchString(field.id) {
			failure.Fields = append(failure.Fields, flows.FieldProblem{Pointer: field.pointer, Message: "An id of the club system, such as 11."})
		}
	}
	if life <= 0 || life > maxInvitationLife {
		failure.Fields = append(failure.Fields, flows.FieldProblem{Pointer: "/ttl", Message: fmt.Sprintf("A time such as 72h, more than nothing and at most %s.", maxInvitationLife)})
	}
	if len(failure.Fields) > 0 {
		return failure
	}
	return nil
}
