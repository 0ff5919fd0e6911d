// Package subscribe tells whether a broker has granted a subscription, which paho leaves to whoever asks.
package subscribe

import (
	"errors"
	"fmt"
	"time"

	mqtt "github.com/eclipse/paho.mqtt.golang"
)

// refused is the least code of an answer that grants nothing; below are the levels of service (MQTT 3.1.1, 3.9.3).
const refused = 3

// RefusedError is for a subscription that the broker does not grant, with its code.
type RefusedError struct{ Code byte }

func (e RefusedError) Error() string { return fmt.Sprintf("subscribe: refused (0x%02x)", e.Code) }

// Wait waits for the broker's answer. A refused subscription, which leaves no error in paho's token, is a [RefusedError].
func Wait(token mqtt.Token, limit time.Duration) error {
	if !token.WaitTimeout(limit) {
		return errors.New("subscribe: no answer")
	}
	if err := token.Error(); err != nil {
		return fmt.Errorf("subscribe: %w", err)
	}
	for _, code := range token.(*mqtt.SubscribeToken).Result() {
		if code >= refused {
			return RefusedError{code}
		}
	}
	return nil
}
