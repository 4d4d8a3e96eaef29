package clubsim

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	g "maragu.dev/gomponents"
	"maragu.dev/gomponents/html"

	"frontdesk/upstream/inspector"
)

// maxMails is how many mails a mailbox keeps, the newest ones: more than a day of trying gives.
const maxMails = 200

// Mail is a mail to a person of a world. The club system sends none: a gateway does.
type Mail struct {
	Number      int              `json:"number"` // from 1, in order of arrival
	To          string           `json:"to"`
	From        string           `json:"from"`
	Subject     string           `json:"subject"`
	MessageID   string           `json:"messageId"`
	Text        string           `json:"text"`
	HTML        string           `json:"html"`
	Attachments []MailAttachment `json:"attachments"`
	SentAt      time.Time        `json:"sentAt"`
}

// MailAttachment is a document that came with a mail. _control/mail/{number}/{place} serves its content; the first place is 0.
type MailAttachment struct {
	Name    string `json:"name"`
	Type    string `json:"type"`
	Size    int    `json:"size"` // bytes
	Content []byte `json:"-"`
}

// mailbox is what arrived in a world. The world's lock guards it.
type mailbox struct {
	mails []Mail
	count int // that arrived, including those that left the mailbox
}

// storedMail is a mail in a snapshot: with the contents of its attachments.
type storedMail struct {
	Mail
	Contents [][]byte `json:"contents,omitempty"`
}

func (m mailbox) stored() (mails []storedMail) {
	for _, mail := range m.mails {
		kept := storedMail{Mail: mail}
		for _, document := range mail.Attachments {
			kept.Contents = append(kept.Contents, document.Content)
		}
		mails = append(mails, kept)
	}
	return mails
}

func mailboxOf(mails []storedMail) (box mailbox) {
	for _, kept := range mails {
		for place, content := range kept.Contents[:min(len(kept.Contents), len(kept.Attachments))] {
			kept.Attachments[place].Content = content
		}
		box.mails, box.count = append(box.mails, kept.Mail), kept.Number
	}
	return box
}

// ReceiveMail puts a mail into the mailbox. A repetition, with the Message-ID of another one, is not shown again.
func (w *World) ReceiveMail(mail Mail) {
	w.mu.Lock()
	defer w.mu.Unlock()
	box := &w.mailbox
	if slices.ContainsFunc(box.mails, func(other Mail) bool { return other.MessageID == mail.MessageID }) {
		return
	}
	box.count++
	mail.Number, mail.SentAt = box.count, w.now()
	if mail.Attachments == nil {
		mail.Attachments = []MailAttachment{}
	}
	box.mails = append(box.mails, mail)
	box.mails = box.mails[max(0, len(box.mails)-maxMails):]
}

// Mails returns the mails, oldest first.
func (w *World) Mails() []Mail {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]Mail{}, w.mailbox.mails...)
}

// mailPolicy lets a mail look as in a mail program: with its own styles, and without scripts or anything from elsewhere.
const mailPolicy = "default-src 'none'; style-src 'unsafe-inline'; sandbox allow-popups allow-popups-to-escape-sandbox"

// serveMail serves _control/mail/{number}, a mail as it looks, and below it the contents of its attachments.
func (w *World) serveMail(rw http.ResponseWriter, req *httpRequest) {
	if req.Method != http.MethodGet && req.Method != http.MethodHead {
		writeResponse(rw, controlError(http.StatusMethodNotAllowed, "Method Not Allowed"))
		return
	}
	kind, content, found := w.mailPart(req.path[3:])
	if !found {
		writeResponse(rw, controlError(http.StatusNotFound, "The mailbox does not have that."))
		return
	}
	writeResponse(rw, httpResponse{status: http.StatusOK, body: content, header: http.Header{
		"Content-Type":            {kind},
		"Content-Security-Policy": {mailPolicy},
		"X-Content-Type-Options":  {"nosniff"},
	}})
}

// mailPart finds a mail by its number, or its attachment by its place.
func (w *World) mailPart(path []string) (kind string, content []byte, found bool) {
	mails := w.Mails()
	i := slices.IndexFunc(mails, func(mail Mail) bool { return strconv.Itoa(mail.Number) == path[0] })
	switch {
	case i < 0 || len(path) > 2:
		return "", nil, false
	case len(path) == 1:
		return "text/html; charset=utf-8", []byte(mails[i].HTML), true
	}
	place, err := strconv.Atoi(path[1])
	if err != nil || place < 0 || place >= len(mails[i].Attachments) {
		return "", nil, false
	}
	document := mails[i].Attachments[place]
	if strings.HasPrefix(document.Type, "text/") {
		document.Type += "; charset=utf-8"
	}
	return document.Type, document.Content, true
}

func mailboxSection(mails []Mail) g.Node {
	link := func(address, text string) g.Node {
		return html.A(html.Href(address), html.Target("_blank"), html.Rel("noopener"), g.Text(text))
	}
	table := inspector.DataTable("No mail yet.", []string{"Subject", "To", "Attachments", "Sent"}, mails, func(mail Mail) g.Node {
		page := fmt.Sprint("mail/", mail.Number)
		var documents g.Group
		for place, document := range mail.Attachments {
			documents = append(documents, html.Div(link(fmt.Sprint(page, "/", place), document.Name)))
		}
		return g.Group{
			html.Td(link(page, mail.Subject),
				html.Details(html.Summary(g.Text("Text")), html.Div(html.Style("white-space:pre-wrap"), g.Text(mail.Text)))),
			inspector.Cell("", "to", g.Text(mail.To)),
			inspector.Cell("", "attachments", documents),
			inspector.Cell("soft when", "sent", g.Text(mail.SentAt.Format(time.DateTime))),
		}
	})
	return inspector.Section("", "Mailbox", "", table)
}
