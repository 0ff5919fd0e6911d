package main

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"syscall"

	"github.com/jackc/pgx/v5/pgconn"

	"docent/localindex/ingest"
	"docent/localindex/sample"
)

// printError says what did not work, and what to do where the error itself does not.
func printError(w io.Writer, err error) {
	fmt.Fprintln(w, "docent:", err)
	if text := advice(err); text != "" {
		fmt.Fprintln(w, "  →", text)
	}
}

// storeInUse is what the store of a kiosk says when another process has it. Its error has no type.
const storeInUse = "Another process is using this Badger database"

// advice is what to do about errors that come from below, where nobody knows of commands and settings; "" for others.
func advice(err error) string {
	var database *pgconn.ConnectError
	switch {
	case errors.As(err, &database): // before what it is made of
		return "The database did not let the hub in: see that PostgreSQL runs, and that database (or --to, --from) names its address, user and database."
	case errors.Is(err, ingest.ErrNotGallery):
		return "Give the folder that holds one of them; docent gallery new DIR writes one to start from."
	case errors.Is(err, sample.ErrNotEmpty):
		return "Name a folder that does not exist yet."
	case errors.Is(err, syscall.EADDRINUSE):
		return "Another program uses this address, perhaps docent itself: stop that, or set another address."
	case errors.Is(err, syscall.ECONNREFUSED):
		return "Nothing answers there. Start it (a hub: docent hub --config …), or give the right address (a hub's page: --hub http://…)."
	case strings.Contains(err.Error(), storeInUse):
		return "Another docent works with this data_dir: stop that one, or give each a data_dir of its own."
	}
	return ""
}
