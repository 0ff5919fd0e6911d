package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
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

// hubPage is where the running hub on this machine is asked.
type hubPage struct {
	Hub string `default:"http://127.0.0.1:8081" help:"Address of the hub's page on this machine." placeholder:"URL"`
}

// maxPageAnswer is how much of the hub's answer is read.
const maxPageAnswer = 16 << 20

// call asks the hub and decodes its answer into out, if there is one. What the hub refuses is told in its own words.
func (p hubPage) call(ctx context.Context, method, path string, in, out any) error {
	var body bytes.Buffer
	if in != nil {
		if err := json.NewEncoder(&body).Encode(in); err != nil {
			return fmt.Errorf("ask the hub: %w", err)
		}
	}
	if err := checkPage(p.Hub); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, strings.TrimRight(p.Hub, "/")+path, &body)
	if err != nil {
		return usageError{fmt.Errorf("--hub: %w", err)}
	}
	req.Header.Set("Docent-Publish", "1")
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return fmt.Errorf("ask the hub (is it running on this machine?): %w", noPage(p.Hub, err))
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(res.Body, maxPageAnswer))
	if err != nil {
		return fmt.Errorf("ask the hub: %w", err)
	}
	if res.StatusCode >= 300 || (out != nil || len(answer) > 0) && !json.Valid(answer) {
		if err := askPage(ctx, p.Hub); err != nil {
			return err
		}
	}
	if res.StatusCode >= 300 {
		var problem struct {
			Detail string `json:"detail"`
		}
		if json.Unmarshal(answer, &problem) == nil && problem.Detail != "" {
			return errors.New(problem.Detail)
		}
		return fmt.Errorf("ask the hub: %s", res.Status)
	}
	if out == nil {
		return nil
	}
	if err := json.Unmarshal(answer, out); err != nil {
		return fmt.Errorf("read the hub's answer: %w", err)
	}
	return nil
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
