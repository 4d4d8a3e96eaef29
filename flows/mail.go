package flows

import "frontdesk/upstream/mail"

// Mail is an e-mail to a person, for background.Queue.SendMail. mail.Render writes its HTML and its text.
type Mail = mail.Message
