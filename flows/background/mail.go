package background

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/hibiken/asynq"

	"frontdesk/flows"
	"frontdesk/flows/tracing"
	"frontdesk/upstream/mail"
)

const (
	// mailQueue is for mails, each of which is a mailJob.
	mailQueue = "mail"
	// mailConcurrency is polite to a mail server, which often limits a sender's connections.
	mailConcurrency = 2
	// mailTimeout bounds one attempt: a connection, the greeting and the transfer, each at its limit.
	mailTimeout = 2 * time.Minute
	// contractAttempts is how many attempts a confirmation waits for the club system's contract document: about three minutes. It is complete
	// without it, and then goes out alone.
	contractAttempts = 4
	// keepSent is how long a mail can be looked up, and a repetition of it is not sent. The trigger of a mail repeats within minutes.
	keepSent = time.Hour
	// mailWritten is the header of a job with the time at which its mail was written (RFC 3339).
	mailWritten = "written"
)

// mailName is what a mail is sealed under.
func mailName(id string) string { return "mail:" + id }

// SendMail has a mail sent, at least once, by any gateway; it does not wait for that. A repetition with the same ID is the same
// mail: it does nothing while the mail is being sent, for an hour after that, and while it is dead. Without a mail server
// it does nothing. It fails with StorageUnavailable.
func (q *Queue) SendMail(ctx context.Context, message flows.Mail) error {
	if !q.cfg.Mails {
		return nil
	}
	text, err := json.Marshal(message)
	if err != nil {
		return err
	}
	headers := map[string]string{
		tracing.TraceHeader: tracing.Traceparent(ctx),
		mailWritten:         q.cfg.Now().UTC().Format(time.RFC3339),
	}
	job := asynq.NewTaskWithHeaders(mailJob, q.cfg.Keys.Seal(mailName(message.ID), text), headers)
	err = q.enqueue(ctx, job, asynq.Queue(mailQueue), asynq.TaskID(message.ID), asynq.MaxRetry(len(retryPauses)),
		asynq.Timeout(mailTimeout), asynq.Retention(keepSent))
	if errors.Is(err, asynq.ErrTaskIDConflict) {
		return nil
	}
	return err
}

// errAwaitsContract is the failure of a mail that has not been tried yet, as operators see it.
var errAwaitsContract = errors.New("waits for the club system's contract document")

// Mailer sends the mails of Queue.SendMail. What fails is retried after the same pauses as a delivery to a subscriber; what
// fails for good is kept for operators.
type Mailer struct{ cfg Config }

// run sends mails until the context ends. An attempt that does not finish in time is repeated elsewhere.
func (m *Mailer) run(ctx context.Context) error {
	if m.cfg.Mail == nil {
		return nil
	}
	settings := asynq.Config{
		Queues:            map[string]int{mailQueue: 1},
		Concurrency:       mailConcurrency,
		TaskCheckInterval: pollRelay,
		ShutdownTimeout:   relayDrainTimeout,
		RetryDelayFunc:    pauseAfterFailure,
		LogLevel:          asynq.ErrorLevel,
	}
	return m.cfg.serveJobs(ctx, settings, map[string]asynq.HandlerFunc{mailJob: m.send})
}

// send makes one attempt. Operators see its error in plain text, so that it names no person.
func (m *Mailer) send(ctx context.Context, job *asynq.Task) error {
	id, _ := asynq.GetTaskID(ctx)
	message, err := m.open(id, job.Payload())
	if err != nil {
		return err
	}
	var missing error // the contract document
	if message.ContractOf != "" {
		var found []mail.Attachment
		failed, _ := asynq.GetRetryCount(ctx)
		isLast := failed >= contractAttempts-1
		found, missing = m.cfg.Registrations.ContractDocument(ctx, message.ContractOf, isLast)
		if missing != nil && !isLast {
			return errAwaitsContract
		}
		message.Attachments = append(message.Attachments, found...)
		if text, err := json.Marshal(filesOf(found)); err == nil {
			_, _ = job.ResultWriter().Write(text) // for operators
		}
	}
	err = m.cfg.Mail.Send(ctx, message, writtenAt(job.Headers()))
	if err == nil && missing != nil {
		m.cfg.Registrations.NoteWithoutContract(ctx, message.ContractOf, missing)
	}
	if err == nil {
		return nil
	}
	m.cfg.Log.WarnContext(ctx, "mail not sent", "mail", id, "error", err)
	if failed, ok := errors.AsType[*mail.Error](err); ok && failed.Permanent {
		return fmt.Errorf("%w: %w", err, asynq.SkipRetry)
	}
	return err
}

func (m *Mailer) open(id string, sealed []byte) (message flows.Mail, err error) {
	text, err := m.cfg.Keys.Open(mailName(id), sealed)
	if err != nil {
		return message, errors.New("sealed by an unknown key; a gateway that has the key can send it")
	}
	return message, json.Unmarshal(text, &message)
}

func writtenAt(headers map[string]string) time.Time {
	at, _ := time.Parse(time.RFC3339, headers[mailWritten]) // SendMail writes it
	return at
}

// Mails is the state of the mail queue, for operators.
type Mails struct {
	Server    string       `json:"server"` // host and port; empty: no mail is sent
	Waiting   int          `json:"waiting"`
	Retrying  int          `json:"retrying"`
	Dead      int          `json:"dead"`
	Delivered int          `json:"delivered"` // within the last hour
	AgeMs     int64        `json:"ageMs"`     // of the oldest waiting or retrying mail, about
	Items     []QueuedMail `json:"items"`
}

