package deploy

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"reflect"
	"testing"
)

// TestChecksum checks that the last entry of host.json is a hash of what is in front of it, that the file says
// everything that was put in.
func TestChecksum(t *testing.T) {
	t.Parallel()
	h := HostFile{Schema: "hlsgen-host", Version: hostFileVersion, Model: `a","checksum":"b`, Top: "net",
		Inputs:  []HostTensor{{Name: "x", DType: "float32", Shape: []int{1, 3}, Batch: true, Time: -1}},
		Outputs: []HostTensor{}, Send: []InputStream{{Index: []int32{2, 0, 1}}}, Receive: []OutputStream{},
		Results: []OutputDequantisation{}}
	if err := h.sign(); err != nil {
		t.Fatal(err)
	}
	for _, system := range []*HostSystem{nil, {Board: "zcu104", ClockMHz: 187.5,
		Movers: []HostMover{{"write_m_axis_0", "m_axis_0", 0xA000_0000, 121}}}} {
		h.System = system
		text, err := h.encodeJSON()
		if err != nil {
			t.Fatal(err)
		}
		at := bytes.LastIndexByte(text, ',')
		want := fmt.Sprintf(`,"checksum":"%x"}`+"\n", sha256.Sum256(text[:at]))
		want = want[:len(`,"checksum":"`)+16] + want[len(want)-3:]
		if string(text[at:]) != want {
			t.Errorf("%s, want %s", text[at:], want)
		}
		var got HostFile
		if err := json.Unmarshal(text, &got); err != nil {
			t.Fatal(err)
		}
		got.Checksum, got.size = "", h.size
		if !reflect.DeepEqual(got, h) {
			t.Errorf("%+v, want %+v", got, h)
		}
	}
}
