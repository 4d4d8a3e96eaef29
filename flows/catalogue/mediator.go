package catalogue

import "strings"

// Mediator is who settles disputes between the club and its consumers out of court, such as in France (Code de la consommation, L616-1).
type Mediator struct {
	Name string `yaml:"name"`
	URL  string `yaml:"url"`
}

func (p *problems) checkMediator(at string, mediator *Mediator) {
	if mediator == nil {
		return
	}
	p.refuse(strings.TrimSpace(mediator.Name) == "" || len(mediator.Name) > maxText, at+".name", "must have 1 to %d characters", maxText)
	p.refuse(!isWebAddress(mediator.URL), at+".url", "%q must be an address that begins with https:// or http://", mediator.URL)
}
