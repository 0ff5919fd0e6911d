package main

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/url"
	"path/filepath"
	"strings"
	"time"

	mqtt "github.com/eclipse/paho.mqtt.golang"

	"docent/sync/enrol"
	"docent/sync/wire"
)

const (
	hubName    = "Hub"
	certName   = "Certificate"
	lineName   = "Hub connection"
	hubWait    = 10 * time.Second // for one question to the hub
	clockLarge = 10 * time.Minute // between the clocks, from which on the hub's page complains
	certSoon   = 30 * 24 * time.Hour
)

// hub goes the way that a kiosk goes to its hub: the address, TLS, the fingerprint, the certificate, the broker.
func (d doctor) hub(ctx context.Context, running *runningKiosk) []finding {
	if d.config.Hub.Broker == "" {
		return []finding{note(hubName, "none in the settings", "The kiosk keeps what happens until there is one.")}
	}
	address := cmp.Or(d.config.Hub.Enrol, d.config.Hub.Broker) // the hub itself; kiosks may connect to a broker beside it
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "tls" || !strings.HasPrefix(d.config.Hub.Broker, "tls:") {
		return []finding{missing(hubName, d.config.Hub.Broker+" is without TLS, as only the demo is", "Set hub.broker to tls://HOST:PORT.")}
	}
	ctx, cancel := context.WithTimeout(ctx, 3*hubWait)
	defer cancel()
	s, err := enrol.Look(ctx, enrol.Options{
		Dir: filepath.Join(d.config.DataDir, "identity"), Hub: address, Fingerprint: d.config.Hub.Fingerprint,
		Kiosk: wire.Address{Site: d.config.Site, Kiosk: d.config.Kiosk},
	})
	switch {
	case errors.Is(err, fs.ErrPermission):
		return []finding{note(hubName, "its check was left out: "+err.Error(), "Run doctor as the kiosk's user: sudo -u docent docent doctor …")}
	case err != nil:
		return []finding{missing(hubName, err.Error(), "")}
	case s.Unreachable != nil:
		return []finding{note(hubName, "not in reach: "+reach(s.Unreachable), "The kiosk works without, and sends everything when the hub is back. "+reachAdvice(s.Unreachable)), d.certificate(s)}
	case s.Reason == enrol.ReasonHub:
		return []finding{missing(hubName, u.Host+" answers, but "+s.Detail, refusalAdvice(s.Reason))}
	}
	out := []finding{d.answers(u.Host, s), d.certificate(s)}
	if s.TLS != nil && s.Reason == "" {
		out = append(out, d.line(ctx, running, s))
	}
	return out
}

// answers is about a hub that is the kiosk's, and its clock.
func (d doctor) answers(host string, s enrol.Standing) finding {
	detail := host + " answers over TLS, fingerprint " + s.Fingerprint
	if d.config.Hub.Fingerprint == "" && s.TLS == nil {
		detail += " (none is set: compare it with what the hub logs when it starts)"
	}
	if s.HubNow.IsZero() {
		return found(hubName, detail)
	}
	apart := max(s.Apart, -s.Apart)
	if apart < 2*time.Second {
		return found(hubName, detail+"; the clocks agree")
	}
	way := "ahead of"
	if s.Apart < 0 {
		way = "behind"
	}
	detail += fmt.Sprintf("; this machine's clock is %s %s the hub's", apart, way)
	if apart >= clockLarge {
		return missing(hubName, detail, "Set the clock that is wrong: timedatectl set-ntp true, or timedatectl set-time. Certificates hold from one time to another.")
	}
	return found(hubName, detail)
}

// certificate is about what lets the kiosk in.
func (d doctor) certificate(s enrol.Standing) finding {
	until := s.Until.UTC().Format(time.DateOnly)
	switch {
	case s.Code != "":
		return note(certName, fmt.Sprintf("none yet; the kiosk shows the code %s until %s", s.Code, s.CodeUntil.Local().Format("15:04")),
			"Type it at the hub: docent hub kiosks authorise "+s.Code)
	case s.Reason == enrol.ReasonIdentity:
		return note(certName, s.Detail, "Start the kiosk, and type the code that it shows at the hub; or mend site, kiosk and hub.fingerprint.")
	case s.Reason != "":
		return missing(certName, fmt.Sprintf("the hub refuses it (%s): %s", s.Reason, s.Detail), refusalAdvice(s.Reason))
	case s.Name == "":
		return note(certName, "none yet, the kiosk asks for one when it starts", "Start the kiosk, and type the code that it shows at the hub: docent hub kiosks authorise CODE")
	case time.Until(s.Until) < certSoon:
		return note(certName, fmt.Sprintf("for %s, until %s; it should have been renewed", s.Name, until), "Let the kiosk run while the hub is in reach: it renews the certificate by itself.")
	case s.Unreachable != nil:
		return found(certName, fmt.Sprintf("for %s, until %s; the hub could not be asked", s.Name, until))
	}
	return found(certName, fmt.Sprintf("for %s, until %s; the hub takes it", s.Name, until))
}

