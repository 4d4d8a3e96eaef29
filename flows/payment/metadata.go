package payment

import (
	"context"
	"encoding/hex"
	"fmt"
	"time"

	"frontdesk/flows"
	"frontdesk/flows/payment/protocol"
	"frontdesk/upstream/cards"
	"frontdesk/upstream/club"
)

// FixRequest sets what the processor will receive with a new payment, and signs it.
func (m *Machine) FixRequest(p *flows.Payment) {
	p.Processor = m.cfg.Cards.Name()
	p.Description = flows.SingleLine(p.Description, cards.MaxDescription)
	p.Signature = hex.EncodeToString(m.cfg.Keys.Sign(signedText(m.metadata(p))))
}

// metadata is what the processor keeps of a payment: enough to rebuild it without Redis,
// signed, and without personal data.
func (m *Machine) metadata(p *flows.Payment) map[string]string {
	entries := protocol.TermsOf(p).Metadata()
	entries["fd_environment"], entries["fd_mac"] = m.cfg.Environment, p.Signature
	return entries
}

// remote returns what is known of the processor's payment from a call that began at an instant.
func (m *Machine) remote(paid cards.Payment, at time.Time) *protocol.Remote {
	return &protocol.Remote{
		At:      at,
		Payment: paid,
		Terms:   protocol.ReadTerms(paid.Metadata),
		Journal: protocol.ReadJournal(paid.Metadata),
		Ours:    m.ours(paid.Metadata),
		Signed:  m.signed(paid.Metadata),
		Ended:   paid.Metadata[endedEntry] != "",
	}
}

// signed reports whether the metadata is signed by us.
func (m *Machine) signed(remote map[string]string) bool {
	signature, err := hex.DecodeString(remote["fd_mac"])
	return err == nil && m.cfg.Keys.Verify(signedText(remote), signature)
}

// ours reports whether metadata is of this environment and organisation. Other gateways may share the
// processor's account, and even the keys.
func (m *Machine) ours(metadata map[string]string) bool {
	organisation := club.IRI(metadata["fd_sale"]).ClientToken()
	return metadata["fd_environment"] == m.cfg.Environment && (m.cfg.Organisation == "" || organisation == m.cfg.Organisation)
}

// unreadableRemote counts and logs a record of the processor's list that cannot be read, once.
func (m *Machine) unreadableRemote(ctx context.Context, remote cards.Payment) {
	if _, known := m.unreadableSeen.LoadOrStore(remote.ID, true); known {
		return
	}
	m.countProblem(ProblemUnreadable)
	m.cfg.Log.ErrorContext(ctx, "payment in the processor's list not readable", "processorId", remote.ID,
		"ours", m.ours(remote.Metadata), "error", remote.Unreadable)
}

// signedKeys are the entries that the signature covers.
var signedKeys = []string{
	"fd_version", "fd_environment", "fd_registration", "fd_sale", "fd_amount", "fd_currency", "fd_club", "fd_generation",
	"fd_node", "fd_sale_state", "fd_cart",
}

// signedText joins the signed entries, each on a line of its own.
func signedText(entries map[string]string) []byte {
	var text []byte
	for _, key := range signedKeys {
		text = fmt.Appendf(text, "%s=%s\n", key, entries[key])
	}
	return text
}
