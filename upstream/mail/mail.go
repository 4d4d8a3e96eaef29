// Package mail writes e-mails and sends them to an SMTP server. It keeps nothing: the queue of flows/background retries what
// fails and shows operators what could not be sent.
//
// Render gives every mail the same plain layout, as HTML and as text:
//
//	func Render(page Page) (html, text string)
//
//	html, text := mail.Render(mail.Page{Language: "fr", Title: "…", Blocks: []mail.Block{
//		{Paragraphs: []string{"…"}},
//		{Heading: "…", Facts: []mail.Fact{{Name: "…", Value: "…"}}, Link: &mail.Link{Text: "…", URL: "https://…"}},
//	}})
//
// Start reading at Client.Send.
package mail

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// Message is a mail to one person. Its subject and texts are in its language.
type Message struct {
	// ID identifies the mail: a repetition with the same one is the same mail. It names no person, because logs and
	// operators' lists show it.
	ID string `json:"id"`
	// Organisation is the client token of the club system's organisation. In mock and test mode it is the world in whose mailbox
	// the simulator puts the mail.
	Organisation string       `json:"organisation,omitempty"`
	To           string       `json:"to"`       // an address without a name
	Language     string       `json:"language"` // BCP 47
	Subject      string       `json:"subject"`
	Text         string       `json:"text"`
	HTML         string       `json:"html"`
	Attachments  []Attachment `json:"attachments,omitempty"`
	// ContractOf is the registration whose contract document in the club system is attached when the mail is sent, if there is one.
	ContractOf string `json:"contractOf,omitempty"`
}

// Attachment is a document that goes with a mail.
type Attachment struct {
	Name    string `json:"name"` // of the file, such as terms.html
	Type    string `json:"type"` // media type, such as text/html; charset=utf-8
	Content []byte `json:"content"`
}

// WorldHeader names the organisation of a mail to the simulator's mailbox. No mail of live mode has it.
const WorldHeader = "X-Frontdesk-World"

// messageID returns the Message-ID (RFC 5322, section 3.6.4) of a mail, without its angle brackets: the same for each attempt, so
// that a recipient's server can drop a repetition.
func messageID(id, sender string) string {
	sum := sha256.Sum256([]byte("frontdesk mail " + id))
	_, domain, _ := strings.Cut(sender, "@")
	return hex.EncodeToString(sum[:16]) + "@" + domain
}
