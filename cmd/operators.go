package cmd

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"frontdesk/flows"
	"frontdesk/handlers/ops"
)

func newOperatorsCommand() *cobra.Command {
	return newGroup("operators", "Create the tokens with which operators call a gateway.", &cobra.Command{
		Use:   "add <name>",
		Short: "Print a new token for an operator, once, and the entry for FRONTDESK_OPERATORS. It changes no gateway.",
		Args:  exactArgs("name"),
		RunE: func(command *cobra.Command, args []string) error {
			if !flows.IsOperatorName(args[0]) {
				return fmt.Errorf("name: %s", flows.OperatorNameRule)
			}
			secret := make([]byte, sha256.Size)
			_, _ = rand.Read(secret) // never fails
			token := hex.EncodeToString(secret)
			_, err := fmt.Fprintf(command.OutOrStdout(), "Token, for %s alone (FRONTDESK_OPERATOR_TOKEN):\n  %s\n"+
				"Entry, for the gateway (FRONTDESK_OPERATORS, separated by commas):\n  %s\n",
				args[0], token, operatorEntry(args[0], token))
			return err
		},
	})
}

func operatorEntry(name, token string) string {
	return fmt.Sprintf("%s:%x", name, sha256.Sum256([]byte(token)))
}

// operators decodes FRONTDESK_OPERATORS. Its errors name entries by number, because an entry can
// hold a token by mistake.
func (cfg Config) operators() (operators []ops.Operator, err error) {
	for i, entry := range cfg.Operators {
		name, text, found := strings.Cut(strings.TrimSpace(entry), ":")
		hash, err := hex.DecodeString(text)
		operator := ops.Operator{Name: name}
		switch {
		case !found:
			return nil, fmt.Errorf("entry %d must be name:hash, as frontdesk operators add prints it", i+1)
		case !flows.IsOperatorName(name):
			return nil, fmt.Errorf("entry %d: the name %s", i+1, flows.OperatorNameRule)
		case err != nil || copy(operator.TokenHash[:], hash) != sha256.Size || len(hash) != sha256.Size:
			return nil, fmt.Errorf("entry %d must have the SHA-256 of a token, 64 hexadecimal digits: "+
				"create one with frontdesk operators add", i+1)
		case slices.ContainsFunc(operators, func(o ops.Operator) bool { return o.Name == name || o.TokenHash == operator.TokenHash }):
			return nil, fmt.Errorf("entry %d repeats a name or a token: each operator must have one of their own", i+1)
		}
		operators = append(operators, operator)
	}
	return operators, nil
}

// operatorRules checks the operators. Live mode requires one, because only operators can
// resolve a payment in doubt.
func (cfg Config) operatorRules() []rule {
	const variable = "FRONTDESK_OPERATORS"
	operators, err := cfg.operators()
	isLive, none := cfg.Mode == "live", len(cfg.Operators) == 0
	demo := sha256.Sum256([]byte(demoOperatorToken))
	isDemo := func(operator ops.Operator) bool { return operator.TokenHash == demo }
	return []rule{
		{variable, err != nil, fmt.Sprintf("cannot be used: %v", err)},
		{variable, isLive && none && cfg.OpsAddr != "off",
			"is missing: only operators can resolve payments in doubt; create an entry with frontdesk operators add"},
		{variable, isLive && slices.ContainsFunc(operators, isDemo),
			"has the demo token, which is public: create one with frontdesk operators add"},
	}
}
