package store

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"math/big"
	"sync"
	"testing"
	"time"

	"docent/sync/wire"
)

func TestEnrolment(t *testing.T) {
	both(t, func(t *testing.T, p place) {
		ctx, s := context.Background(), p.open(t)
		add := func(n int) error {
			return s.AddEnrolment(ctx, Enrolment{
				IDHash: fmt.Sprint("hash", n), Code: fmt.Sprint("code", n), Kiosk: addr, CSR: []byte{0, 255, byte(n)}, Remote: "192.0.2.1\x00",
				AskedAt: now.Add(time.Duration(n)), ExpiresAt: now.Add(time.Hour)})
		}
		for n := range maxWaitingAKiosk {
			if err := add(n); err != nil {
				t.Fatal(err)
			}
		}
		if err := add(9); !errors.Is(err, ErrTooMany) {
			t.Errorf("one more: %v", err)
		}
		w, err := s.Waiting(ctx, now)
		if err != nil || len(w) != maxWaitingAKiosk || w[1].CSR[2] != 1 || w[1].Code != "code1" {
			t.Fatalf("waiting %+v, %v", w, err)
		}
		serial := int64(0)
		sign := func(Enrolment) (*x509.Certificate, error) {
			serial++
			return &x509.Certificate{SerialNumber: big.NewInt(serial), NotBefore: now.Add(time.Duration(serial) * time.Second), NotAfter: now.Add(time.Hour), Raw: []byte{1, 0, 2}}, nil
		}
		e, err := s.Grant(ctx, "code0", now, false, sign)
		if err != nil || e.Status != wire.EnrolGranted {
			t.Fatalf("granted %+v, %v", e, err)
		}
		if _, err := s.Grant(ctx, "code0", now, false, sign); !errors.Is(err, ErrNotFound) {
			t.Errorf("granted twice: %v", err)
		}
		if _, err := s.Grant(ctx, "code1", now, false, sign); !errors.Is(err, ErrReplaces) {
			t.Errorf("a second of that name: %v", err)
		}
		if _, err := s.Grant(ctx, "code1", now, true, sign); err != nil {
			t.Fatal(err)
		}
		if got, err := s.Enrolment(ctx, "hash1"); err != nil || string(got.Certificate) != "\x01\x00\x02" {
			t.Errorf("%+v, %v", got, err)
		}
		all, err := s.Certificates(ctx)
		if err != nil || len(all) != 1 || !all[0].RevokedAt.IsZero() || all[0].Serial != big.NewInt(serial).Text(16) {
			t.Errorf("newest certificates %+v, %v", all, err)
		}
		if why, known, err := s.Holds(ctx, all[0]); why != "" || !known || err != nil {
			t.Errorf("the new one: %q %v %v", why, known, err)
		}
		old := Certificate{Serial: "1", Kiosk: addr}
		if why, known, err := s.Holds(ctx, old); why != wire.RefusedReplaced || !known || err != nil {
			t.Errorf("the one before: %q %v %v", why, known, err)
		}
		stranger := Certificate{Serial: "ff", Kiosk: addr, NotBefore: now.Add(-time.Hour), NotAfter: now.Add(time.Hour)}
		for range 2 {
			if err := s.Adopt(ctx, []Certificate{stranger}); err != nil {
				t.Fatal(err)
			}
		}
		if n, err := s.Revoke(ctx, addr, now, wire.RefusedRevoked); n != 2 || err != nil {
			t.Errorf("%d revoked, %v", n, err)
		}
	})
}

// TestOneCodeIsGrantedOnce lets several processes grant the same code at the same time.
func TestOneCodeIsGrantedOnce(t *testing.T) {
	both(t, func(t *testing.T, p place) {
		ctx := context.Background()
		stores := []*Store{p.open(t), p.open(t), p.open(t)}
		for round := range 5 {
			code := fmt.Sprint("code", round)
			k := wire.Address{Site: "museum", Kiosk: fmt.Sprint("kiosk-", round)}
			if err := stores[0].AddEnrolment(ctx, Enrolment{IDHash: code, Code: code, Kiosk: k, CSR: []byte("x"), AskedAt: now, ExpiresAt: now.Add(time.Hour)}); err != nil {
				t.Fatal(err)
			}
			var wg sync.WaitGroup
			var mu sync.Mutex
			granted := 0
			for i, s := range stores {
				wg.Go(func() {
					_, err := s.Grant(ctx, code, now, false, func(Enrolment) (*x509.Certificate, error) {
						return &x509.Certificate{SerialNumber: big.NewInt(int64(100*round + i)), NotBefore: now, NotAfter: now.Add(time.Hour), Raw: []byte("der")}, nil
					})
					mu.Lock()
					defer mu.Unlock()
					if err == nil {
						granted++
					} else if !errors.Is(err, ErrNotFound) {
						t.Error(err)
					}
				})
			}
			wg.Wait()
			if granted != 1 {
				t.Errorf("granted %d times", granted)
			}
		}
	})
}

func TestCommandsAndDeployments(t *testing.T) {
	both(t, func(t *testing.T, p place) {
		ctx, s := context.Background(), p.open(t)
		id := func(n int) string { return fmt.Sprintf("0192f0c1-0000-7000-8000-%012x", n) }
		for n := range maxCommands + 3 {
			c := wire.Command{ID: id(n), Name: wire.CommandRefresh, Value: n, IssuedAt: now, ExpiresAt: now.Add(time.Hour)}
			if err := s.AddCommand(ctx, addr, c); err != nil {
				t.Fatal(err)
			}
		}
		open, err := s.OpenCommands(ctx, addr, now)
		if err != nil || len(open) != maxCommands || open[0].ID != id(3) || open[0].Value != 3 {
			t.Fatalf("%d open, %v", len(open), err)
		}
		if _, err := s.Command(ctx, id(0)); !errors.Is(err, ErrNotFound) {
			t.Errorf("the oldest: %v", err)
		}
		for _, detail := range []string{"first\x00", "second"} {
			r := wire.Result{ID: id(5), Status: wire.ResultDone, Detail: detail, Type: "text/plain", Data: []byte{0, 1, 255}}
			if err := s.SetResult(ctx, addr, r, now); err != nil {
				t.Fatal(err)
			}
		}
		c, err := s.Command(ctx, id(5))
		if err != nil || c.Result == nil || c.Result.Detail[:5] != "first" || string(c.Result.Data) != "\x00\x01\xff" {
			t.Errorf("%+v, %v", c, err)
		}
		for _, d := range []wire.Deploy{
			{Status: wire.DeployDownloading, Number: 3, Done: 5, Of: 9, Shown: "a-1"},
			{Deployment: "r1", Status: wire.DeployFailure, Number: 4, RolledBack: true, Resumed: true, Code: "health", Detail: "龟\x00", Shown: "a-1"},
		} {
			if err := s.SetDeployment(ctx, addr, d, now); err != nil {
				t.Fatal(err)
			}
		}
		all, err := s.Deployments(ctx)
		if d := all[addr]; err != nil || len(all) != 1 || d.Deployment != "r1" || !d.RolledBack || !d.Resumed || d.Number != 4 || d.Code != "health" {
			t.Errorf("%+v, %v", all, err)
		}
	})
}
