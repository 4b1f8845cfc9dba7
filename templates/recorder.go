package templates

import (
	"fmt"

	"hlsgen/internal/dataflow"
)

// A StreamRecorder writes the recordings of a design's streams while frames pass, so that nobody must keep the frames.
// Numbers take sixteen times the memory of their digits.
type StreamRecorder struct {
	ports   []dataflow.Port
	frames  int // total number of frames
	streams []recorded
	by      map[*int64]int // by first element of rows: the stream that last added them
	room    recorder
}

// A recorded is the recording of a stream so far, as text.
type recorded struct {
	text []byte
	rows []int64 // the latest rows
	told int     // number of calls of AppendRows
	of   int     // the stream whose text starts with this one's, while both get the same rows; else -1
	upto int     // length of this stream's text in that one
}

// NewStreamRecorder returns a recorder for the given number of frames, all of one length.
func NewStreamRecorder(d *dataflow.Design, frames int) *StreamRecorder {
	r := &StreamRecorder{frames: frames, by: map[*int64]int{}}
	for s := range d.Model.Graph.Streams {
		r.ports, r.streams = append(r.ports, d.PortOfStream(s)), append(r.streams, recorded{of: -1})
	}
	return r
}

// AppendRows appends the next rows of a frame on a stream to its recording. They must be whole words; the error names
// an element that does not fit. It keeps the list of elements to recognise rows that pass on another stream, so nobody
// may change it.
func (r *StreamRecorder) AppendRows(stream int, rows dataflow.Tensor) error {
	s := &r.streams[stream]
	before := s.told
	if len(s.rows) > 0 && r.by[&s.rows[0]] == stream {
		delete(r.by, &s.rows[0]) // so that they may be freed
	}
	s.rows, s.told = rows.Data, s.told+1
	if len(rows.Data) == 0 {
		return nil
	}
	if of, ok := r.by[&rows.Data[0]]; ok && of != stream && (before == 0 || s.of == of) && r.copies(stream, of) {
		s.of, s.upto = of, len(r.streams[of].text)
		return nil
	}
	if s.of >= 0 {
		s.text = append(r.begun(stream), r.streams[s.of].text[:s.upto]...)
		s.of = -1
	}
	if s.text == nil {
		s.text = r.begun(stream)
	}
	r.by[&rows.Data[0]] = stream
	var err error
	if s.text, err = r.room.add(s.text, r.ports[stream], rows); err != nil {
		return fmt.Errorf("stream s%d: %w", stream, err)
	}
	return nil
}

// copies reports whether the stream of got the same rows last as the given stream, in the same words.
func (r *StreamRecorder) copies(stream, of int) bool {
	s, o := &r.streams[stream], &r.streams[of]
	return r.ports[stream] == r.ports[of] && s.told == o.told && len(s.rows) == len(o.rows) && &s.rows[0] == &o.rows[0]
}

// begun returns an empty text with room for all frames of a stream.
func (r *StreamRecorder) begun(stream int) []byte {
	p := r.ports[stream]
	return make([]byte, 0, r.frames*p.Words*line(p))
}

// texts returns the recordings by stream. Streams with the same frames and words share one text.
func (r *StreamRecorder) texts() [][]byte {
	list := make([][]byte, len(r.streams))
	for i := range r.streams {
		if s := &r.streams[i]; s.of >= 0 {
			list[i] = r.streams[s.of].text[:s.upto]
		} else {
			list[i] = s.text
		}
	}
	return list
}
