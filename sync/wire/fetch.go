package wire

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Limits of fetching content.
const (
	MaxFetch   = 1 << 10   // bytes of a Fetch
	MaxBlock   = 96 << 10  // bytes of content in one Chunk
	MaxObject  = 32 << 20  // bytes of one object
	MaxDesired = 1 << 10   // bytes of a Desired
	maxHeader  = 1 << 10   // bytes of a Chunk beside its content
	maxSize    = 1<<40 - 1 // bytes of anything that can be fetched
)

// Fetch asks for a part of a metadata file or of an object.
type Fetch struct {
	ID     uint64 `json:"id"`   // chosen by the kiosk, to tell answers apart
	Name   string `json:"name"` // "timestamp.json", "3.root.json", …, "desired.json", or the SHA-256 of an object in hex
	Offset int64  `json:"offset"`
	Length int    `json:"length"` // 1 … MaxBlock
}

// Words of Chunk.Error.
const (
	FetchNotFound = "not_found" // the hub has no such thing
	FetchFailed   = "failed"    // the hub could not read it
	FetchGone     = "forgotten" // the visit was forgotten, as its visitor wished
	FetchBusy     = "busy"      // asked for too often
)

// Chunk answers a Fetch. On the wire it is a line of JSON and then the content's bytes.
type Chunk struct {
	ID     uint64 `json:"id"`
	Name   string `json:"name"`
	Offset int64  `json:"offset"`
	Size   int64  `json:"size"` // of the whole file or object
	Error  string `json:"error,omitempty"`
	Data   []byte `json:"-"`
}

// DesiredName is what a kiosk fetches to learn which release it shall show. Each kiosk gets an answer of its own: a
// Desired, or [FetchNotFound] from whoever has no wish, such as a mirror.
const DesiredName = "desired.json"

// Desired names the release that a kiosk shall show. Pushed, it only wakes the kiosk, which goes by what it fetches as
// [DesiredName]; and only signed metadata says which releases may be shown at all.
type Desired struct {
	Deployment string `json:"deployment,omitempty"` // id of the rollout, a name as of ValidName; empty without one
	ReleaseID  string `json:"release_id"`           // ≤ 64 bytes; empty: what is shown stays
	Number     int    `json:"number"`
	Back       bool   `json:"back,omitempty"`  // also where the number is lower than that of what is shown
	Abort      bool   `json:"abort,omitempty"` // Deployment ends where it has not succeeded yet
}

// DeployStatus is a word for how far a kiosk is with a release (those of Mender).
type DeployStatus string

// The words in their order.
const (
	DeployPending            DeployStatus = "pending"
	DeployDownloading        DeployStatus = "downloading"
	DeployDownloaded         DeployStatus = "downloaded"
	DeployVerifying          DeployStatus = "verifying"
	DeployPauseBeforeInstall DeployStatus = "pause_before_installing"
	DeployInstalling         DeployStatus = "installing"
	DeployPauseBeforeCommit  DeployStatus = "pause_before_committing"
	DeploySuccess            DeployStatus = "success"
	DeployFailure            DeployStatus = "failure"
	DeployRejected           DeployStatus = "rejected"
	DeployAlreadyInstalled   DeployStatus = "already-installed"
	DeployAborted            DeployStatus = "aborted"
	DeployTimedOut           DeployStatus = "timed_out" // the hub's word for a kiosk that did not end in time; no kiosk says it
)

// Limits of a report.
const (
	maxDeploy     = 2 << 10
	maxReleaseID  = 64
	maxDeployCode = 64
	maxDeployTx   = 512
)

// Deploy tells the hub how far a kiosk is with a release.
type Deploy struct {
	Deployment string       `json:"deployment,omitempty"` // that of the Desired it follows
	ReleaseID  string       `json:"release_id,omitempty"` // empty where metadata was refused before one was known
	Number     int          `json:"number,omitempty"`
	Status     DeployStatus `json:"status"`
	Shown      string       `json:"shown"` // id of the release that visitors see
	Done       int64        `json:"done,omitempty"`
	Of         int64        `json:"of,omitempty"`          // bytes to fetch
	Code       string       `json:"code,omitempty"`        // why it was refused or failed, a stable word
	Detail     string       `json:"detail,omitempty"`      // the same for a person
	RolledBack bool         `json:"rolled_back,omitempty"` // after failure: the release before is shown again
	Resumed    bool         `json:"resumed,omitempty"`     // it went on after a restart
	TS         time.Time    `json:"ts"`
}