// line connects to the broker as this kiosk, where no kiosk runs: a second connection of one name would end the first. Else it
// asks the kiosk.
func (d doctor) line(ctx context.Context, running *runningKiosk, s enrol.Standing) finding {
	if running != nil {
		return d.lineOf(ctx, *running)
	}
	err := d.knock(ctx, s.TLS)
	var why *enrol.Error
	switch {
	case err == nil:
		return found(lineName, "the broker lets this kiosk in")
	case errors.As(err, &why):
		return missing(lineName, why.Detail, refusalAdvice(why.Reason))
	}
	return missing(lineName, "the hub takes the certificate, but its broker not the connection: "+reach(err),
		"See the log of the hub or the broker. What stands between (a firewall or proxy that opens TLS) may let HTTPS through and not MQTT.")
}

// lineOf is the connection of the kiosk that runs here.
func (d doctor) lineOf(ctx context.Context, running runningKiosk) finding {
	const own = "not tried, as it would end that of the running kiosk"
	said := d.diagnostics(ctx)
	switch link, enrolled := said["link"], said["enrolment"]; {
	case link != "" && running.Hub == "connected":
		return found(lineName, own+"; that says: "+link)
	case link != "":
		return missing(lineName, own+"; that says: "+strings.TrimSuffix(link+"; "+enrolled, "; "), "See its log: journalctl -u docent")
	case running.Hub == "connected":
		return found(lineName, own+", which is connected")
	case running.Hub != "":
		return missing(lineName, own+", which is "+running.Hub, "The diagnostics page on its screen, or doctor with staff.pin in the settings, says why.")
	}
	return note(lineName, own+", which is not ready and does not say how it is", "Look again when it is ready, or stop it and run doctor.")
}

// knock sends the broker a CONNECT and says goodbye: without a will, a subscription or a message.
func (d doctor) knock(ctx context.Context, config *tls.Config) error {
	ctx, cancel := context.WithTimeout(ctx, hubWait)
	defer cancel()
	var refused error // of our own side, which paho's error does not wrap
	options := mqtt.NewClientOptions().AddBroker(d.config.Hub.Broker).
		SetClientID(wire.Address{Site: d.config.Site, Kiosk: d.config.Kiosk}.ClientID()).
		SetProtocolVersion(4).SetCleanSession(true).SetAutoReconnect(false).SetConnectRetry(false).SetConnectTimeout(hubWait).
		SetCustomOpenConnectionFn(func(u *url.URL, _ mqtt.ClientOptions) (net.Conn, error) {
			conn, err := (&tls.Dialer{Config: config}).DialContext(ctx, "tcp", u.Host)
			refused = err
			return conn, err
		})
	client := mqtt.NewClient(options)
	defer client.Disconnect(250) // ms
	token := client.Connect()
	select {
	case <-token.Done():
	case <-ctx.Done():
		return errors.New("no answer in time")
	}
	if err := token.Error(); err != nil {
		return errors.Join(refused, err)
	}
	return nil
}

// reach is what kept us from a hub, without what the library put before it.
func reach(err error) string {
	var call *url.Error
	if errors.As(err, &call) {
		return call.Err.Error()
	}
	return err.Error()
}

// reachAdvice says what to look at where a hub does not answer.
func reachAdvice(err error) string {
	var name *net.DNSError
	var network *net.OpError
	switch {
	case errors.As(err, &name):
		return "If it should be: the name of hub.broker is not known here; see its spelling and this machine's DNS."
	case errors.As(err, &network) && network.Op == "dial" && network.Timeout():
		return "If it should be: a firewall may drop what goes to that port."
	case errors.As(err, &network) && network.Op == "dial":
		return "If it should be: see that the hub runs, and the port of hub.broker (or hub.enrol)."
	}
	return "If it should be: see that hub.broker (or hub.enrol) is the hub's address for kiosks, and that nothing between opens TLS."
}

// refusalAdvice says what a person can do about a reason.
func refusalAdvice(reason string) string {
	switch reason {
	case enrol.ReasonHub:
		return "Find out who answers there. If the house has a new hub, set hub.fingerprint to what that logs when it starts."
	case enrol.ReasonClock, string(wire.RefusedNotYetValid):
		return "Set the clock that is wrong, this machine's or the hub's; all is well again by itself."
	case string(wire.RefusedExpired), string(wire.RefusedRevoked), string(wire.RefusedReplaced), string(wire.RefusedAuthority):
		return "Start the kiosk, and type the code that it shows at the hub, if it is to come in again: docent hub kiosks authorise CODE"
	case string(wire.RefusedTwo):
		return "Two machines have one identity, such as from a copied disk: on one of them stop docent, remove identity and outbox from its data_dir, and set another name."
	case string(wire.RefusedSite):
		return "Mend site in the settings, or hub.broker."
	case string(wire.RefusedTooMany):
		return "Wait some minutes, and try again."
	}
	return "See the hub's log."
}
