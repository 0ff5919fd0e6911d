package enrol

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"docent/internal/durable"
	"docent/sync/wire"
)

// Files of an identity, readable by their owner only.
const (
	heldFile    = "identity.pem" // key, certificate, and the authority's certificate
	pendingFile = "pending.json" // a request that staff have not decided on
	asideFile   = "identity.old.pem"
	maxFile     = 64 << 10
)

// load reads what there is.
func (i *Identity) load() error {
	if err := os.MkdirAll(i.opt.Dir, 0o700); err != nil {
		return err
	}
	h, err := readHeld(i.path(heldFile))
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		i.log.Warn("identity cannot be read, the kiosk asks for a new one", "err", err)
		if err := i.setAside(); err != nil {
			return err
		}
	case h.leaf.Subject.CommonName != i.opt.Kiosk.ClientID():
		i.log.Info("identity is for another name, the kiosk asks for a new one", "was", h.leaf.Subject.CommonName)
		if err := i.setAside(); err != nil {
			return err
		}
	case i.opt.Fingerprint != "" && wire.Fingerprint(h.ca) != i.opt.Fingerprint:
		i.log.Info("identity is from another hub than set, the kiosk asks for a new one")
		if err := i.setAside(); err != nil {
			return err
		}
	default:
		i.held = h
	}
	p, err := readPending(i.path(pendingFile))
	if err == nil && i.opt.Clock().Before(p.until) && (i.opt.Fingerprint == "" || wire.Fingerprint(p.ca) == i.opt.Fingerprint) {
		i.pending = p
	}
	return nil
}

func (i *Identity) path(name string) string { return filepath.Join(i.opt.Dir, name) }

// setAside keeps the newest identity that is not used any more, for a person to look at.
func (i *Identity) setAside() error {
	return os.Rename(i.path(heldFile), i.path(asideFile))
}

func readFile(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if info.Size() > maxFile {
		return nil, fmt.Errorf("read %s: %d bytes, at most %d", path, info.Size(), maxFile)
	}
	return os.ReadFile(path)
}

func readHeld(path string) (*held, error) {
	data, err := readFile(path)
	if err != nil {
		return nil, err
	}
	return parseHeld(data)
}

// parseHeld reads key, certificate and authority, and checks that they belong together.
func parseHeld(data []byte) (*held, error) {
	pair, err := tls.X509KeyPair(data, data)
	if err != nil {
		return nil, fmt.Errorf("read identity: %w", err)
	}
	if len(pair.Certificate) != 2 {
		return nil, fmt.Errorf("read identity: %d certificates, want 2", len(pair.Certificate))
	}
	ca, err := x509.ParseCertificate(pair.Certificate[1])
	if err != nil {
		return nil, fmt.Errorf("read identity: %w", err)
	}
	key, ok := pair.PrivateKey.(crypto.Signer)
	if !ok {
		return nil, errors.New("read identity: key cannot sign")
	}
	if err := pair.Leaf.CheckSignatureFrom(ca); err != nil {
		return nil, fmt.Errorf("read identity: %w", err)
	}
	return &held{key: key, leaf: pair.Leaf, ca: ca}, nil
}

// keep writes a certificate durably and uses it from now on. The request it came from is over.
func (i *Identity) keep(h *held) error {
	key, err := x509.MarshalPKCS8PrivateKey(h.key)
	if err != nil {
		return fmt.Errorf("keep certificate: %w", err)
	}
	data := pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: key})
	for _, c := range []*x509.Certificate{h.leaf, h.ca} {
		data = append(data, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: c.Raw})...)
	}
	if err := durable.WriteFile(i.path(heldFile), data, 0o600); err != nil {
		return fmt.Errorf("keep certificate: %w", err)
	}
	i.mu.Lock()
	i.held, i.trouble = h, nil
	i.mu.Unlock()
	notify(i.changed)
	return i.drop()
}

// pendingJSON is the file of a request.
type pendingJSON struct {
	Key       []byte    `json:"key"`       // PKCS #8
	Authority []byte    `json:"authority"` // DER
	ID        string    `json:"id"`
	Code      string    `json:"code"`
	Until     time.Time `json:"until"`
}

func readPending(path string) (*pending, error) {
	data, err := readFile(path)
	if err != nil {
		return nil, err
	}
	return parsePending(data)
}

func parsePending(data []byte) (*pending, error) {
	var in pendingJSON
	if err := json.Unmarshal(data, &in); err != nil {
		return nil, fmt.Errorf("read request: %w", err)
	}
	key, err := x509.ParsePKCS8PrivateKey(in.Key)
	if err != nil {
		return nil, fmt.Errorf("read request: %w", err)
	}
	signer, ok := key.(crypto.Signer)
	if !ok {
		return nil, errors.New("read request: key cannot sign")
	}
	ca, err := x509.ParseCertificate(in.Authority)
	if err != nil {
		return nil, fmt.Errorf("read request: %w", err)
	}
	a := wire.EnrolAnswer{Status: wire.EnrolWaiting, ID: in.ID, Code: in.Code}
	if err := a.Validate(); err != nil || in.ID == "" || in.Code == "" {
		return nil, fmt.Errorf("read request: %w", wire.ErrInvalid)
	}
	return &pending{key: signer, ca: ca, id: in.ID, code: in.Code, until: in.Until}, nil
}

// wait writes a request durably and shows its code.
func (i *Identity) wait(p *pending) error {
	key, err := x509.MarshalPKCS8PrivateKey(p.key)
	if err != nil {
		return fmt.Errorf("keep request: %w", err)
	}
	data, err := json.Marshal(pendingJSON{Key: key, Authority: p.ca.Raw, ID: p.id, Code: p.code, Until: p.until})
	if err == nil {
		err = durable.WriteFile(i.path(pendingFile), data, 0o600)
	}
	if err != nil {
		return fmt.Errorf("keep request: %w", err)
	}
	i.mu.Lock()
	i.pending = p
	i.mu.Unlock()
	return nil
}

// drop ends the request, if there is one.
func (i *Identity) drop() error {
	i.mu.Lock()
	i.pending = nil
	i.mu.Unlock()
	if err := os.Remove(i.path(pendingFile)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("forget request: %w", err)
	}
	return nil
}

func newKey() (crypto.Signer, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("make key: %w", err)
	}
	return key, nil
}
