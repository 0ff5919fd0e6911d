package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"docent/internal/settings"
	"docent/sync/hub"
	"docent/sync/hub/authority"
	"docent/sync/hub/brokerfiles"
)

// embedded is the setting for the broker within the hub's process.
const embedded = "embedded"

// maxWorkers bounds the processes of a hub: each has a line in the broker's files.
const maxWorkers = 64

// brokerKind is the kind of a broker that is not embedded; empty for anything else.
func (b hubConfig) brokerKind() brokerfiles.Kind {
	switch {
	case strings.HasPrefix(b.Broker, "mqtts://"):
		return brokerfiles.Mosquitto
	case strings.HasPrefix(b.Broker, "nats://"):
		return brokerfiles.NATS
	}
	return ""
}

func (b hubConfig) validateBroker(p *settings.Problems) {
	if b.Broker != embedded && b.brokerKind() == "" {
		p.Add("broker", "it is none of embedded, mqtts://HOST:PORT and nats://HOST:PORT")
	}
	if _, _, err := net.SplitHostPort(b.EnrolListen); err != nil {
		p.Add("enrol_listen", fmt.Sprintf("%q is not HOST:PORT", b.EnrolListen))
	}
	settings.Within(p, "workers", b.Workers, 1, maxWorkers)
	settings.Within(p, "worker", b.Worker, 1, max(1, b.Workers))
	settings.Within(p, "replicas", b.Replicas, 1, 5)
	if b.BrokerFiles != "" && b.Broker == embedded {
		p.Add("broker_files", "the embedded broker has none")
	}
}

// beyond is the broker beside the hub; nil where it is embedded.
func (b hubConfig) beyond() *hub.Beyond {
	if b.Broker == embedded {
		return nil
	}
	out := &hub.Beyond{URL: b.Broker, EnrolListen: b.EnrolListen, Worker: strconv.Itoa(b.Worker), Replicas: b.Replicas}
	if b.BrokerFiles != "" {
		files := b.files(b.brokerKind(), b.BrokerFiles)
		files.At = b.BrokerAt
		out.Files = &files
	}
	return out
}

func (b hubConfig) files(kind brokerfiles.Kind, dir string) brokerfiles.Options {
	o := brokerfiles.Options{Kind: kind, Dir: dir}
	for i := range b.Workers {
		o.Workers = append(o.Workers, strconv.Itoa(i+1))
	}
	return o
}

type hubBrokerCmd struct {
	Kind   string   `arg:"" enum:"mosquitto,nats" help:"mosquitto or nats."`
	Dir    string   `arg:"" help:"Folder for the files." placeholder:"DIR"`
	Config string   `help:"The hub's YAML file of settings." type:"existingfile" placeholder:"FILE"`
	At     string   `help:"Folder in which the broker finds the files, if that is another." placeholder:"DIR"`
	Listen string   `help:"Address for kiosks." default:"0.0.0.0:8883" placeholder:"HOST:PORT"`
	Hub    string   `help:"Address for the hub's processes (nats)." default:"0.0.0.0:4222" placeholder:"HOST:PORT"`
	Data   string   `help:"Folder of what the broker keeps (nats)." default:"/var/lib/nats" placeholder:"DIR"`
	Server string   `help:"Name of this server (nats)." default:"docent-1" placeholder:"NAME"`
	Host   string   `help:"Name or address of this server for the others of its cluster (nats)." placeholder:"HOST"`
	Route  []string `help:"Another server of the cluster; once for each (nats)." placeholder:"nats://HOST:6222"`
}

// Run writes the files as the hub's data say now. A hub whose setting broker_files names the folder keeps them up to date.
func (c hubBrokerCmd) Run(ctx context.Context, t *terminal) error {
	config, err := loadSettings(c.Config, defaultHubConfig())
	if err != nil {
		return err
	}
	log, err := t.logger(config.LogLevel)
	if err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Join(config.DataDir, "authority", authority.File)); errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("data_dir %s has no authority, which lets kiosks in: name the hub's settings with --config, or start the hub once, which makes it", config.DataDir)
	}
	for _, r := range c.Route {
		if err := brokerfiles.CheckRoute(r); err != nil {
			return usageError{fmt.Errorf("--route: %w", err)}
		}
	}
	files := config.files(brokerfiles.Kind(c.Kind), c.Dir)
	files.At, files.Listen, files.Hub, files.Data = c.At, c.Listen, c.Hub, c.Data
	files.Server, files.Host, files.Routes = c.Server, c.Host, c.Route
	h := hub.Config{Dir: config.DataDir, Database: config.url(), Site: config.Site, Logger: log}
	if err := hub.WriteBrokerFiles(ctx, h, files); err != nil {
		return err
	}
	_, err = fmt.Fprintf(t.out, "The files for %s are in %s. They let in the kiosks of the hub whose data_dir is %s.\n", c.Kind, c.Dir, config.DataDir)
	return err
}
