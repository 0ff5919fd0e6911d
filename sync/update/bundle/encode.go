package bundle

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"docent/localindex/release"
	"docent/sync/wire"
)

// Format is the version of the encoded index.
const Format = 2

// Limits of an encoded index in bytes, as it travels and unpacked.
const (
	MaxIndex = wire.MaxObject
	maxPlain = 64 << 20
)

// encoded is what an index holds on the wire, as JSON, packed by gzip. The manifest names every file with its SHA-256, so
// only files that are cut need more.
type encoded struct {
	Format   int                `json:"format"`
	Manifest string             `json:"manifest"`
	Cut      map[string][]piece `json:"cut,omitempty"` // by path
}

type piece struct {
	SHA256 string `json:"h"`
	Size   int64  `json:"n"`
}

// Encode returns the index's bytes, or what is wrong with it.
func (x Index) Encode() ([]byte, error) {
	data, err := x.encode()
	if err != nil {
		return nil, fmt.Errorf("encode index: %w", err)
	}
	return data, nil
}

func (x Index) encode() ([]byte, error) {
	m, err := release.DecodeManifest(x.Manifest)
	if err != nil {
		return nil, err
	}
	if m.ID != x.ReleaseID || m.Number != x.Number || len(m.Files) != len(x.Files) {
		return nil, errors.New("its manifest is of something else")
	}
	e := encoded{Format: Format, Manifest: string(x.Manifest), Cut: map[string][]piece{}}
	for i, f := range x.Files {
		if err := f.validate(m.Files[i]); err != nil {
			return nil, err
		}
		if len(f.Chunks) == 0 || len(f.Chunks) == 1 && f.Chunks[0].SHA256 == m.Files[i].SHA256 {
			continue
		}
		for _, c := range f.Chunks {
			e.Cut[f.Path] = append(e.Cut[f.Path], piece(c))
		}
	}
	plain, err := json.Marshal(e)
	if err != nil {
		return nil, err
	}
	data, err := packBytes(plain)
	if err == nil && (len(data) > MaxIndex || len(plain) > maxPlain) {
		err = fmt.Errorf("it has %d bytes, at most %d are allowed", len(data), MaxIndex)
	}
	return data, err
}

func packBytes(plain []byte) ([]byte, error) {
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	_, err = w.Write(plain)
	err = errors.Join(err, w.Close())
	return b.Bytes(), err
}

// Decode reads an index and refuses what does not hold to its limits.
func Decode(data []byte) (Index, error) {
	x, err := decode(data)
	if err != nil {
		return Index{}, fmt.Errorf("read index: %w", err)
	}
	return x, nil
}

func decode(data []byte) (Index, error) {
	plain, err := unpack(data)
	if err != nil {
		return Index{}, err
	}
	var e encoded
	dec := json.NewDecoder(bytes.NewReader(plain))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&e); err != nil {
		return Index{}, err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return Index{}, errors.New("something follows it")
	}
	if e.Format != Format {
		return Index{}, fmt.Errorf("its format is %d, this program reads %d", e.Format, Format)
	}
	m, err := release.DecodeManifest([]byte(e.Manifest))
	if err != nil {
		return Index{}, err
	}
	x := Index{ReleaseID: m.ID, Number: m.Number, Manifest: []byte(e.Manifest)}
	for _, listed := range m.Files {
		f := File{Path: listed.Path, Size: listed.Size}
		pieces, isCut := e.Cut[listed.Path]
		delete(e.Cut, listed.Path)
		for _, p := range pieces {
			f.Chunks = append(f.Chunks, Chunk(p))
		}
		if !isCut && f.Size > 0 {
			f.Chunks = []Chunk{{SHA256: listed.SHA256, Size: listed.Size}}
		}
		if err := f.validate(listed); err != nil {
			return Index{}, err
		}
		x.Files = append(x.Files, f)
	}
	if len(e.Cut) > 0 {
		return Index{}, errors.New("it cuts files that its manifest does not name")
	}
	return x, nil
}

func unpack(data []byte) ([]byte, error) {
	if len(data) > MaxIndex {
		return nil, fmt.Errorf("it has %d bytes, at most %d are allowed", len(data), MaxIndex)
	}
	r, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	plain, err := io.ReadAll(io.LimitReader(r, maxPlain+1))
	if err == nil && len(plain) > maxPlain {
		err = fmt.Errorf("unpacked it has more than %d bytes", maxPlain)
	}
	return plain, errors.Join(err, r.Close())
}

// validate says what is wrong with a file, which the manifest lists.
func (f File) validate(listed release.File) error {
	left := f.Size
	for _, c := range f.Chunks {
		if c.Size < 1 || c.Size > MaxWhole || c.Size > left || !wire.ValidObject(c.SHA256) {
			return fmt.Errorf("file %s has a chunk that does not fit", f.Path)
		}
		left -= c.Size
	}
	if f.Path != listed.Path || f.Size != listed.Size || left != 0 {
		return fmt.Errorf("file %s is not the sum of its chunks", f.Path)
	}
	return nil
}