// Encode returns the request's bytes, or what is wrong with it.
func (f Fetch) Encode() ([]byte, error) {
	if err := f.Validate(); err != nil {
		return nil, err
	}
	return json.Marshal(f)
}

// DecodeFetch reads a request and refuses what does not hold to its limits.
func DecodeFetch(b []byte) (Fetch, error) {
	if len(b) > MaxFetch {
		return Fetch{}, fmt.Errorf("fetch of %d bytes, at most %d: %w", len(b), MaxFetch, ErrTooLarge)
	}
	var f Fetch
	if err := decodeStrict(b, &f); err != nil {
		return Fetch{}, fmt.Errorf("fetch: %w", err)
	}
	return f, f.Validate()
}

// Validate says what is wrong with the request, if anything.
func (f Fetch) Validate() error {
	if !validFetch(f.Name) {
		return fmt.Errorf("fetch name: %w", ErrInvalid)
	}
	if f.ID > MaxSeq || f.Offset < 0 || f.Offset > maxSize || f.Length < 1 || f.Length > MaxBlock {
		return fmt.Errorf("fetch range: %w", ErrInvalid)
	}
	return nil
}

// Encode returns the chunk's bytes, or what is wrong with it.
func (c Chunk) Encode() ([]byte, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	head, err := json.Marshal(c)
	if err != nil {
		return nil, fmt.Errorf("encode chunk: %w", err)
	}
	b := make([]byte, 0, len(head)+1+len(c.Data))
	b = append(append(b, head...), '\n')
	return append(b, c.Data...), nil
}

// DecodeChunk reads a chunk and refuses what does not hold to its limits. Its Data shares b's memory.
func DecodeChunk(b []byte) (Chunk, error) {
	if len(b) > MaxBlock+maxHeader {
		return Chunk{}, fmt.Errorf("chunk of %d bytes, at most %d: %w", len(b), MaxBlock+maxHeader, ErrTooLarge)
	}
	head, data, ok := bytes.Cut(b, []byte("\n"))
	if !ok || len(head) > maxHeader {
		return Chunk{}, fmt.Errorf("chunk header: %w", ErrInvalid)
	}
	var c Chunk
	if err := decodeStrict(head, &c); err != nil {
		return Chunk{}, fmt.Errorf("chunk: %w", err)
	}
	c.Data = data
	return c, c.Validate()
}

// Validate says what is wrong with the chunk, if anything.
func (c Chunk) Validate() error {
	if !validFetch(c.Name) {
		return fmt.Errorf("chunk name: %w", ErrInvalid)
	}
	switch c.Error {
	case "":
	case FetchNotFound, FetchFailed, FetchGone, FetchBusy:
		if len(c.Data) > 0 {
			return fmt.Errorf("chunk with an error and content: %w", ErrInvalid)
		}
	default:
		return fmt.Errorf("chunk error: %w", ErrInvalid)
	}
	if len(c.Data) > MaxBlock {
		return fmt.Errorf("chunk with %d bytes of content, at most %d: %w", len(c.Data), MaxBlock, ErrTooLarge)
	}
	if c.ID > MaxSeq || c.Offset < 0 || c.Size < 0 || c.Size > maxSize || c.Offset > maxSize {
		return fmt.Errorf("chunk range: %w", ErrInvalid)
	}
	if c.Error == "" && c.Offset+int64(len(c.Data)) > c.Size {
		return fmt.Errorf("chunk reaches past its size: %w", ErrInvalid)
	}
	return nil
}

// ValidObject tells whether a name is the SHA-256 of an object.
func ValidObject(name string) bool { return validHash(name) }

// ValidMetadata tells whether a name is that of a signed metadata file.
func ValidMetadata(name string) bool { return validMetadata(name) }

