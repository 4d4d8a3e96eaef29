package flows

import (
	"strings"

	"frontdesk/upstream/mail"
)

// Mail is an e-mail to a person, for background.Queue.SendMail. mail.Render writes its HTML and its text.
type Mail = mail.Message

// Mailbox is an address without what does not matter for where it leads: case, and a name after +.
func Mailbox(address string) string {
	local, domain, _ := strings.Cut(strings.ToLower(strings.TrimSpace(address)), "@")
	local, _, _ = strings.Cut(local, "+")
	return local + "@" + domain
}
