package main

import (
	"context"
	"errors"
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
	if strings.HasPrefix(config.Hub.Broker, "tcp:") {
		return usageError{errors.New("hub.broker: only the demo runs without TLS; set tls://HOST:PORT")}
	}
	log, err := t.logger(config.LogLevel)
	if err != nil {
		return err
	}
	return runAppliance(ctx, config, log, func(address string) { log.Info("open for visitors", "address", address) })
}
