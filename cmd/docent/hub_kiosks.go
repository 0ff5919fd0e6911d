package main

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"text/tabwriter"
	"time"

	"docent/sync/wire"
)

type hubKiosksCmd struct {
	List      kiosksListCmd      `cmd:"" help:"Kiosks that wait for a certificate, and those that have one."`
	Authorise kiosksAuthoriseCmd `cmd:"" help:"Give the kiosk that shows a code its certificate."`
	Revoke    kiosksRevokeCmd    `cmd:"" help:"End a kiosk's certificate and its connection."`
	Do        kiosksDoCmd        `cmd:"" help:"Ask a kiosk for something, and wait for its answer."`
}

type kiosksListCmd struct {
	hubPage
	JSON string `name:"json" help:"Write the list to this file, - for standard output." placeholder:"FILE"`
}

// kiosksList is what the hub tells.
type kiosksList struct {
	Fingerprint string `json:"fingerprint"`
	Waiting     []struct {
		Site      string    `json:"site"`
		Kiosk     string    `json:"kiosk_id"`
		Remote    string    `json:"remote"`
		AskedAt   time.Time `json:"asked_at"`
		ExpiresAt time.Time `json:"expires_at"`
		Replaces  bool      `json:"replaces"`
	} `json:"waiting"`
	Certificates []struct {
		Site      string       `json:"site"`
		Kiosk     string       `json:"kiosk_id"`
		Until     time.Time    `json:"until"`
		RevokedAt time.Time    `json:"revoked_at,omitzero"`
		Reason    wire.Refusal `json:"reason,omitempty"`
	} `json:"certificates"`
}

func (c kiosksListCmd) Run(ctx context.Context, t *terminal) error {
	var list kiosksList
	if err := c.call(ctx, http.MethodGet, "/api/v1/enrolments", nil, &list); err != nil {
		return err
	}
	if inWords, err := t.report(c.JSON, list); err != nil || !inWords {
		return err
	}
	if list.Fingerprint == "" {
		_, err := fmt.Fprintln(t.out, "This hub runs without certificates.")
		return err
	}
	fmt.Fprintf(t.out, "Fingerprint of this hub: %s\n", list.Fingerprint)
	if len(list.Waiting) > 0 {
		fmt.Fprintln(t.out, "\nWaiting; authorise with the code that the kiosk shows:")
		w := tabwriter.NewWriter(t.out, 0, 0, 2, ' ', 0)
		for _, k := range list.Waiting {
			note := ""
			if k.Replaces {
				note = "takes the place of a kiosk that has a certificate (--replace)"
			}
			fmt.Fprintf(w, "  %s\t%s\tfrom %s\tuntil %s\t%s\n", k.Site, k.Kiosk, k.Remote, k.ExpiresAt.Local().Format(time.TimeOnly), note)
		}
		if err := w.Flush(); err != nil {
			return err
		}
	}
	if len(list.Certificates) > 0 {
		fmt.Fprintln(t.out, "\nCertificates:")
	}
	w := tabwriter.NewWriter(t.out, 0, 0, 2, ' ', 0)
	for _, k := range list.Certificates {
		state := "until " + k.Until.Local().Format(time.DateOnly)
		if !k.RevokedAt.IsZero() {
			state = fmt.Sprintf("%s %s", k.Reason, k.RevokedAt.Local().Format(time.DateTime))
		}
		fmt.Fprintf(w, "  %s\t%s\t%s\n", k.Site, k.Kiosk, state)
	}
	return w.Flush()
}

type kiosksAuthoriseCmd struct {
	hubPage
	Code    string `arg:"" help:"The six letters and digits that the kiosk shows."`
	Replace bool   `help:"The kiosk takes the place of one that has a certificate, which loses it."`
}

func (c kiosksAuthoriseCmd) Run(ctx context.Context, t *terminal) error {
	if _, err := wire.ParseCode(c.Code); err != nil {
		return usageError{err}
	}
	var kiosk struct {
		Site  string `json:"site"`
		Kiosk string `json:"kiosk_id"`
	}
	in := map[string]any{"code": c.Code, "replace": c.Replace}
	if err := c.call(ctx, http.MethodPost, "/api/v1/enrolments/authorise", in, &kiosk); err != nil {
		return err
	}
	_, err := fmt.Fprintf(t.out, "%s of %s is authorised.\n", kiosk.Kiosk, kiosk.Site)
	return err
}

type kiosksRevokeCmd struct {
	hubPage
	Kiosk string `arg:"" help:"SITE/KIOSK."`
}

func (c kiosksRevokeCmd) Run(ctx context.Context, t *terminal) error {
	kiosk, err := parseKiosk(c.Kiosk)
	if err != nil {
		return err
	}
	if err := c.call(ctx, http.MethodPost, "/api/v1/enrolments/revoke", map[string]string{"site": kiosk.Site, "kiosk_id": kiosk.Kiosk}, nil); err != nil {
		return err
	}
	_, err = fmt.Fprintf(t.out, "%s of %s is revoked.\n", kiosk.Kiosk, kiosk.Site)
	return err
}

// parseKiosk reads SITE/KIOSK.
func parseKiosk(s string) (wire.Address, error) {
	site, kiosk, ok := strings.Cut(s, "/")
	if !ok {
		return wire.Address{}, usageError{fmt.Errorf("kiosk %q has no site: write SITE/KIOSK, such as louvre/k1", s)}
	}
	a := wire.Address{Site: site, Kiosk: kiosk}
	if err := a.Validate(); err != nil {
		return a, usageError{fmt.Errorf("kiosk %q: write SITE/KIOSK, such as louvre/k1: %w", s, err)}
	}
	return a, nil
}
