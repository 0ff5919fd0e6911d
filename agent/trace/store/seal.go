package store

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/badger/v4/options"

	"docent/agent/trace"
	"docent/internal/badgerdb"
	"docent/internal/space"
)

var errSealed = errors.New("sealed trace cannot be read")

// seal encodes a turn under a visit's key: a nonce (12 bytes), then AES-256-GCM with the turn's id as additional data.
func seal(key [32]byte, id string, t trace.Turn, random io.Reader) ([]byte, error) {
	plain, err := json.Marshal(t)
	if err != nil {
		return nil, fmt.Errorf("seal trace: %w", err)
	}
	if len(plain) > maxRecord {
		return nil, fmt.Errorf("seal trace: %d bytes", len(plain))
	}
	aead, err := cipherOf(key)
	if err != nil {
		return nil, err
	}
	out := make([]byte, aead.NonceSize(), aead.NonceSize()+len(plain)+aead.Overhead())
	if _, err := io.ReadFull(random, out); err != nil {
		return nil, fmt.Errorf("seal trace: %w", err)
	}
	return aead.Seal(out, out, plain, []byte(id)), nil
}

func unseal(key [32]byte, id string, sealed []byte) (trace.Turn, error) {
	var t trace.Turn
	aead, err := cipherOf(key)
	if err != nil {
		return t, err
	}
	if len(sealed) < aead.NonceSize() {
		return t, errSealed
	}
	plain, err := aead.Open(nil, sealed[:aead.NonceSize()], sealed[aead.NonceSize():], []byte(id))
	if err != nil {
		return t, errSealed
	}
	if err := json.Unmarshal(plain, &t); err != nil {
		return t, fmt.Errorf("%w: %w", errSealed, err)
	}
	return t, nil
}

func cipherOf(key [32]byte) (cipher.AEAD, error) {
	block, err := aes.NewCipher(key[:])
	if err != nil {
		return nil, fmt.Errorf("seal trace: %w", err)
	}
	aead, err := cipher.NewGCM(block)
	if err != nil {
		return nil, fmt.Errorf("seal trace: %w", err)
	}
	return aead, nil
}

func (o Options) withDefaults() Options {
	if o.Retention <= 0 {
		o.Retention = 14 * 24 * time.Hour
	}
	if o.MaxTurns <= 0 {
		o.MaxTurns = DefaultMaxTurns
	}
	if o.MinFree == 0 {
		o.MinFree = DefaultMinFree
	}
	if o.Free == nil {
		o.Free = space.Free
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Random == nil {
		o.Random = rand.Reader
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o
}

// storeOptions are for a small device. Commits are not synced: what a power cut takes is the trace of a few turns. Values
// are compressed, as the ids in them come again and again, and stay in the LSM tree.
func storeOptions(dir string, logger *slog.Logger) badger.Options {
	return badger.DefaultOptions(dir).
		WithSyncWrites(false).
		WithMemTableSize(4 << 20).
		WithNumMemtables(2).
		WithNumLevelZeroTables(2).
		WithNumLevelZeroTablesStall(4).
		WithValueThreshold(512 << 10).
		WithBaseLevelSize(4 << 20).
		WithBlockCacheSize(4 << 20).
		WithIndexCacheSize(2 << 20).
		WithValueLogFileSize(4 << 20).
		WithNumCompactors(2).
		WithNumVersionsToKeep(1).
		WithCompression(options.Snappy).
		WithMetricsEnabled(false).
		WithDetectConflicts(false).
		WithLogger(badgerdb.Complaints(logger, "trace store"))
}
