package wire

import (
	"fmt"
	"strings"
)

// MaxName is the length of a site's or a kiosk's name: a DNS label's, so that both fit into certificates and topics.
const MaxName = 63

// Kind is the last level of a topic: what its messages are.
type Kind string

// What kiosks send.
const (
	KindEvent  Kind = "event"  // memory events, one or more a message
	KindStatus Kind = "status" // presence, retained, and the will
	KindDeploy Kind = "deploy" // deployment feedback
	KindResult Kind = "res"    // answers to commands
	KindFetch  Kind = "fetch"  // asks for content
)

// What the hub sends. A kiosk holds one subscription for all of them.
const (
	KindAck     Kind = "ack"     // Ack
	KindRequest Kind = "req"     // commands
	KindChunk   Kind = "chunk"   // content
	KindDesired Kind = "desired" // the release to run, retained

	KindEmergency Kind = "emergency" // Emergency, retained
	KindVisit     Kind = "visit"     // VisitNotice
)

// direction of each kind: dt (data, up) or cmd (commands, down).
func (k Kind) direction() string {
	switch k {
	case KindEvent, KindStatus, KindDeploy, KindResult, KindFetch:
		return "dt"
	case KindAck, KindRequest, KindChunk, KindDesired, KindEmergency, KindVisit:
		return "cmd"
	}
	return ""
}

// Up tells whether kiosks send this kind.
func (k Kind) Up() bool { return k.direction() == "dt" }

// QoS is the quality of service that the hub sends this kind with. An acknowledgement that is lost is made up for by the next,
// and by one at each connection; an answer to each of them would be a third of all packets.
func (k Kind) QoS() byte {
	if k == KindAck {
		return 0
	}
	return 1
}

// Address names one kiosk of one site.
type Address struct {
	Site  string `json:"site"`
	Kiosk string `json:"kiosk"`
}

// Validate says what is wrong with the names, if anything.
func (a Address) Validate() error {
	if err := ValidName(a.Site); err != nil {
		return fmt.Errorf("site: %w", err)
	}
	if err := ValidName(a.Kiosk); err != nil {
		return fmt.Errorf("kiosk: %w", err)
	}
	return nil
}

// Topic is the kiosk's topic of one kind, "dt/docent/v1/SITE/KIOSK/event" for example.
func (a Address) Topic(k Kind) string {
	return k.direction() + "/docent/v1/" + a.Site + "/" + a.Kiosk + "/" + string(k)
}

// Commands is the one subscription of a kiosk. "+" and not "#", because "#" costs a second consumer on NATS.
func (a Address) Commands() string { return "cmd/docent/v1/" + a.Site + "/" + a.Kiosk + "/+" }

// ClientID is the kiosk's MQTT client id and the common name of its certificate: SITE_KIOSK. Names hold no underscore,
// so it reads back one way only, and it has none of the characters (/ + # . space) that brokers refuse in an identity.
func (a Address) ClientID() string { return a.Site + "_" + a.Kiosk }

// ParseClientID reads an address back from a client id.
func ParseClientID(id string) (Address, error) {
	site, kiosk, _ := strings.Cut(id, "_")
	a := Address{Site: site, Kiosk: kiosk}
	if err := a.Validate(); err != nil {
		return Address{}, fmt.Errorf("client id: %w", err)
	}
	return a, nil
}

// ParseTopic reads a topic name. It accepts only topics of this contract: no wildcards, no unknown kinds.
func ParseTopic(topic string) (Address, Kind, error) {
	parts := strings.Split(topic, "/")
	if len(parts) != 6 || parts[1] != "docent" || parts[2] != "v1" {
		return Address{}, "", fmt.Errorf("topic is not of the form dt/docent/v1/SITE/KIOSK/KIND: %w", ErrInvalid)
	}
	a, k := Address{Site: parts[3], Kiosk: parts[4]}, Kind(parts[5])
	if k.direction() == "" || k.direction() != parts[0] {
		return Address{}, "", fmt.Errorf("topic kind: %w", ErrInvalid)
	}
	if err := a.Validate(); err != nil {
		return Address{}, "", fmt.Errorf("topic: %w", err)
	}
	return a, k, nil
}

// ValidName accepts lower-case letters, digits and, inside, dashes: 1 to MaxName characters.
func ValidName(s string) error {
	if len(s) == 0 || len(s) > MaxName {
		return fmt.Errorf("name of %d characters, 1 to %d allowed: %w", len(s), MaxName, ErrInvalid)
	}
	for i := range len(s) {
		c := s[i]
		if !(c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '-') {
			return fmt.Errorf("name %q has more than lower-case letters, digits and dashes: %w", s, ErrInvalid)
		}
	}
	if s[0] == '-' || s[len(s)-1] == '-' {
		return fmt.Errorf("name %q begins or ends with a dash: %w", s, ErrInvalid)
	}
	return nil
}
