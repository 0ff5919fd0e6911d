package store

import (
	"context"
	"crypto/x509"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"docent/sync/wire"
)

// Bounds of the requests that wait.
const (
	maxWaiting       = 256
	maxWaitingAKiosk = 3
	keepEnrolments   = 24 * time.Hour // after their end, for kiosks that fetch late
)

// Errors of enrolment.
var (
	ErrNotFound = errors.New("there is none")
	ErrTooMany  = errors.New("too many requests wait")
	ErrReplaces = errors.New("a kiosk of that name has a certificate")
)

// Enrolment is a kiosk's request for a certificate.
type Enrolment struct {
	IDHash      string
	Code        string
	Kiosk       wire.Address
	CSR         []byte
	Remote      string
	AskedAt     time.Time
	ExpiresAt   time.Time
	Status      wire.EnrolStatus
	Certificate []byte // DER, once granted
}

// Certificate is one that was signed for a kiosk.
type Certificate struct {
	Serial    string // hex
	Kiosk     wire.Address
	NotBefore time.Time
	NotAfter  time.Time
	RevokedAt time.Time // zero: it holds
	Reason    wire.Refusal
}

// Describe is the store's row of a kiosk's certificate.
func Describe(kiosk wire.Address, c *x509.Certificate) Certificate {
	return Certificate{Serial: c.SerialNumber.Text(16), Kiosk: kiosk, NotBefore: c.NotBefore, NotAfter: c.NotAfter}
}

// AddEnrolment stores a request. ErrTooMany says that too many wait already.
func (s *Store) AddEnrolment(ctx context.Context, e Enrolment) error {
	err := s.inTx(ctx, func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, `DELETE FROM enrolments WHERE expires_at < ?`, formatTime(e.AskedAt.Add(-keepEnrolments))); err != nil {
			return err
		}
		var all, own int
		err := tx.QueryRowContext(ctx, `SELECT count(*), count(*) FILTER (WHERE site = ? AND kiosk_id = ?) FROM enrolments WHERE status = ? AND expires_at > ?`,
			e.Kiosk.Site, e.Kiosk.Kiosk, string(wire.EnrolWaiting), formatTime(e.AskedAt)).Scan(&all, &own)
		if err != nil {
			return err
		}
		if all >= maxWaiting || own >= maxWaitingAKiosk {
			return ErrTooMany
		}
		_, err = tx.ExecContext(ctx, `INSERT INTO enrolments (id_hash, code, site, kiosk_id, csr, remote, asked_at, expires_at, status) VALUES (?,?,?,?,?,?,?,?,?)`,
			e.IDHash, e.Code, e.Kiosk.Site, e.Kiosk.Kiosk, e.CSR, e.Remote, formatTime(e.AskedAt), formatTime(e.ExpiresAt), string(wire.EnrolWaiting))
		return err
	})
	if err != nil {
		return fmt.Errorf("store enrolment: %w", err)
	}
	return nil
}

const enrolmentColumns = `id_hash, code, site, kiosk_id, csr, remote, asked_at, expires_at, status, certificate`

func scanEnrolment(row interface{ Scan(...any) error }) (Enrolment, error) {
	var e Enrolment
	var asked, expires string
	err := row.Scan(&e.IDHash, &e.Code, &e.Kiosk.Site, &e.Kiosk.Kiosk, &e.CSR, &e.Remote, &asked, &expires, &e.Status, &e.Certificate)
	if errors.Is(err, sql.ErrNoRows) {
		err = ErrNotFound
	}
	e.AskedAt, e.ExpiresAt = parseTime(asked), parseTime(expires)
	return e, err
}

// Enrolment returns a request by the hash of its id, or ErrNotFound.
func (s *Store) Enrolment(ctx context.Context, idHash string) (Enrolment, error) {
	e, err := scanEnrolment(s.read.QueryRowContext(ctx, `SELECT `+enrolmentColumns+` FROM enrolments WHERE id_hash = ?`, idHash))
	if err != nil {
		return Enrolment{}, fmt.Errorf("read enrolment: %w", err)
	}
	return e, nil
}

