package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"strings"

	"golang.org/x/sync/errgroup"

	"docent/internal/settings"
	"docent/sync/hub"
	"docent/sync/wire"
)

type hubCmd struct {
	Run    hubRunCmd    `cmd:"" default:"withargs" help:"Run a hub (what docent hub does by itself)."`
	Kiosks hubKiosksCmd `cmd:"" help:"List, authorise and revoke the kiosks of the hub on this machine."`
	Broker hubBrokerCmd `cmd:"" name:"broker-config" help:"Write the files of a broker that kiosks connect to beside the hub."`
	Move   hubMoveCmd   `cmd:"" help:"Copy all that a hub keeps to PostgreSQL, or back to SQLite, and verify the copy."`
}

type hubRunCmd struct {
	Config      string `help:"YAML file of settings; variables that begin with DOCENT_ go before it." type:"existingfile" placeholder:"FILE"`
	PrintConfig bool   `help:"Print the settings that would hold, and stop."`
}

// hubConfig is everything a person can set about a hub.
type hubConfig struct {
	DataDir    string `koanf:"data_dir"`    // holds the hub's keys, and its database where that is SQLite
	MQTTListen string `koanf:"mqtt_listen"` // address for kiosks: MQTT and enrolment, over TLS
	HTTPListen string `koanf:"http_listen"` // address of the hub's page, on this machine
	Site       string `koanf:"site"`        // the one site whose kiosks may connect; empty: every site's
	LogLevel   string `koanf:"log_level"`   // debug, info, warn or error
	// Database is sqlite, or postgres://USER:PASSWORD@HOST/DATABASE for one that several hubs may share.
	Database settings.Secret `koanf:"database"`
	// Broker is embedded, mqtts://HOST:PORT of Mosquitto, or nats://HOST:PORT of NATS, of that several separated by commas.
	Broker string `koanf:"broker"`
	// The others hold where it is not embedded.
	EnrolListen string `koanf:"enrol_listen"` // address for kiosks that ask for certificates, or why they are refused
	Workers     int    `koanf:"workers"`      // how many processes the hub has
	Worker      int    `koanf:"worker"`       // which of them this is, from 1
	Replicas    int    `koanf:"replicas"`     // how many servers of NATS keep each message
	BrokerFiles string `koanf:"broker_files"` // folder of the broker's files, which this process keeps up to date; empty: another one does
	BrokerAt    string `koanf:"broker_at"`    // where the broker finds them; empty: in that folder
}

func defaultHubConfig() hubConfig {
	return hubConfig{
		DataDir: "/var/lib/docent-hub", MQTTListen: ":8883", HTTPListen: "127.0.0.1:8081", LogLevel: "info", Database: inSQLite,
		Broker: embedded, EnrolListen: ":8884", Workers: 1, Worker: 1, Replicas: 1,
	}
}

// Validate names all values that will not do, as a [*settings.Error].
func (c hubConfig) Validate() error {
	var p settings.Problems
	p.Need("data_dir", c.DataDir)
	for key, address := range map[string]string{"mqtt_listen": c.MQTTListen, "http_listen": c.HTTPListen} {
		if _, _, err := net.SplitHostPort(address); err != nil {
			p.Add(key, fmt.Sprintf("%q is not HOST:PORT", address))
		}
	}
	if c.Site != "" {
		if err := wire.ValidName(c.Site); err != nil {
			p.Add("site", err.Error())
		}
	}
	if _, err := logLevel(c.LogLevel); err != nil {
		p.Add("log_level", err.Error())
	}
	if c.Database != inSQLite && !postgresURL(c.Database.Reveal()) {
		p.Add("database", "it is neither sqlite nor postgres://…")
	}
	c.validateBroker(&p)
	return p.Err()
}

// inSQLite is the setting for a database in the hub's folder.
const inSQLite settings.Secret = "sqlite"

func postgresURL(s string) bool {
	return strings.HasPrefix(s, "postgres://") || strings.HasPrefix(s, "postgresql://")
}

// url is that of the hub's database, empty for SQLite.
func (c hubConfig) url() string {
	if c.Database == inSQLite {
		return ""
	}
	return c.Database.Reveal()
}

func (c hubRunCmd) Run(ctx context.Context, t *terminal) error {
	config, err := loadSettings(c.Config, defaultHubConfig())
	if err != nil {
		return err
	}
	if c.PrintConfig {
		return settings.Print(t.out, config)
	}
	log, err := t.logger(config.LogLevel)
	if err != nil {
		return err
	}
	h, err := hub.New(hub.Config{
		Dir: config.DataDir, MQTTListen: config.MQTTListen, HTTPListen: config.HTTPListen, Site: config.Site, Database: config.url(), Beyond: config.beyond(), Logger: log,
	})
	if err != nil {
		return err
	}
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return h.Run(ctx) })
	group.Go(func() error {
		select {
		case <-h.Ready():
			log.Info("hub is open", "page", h.HTTPAddr(), "kiosks", h.MQTTAddr())
		case <-ctx.Done():
		}
		return nil
	})
	return group.Wait()
}

// loadSettings reads a configuration; what is wrong with it is a wrong use of the command, a file that cannot be read is not.
func loadSettings[C settings.Config](file string, defaults C) (C, error) {
	config, err := settings.Load(file, os.Environ(), defaults)
	var unread *fs.PathError
	if err != nil && !errors.As(err, &unread) {
		return config, usageError{err}
	}
	return config, err
}

func logLevel(name string) (slog.Level, error) {
	var level slog.Level
	err := level.UnmarshalText([]byte(name))
	return level, err
}

// logger logs from a level up to standard error.
func (t *terminal) logger(level string) (*slog.Logger, error) {
	l, err := logLevel(level)
	if err != nil {
		return nil, usageError{fmt.Errorf("log_level: %w", err)}
	}
	return slog.New(slog.NewTextHandler(t.err, &slog.HandlerOptions{Level: l})), nil
}
