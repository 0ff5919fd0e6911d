// Package brokerfiles writes what a broker beyond the hub needs to let kiosks in, and nobody else: its configuration, its
// certificate, and the list of kiosks, which is written again whenever that changes.
package brokerfiles

import (
	"bytes"
	"crypto/sha256"
	"crypto/tls"
	_ "embed" // the templates
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"text/template"
	"time"

	"docent/internal/durable"
	"docent/sync/hub/authority"
	"docent/sync/hub/store"
	"docent/sync/wire"
)

// Kind is a broker.
type Kind string

// The brokers.
const (
	Mosquitto Kind = "mosquitto"
	NATS      Kind = "nats"
)

// Names of the files that are written again. The others are written where there are none, and then left to whoever runs
// the broker.
const (
	authorityFile   = "authority.crt"
	certificateFile = "server.crt"
	keyFile         = "server.key"
	listFile        = "revoked.crl" // Mosquitto only
	mosquittoList   = "kiosks.acl"
	natsList        = "kiosks.conf"
)

var (
	//go:embed mosquitto.conf.tmpl
	mosquittoConf string
	//go:embed mosquitto.acl.tmpl
	mosquittoACL string
	//go:embed nats.conf.tmpl
	natsConf string
	//go:embed nats.users.tmpl
	natsUsers string
	//go:embed reload.path.tmpl
	reloadPath string
	//go:embed reload.service.tmpl
	reloadService string
)

// Options of Files. Kind, Dir and Authority are required.
type Options struct {
	Kind      Kind
	Dir       string // where the files are written
	At        string // where the broker finds them; empty: at Dir
	Authority *authority.Authority
	Workers   []string // names of the hub's processes; empty: "1"
	Site      string   // of the kiosks; empty: of every site
	Listen    string   // HOST:PORT for kiosks; empty: port 8883 of all addresses

	// Of NATS only.
	Hub     string   // HOST:PORT for the hub's processes; empty: port 4222 of all addresses
	Data    string   // folder of its streams; empty: /var/lib/nats
	Server  string   // name of this server; empty: "docent-1"
	Host    string   // its name or address for the other servers of a cluster; empty: there are none
	Cluster string   // HOST:PORT for them; empty: port 6222 of all addresses
	Routes  []string // "nats://HOST:PORT" of the other servers' cluster ports
}

// Files are a broker's. They are written by one goroutine at a time.
type Files struct {
	opt     Options
	written [sha256.Size]byte // what the list of kiosks said when it was last written
	at      time.Time
}

// again is how often the list is written without a change.
const again = 24 * time.Hour

// renew is when a third of the certificate's time is left.
const renew = authority.ServerLife / 3

// New checks the options.
func New(opt Options) (*Files, error) {
	if opt.Kind != Mosquitto && opt.Kind != NATS {
		return nil, fmt.Errorf("broker %q is neither %s nor %s", opt.Kind, Mosquitto, NATS)
	}
	dir, err := filepath.Abs(opt.Dir)
	if err != nil {
		return nil, fmt.Errorf("broker files: %w", err)
	}
	set := func(s *string, value string) {
		if *s == "" {
			*s = value
		}
	}
	opt.Dir = dir
	set(&opt.At, dir)
	set(&opt.Listen, "0.0.0.0:8883")
	set(&opt.Hub, "0.0.0.0:4222")
	set(&opt.Data, "/var/lib/nats")
	set(&opt.Server, "docent-1")
	set(&opt.Cluster, "0.0.0.0:6222")
	if len(opt.Workers) == 0 {
		opt.Workers = []string{"1"}
	}
	for _, w := range opt.Workers {
		if err := wire.ValidName(w); err != nil {
			return nil, fmt.Errorf("broker files: worker: %w", err)
		}
	}
	for _, r := range opt.Routes {
		if err := CheckRoute(r); err != nil {
			return nil, fmt.Errorf("broker files: %w", err)
		}
	}
	for kind, names := range of {
		for _, name := range names {
			if _, err := os.Stat(filepath.Join(dir, name)); err == nil && kind != opt.Kind {
				return nil, fmt.Errorf("broker files: %s has %s, which is of %s; name a folder of its own for %s", dir, name, kind, opt.Kind)
			}
		}
	}
	return &Files{opt: opt}, nil
}

// of are files by which a broker's folder is known.
var of = map[Kind][]string{
	Mosquitto: {"docent.conf", mosquittoList, listFile},
	NATS:      {"nats.conf", natsList},
}

// CheckRoute says what is wrong with the address of another server of a cluster, if anything.
func CheckRoute(route string) error {
	u, err := url.Parse(route)
	if err != nil || u.Scheme != "nats" || u.Hostname() == "" || u.User != nil || u.Path != "" || u.RawQuery != "" || u.Fragment != "" {
		return fmt.Errorf("route %q is not of the form nats://HOST:PORT", route)
	}
	if port, err := strconv.ParseUint(u.Port(), 10, 16); err != nil || port == 0 {
		return fmt.Errorf("route %q is not of the form nats://HOST:PORT: it has no port", route)
	}
	return nil
}

