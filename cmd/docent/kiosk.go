package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"

	"docent/kiosk"
)

type kioskCmd struct {
	Config      string `help:"YAML file of settings; variables that begin with DOCENT_ go before it." type:"existingfile" placeholder:"FILE"`
	PrintConfig bool   `help:"Print the settings that would hold, secrets hidden, and stop."`
}

func (c kioskCmd) Run(ctx context.Context, t *terminal) error {
	config, err := kiosk.LoadConfig(c.Config, os.Environ())
	var wrong *kiosk.ConfigError
	if errors.As(err, &wrong) {
		return usageError{err}
	}
	if err != nil {
		return err
	}
	if c.PrintConfig {
		return config.Print(t.out)
	}
	var level slog.Level
	if err := level.UnmarshalText([]byte(config.LogLevel)); err != nil {
		return usageError{fmt.Errorf("log_level: %w", err)}
	}
	log := slog.New(slog.NewTextHandler(t.err, &slog.HandlerOptions{Level: level}))
	return runAppliance(ctx, config, log, func(address string) { log.Info("open for visitors", "address", address) })
}
