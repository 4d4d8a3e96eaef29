package stripe

import (
	"context"

	stripego "github.com/stripe/stripe-go/v85"
)

// services are the parts of the library that are used, by what is asked of them:
// a reference to its whole client would link the code for every object that the
// processor knows, which is a third of the binary.
type services struct {
	payments interface {
		Create(context.Context, *stripego.PaymentIntentCreateParams) (*stripego.PaymentIntent, error)
		Retrieve(context.Context, string, *stripego.PaymentIntentRetrieveParams) (*stripego.PaymentIntent, error)
		Capture(context.Context, string, *stripego.PaymentIntentCaptureParams) (*stripego.PaymentIntent, error)
		Cancel(context.Context, string, *stripego.PaymentIntentCancelParams) (*stripego.PaymentIntent, error)
		Update(context.Context, string, *stripego.PaymentIntentUpdateParams) (*stripego.PaymentIntent, error)
		List(context.Context, *stripego.PaymentIntentListParams) *stripego.V1List[*stripego.PaymentIntent]
	}
	refunds interface {
		Create(context.Context, *stripego.RefundCreateParams) (*stripego.Refund, error)
	}
	accounts interface {
		Retrieve(context.Context, *stripego.AccountRetrieveParams) (*stripego.Account, error)
	}
	endpoints interface {
		List(context.Context, *stripego.WebhookEndpointListParams) *stripego.V1List[*stripego.WebhookEndpoint]
	}
}

func servicesOf(api *stripego.Client) services {
	return services{payments: api.V1PaymentIntents, refunds: api.V1Refunds, accounts: api.V1Accounts, endpoints: api.V1WebhookEndpoints}
}