// Waiting lists the requests that staff have not decided on, the oldest first.
func (s *Store) Waiting(ctx context.Context, now time.Time) ([]Enrolment, error) {
	rows, err := s.read.QueryContext(ctx, `SELECT `+enrolmentColumns+` FROM enrolments WHERE status = ? AND expires_at > ? ORDER BY asked_at`,
		string(wire.EnrolWaiting), formatTime(now))
	if err != nil {
		return nil, fmt.Errorf("read enrolments: %w", err)
	}
	defer rows.Close()
	out := []Enrolment{}
	for rows.Next() {
		e, err := scanEnrolment(rows)
		if err != nil {
			return nil, fmt.Errorf("read enrolments: %w", err)
		}
		out = append(out, e)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("read enrolments: %w", err)
	}
	return out, nil
}

// Grant signs, by sign, the request that waits under a code, in one transaction. A kiosk of that name that has a
// certificate is an ErrReplaces, unless it shall be replaced: then its certificates hold no more.
func (s *Store) Grant(ctx context.Context, code string, now time.Time, replace bool, sign func(Enrolment) (*x509.Certificate, error)) (Enrolment, error) {
	var e Enrolment
	err := s.inTx(ctx, func(tx *sql.Tx) (err error) {
		e, err = scanEnrolment(tx.QueryRowContext(ctx, `SELECT `+enrolmentColumns+` FROM enrolments WHERE code = ? AND status = ? AND expires_at > ?`,
			code, string(wire.EnrolWaiting), formatTime(now)))
		if err != nil {
			return err
		}
		var holds int
		err = tx.QueryRowContext(ctx, `SELECT count(*) FROM certificates WHERE site = ? AND kiosk_id = ? AND revoked_at = '' AND not_after > ?`,
			e.Kiosk.Site, e.Kiosk.Kiosk, formatTime(now)).Scan(&holds)
		if err != nil {
			return err
		}
		if holds > 0 && !replace {
			return ErrReplaces
		}
		if err := revoke(ctx, tx, e.Kiosk, now, wire.RefusedReplaced); err != nil {
			return err
		}
		cert, err := sign(e)
		if err != nil {
			return err
		}
		if err := addCertificate(ctx, tx, Describe(e.Kiosk, cert)); err != nil {
			return err
		}
		e.Status, e.Certificate = wire.EnrolGranted, cert.Raw
		_, err = tx.ExecContext(ctx, `UPDATE enrolments SET status = ?, certificate = ? WHERE id_hash = ?`, string(e.Status), e.Certificate, e.IDHash)
		return err
	})
	if err != nil {
		return e, fmt.Errorf("grant certificate: %w", err)
	}
	return e, nil
}

// AddCertificate stores a certificate that was signed.
func (s *Store) AddCertificate(ctx context.Context, c Certificate) error {
	if err := s.inTx(ctx, func(tx *sql.Tx) error { return addCertificate(ctx, tx, c) }); err != nil {
		return fmt.Errorf("store certificate: %w", err)
	}
	return nil
}

func addCertificate(ctx context.Context, tx *sql.Tx, c Certificate) error {
	_, err := tx.ExecContext(ctx, `INSERT INTO certificates (serial, site, kiosk_id, not_before, not_after) VALUES (?,?,?,?,?)`,
		c.Serial, c.Kiosk.Site, c.Kiosk.Kiosk, formatTime(c.NotBefore), formatTime(c.NotAfter))
	return err
}

// Revoke ends all certificates of a kiosk. It says how many of those that are known held until now.
func (s *Store) Revoke(ctx context.Context, kiosk wire.Address, at time.Time, reason wire.Refusal) (n int, err error) {
	err = s.inTx(ctx, func(tx *sql.Tx) error {
		err := tx.QueryRowContext(ctx, `SELECT count(*) FROM certificates WHERE site = ? AND kiosk_id = ? AND revoked_at = ''`, kiosk.Site, kiosk.Kiosk).Scan(&n)
		if err != nil {
			return err
		}
		return revoke(ctx, tx, kiosk, at, reason)
	})
	if err != nil {
		return 0, fmt.Errorf("revoke certificates: %w", err)
	}
	return n, nil
}

