// Package wire carries a camera's frames over a pipe, from the process that owns the camera to the one that shows its
// pictures. Every message is numbered, bounded and summed, so that a process gone wrong is noticed at its first wrong byte.
//
// A message is a head of 22 bytes, little-endian, and a body:
//
//	at  size
//	 0     4  "DCM1"
//	 4     1  kind
//	 5     1  channels of a frame: 1 grey, 3 BGR
//	 6     2  width of a frame in pixels
//	 8     2  height
//	10     4  number of the message, from 1
//	14     4  length of the body in bytes
//	18     4  CRC-32C of the 18 bytes before and the body
package wire

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"strings"
	"unicode/utf8"
)

// Kind is what a message says.
type Kind byte

// The kinds. The first two say that the process lives though it has no frame.
const (
	Opening Kind = iota + 1 // the camera is being opened
	Waiting                 // it is open
	Frame                   // the body is pixels, row by row without gaps
	Failed                  // the camera failed; the body says how
)

// Limits of a message.
const (
	MinSide = 16   // of a frame in pixels
	MaxSide = 2048 // so a frame has at most 12 MiB
	MaxText = 1024 // bytes
)

const (
	magic    = "DCM1"
	headSize = 22
	sumAt    = 18
)

// ErrProtocol is wrapped by errors about bytes that no [Writer] writes.
var ErrProtocol = errors.New("not a camera's message")

var table = crc32.MakeTable(crc32.Castagnoli)

// Message is a message without a frame's pixels.
type Message struct {
	Kind                    Kind
	Width, Height, Channels int    // of a frame
	Text                    string // of a failure
}

// Writer writes messages. It is used by one goroutine.
type Writer struct {
	to     io.Writer
	number uint32
}

// NewWriter returns a writer of messages to w, beginning with number 1.
func NewWriter(w io.Writer) *Writer { return &Writer{to: w} }

// Signal writes a message without a body.
func (w *Writer) Signal(k Kind) error { return w.write(Message{Kind: k}, nil) }

// Frame writes a frame whose pixels are width × height × channels bytes.
func (w *Writer) Frame(width, height, channels int, pixels []byte) error {
	m := Message{Kind: Frame, Width: width, Height: height, Channels: channels}
	if err := m.check(len(pixels)); err != nil {
		return fmt.Errorf("write frame: %w", err)
	}
	return w.write(m, pixels)
}

// Fail writes how the camera failed; what is longer than [MaxText] is cut.
func (w *Writer) Fail(text string) error {
	text = strings.ToValidUTF8(text, "\uFFFD")
	for len(text) > MaxText {
		_, size := utf8.DecodeLastRuneInString(text)
		text = text[:len(text)-size]
	}
	return w.write(Message{Kind: Failed}, []byte(text))
}

func (w *Writer) write(m Message, body []byte) error {
	w.number++
	head := make([]byte, 0, headSize)
	head = append(head, magic...)
	head = append(head, byte(m.Kind), byte(m.Channels))
	head = binary.LittleEndian.AppendUint16(head, uint16(m.Width))
	head = binary.LittleEndian.AppendUint16(head, uint16(m.Height))
	head = binary.LittleEndian.AppendUint32(head, w.number)
	head = binary.LittleEndian.AppendUint32(head, uint32(len(body)))
	head = binary.LittleEndian.AppendUint32(head, crc32.Update(crc32.Checksum(head, table), table, body))
	if _, err := w.to.Write(head); err != nil {
		return err
	}
	_, err := w.to.Write(body)
	return err
}

// Reader reads messages. It is used by one goroutine.
type Reader struct {
	from   io.Reader
	number uint32
	head   [headSize]byte
}

// NewReader returns a reader of messages from r, beginning with number 1.
func NewReader(r io.Reader) *Reader { return &Reader{from: r} }

// Next reads a message. A frame's pixels are read into what room returns for its size, which must be exactly width ×
// height × channels bytes; they are to be used only when Next returns no error. The error is io.EOF where the stream
// ends between messages, wraps [ErrProtocol] where it holds something else, and comes from the stream otherwise.
func (r *Reader) Next(room func(width, height, channels int) ([]byte, error)) (Message, error) {
	if _, err := io.ReadFull(r.from, r.head[:]); err != nil {
		return Message{}, err
	}
	head := r.head[:]
	m := Message{
		Kind: Kind(head[4]), Channels: int(head[5]),
		Width: int(binary.LittleEndian.Uint16(head[6:])), Height: int(binary.LittleEndian.Uint16(head[8:])),
	}
	number, size := binary.LittleEndian.Uint32(head[10:]), binary.LittleEndian.Uint32(head[14:])
	r.number++
	switch {
	case string(head[:4]) != magic:
		return Message{}, fmt.Errorf("%w: it begins with %q", ErrProtocol, head[:4])
	case number != r.number:
		return Message{}, fmt.Errorf("%w: its number is %d, want %d", ErrProtocol, number, r.number)
	}
	if err := m.check(int(size)); err != nil {
		return Message{}, err
	}
	body, err := r.body(m, int(size), room)
	if err != nil {
		return Message{}, err
	}
	sum := crc32.Update(crc32.Checksum(head[:sumAt], table), table, body)
	if want := binary.LittleEndian.Uint32(head[sumAt:]); sum != want {
		return Message{}, fmt.Errorf("%w: its sum is %08x, want %08x", ErrProtocol, sum, want)
	}
	if m.Kind == Failed {
		if m.Text = string(body); !utf8.ValidString(m.Text) {
			return Message{}, fmt.Errorf("%w: its text is not UTF-8", ErrProtocol)
		}
	}
	return m, nil
}

// body reads the body into room's memory, or, of a failure, into memory of its own.
func (r *Reader) body(m Message, size int, room func(width, height, channels int) ([]byte, error)) ([]byte, error) {
	var body []byte
	switch m.Kind {
	case Frame:
		var err error
		if body, err = room(m.Width, m.Height, m.Channels); err != nil {
			return nil, err
		}
		if len(body) != size {
			return nil, fmt.Errorf("read frame of %d bytes: there is room for %d", size, len(body))
		}
	case Failed:
		body = make([]byte, size)
	}
	if _, err := io.ReadFull(r.from, body); err != nil {
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return nil, err
	}
	return body, nil
}

// check says whether m may have a body of size bytes.
func (m Message) check(size int) error {
	ok := m.Width == 0 && m.Height == 0 && m.Channels == 0
	switch m.Kind {
	case Opening, Waiting:
		ok = ok && size == 0
	case Failed:
		ok = ok && size <= MaxText
	case Frame:
		ok = (m.Channels == 1 || m.Channels == 3) && min(m.Width, m.Height) >= MinSide && max(m.Width, m.Height) <= MaxSide &&
			size == m.Width*m.Height*m.Channels
	default:
		ok = false
	}
	if !ok {
		return fmt.Errorf("%w: kind %d of %d × %d × %d with %d bytes", ErrProtocol, m.Kind, m.Width, m.Height, m.Channels, size)
	}
	return nil
}
