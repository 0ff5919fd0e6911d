package wire

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const object = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

func TestFetchAndChunkReadBack(t *testing.T) {
	f := Fetch{ID: 7, Name: "12.root.json", Offset: 5, Length: MaxBlock}
	b, err := f.Encode()
	if err != nil {
		t.Fatal(err)
	}
	if got, err := DecodeFetch(b); err != nil || got != f {
		t.Errorf("%+v, %v", got, err)
	}
	c := Chunk{ID: 7, Name: object, Offset: 3, Size: 8, Data: []byte("a\nb\x00c")}
	if err := (Fetch{Name: DesiredName, Length: 1}).Validate(); err != nil {
		t.Error(err)
	}
	if b, err = c.Encode(); err != nil {
		t.Fatal(err)
	}
	got, err := DecodeChunk(b)
	if diff := cmp.Diff(c, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

func TestFetchRefuses(t *testing.T) {
	for _, name := range []string{"", "root.json", "0.root.json", "01.root.json", "1.timestamp.json", "../timestamp.json", "1.root.json/", object[1:], strings.ToUpper(object), "-1.root.json"} {
		if err := (Fetch{Name: name, Length: 1}).Validate(); err == nil {
			t.Errorf("name %q accepted", name)
		}
	}
	for _, f := range []Fetch{{Name: object}, {Name: object, Length: MaxBlock + 1}, {Name: object, Length: 1, Offset: -1}} {
		if err := f.Validate(); err == nil {
			t.Errorf("%+v accepted", f)
		}
	}
	for _, c := range []Chunk{
		{Name: object, Size: 3, Data: []byte("abcd")}, {Name: object, Size: 4, Offset: 1, Data: []byte("abcd")},
		{Name: object, Size: 1 << 20, Data: make([]byte, MaxBlock+1)}, {Name: object, Error: "other"}, {Name: "x", Size: 1},
	} {
		if err := c.Validate(); err == nil {
			t.Errorf("chunk of %d bytes, size %d, error %q accepted", len(c.Data), c.Size, c.Error)
		}
	}
	for _, d := range []Desired{{Abort: true}, {Deployment: "d1", Abort: true, Back: true}, {Deployment: "-d"}, {Deployment: strings.Repeat("d", 64)}, {Number: -1}, {ReleaseID: strings.Repeat("x", 65)}} {
		if _, err := d.Encode(); err == nil {
			t.Errorf("%+v accepted", d)
		}
	}
	for _, d := range []Deploy{{Status: DeploySuccess, Deployment: "a/b"}, {Status: "done"}, {Status: DeploySuccess, Detail: strings.Repeat("x", 600)}, {Status: DeploySuccess, Number: -1}} {
		if err := d.Validate(); err == nil {
			t.Errorf("%+v accepted", d)
		}
	}
}

func FuzzDecodeFetch(f *testing.F) {
	f.Add([]byte(`{"id":1,"name":"timestamp.json","offset":0,"length":10}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		v, err := DecodeFetch(b)
		if err != nil {
			return
		}
		again, err := v.Encode()
		if err != nil {
			t.Fatal(err)
		}
		if w, err := DecodeFetch(again); err != nil || w != v {
			t.Errorf("%+v became %+v, %v", v, w, err)
		}
	})
}

func FuzzDecodeChunk(f *testing.F) {
	f.Add([]byte("{\"id\":1,\"name\":\"timestamp.json\",\"offset\":0,\"size\":3}\nabc"))
	f.Fuzz(func(t *testing.T, b []byte) {
		v, err := DecodeChunk(b)
		if err != nil {
			return
		}
		again, err := v.Encode()
		if err != nil {
			t.Fatal(err)
		}
		w, err := DecodeChunk(again)
		if diff := cmp.Diff(v, w); err != nil || diff != "" {
			t.Errorf("%v\n%s", err, diff)
		}
	})
}

func FuzzDecodeDeploy(f *testing.F) {
	b, err := Deploy{Status: DeployFailure, ReleaseID: "3-abc", Number: 3, Code: "hash", TS: time.Unix(1e9, 0)}.Encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Add([]byte(`{"deployment":"spring-2","status":"aborted","rolled_back":true}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		if v, err := DecodeDeploy(b); err == nil {
			if _, err := v.Encode(); err != nil {
				t.Error(err)
			}
		}
	})
}

func FuzzDecodeDesired(f *testing.F) {
	f.Add([]byte(`{"release_id":"3-abc","number":3}`))
	f.Add([]byte(`{"deployment":"spring-2","release_id":"2-abc","number":2,"back":true}`))
	f.Add([]byte(`{"deployment":"spring-2","release_id":"3-abc","number":3,"abort":true,"later":[]}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		d, err := DecodeDesired(b)
		if err != nil {
			return
		}
		again, err := d.Encode()
		if err != nil {
			t.Fatal(err)
		}
		if e, err := DecodeDesired(again); err != nil || e != d {
			t.Errorf("%+v became %+v, %v", d, e, err)
		}
	})
}
