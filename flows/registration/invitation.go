package registration

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/google/uuid"

	"frontdesk/flows"
)

// releaseTimeout bounds the release of an invitation, which continues after its client disconnects.
const releaseTimeout = 5 * time.Second

// startInvited starts a registration for the contact of an invitation. The first use wins. A used,
// expired or invented invitation gets the same error. An invitation whose registration could not be
// started is released. After a crash it is not, because the registration may exist; the same request continues it.
func (s *Service) startInvited(ctx context.Context, in StartRequest) (flows.View, string, error) {
	hash, use := flows.InvitationHash(in.ClientToken, in.Invitation), cmp.Or(in.ID, uuid.NewString())
	invitation, err := s.cfg.Store.ClaimInvitation(ctx, hash, use)
	if errors.Is(err, flows.ErrNotFound) {
		return flows.View{}, "", &flows.Error{Code: flows.InvitationInvalid, Detail: flows.DetailInvitationEnded,
			Fields: []flows.FieldProblem{{Pointer: "/invitation", Code: flows.FieldLinkEnded}}, Err: err}
	}
	if err != nil {
		return flows.View{}, "", flows.StorageFailed(err)
	}
	in.Contact = &flows.ContactIdentity{ClientToken: in.ClientToken, ContactID: invitation.ContactID, ClubID: invitation.ClubID}
	view, token, err := s.start(ctx, in)
	if err == nil {
		return view, token, nil
	}
	back, cancel := context.WithTimeout(context.WithoutCancel(ctx), releaseTimeout)
	defer cancel()
	if failed := s.cfg.Store.ReleaseInvitation(back, hash, use); failed != nil {
		s.cfg.Log.WarnContext(ctx, "invitation not released", "error", failed)
	}
	return flows.View{}, "", err
}
