package flows

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"time"

	"github.com/google/uuid"

	"frontdesk/upstream/club"
)

// The figures of an invitation.
const (
	// InvitationLife: three days reach people who read their mail once over a weekend.
	InvitationLife = 72 * time.Hour
	// maxInvitationLife: a link that lies around for longer is somebody else's in the end.
	maxInvitationLife = 30 * 24 * time.Hour
	// releaseTimeout bounds the return of an invitation, which goes on when its client has left.
	releaseTimeout = 5 * time.Second
)

// Invitation is what a link stands for. The link holds 256 random bits, of
// which the store keeps a hash.
type Invitation struct {
	ContactID string `json:"contactId"`
	ClubID    string `json:"clubId"`
}

// publicIDPattern is what the club system's ids look like where they stand alone.
var PublicIDForm = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// Invite makes an invitation for a contact in an operator's name, good for one
// registration within a time, and answers with its token and its end. A contact
// whom the club does not know there, or has banned, gets none. There is none either
// that the audit stream does not tell of.
func (f *Contacts) Invite(ctx context.Context, identity ContactIdentity, life time.Duration, by string) (token string, end time.Time, err error) {
	if err := mayInvite(identity, life, by); err != nil {
		return "", end, err
	}
	known, err := f.Me(ctx, identity)
	switch {
	case CodeOf(err) == NotIdentified && err != nil:
		return "", end, &Error{Code: NotFound, Detail: "The club has no such contact.", Err: err}
	case err != nil:
		return "", end, err
	case known.Status == club.StatusBanned:
		return "", end, &Error{Code: ContactBanned, Detail: "The club has banned this contact."}
	}
	now := f.cfg.Now()
	if err := f.cfg.Store.Audit(ctx, AuditEntry{At: now, Operator: by, Action: "invite"}); err != nil {
		return "", end, storageFailed(err)
	}
	token, _ = randomToken()
	err = f.cfg.Store.SaveInvitation(ctx, invitationHash(identity.ClientToken, token), Invitation{identity.ContactID, identity.ClubID}, life)
	return token, now.Add(life), storageFailed(err)
}

// mayInvite says everything that is wrong with the wish for an invitation.
func mayInvite(identity ContactIdentity, life time.Duration, by string) error {
	failure := &Error{Code: InvalidRequest}
	var word *Error
	if errors.As(Decision{Operator: by}.Validate(), &word) {
		failure.Fields = word.Fields
	}
	for _, field := range []struct{ pointer, id string }{{"/contactId", identity.ContactID}, {"/clubId", identity.ClubID}} {
		if !PublicIDForm.MatchString(field.id) {
			failure.Fields = append(failure.Fields, FieldProblem{field.pointer, "An id of the club system, such as 11."})
		}
	}
	if life <= 0 || life > maxInvitationLife {
		failure.Fields = append(failure.Fields, FieldProblem{"/ttl", fmt.Sprintf("A time such as 72h, more than nothing and at most %s.", maxInvitationLife)})
	}
	if len(failure.Fields) > 0 {
		return failure
	}
	return nil
}

// invitationHash is what is kept of an invitation's token; the organisation is
// part of it, so that it is worth nothing in another.
func invitationHash(clientToken, token string) string { return hashToken(clientToken + "\n" + token) }

// startInvited starts a registration as the contact that an invitation is for.
// Whoever comes first has it: a second use, an expired one and one that never
// was are told apart by nobody. When the registration cannot be started, the
// invitation is good again; when the gateway dies meanwhile, it is not, since a
// registration may have been started.
func (f *Registrations) startInvited(ctx context.Context, in NewRegistration) (View, string, error) {
	hash, use := invitationHash(in.ClientToken, in.Invitation), uuid.NewString()
	invitation, err := f.cfg.Store.ClaimInvitation(ctx, hash, use)
	if errors.Is(err, ErrNotFound) {
		return View{}, "", &Error{Code: InvitationInvalid, Detail: "Please ask the club for a new link.",
			Fields: []FieldProblem{{"/invitation", "It was used, has expired, or never was one."}}, Err: err}
	}
	if err != nil {
		return View{}, "", storageFailed(err)
	}
	in.Contact = &ContactIdentity{ClientToken: in.ClientToken, ContactID: invitation.ContactID, ClubID: invitation.ClubID}
	view, token, err := f.start(ctx, in)
	if err == nil {
		return view, token, nil
	}
	back, cancel := context.WithTimeout(context.WithoutCancel(ctx), releaseTimeout)
	defer cancel()
	if failed := f.cfg.Store.ReleaseInvitation(back, hash, use); failed != nil {
		f.cfg.Log.WarnContext(ctx, "invitation not released", "error", failed)
	}
	return View{}, "", err
}