// entry is one certificate that lets a kiosk in.
type entry struct {
	Kiosk wire.Address
	URI   string
}

// Topics lists those that the kiosk publishes.
func (e entry) Topics() []string {
	var out []string
	for _, k := range []wire.Kind{wire.KindEvent, wire.KindStatus, wire.KindDeploy, wire.KindResult, wire.KindFetch} {
		out = append(out, e.Kiosk.Topic(k))
	}
	return out
}

// Write brings the files to what holds now and tells whether the broker has to read them again. The certificates are
// all that have not run out.
func (f *Files) Write(certificates []store.Certificate, now time.Time) (changed bool, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("write the broker's files: %w", err)
		}
	}()
	if err := os.MkdirAll(f.opt.Dir, 0o750); err != nil {
		return false, err
	}
	var entries []entry
	var revoked []authority.Revoked
	said := sha256.New()
	for _, c := range certificates {
		fmt.Fprintln(said, c.Serial, c.Kiosk, c.RevokedAt.IsZero())
		switch {
		case !c.RevokedAt.IsZero():
			revoked = append(revoked, authority.Revoked{Serial: c.Serial, At: c.RevokedAt})
		case f.opt.Site == "" || c.Kiosk.Site == f.opt.Site:
			entries = append(entries, entry{c.Kiosk, authority.KioskURI(c.Kiosk, c.Serial)})
		}
	}
	renewed, err := f.certificate(now)
	if err != nil {
		return false, err
	}
	sum := [sha256.Size]byte(said.Sum(nil))
	if !renewed && sum == f.written && now.Sub(f.at) < again {
		return false, nil
	}
	if err := f.put(authorityFile, f.opt.Authority.PEM(), 0o644); err != nil {
		return false, err
	}
	if f.opt.Kind == Mosquitto {
		list, err := f.opt.Authority.RevocationList(revoked)
		if err != nil {
			return false, err
		}
		if err := f.put(listFile, list, 0o644); err != nil {
			return false, err
		}
	}
	if err := f.render(entries); err != nil {
		return false, err
	}
	f.written, f.at = sum, now
	return true, nil
}

// render writes the files that are made from templates.
func (f *Files) render(entries []entry) error {
	data := struct {
		Options
		Entries []entry
		Name    string
		Watched string
	}{f.opt, entries, string(f.opt.Kind), f.listed()}
	for _, file := range []struct {
		kind       Kind
		name, text string
		once       bool
	}{
		{Mosquitto, "docent.conf", mosquittoConf, true},
		{NATS, "nats.conf", natsConf, true},
		{f.opt.Kind, "docent-" + string(f.opt.Kind) + "-reload.service", reloadService, true},
		{f.opt.Kind, "docent-" + string(f.opt.Kind) + "-reload.path", reloadPath, true},
		{Mosquitto, f.listed(), mosquittoACL, false}, // last: it is what the broker is told of
		{NATS, f.listed(), natsUsers, false},
	} {
		if file.kind != f.opt.Kind {
			continue
		}
		if file.once {
			if _, err := os.Stat(filepath.Join(f.opt.Dir, file.name)); !errors.Is(err, fs.ErrNotExist) {
				continue
			}
		}
		t, err := template.New(file.name).Funcs(functions).Parse(file.text)
		if err != nil {
			return err
		}
		var b bytes.Buffer
		if err := t.Execute(&b, data); err != nil {
			return err
		}
		if err := f.put(file.name, b.Bytes(), 0o640); err != nil {
			return err
		}
	}
	return nil
}

// listed is the file that lists the kiosks.
func (f *Files) listed() string {
	if f.opt.Kind == NATS {
		return natsList
	}
	return mosquittoList
}

// certificate makes the broker's certificate where there is none that holds for long enough.
func (f *Files) certificate(now time.Time) (renewed bool, err error) {
	pair, err := tls.LoadX509KeyPair(filepath.Join(f.opt.Dir, certificateFile), filepath.Join(f.opt.Dir, keyFile))
	if err == nil && pair.Leaf.CheckSignatureFrom(f.opt.Authority.Certificate()) == nil && now.After(pair.Leaf.NotBefore) && pair.Leaf.NotAfter.Sub(now) > renew {
		return false, nil
	}
	certificate, key, err := f.opt.Authority.BrokerCertificate(f.opt.Host)
	if err != nil {
		return false, err
	}
	if err := f.put(keyFile, key, 0o640); err != nil {
		return false, err
	}
	return true, f.put(certificateFile, certificate, 0o644)
}

func (f *Files) put(name string, data []byte, mode fs.FileMode) error {
	return durable.WriteFile(filepath.Join(f.opt.Dir, name), data, mode)
}