// validFetch accepts the names of what can be fetched.
func validFetch(name string) bool {
	if ValidObject(name) || validMetadata(name) || name == DesiredName {
		return true
	}
	_, ok := ParseVisitQuery(name)
	return ok
}

// validMetadata accepts timestamp.json, and root, snapshot and targets behind a version number.
func validMetadata(name string) bool {
	if name == "timestamp.json" {
		return true
	}
	version, role, ok := strings.Cut(name, ".")
	n, err := strconv.ParseUint(version, 10, 32)
	return ok && err == nil && n > 0 && version == strconv.FormatUint(n, 10) && (role == "root.json" || role == "snapshot.json" || role == "targets.json")
}

// Encode returns the wish's bytes, or what is wrong with it.
func (d Desired) Encode() ([]byte, error) {
	if err := d.Validate(); err != nil {
		return nil, err
	}
	return json.Marshal(d)
}

// DecodeDesired reads what release is wanted. Unknown fields are passed over.
func DecodeDesired(b []byte) (Desired, error) {
	if len(b) > MaxDesired {
		return Desired{}, fmt.Errorf("desired of %d bytes, at most %d: %w", len(b), MaxDesired, ErrTooLarge)
	}
	var d Desired
	if err := json.Unmarshal(b, &d); err != nil {
		return Desired{}, fmt.Errorf("desired: %w: %w", ErrInvalid, err)
	}
	if err := d.Validate(); err != nil {
		return Desired{}, err
	}
	return d, nil
}

// Validate says what is wrong with the wish, if anything.
func (d Desired) Validate() error {
	if err := validDeployment(d.Deployment); err != nil {
		return fmt.Errorf("desired: %w", err)
	}
	if len(d.ReleaseID) > maxReleaseID || d.Number < 0 {
		return fmt.Errorf("desired release: %w", ErrInvalid)
	}
	if d.Abort && (d.Deployment == "" || d.Back) {
		return fmt.Errorf("desired end of no deployment: %w", ErrInvalid)
	}
	return nil
}

// validDeployment accepts the ids of rollouts, and none.
func validDeployment(id string) error {
	if id == "" {
		return nil
	}
	if err := ValidName(id); err != nil {
		return fmt.Errorf("deployment: %w", err)
	}
	return nil
}

// Encode returns the report's bytes, or what is wrong with it.
func (d Deploy) Encode() ([]byte, error) {
	d.TS = d.TS.Round(0).UTC()
	if err := d.Validate(); err != nil {
		return nil, err
	}
	return json.Marshal(d)
}

// DecodeDeploy reads a report. Unknown fields are passed over: a newer kiosk may say more.
func DecodeDeploy(b []byte) (Deploy, error) {
	if len(b) > maxDeploy {
		return Deploy{}, fmt.Errorf("deploy report of %d bytes, at most %d: %w", len(b), maxDeploy, ErrTooLarge)
	}
	var d Deploy
	if err := json.Unmarshal(b, &d); err != nil {
		return Deploy{}, fmt.Errorf("deploy report: %w: %w", ErrInvalid, err)
	}
	return d, d.Validate()
}

// Validate says what is wrong with the report, if anything.
func (d Deploy) Validate() error {
	switch d.Status {
	case DeployPending, DeployDownloading, DeployDownloaded, DeployVerifying, DeployPauseBeforeInstall, DeployInstalling,
		DeployPauseBeforeCommit, DeploySuccess, DeployFailure, DeployRejected, DeployAlreadyInstalled, DeployAborted,
		DeployTimedOut:
	default:
		return fmt.Errorf("deploy status: %w", ErrInvalid)
	}
	if err := validDeployment(d.Deployment); err != nil {
		return fmt.Errorf("deploy report: %w", err)
	}
	if len(d.ReleaseID) > maxReleaseID || len(d.Shown) > maxReleaseID || len(d.Code) > maxDeployCode || len(d.Detail) > maxDeployTx {
		return fmt.Errorf("deploy text: %w", ErrTooLarge)
	}
	if y := d.TS.Year(); d.Number < 0 || d.Done < 0 || d.Of < 0 || d.Done > maxSize || d.Of > maxSize || y < 1 || y > 9999 {
		return fmt.Errorf("deploy number: %w", ErrInvalid)
	}
	return nil
}
