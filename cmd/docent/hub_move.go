package main

import (
	"context"
	"errors"
	"fmt"

	"docent/internal/settings"
	"docent/sync/hub/move"
)

type hubMoveCmd struct {
	Config string          `help:"YAML file of the hub's settings; variables that begin with DOCENT_ go before it." type:"existingfile" placeholder:"FILE"`
	To     settings.Secret `help:"postgres://USER:PASSWORD@HOST/DATABASE, an empty database, for what data_dir has; or sqlite, for what a database has." required:""`
	From   settings.Secret `help:"The database to copy from, to sqlite; the setting unless given." placeholder:"URL"`
	JSON   string          `name:"json" help:"Write what was copied to this file, - for standard output." placeholder:"FILE"`
}

// Run copies all rows and files; the hub must not run meanwhile.
func (c hubMoveCmd) Run(ctx context.Context, t *terminal) error {
	config, err := loadSettings(c.Config, defaultHubConfig())
	if err != nil {
		return err
	}
	var r move.Report
	switch from := c.From.Reveal(); {
	case postgresURL(c.To.Reveal()) && from == "":
		r, err = move.ToPostgres(ctx, config.DataDir, c.To.Reveal())
	case c.To == inSQLite:
		if from == "" {
			from = config.url()
		}
		if !postgresURL(from) {
			return usageError{errors.New("--from: a database, postgres://…, to copy from")}
		}
		r, err = move.ToFolder(ctx, from, config.DataDir)
	default:
		return usageError{errors.New("--to: either postgres://… without --from, or sqlite")}
	}
	if err != nil {
		return err
	}
	if inWords, err := t.report(c.JSON, r); err != nil || !inWords {
		return err
	}
	for _, table := range r.Tables {
		fmt.Fprintf(t.out, "%-16s %10d rows  %s\n", table.Name, table.Rows, table.Sum)
	}
	fmt.Fprintf(t.out, "%-16s %10d       %d bytes\n%-16s %10d\n", "objects", r.Objects, r.Bytes, "documents", r.Documents)
	fmt.Fprintf(t.out, "%d rows were copied, read again and found the same. Keys stay in %s. Set database, then start the hub.\n", r.Rows(), config.DataDir)
	return nil
}
