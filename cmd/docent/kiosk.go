package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"docent/internal/settings"
	"docent/kiosk"
)

type kioskCmd struct {
	Config      string `help:"YAML file of settings; variables that begin with DOCENT_ go before it." type:"existingfile" placeholder:"FILE"`
	PrintConfig bool   `help:"Print the settings that would hold, secrets hidden, and stop."`
}

func (c kioskCmd) Run(ctx context.Context, t *terminal) error {
	config, err := loadSettings(c.Config, kiosk.DefaultConfig())
	if err != nil {
		return err
	}
	if c.PrintConfig {
		return settings.Print(t.out, config)
	}
	if err := c.hasRelease(config); err != nil {
		return err
	}
	if strings.HasPrefix(config.Hub.Broker, "tcp:") {
		return usageError{errors.New("hub.broker: only the demo runs without TLS; set tls://HOST:PORT")}
	}
	log, err := t.logger(config.LogLevel)
	if err != nil {
		return err
	}
	return runAppliance(ctx, config, log, func(address string) { log.Info("open for visitors", "address", address) })
}

// hasRelease says what to do where there is nothing to show, which is mostly because no settings were given.
func (c kioskCmd) hasRelease(config kiosk.Config) error {
	_, err := os.Stat(config.Release)
	switch {
	case config.Hub.Root != "":
		return nil // releases may have come from a hub
	case err == nil || !errors.Is(err, fs.ErrNotExist):
		return nil // whoever opens it says what is wrong with it
	case c.Config == "" && os.Getenv("DOCENT_RELEASE") == "":
		return usageError{fmt.Errorf("no settings were given, and there is no release in %s. Name a file with --config FILE; "+
			"docent kiosk --print-config shows what can be set. To try Docent without any settings: docent demo", config.Release)}
	default:
		return usageError{fmt.Errorf("there is no release in %s, where the setting \"release\" looks. "+
			"docent gallery build DIR --out %s makes one", config.Release, config.Release)}
	}
}
