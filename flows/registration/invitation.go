package registration

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"

	"frontdesk/flows"
)

const (
	// releaseTimeout bounds the return of an invitation, which goes on when its client has left.
	releaseTimeout = 5 * time.Second
)

// startInvited starts a registration as the contact that an invitation is for.
// Whoever comes first has it: a second use, an expired one and one that never
// was are told apart by nobody. When the registration cannot be started, the
// invitation is good again; when the gateway dies meanwhile, it is not, since a
// registration may have been started.
func (f *Service) startInvited(ctx context.Context, in StartRequest) (flows.View, string, error) {
	hash, use := flows.InvitationHash(in.ClientToken, in.Invitation), uuid.NewString()
	invitation, err := f.cfg.Store.ClaimInvitation(ctx, hash, use)
	if errors.Is(err, flows.ErrNotFound) {
		return flows.View{}, "", &flows.Error{Code: flows.InvitationInvalid, Detail: "Please ask the club for a new link.",
			Fields: []flows.FieldProblem{{Pointer: "/invitation", Message: "It was used, has expired, or never was one."}}, Err: err}
	}
	if err != nil {
		return flows.View{}, "", flows.StorageFailed(err)
	}
	in.Contact = &flows.ContactIdentity{ClientToken: in.ClientToken, ContactID: invitation.ContactID, ClubID: invitation.ClubID}
	view, token, err := f.start(ctx, in)
	if err == nil {
		return view, token, nil
	}
	back, cancel := context.WithTimeout(context.WithoutCancel(ctx), releaseTimeout)
	defer cancel()
	if failed := f.cfg.Store.ReleaseInvitation(back, hash, use); failed != nil {
		f.cfg.Log.WarnContext(ctx, "invitation not released", "error", failed)
	}
	return flows.View{}, "", err
}
