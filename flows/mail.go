package flows

import (
	"strings"

	"frontdesk/upstream/mail"
)

// Mail is an e-mail to a person, for background.Queue.SendMail. mail.Render writes its HTML and its text.
type Mail = mail.Message

// Mailbox is an address without what may not matter for where it leads: case, a name after +, and dots in the name, which large mail
// services leave out; and the two names of Google's. Mails are counted by it; none is sent to it.
func Mailbox(address string) string {
	local, domain, _ := strings.Cut(strings.ToLower(strings.TrimSpace(address)), "@")
	local, _, _ = strings.Cut(local, "+")
	if domain == "googlemail.com" {
		domain = "gmail.com"
	}
	return strings.ReplaceAll(local, ".", "") + "@" + domain
}
