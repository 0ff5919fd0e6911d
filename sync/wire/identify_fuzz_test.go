package wire

import "testing"

// FuzzIdentify reads stream and number, and the hash before, of what may be no envelope at all.
func FuzzIdentify(f *testing.F) {
	f.Add([]byte(`{"stream_id":"0192f0c1-2345-7abc-8def-0123456789ab","seq":7,"prev_hash":"` + Hash(nil) + `"}`))
	f.Add([]byte(`{"schema":9,"seq":18446744073709551615}`))
	f.Add([]byte(`,"prev_hash":""}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		id, seq, ok := Identify(b)
		if ok && (Ack{StreamID: id, AckedSeq: seq, Refused: nil}).Validate() != nil {
			t.Errorf("stream %q, number %d", id, seq)
		}
		if !ok && (id != "" || seq != 0) {
			t.Errorf("not identified, and %q, %d", id, seq)
		}
		if hash, ok := PrevHash(b); ok && hash != "" && !validHash(hash) {
			t.Errorf("hash %q", hash)
		}
		if e, err := DecodeEvent(b); err == nil {
			if id, seq, ok := Identify(b); !ok || id != e.StreamID || seq != e.Seq {
				t.Errorf("event %s/%d is identified as %s/%d, %t", e.StreamID, e.Seq, id, seq, ok)
			}
		}
	})
}