func revoke(ctx context.Context, tx *sql.Tx, kiosk wire.Address, at time.Time, reason wire.Refusal) error {
	_, err := tx.ExecContext(ctx, `UPDATE certificates SET revoked_at = ?, reason = ? WHERE site = ? AND kiosk_id = ? AND revoked_at = ''`,
		formatTime(at), string(reason), kiosk.Site, kiosk.Kiosk)
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, `INSERT INTO revocations (site, kiosk_id, at, reason) VALUES (?,?,?,?)
		ON CONFLICT (site, kiosk_id) DO UPDATE SET at = excluded.at, reason = excluded.reason`,
		kiosk.Site, kiosk.Kiosk, formatTime(at), string(reason))
	return err
}

// Holds says why a certificate that the authority has signed does not hold, empty when it does, and whether it is in the
// store. One that is not was signed after the backup this store came from, or by hand; it holds unless its name was
// revoked after it began.
func (s *Store) Holds(ctx context.Context, c Certificate) (refusal wire.Refusal, known bool, err error) {
	err = s.read.QueryRowContext(ctx, `SELECT reason FROM certificates WHERE serial = ?`, c.Serial).Scan(&refusal)
	if err == nil {
		return refusal, true, nil
	}
	if !errors.Is(err, sql.ErrNoRows) {
		return "", false, fmt.Errorf("read certificate: %w", err)
	}
	err = s.read.QueryRowContext(ctx, `SELECT reason FROM revocations WHERE site = ? AND kiosk_id = ? AND at >= ?`,
		c.Kiosk.Site, c.Kiosk.Kiosk, formatTime(c.NotBefore)).Scan(&refusal)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return "", false, fmt.Errorf("read revocations: %w", err)
	}
	return refusal, false, nil
}

// Adopt stores certificates that were not known.
func (s *Store) Adopt(ctx context.Context, all []Certificate) error {
	err := s.inTx(ctx, func(tx *sql.Tx) error {
		for _, c := range all {
			_, err := tx.ExecContext(ctx, `INSERT INTO certificates (serial, site, kiosk_id, not_before, not_after) VALUES (?,?,?,?,?)
				ON CONFLICT (serial) DO NOTHING`,
				c.Serial, c.Kiosk.Site, c.Kiosk.Kiosk, formatTime(c.NotBefore), formatTime(c.NotAfter))
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("store certificates: %w", err)
	}
	return nil
}

// Certificates lists the newest certificate of each kiosk, by site and name.
func (s *Store) Certificates(ctx context.Context) ([]Certificate, error) {
	rows, err := s.read.QueryContext(ctx, `SELECT serial, site, kiosk_id, not_before, not_after, revoked_at, reason FROM
		(SELECT *, row_number() OVER (PARTITION BY site, kiosk_id ORDER BY not_before DESC, serial) AS place FROM certificates) AS c
		WHERE place = 1 ORDER BY site, kiosk_id`)
	if err != nil {
		return nil, fmt.Errorf("read certificates: %w", err)
	}
	defer rows.Close()
	out := []Certificate{}
	for rows.Next() {
		var c Certificate
		var before, after, revoked string
		if err := rows.Scan(&c.Serial, &c.Kiosk.Site, &c.Kiosk.Kiosk, &before, &after, &revoked, &c.Reason); err != nil {
			return nil, fmt.Errorf("read certificates: %w", err)
		}
		c.NotBefore, c.NotAfter, c.RevokedAt = parseTime(before), parseTime(after), parseTime(revoked)
		out = append(out, c)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("read certificates: %w", err)
	}
	return out, nil
}
