package flows

import "slices"

// Step is the screen that a registration means for its visitor.
type Step string

// The steps. Every view has exactly one.
const (
	StepPerson      Step = "person"       // the buyer's details are missing, or their account is not brought in yet
	StepItems       Step = "items"        // the cart is empty
	StepGuardian    Step = "guardian"     // the club asks for a guardian, whom the buyer lacks
	StepFixCart     Step = "fix_cart"     // the club does not accept the cart
	StepMandate     Step = "mandate"      // an account for direct debits is missing
	StepCode        Step = "code"         // the mandate waits for the code from the SMS
	StepReady       Step = "ready"        // the cart can be settled
	StepAtProcessor Step = "at_processor" // the card page waits for the buyer
	StepDeclined    Step = "declined"     // the buyer can try again
	StepWaiting     Step = "waiting"      // the payment is on its way, and the visitor has nothing to do
	StepDone        Step = "done"         // paid and recorded
	StepWithStaff   Step = "with_staff"   // the club's staff must look at it
	StepAbandoned   Step = "abandoned"
	StepExpired     Step = "expired"
)

// mainActions are the actions of the main button of each step, the preferred one first. The other steps have none.
var mainActions = map[Step][]string{
	StepPerson:    {"prospect", "person"},
	StepItems:     {"add_item"},
	StepGuardian:  {"guardian"},
	StepFixCart:   {"check", "clear_items"},
	StepMandate:   {"mandate"},
	StepCode:      {"sign", "resend", "mandate"},
	StepReady:     {"pay"},
	StepDeclined:  {"pay"},
	StepWaiting:   {"pay"},
	StepWithStaff: {"abandon"},
}

// Step returns the screen that the view means.
func (v View) Step() Step {
	switch registration := v.Registration; {
	case v.Phase == Completed:
		return StepDone
	case v.Phase == Abandoned:
		return StepAbandoned
	case v.Phase == Attention, (v.Phase == Open || v.Phase == Expired) && registration.Cart.Settled():
		return StepWithStaff
	case v.Phase == Expired:
		return StepExpired
	case v.Phase == Paying:
		return paymentStep(v.Payment)
	case registration.Contact == nil, registration.Prospect != nil && !registration.Prospect.Done:
		return StepPerson
	case len(registration.Items) == 0:
		return StepItems
	case registration.LacksGuardian:
		return StepGuardian
	case registration.Cart.needsChange():
		return StepFixCart
	case registration.NeedsMandate():
		return registration.mandateStep()
	case len(v.Methods) == 0 && v.Payment.DeclinedTooOften():
		return StepWithStaff
	case len(v.Methods) == 0:
		return StepFixCart
	}
	return StepReady
}

func paymentStep(p *Payment) Step {
	switch p.View().State {
	case "requires_action":
		return StepAtProcessor
	case "declined":
		return StepDeclined
	}
	return StepWaiting
}

func (r *Registration) mandateStep() Step {
	if m := r.Mandate; m == nil || m.State == SignatureCancelled || m.State == SignatureSigned {
		return StepMandate
	}
	return StepCode
}

// needsChange reports whether the cart has a problem other than a missing mandate.
func (c Cart) needsChange() bool {
	return slices.ContainsFunc(c.Problems, func(problem CartProblem) bool { return problem.Code != ProblemMandateRequired })
}

// mainFirst moves the action of the step's main button to the front.
func mainFirst(step Step, actions []string) []string {
	for _, action := range mainActions[step] {
		if i := slices.Index(actions, action); i >= 0 {
			return slices.Insert(slices.Delete(actions, i, i+1), 0, action)
		}
	}
	return actions
}

// Final reports whether nothing can change for the visitor any more. What the staff look at still can.
func (s Step) Final() bool { return s == StepDone || s == StepAbandoned || s == StepExpired }
