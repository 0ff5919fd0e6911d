package wire

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"
)

// Limits of commands and their results.
const (
	MaxCommand    = 4 << 10
	MaxResultData = 96 << 10 // bytes that come with a result
	maxResultHead = 8 << 10  // the detail may be escaped
	maxDetail     = 1 << 10
	// MaxCommandLife is how long a command may wait for its kiosk.
	MaxCommandLife = 7 * 24 * time.Hour
)

// CommandName is what a kiosk is to do.
type CommandName string

// The commands.
const (
	CommandRefresh    CommandName = "refresh"    // load the visitors' page anew
	CommandRestart    CommandName = "restart"    // end the program; what supervises it starts it again
	CommandSleep      CommandName = "sleep"      // darken the screen
	CommandWake       CommandName = "wake"       // light it again
	CommandVolume     CommandName = "volume"     // Value: 0 … 100
	CommandBrightness CommandName = "brightness" // Value: 0 … 100
	CommandScreenshot CommandName = "screenshot" // a picture of what the screen shows while nobody is there, JPEG
	CommandLogs       CommandName = "logs"       // the newest lines of the log, gzip
)

// Commands are all of them.
var Commands = []CommandName{
	CommandRefresh, CommandRestart, CommandSleep, CommandWake, CommandVolume, CommandBrightness, CommandScreenshot, CommandLogs,
}

// Command asks a kiosk for something. The same id twice is the same command: it is done once.
type Command struct {
	ID        string      `json:"id"` // UUIDv7
	Name      CommandName `json:"name"`
	Value     int         `json:"value,omitempty"` // 0 … 100
	IssuedAt  time.Time   `json:"issued_at"`       // by the hub's clock
	ExpiresAt time.Time   `json:"expires_at"`      // by the hub's clock
	// SentAt is the hub's clock when it sends. What is left until ExpiresAt counts from when the message comes, so that a
	// kiosk with a wrong clock neither does what is long past nor refuses what is not.
	SentAt time.Time `json:"sent_at"`
}

// Left is how long after it was sent the command may be begun: no longer than its whole life, where the hub's clock went
// back meanwhile.
func (c Command) Left() time.Duration {
	return min(c.ExpiresAt.Sub(c.SentAt), c.ExpiresAt.Sub(c.IssuedAt))
}

// ResultStatus is how a command ended.
type ResultStatus string

// The words of ResultStatus.
const (
	ResultDone        ResultStatus = "done"
	ResultFailed      ResultStatus = "failed"
	ResultUnsupported ResultStatus = "unsupported" // this kiosk cannot
	ResultRefused     ResultStatus = "refused"     // not now; nothing was done
	ResultExpired     ResultStatus = "expired"     // it came too late
)

// Result answers a Command. On the wire it is a line of JSON and then the data's bytes.
type Result struct {
	ID     string       `json:"id"`
	Status ResultStatus `json:"status"`
	Detail string       `json:"detail,omitempty"` // for a person, ≤ 1 KiB
	At     time.Time    `json:"at"`               // by the kiosk's clock
	Type   string       `json:"type,omitempty"`   // of Data, "application/gzip" or "image/jpeg"
	Data   []byte       `json:"-"`                // ≤ MaxResultData
}

// Encode returns the command's bytes, or what is wrong with it.
func (c Command) Encode() ([]byte, error) {
	c.IssuedAt, c.ExpiresAt, c.SentAt = c.IssuedAt.Round(0).UTC(), c.ExpiresAt.Round(0).UTC(), c.SentAt.Round(0).UTC()
	if err := c.Validate(); err != nil {
		return nil, err
	}
	return json.Marshal(c)
}

// DecodeCommand reads a command and refuses what does not hold to its limits. A name that it does not know is no
// error: the kiosk answers that it cannot.
func DecodeCommand(b []byte) (Command, error) {
	if len(b) > MaxCommand {
		return Command{}, fmt.Errorf("command of %d bytes, at most %d: %w", len(b), MaxCommand, ErrTooLarge)
	}
	var c Command
	if err := decodeStrict(b, &c); err != nil {
		return Command{}, fmt.Errorf("command: %w", err)
	}
	return c, c.Validate()
}

// Validate says what is wrong with the command, if anything.
func (c Command) Validate() error {
	if !validUUIDv7(c.ID) {
		return fmt.Errorf("command id is no UUIDv7: %w", ErrInvalid)
	}
	if err := ValidName(string(c.Name)); err != nil {
		return fmt.Errorf("command: %w", err)
	}
	if c.Value < 0 || c.Value > 100 {
		return fmt.Errorf("command value %d, 0 to 100: %w", c.Value, ErrInvalid)
	}
	for _, t := range []time.Time{c.IssuedAt, c.ExpiresAt, c.SentAt} {
		if y := t.Year(); y < 1 || y > 9999 {
			return fmt.Errorf("command time in year %d: %w", y, ErrInvalid)
		}
	}
	if d := c.ExpiresAt.Sub(c.IssuedAt); d <= 0 || d > MaxCommandLife {
		return fmt.Errorf("command expires after %s, at most %s: %w", d, MaxCommandLife, ErrInvalid)
	}
	return nil
}

// Encode returns the result's bytes, or what is wrong with it.
func (r Result) Encode() ([]byte, error) {
	r.At = r.At.Round(0).UTC()
	if err := r.Validate(); err != nil {
		return nil, err
	}
	head, err := json.Marshal(r)
	if err != nil {
		return nil, fmt.Errorf("encode result: %w", err)
	}
	return append(append(head, '\n'), r.Data...), nil
}

// DecodeResult reads a result and refuses what does not hold to its limits. Its Data is a copy.
func DecodeResult(b []byte) (Result, error) {
	if len(b) > MaxResultData+maxResultHead {
		return Result{}, fmt.Errorf("result of %d bytes, at most %d: %w", len(b), MaxResultData+maxResultHead, ErrTooLarge)
	}
	head, data, ok := bytes.Cut(b, []byte("\n"))
	if !ok {
		return Result{}, fmt.Errorf("result header: %w", ErrInvalid)
	}
	var r Result
	if err := decodeStrict(head, &r); err != nil {
		return Result{}, fmt.Errorf("result: %w", err)
	}
	r.Data = bytes.Clone(data)
	return r, r.Validate()
}

// Validate says what is wrong with the result, if anything.
func (r Result) Validate() error {
	if !validUUIDv7(r.ID) {
		return fmt.Errorf("result id is no UUIDv7: %w", ErrInvalid)
	}
	switch r.Status {
	case ResultDone, ResultFailed, ResultUnsupported, ResultRefused, ResultExpired:
	default:
		return fmt.Errorf("result status: %w", ErrInvalid)
	}
	if len(r.Detail) > maxDetail || len(r.Type) > 64 || len(r.Data) > MaxResultData {
		return fmt.Errorf("result: %w", ErrTooLarge)
	}
	if y := r.At.Year(); y < 1 || y > 9999 {
		return fmt.Errorf("result time in year %d: %w", y, ErrInvalid)
	}
	return nil
}
