// Package model explores the payment protocol exhaustively: every order in which the gateways'
// steps, the buyer, an operator and a list of faults can follow each other, within budgets, until
// an invariant breaks or nothing new is left. It is not the code and runs none of it. It tells
// flows/payment/step.go, flows/payment/record.go and the compare-and-set of flows/store a second
// time, short enough to be compared side by side. The functions have the same names. Start reading
// at Check, then at next in step.go with flows/payment/step.go open.
//
// # Worlds and steps
//
// A world is all that decides what can happen: what Redis holds and what it will fall back to, what
// each replica is doing and remembers, the processor's payments with their journals of claims, the
// POSTs that the club system booked or may still book, and what is left of the budgets. A step is
// one remote effect of one replica, or one event outside. The search is breadth first over worlds,
// so that the first violation has a shortest trace; it runs on one goroutine and finds the same
// every time.
//
//	here                                there, in flows/payment unless said otherwise
//	next, createIntent … resolveDoubt   Machine.next and the functions of that name
//	prepareSettlement, created          the function of that name, notCreated
//	takeOver, prepareRefund             the cases Sending (with StateChange.LeaseExpiredFor) and RefundDue of next
//	prepareRecord, releaseLate          the functions of that name
//	record, look, trust, claim          record, claimAndSend, claim
//	preparing                           the turns of Machine.Advance after a capture, with its response at hand
//	send, post, unknown, notSent        send with club.Client.CreatePayment and each Outcome, notSent
//	inquire                             rejected
//	release, journal                    release and updateMetadata in record
//	claimAvailable, released            the functions of that name
//	acceptanceJournaled                 the function of that name
//	commit, move, finish                Machine.commit, and Store.Commit in flows/store
//	buyer                               Registrations.Pay in flows/registration, and the processor's page
//	violated, for the responses         Payment.View in flows
//	rebuild, derivePayment              Machine.Rebuild with restore, derivePayment with deriveState
//	storeRebuilt                        Machine.storeRebuilt, and Store.Rebuild in flows/store
//	operator, notRecorded               Machine.ConfirmRecorded, ConfirmNotRecorded
//	claimsExpired, settle               oldEnough, settleClaim
//	claimByCapture                      nothing yet
//
// # What is abstracted, and why that is sound
//
//   - One sale, and one amount. The claims, the keys and the records of two sales
//     never meet; a mismatch of amount, currency or signature only blocks.
//   - Outside record, a turn of the loop in Advance is one step from reading Redis
//     to the commit; one that continues from what the turn before wrote, and read at
//     the processor, is such a step that is slow. What it learns stays true
//     (cancelled, refunded, journaled) or is asked again by the next turn. What a
//     capture answers is neither: it stands in for the reading before the claim, so
//     that each commit on that way is a step. To die in between is the step with the
//     effect and without the commit; to be slow in between is the request that stays on its
//     way and arrives at any later time. A variant with a step for each effect was
//     explored once with smaller budgets and found nothing that this one does not.
//   - Inside record every effect is a step, and a commit may be a late one: a
//     compare-and-set on state and version cannot tell two histories apart after
//     Redis fell back, and the model lets them meet.
//   - Time is one flag. A process in record, or with a capture's answer, is fresh, or
//     slept longer than claimLife, than the lease with its grace, and than an operator
//     has to wait. A lease is over when its process died or slept. Pauses (NotBefore, idle intents) may end at any
//     time. A day is an event that needs all calls outside record to be over: they
//     have deadlines of minutes.
//   - A rollback restores any earlier content. Instead of all of them, a world holds
//     those that will be restored: whether one will be is guessed when it is replaced.
//   - Post ids are random, so only equality counts, and they are renamed in the order
//     of their appearance. Replicas are alike, so their order does not count.
//   - Who calls Advance (request, webhook, sweeper), how often, and whether a webhook
//     was lost, doubled or late makes no difference: any idle replica may take the
//     next turn at any time, or never.
//   - Late creations, releases and acceptances need no request on its way: a payment
//     that no gateway knows of moves no money, and the other two are facts that are
//     true for ever. One late claim for each number and two late POSTs for each payment are kept.
//
// Two invariants are about the end of a fault-free run. From every world the search also
// follows the way on which nothing fails, with late requests arriving after
// everything else: it has to come to rest, and at rest all money that is captured
// and not refunded is recorded, in doubt, or blocked.
//
// # What is not covered
//
// The gate and the first byte are one step; a process that sleeps between the two machine
// instructions posts late all the same. An operator who says "not recorded" is right, and nothing
// that was sent arrives after the time that the operator waits; so is a rule by which evidence
// tells that a payment was recorded, which counts as such an operator. The processor is
// linearizable, keeps its keys for a day, and forgets no metadata. The list of open payments, by
// which the sweeper finds them, is taken to be complete. A second payment of one generation cannot
// come about here, so that giving it back (captured → refund_due, settleDuplicates) is not
// modelled. Carts, prices and everything before the payment are left out; that the sale is as
// agreed is the club system's answer, either way; that the processor will never create a payment
// (cards.ErrRefused) is true for good. After a rollback the answer to a plain read can be as old as
// Redis, see StaleDecline. The ways without a processor have no witness: TestWhatRestsOnRedisAlone
// shows what a single rollback does to them.
package model
