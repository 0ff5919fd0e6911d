package content

import (
	"crypto/ed25519"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"docent/internal/durable"
	"docent/sync/update/trust"
	"docent/sync/wire"
)

// folder is content in files of this hub alone.
type folder struct {
	dir string

	mu  sync.Mutex // over publishing
	hub *trust.Hub
}

func openFolder(dir string) (*folder, error) {
	if err := os.MkdirAll(filepath.Join(dir, "objects"), 0o700); err != nil {
		return nil, err
	}
	hub, err := trust.OpenHub(dir)
	if err != nil {
		return nil, err
	}
	return &folder{dir: dir, hub: hub}, nil
}

func (f *folder) public() ed25519.PublicKey { return f.hub.Public() }

func (f *folder) path(sum string) string { return filepath.Join(f.dir, "objects", sum) }

func (f *folder) read(name string, offset int64, n int) (data []byte, size int64, err error) {
	path := f.hub.Path(name)
	if wire.ValidObject(name) {
		path = f.path(name)
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, 0, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, 0, err
	}
	size = info.Size()
	if offset >= size {
		return nil, size, nil
	}
	data = make([]byte, min(int64(n), size-offset))
	_, err = file.ReadAt(data, offset)
	return data, size, err
}

func (f *folder) put(sum string, data []byte) error {
	file, err := os.CreateTemp(filepath.Join(f.dir, "objects"), ".new-")
	if err != nil {
		return err
	}
	_, err = file.Write(data)
	err = errors.Join(err, file.Sync(), file.Close())
	if err == nil {
		err = os.Rename(file.Name(), f.path(sum))
	}
	if err != nil {
		return errors.Join(err, os.Remove(file.Name()))
	}
	return nil
}

func (f *folder) object(sum string) ([]byte, error) { return os.ReadFile(f.path(sum)) }

func (f *folder) sizes(sums []string) (map[string]int64, error) {
	out := make(map[string]int64, len(sums))
	for _, sum := range sums {
		info, err := os.Stat(f.path(sum))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("look at object: %w", err)
		}
		out[sum] = info.Size()
	}
	return out, nil
}

func (f *folder) settle() error { return durable.SyncDir(filepath.Join(f.dir, "objects")) }

func (f *folder) sign(change func(*trust.Hub) error) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return change(f.hub)
}

func (f *folder) releases() (all []trust.Target, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.hub.Targets()
}