// QueuedMail is a mail on its way. In lists it names no person.
type QueuedMail struct {
	ID         string        `json:"id"`
	State      DeliveryState `json:"state"`
	Written    time.Time     `json:"written"`
	Failures   int           `json:"failures"`
	LastError  string        `json:"lastError,omitempty"`
	LastFailed *time.Time    `json:"lastFailed,omitempty"`
	Next       *time.Time    `json:"next,omitempty"` // while retrying

	// Not in lists:
	To          string     `json:"to,omitempty"`
	Subject     string     `json:"subject,omitempty"`
	Text        string     `json:"text,omitempty"`
	Attachments []MailFile `json:"attachments,omitempty"` // with what the last attempt has added
}

// MailFile is an attachment, without its content.
type MailFile struct {
	Name  string `json:"name"`
	Bytes int    `json:"bytes"`
}

func filesOf(attachments []mail.Attachment) (files []MailFile) {
	for _, attachment := range attachments {
		files = append(files, MailFile{attachment.Name, len(attachment.Content)})
	}
	return files
}

func mailOf(job *asynq.TaskInfo) QueuedMail {
	delivery := deliveryOf(Subscriber{}, job)
	return QueuedMail{
		ID:         job.ID,
		State:      delivery.State,
		Written:    writtenAt(job.Headers),
		Failures:   delivery.Failures,
		LastError:  strings.TrimSuffix(delivery.LastError, ": "+asynq.SkipRetry.Error()),
		LastFailed: delivery.LastFailed,
		Next:       delivery.Next,
	}
}

// Mails returns the state of the mail queue, with the mails in a state; by default those that are retrying or dead. It fails
// with InvalidRequest for an unknown state.
func (m *Mailer) Mails(state DeliveryState) (Mails, error) {
	states, err := statesOf(state)
	if err != nil {
		return Mails{}, err
	}
	all, err := m.mails(states)
	return all, flows.StorageFailed(err)
}

func (m *Mailer) mails(states []DeliveryState) (Mails, error) {
	all := Mails{Items: []QueuedMail{}}
	if m.cfg.Mail != nil {
		all.Server = m.cfg.Mail.Server()
	}
	info, err := queueInfo(m.cfg.Queue.inspector, mailQueue)
	if err != nil {
		return all, err
	}
	all.Waiting, all.Retrying = info.Pending+info.Active+info.Scheduled, info.Retry
	all.Dead, all.Delivered = info.Archived, info.Completed
	oldest, err := oldestRetry(m.cfg.Queue.inspector, mailQueue, info.Retry, func(job *asynq.TaskInfo) time.Duration {
		return m.cfg.Now().Sub(writtenAt(job.Headers))
	})
	if err != nil {
		return all, err
	}
	all.AgeMs = max(info.Latency, oldest).Milliseconds()
	for _, state := range states {
		jobs, err := listJobs(m.cfg.Queue.inspector, mailQueue, state)
		if err != nil {
			return all, err
		}
		for _, job := range jobs {
			all.Items = append(all.Items, mailOf(job))
		}
	}
	return all, nil
}

// Mail returns one mail with its recipient and its text. It fails with NotFound.
func (m *Mailer) Mail(id string) (QueuedMail, error) {
	job, err := m.job(id)
	if err != nil {
		return QueuedMail{}, err
	}
	shown := mailOf(job)
	if message, err := m.open(id, job.Payload); err == nil {
		shown.To, shown.Subject, shown.Text = message.To, message.Subject, message.Text
		var added []MailFile
		_ = json.Unmarshal(job.Result, &added) // nothing before the first attempt
		shown.Attachments = append(filesOf(message.Attachments), added...)
	}
	return shown, nil
}

func (m *Mailer) job(id string) (*asynq.TaskInfo, error) {
	job, err := m.cfg.Queue.inspector.GetTaskInfo(mailQueue, id)
	return job, mailFailed(err)
}

func mailFailed(err error) error {
	if errors.Is(err, asynq.ErrTaskNotFound) || errors.Is(err, asynq.ErrQueueNotFound) {
		return &flows.Error{Code: flows.NotFound, Operator: "The mail does not exist, or was sent more than an hour ago.", Err: err}
	}
	return flows.StorageFailed(err)
}

// Replay sends a mail again, now, whatever its state, and records the operator. It fails with NotFound, and with NotDecidable
// while the mail is being sent.
func (m *Mailer) Replay(ctx context.Context, id, by string) (QueuedMail, error) {
	if err := (flows.Decision{Operator: by}).Validate(); err != nil {
		return QueuedMail{}, err
	}
	job, err := m.job(id)
	switch {
	case err != nil:
		return QueuedMail{}, err
	case job.State == asynq.TaskStatePending || job.State == asynq.TaskStateActive:
		return QueuedMail{}, &flows.Error{Code: flows.NotDecidable, Operator: "The mail is already queued; wait for its result."}
	}
	if err := m.cfg.audit(ctx, flows.AuditReplayMail, by); err != nil {
		return QueuedMail{}, err
	}
	if err := m.cfg.Queue.inspector.RunTask(mailQueue, id); err != nil {
		return QueuedMail{}, mailFailed(err)
	}
	return m.Mail(id)
}

// ReplayAll sends all dead mails again, and returns the state of the queue.
func (m *Mailer) ReplayAll(ctx context.Context, by string) (Mails, error) {
	if err := (flows.Decision{Operator: by}).Validate(); err != nil {
		return Mails{}, err
	}
	if err := m.cfg.audit(ctx, flows.AuditReplayMail, by); err != nil {
		return Mails{}, err
	}
	info, err := queueInfo(m.cfg.Queue.inspector, mailQueue)
	if err == nil && info.Archived > 0 {
		_, err = m.cfg.Queue.inspector.RunAllArchivedTasks(mailQueue)
	}
	if err != nil {
		return Mails{}, flows.StorageFailed(err)
	}
	return m.Mails("")
}
