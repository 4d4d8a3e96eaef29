// Package model explores the payment protocol exhaustively: every order in which the gateways' steps,
// the buyer, an operator and a list of faults can follow each other, within budgets, until an invariant
// breaks or nothing new is left.
//
// It drives the protocol that ships: drive.go asks protocol.Next what to do, does it in every way in which it can
// end, and asks again with what was learned, as the loop in Machine.advance does. shown.go shows the protocol a
// world as a record and facts, and reads its answers. An operator's decision is such a fact, and a rebuild asks
// protocol.Prove. No rule of a payment is written down here a second time. Start reading at Check, then at drive.
//
// A mistake is a Variant: the protocol sees other facts, or something else is done than it says. The campaigns build mistakes
// into what surrounds the protocol.
//
// # Worlds and steps
//
// A world is everything that decides what can happen: what Redis holds and what it will fall back to,
// what each replica is doing and remembers, the processor's payments with their journals of claims, the
// POSTs that the club system booked or may still book, and what is left of the budgets. A step is one
// remote effect of one replica, or one event outside. The search is breadth first over worlds, so that
// the first violation has a shortest trace. It runs on one goroutine and is deterministic.
//
//	here                                there, in flows/payment unless said otherwise
//	drive, follow, proceed              Machine.advance and perform
//	write, commit, finish               Machine.commit, and Store.Commit in flows/store
//	giveUp, journal                     what Machine.commit writes before and after it
//	store                               Store.Commit and Store.Rebuild
//	operator, settle                    Machine.decide and releaseByOperator
//	rebuild                             Machine.Rebuild
//	buyer                               Service.Pay in flows/registration, and the processor's page
//	violated, for the responses         Payment.View in flows
//
// # What is abstracted, and why that is sound
//
//   - One sale, and one amount. The claims, keys and records of two sales never meet; a mismatch of
//     amount, currency or signature only blocks.
//   - Outside the state sending, a turn of Advance is one step from reading Redis to the commit. What it learns
//     stays true, or the next turn asks again. Only the responses to a capture and to a refund's claim are
//     used later, so what follows them is a step. Dying in between is the step with the effect and without the commit; being
//     slow is the request that arrives at any later time. Finer steps found nothing more.
//   - In sending every effect is a step, and a commit may be late: a compare-and-set on state and
//     version cannot tell two histories apart after Redis fell back, and the model lets them meet.
//   - Staff settle the sale once at most, where it is open. What they do within the minute after a reading
//     cannot be known, and counts as a collision. A minute is one step, which ages every reading. Without staff
//     a sale does not change between two readings, and readings have no age.
//   - Staff who settle the sale of a payment that is blocked as missing record that payment by hand, as the
//     operators' page tells them to. Half an hour is one step, which ages every reading.
//   - The brake holds or is released at any time; what makes it hold is not modelled. It lets no probe through.
//   - A recorded payment is verified where something else may have accepted its POST; the finding is for an operator.
//     What the processor keeps of a payment that has ended is not compared.
//   - A gateway that knows that it has another account's key is asked about every record, and must leave it alone.
//   - A server error that a key replays is met under the numbers of that key which had one.
//   - A pending refund may succeed or fail at any time. Without RefundsFail refunds are immediate.
//   - Time is one flag. A process that owns a payment, or with a capture's response, is fresh, or slept longer than
//     claimLife, than the lease with its grace, and than an operator waits. A lease ends when its process
//     died or slept. Pauses may end at any time. A day needs all other calls to be over.
//   - A rollback restores any earlier content. A world holds only those that will be restored: whether
//     one will be is guessed when it is replaced.
//   - Attempt ids are random, so only equality counts. Replicas are alike, so their order does not count.
//   - What only a limit of time or a buyer ends is given up by the buyer, who may do so at any time. A payment that the
//     processor has not created is not given up: a Redis that falls back twice can then show it as cancelled while another
//     gateway captures it. No turn finds that; the comparison with the processor does, see TestGivenUpAndCaptured in flows.
//   - A reading that is renewed, and changes nothing else, is not stored.
//   - The claims of a configuration are fewer than the protocol's. One that is given up at the last of them is shown again as the
//     protocol's last. A call that is repeated within a claim is shown once, with its tries used up.
//   - It makes no difference who calls Advance, how often, and whether a webhook was lost: any idle
//     replica may take the next turn at any time, or never.
//   - Late creations, releases and acceptances are not modelled: an unknown payment moves no money, and
//     the other two stay true. One late claim for each number and two late POSTs for each payment are kept.
//
// The invariants of brokenAtRest, and NeverSettles, are about the end of a fault-free run. From every world the search also
// follows the way on which nothing fails, with late requests arriving after everything else: it must come to rest. At
// rest all money that is captured and not refunded is recorded, in doubt, or blocked.
//
// # What is not covered
//
// The gate and the first byte are one step; a process that sleeps between the two posts late. An
// operator who says "not recorded" is right, with an override, and nothing arrives after the operator's wait. Evidence of
// the same minute may be wrong where staff act in it. The processor is linearizable, keeps its keys for
// a day, and forgets no metadata. The list of open payments is complete. A second payment of one
// generation cannot occur, so settling duplicates is not modelled. Only a captured payment is blocked as missing;
// flows/payment/lifted_test.go covers other states, and what a rebuild does meanwhile is not shown. Carts, prices and
// everything before the payment are left out, and with them an article that is on its way while the buyer begins to pay: the
// simulation makes such articles hang. What a buyer reads is compared only for payments that have ended.
// Methods without a processor have no witness: TestWhatRestsOnRedisAlone shows what a single rollback
// does to them.
package model
