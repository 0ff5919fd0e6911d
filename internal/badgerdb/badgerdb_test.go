package badgerdb

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dgraph-io/badger/v4"
)

func options(dir string) badger.Options {
	return badger.DefaultOptions(dir).WithMemTableSize(8 << 20).WithValueLogFileSize(4 << 20).WithLogger(Complaints(slog.New(slog.DiscardHandler), "store"))
}

// TestEmptyLog: a process that is killed while the database makes a log file leaves one without a byte, which the
// database itself does not open.
func TestEmptyLog(t *testing.T) {
	dir := t.TempDir()
	put(t, options(dir), "seen")
	for _, name := range []string{"00002.mem", "000002.vlog"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	db, err := OpenOrRenew(options(dir), func(err error) { t.Errorf("counts as damaged: %v", err) })
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := db.View(func(txn *badger.Txn) error { _, err := txn.Get([]byte("seen")); return err }); err != nil {
		t.Errorf("what was stored: %v", err)
	}
}

func TestDamageIsRenewed(t *testing.T) {
	dir := t.TempDir()
	put(t, options(dir), "seen")
	if err := os.WriteFile(filepath.Join(dir, "MANIFEST"), []byte("damaged"), 0o600); err != nil {
		t.Fatal(err)
	}
	if db, err := Open(options(dir)); err == nil {
		db.Close()
		t.Fatal("a damaged database was opened")
	}
	var why error
	db, err := OpenOrRenew(options(dir), func(err error) { why = err })
	if err != nil || why == nil {
		t.Fatalf("opened with %v, damaged: %v", err, why)
	}
	if err := db.Close(); err != nil {
		t.Error(err)
	}
}

func TestOfAnotherProcess(t *testing.T) {
	dir := t.TempDir()
	held, err := Open(options(dir))
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close()
	if _, err := OpenOrRenew(options(dir), func(err error) { t.Errorf("counts as damaged: %v", err) }); err == nil || !strings.Contains(err.Error(), "Another process is using") {
		t.Error(err)
	}
}

func put(t *testing.T, o badger.Options, key string) {
	t.Helper()
	db, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Update(func(txn *badger.Txn) error { return txn.Set([]byte(key), []byte("1")) }); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}
